package growth

import (
	"bytes"
	"errors"
	"fmt"

	"presage/perf/frame"
	"presage/perf/study/record"
	"presage/perf/subject"
)

// Record writes tables, prefix-misses.csv, prefix-curves.csv, prefix-times.csv and, if
// time was simulated, prefix-scopetimes.csv, and lists them with the command that made them in
// recordings.csv beside them. Of Options.OnlyTimes it writes the last two, or without
// times of a curve the last alone.
//
//   - misses: Findings.Misses
//   - curves: OnMachine.Misses of one machine after the other
//   - times: OnMachine.Times likewise, with pred_fixed_cycles, the cycles of
//     OnMachine.Fixed, and the columns of OnMachine.Simulated, which are missing
//     where nothing was simulated
//   - scopetimes: OnMachine.Scopes likewise
func (f *Findings) Record(prefix, command string) error {
	tables, err := f.tables()
	if err != nil {
		return err
	}
	from := source(f.Program, command)
	for _, t := range tables {
		var text bytes.Buffer
		if err := frame.WriteCSV(&text, t.table); err != nil {
			return fmt.Errorf("perf: record: %w", err)
		}
		if err := record.WriteText(prefix+"-"+t.name+".csv", text.Bytes(), from); err != nil {
			return err
		}
	}
	var scopes []ScopeTime
	for i := range f.On {
		scopes = append(scopes, f.On[i].Scopes...)
	}
	if len(scopes) == 0 {
		return nil
	}
	return record.Write(prefix+"-scopetimes.csv", scopes, from)
}

type namedTable struct {
	name  string
	table frame.Table
}

// tables are those of whole programs that there are: misses, curves and times.
func (f *Findings) tables() (all []namedTable, err error) {
	if len(f.Misses) > 0 {
		all = append(all, namedTable{"misses", frame.Of(f.Misses)}, namedTable{"curves", f.curves()})
	}
	if len(f.On) == 0 || len(f.On[0].Times) == 0 {
		return all, nil
	}
	times, err := f.times()
	return append(all, namedTable{"times", times}), err
}

// source says where a program's tables come from.
func source(prog *subject.Program, command string) record.Source {
	return record.Source{
		Origin:  fmt.Sprintf("predicted and simulated by presage; %s, SHA-256 %s", prog.Name, prog.File.SHA256),
		Command: command,
	}
}

func (f *Findings) curves() frame.Table {
	var all frame.Table
	for i, on := range f.On {
		if i == 0 {
			all = frame.Of(on.Misses)
		} else {
			all = all.Concat(frame.Of(on.Misses))
		}
	}
	return all
}

// times returns the table of times. Each machine has columns of its own for the waits
// at its levels; those of later machines follow those of the first.
func (f *Findings) times() (frame.Table, error) {
	var all frame.Table
	for i, on := range f.On {
		table, err := on.times()
		if err != nil {
			return table, err
		}
		if i == 0 {
			all = table
		} else {
			all = all.Concat(table)
		}
	}
	return all, all.Error()
}

func (on *OnMachine) times() (frame.Table, error) {
	if len(on.Fixed) != len(on.Times) {
		return frame.Table{}, errors.New("perf: study: times with fixed shares of latencies are of other sizes")
	}
	fixed := make([]float64, len(on.Fixed))
	for i := range fixed {
		fixed[i] = on.Fixed[i].Cycles
	}
	table := frame.WithFloats(frame.Of(on.Times), "pred_fixed_cycles", fixed)
	if len(on.Simulated) == 0 {
		return table, nil
	}
	return frame.Overlay(table, frame.Of(on.Simulated))
}
