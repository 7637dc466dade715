package walltime

import (
	"fmt"
	"runtime"
	"strings"

	"presage/perf/study/record"
)

// Record writes two tables, prefix-times.csv with the rows and prefix-system.csv with
// what the operating system takes, and lists them with the command that made them in
// recordings.csv beside them.
func (f *Findings) Record(prefix, command string) error {
	from := record.Source{Origin: f.origin, Command: command}
	if from.Origin == "" {
		from.Origin = fmt.Sprintf("predicted by presage, measured on %s, %d processors", f.Host, runtime.NumCPU())
	}
	if err := record.Write(prefix+"-times.csv", f.Rows, from); err != nil {
		return err
	}
	return record.Write(prefix+"-system.csv", []System{f.System}, from)
}

// again begins the origin of predictions of a later day than the measurements.
const again = "predicted anew from what was recorded on "

// Load reads what Record wrote; Host stands in the recordings' list only. Findings that
// take its measurements are recorded with their origin and date.
func Load(prefix string) (*Findings, error) {
	rows, err := record.Read[Row](prefix + "-times.csv")
	if err != nil {
		return nil, err
	}
	system, err := record.Read[System](prefix + "-system.csv")
	if err != nil {
		return nil, err
	}
	f := &Findings{Rows: rows.Rows, origin: rows.Origin}
	if !strings.HasPrefix(f.origin, again) {
		f.origin = again + rows.Date + ": " + f.origin
	}
	if len(system.Rows) > 0 {
		f.System = system.Rows[0]
	}
	return f, nil
}
