package judging

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"presage/perf/study/record"
)

// Files that findings are recorded in, after the prefix of their names.
const (
	missesFile = "-misses.csv"
	cyclesFile = "-cycles.csv"
	failedFile = "-failed.csv"
)

// Record records the tables in files whose names begin with prefix, and lists them in
// recordings.csv beside them. command makes them again.
func (f *Findings) Record(prefix, command string) error {
	from := record.Source{Origin: "predicted and simulated by presage; " + f.programs(), Command: command}
	return errors.Join(
		record.Write(prefix+missesFile, f.Misses, from),
		record.Write(prefix+cyclesFile, f.Cycles, from),
		record.Write(prefix+failedFile, f.Failed, from),
	)
}

// programs names the programs that were judged, in their order.
func (f *Findings) programs() string {
	var names []string
	for i := range f.Misses {
		if name := f.Misses[i].Program; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// Load reads findings that Record wrote.
func Load(prefix string) (*Findings, error) {
	misses, err := record.Read[MissRow](prefix + missesFile)
	if err != nil {
		return nil, err
	}
	cycles, err := record.Read[CycleRow](prefix + cyclesFile)
	if err != nil {
		return nil, err
	}
	failed, err := record.Read[Failure](prefix + failedFile)
	if err != nil {
		return nil, err
	}
	return &Findings{Misses: misses.Rows, Cycles: cycles.Rows, Failed: failed.Rows}, nil
}

// headlineStudy is the name of this study among the headlines.
const headlineStudy = "judging suite"

// goals are those of each class: median and 90th percentile of the errors.
var goals = map[string][2]string{
	ClassManyWays: {"<=0.01", "<=0.1"},
	ClassFewWays:  {"<=0.03", "<=0.2"},
	ClassTLB:      {"<=0.05", "<=0.25"},
	ClassCycles:   {"<=0.1", "<=0.25"},
}

// Headlines returns the figures that predictions are judged by: for each class, the
// median, the 90th percentile and the worst of the errors, the baseline's beside
// them, and the share of intervals that hold the truth. half says which programs were
// judged; command makes the figures again.
func (f *Findings) Headlines(half Half, command string) []record.Headline {
	var all []record.Headline
	add := func(class, figure, goal, unit string, value float64) {
		all = append(all, record.Headline{
			Study: headlineStudy, Metric: fmt.Sprintf("%s half, %s: %s", half, class, figure),
			Value: value, Goal: goal, Unit: unit, Command: command,
		})
	}
	for _, s := range f.Summary() {
		add(s.Class, "median error", goals[s.Class][0], "ratio", s.Median)
		add(s.Class, "90th percentile of errors", goals[s.Class][1], "ratio", s.P90)
		add(s.Class, "worst error", "", "ratio", s.Worst)
		add(s.Class, "median error of the n³ baseline", "", "ratio", s.BaselineMedian)
		add(s.Class, "rows off by more than 3 times without a warning", "<=0", "rows", float64(s.Unwarned))
		if s.Class != ClassCycles {
			add(s.Class, "intervals of 90% that hold the truth", ">=0.85", "ratio", s.Intervals)
		}
	}
	return all
}
