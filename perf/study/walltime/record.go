package walltime

import (
	"fmt"
	"runtime"

	"presage/perf/study/record"
)

// Record writes two tables, prefix-times.csv with the rows and prefix-system.csv with
// what the operating system takes, and lists them with the command that made them in
// recordings.csv beside them.
func (f *Findings) Record(prefix, command string) error {
	from := record.Source{
		Origin:  fmt.Sprintf("predicted by presage, measured on %s, %d processors", f.Host, runtime.NumCPU()),
		Command: command,
	}
	if err := record.Write(prefix+"-times.csv", f.Rows, from); err != nil {
		return err
	}
	return record.Write(prefix+"-system.csv", []System{f.System}, from)
}

// Load reads what Record wrote; Host stands in the recordings' list only.
func Load(prefix string) (*Findings, error) {
	rows, err := record.Read[Row](prefix + "-times.csv")
	if err != nil {
		return nil, err
	}
	system, err := record.Read[System](prefix + "-system.csv")
	if err != nil {
		return nil, err
	}
	f := &Findings{Rows: rows.Rows}
	if len(system.Rows) > 0 {
		f.System = system.Rows[0]
	}
	return f, nil
}
