package anatomy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"presage/perf/cfg"
	"presage/perf/internal/num"
	"presage/perf/subject"
)

// MixOptions configures InstructionMix.
type MixOptions struct {
	// By is the scope: ByProgram (the default), ByRoutine, ByLoop.
	By subject.Scope
	// Counts of a run add executed instructions, and put the scopes first that
	// executed the most; may be nil.
	Counts *Counts
	// Inclusive also counts the instructions of a loop in the loops around it.
	Inclusive bool
}

// Class is how many instructions of a class, and for loads and stores of a
// width, a scope has.
type Class struct {
	Scope        string `frame:"scope"`
	Class        string `frame:"class"`
	Group        string `frame:"group"`      // integer, fp, load, store, branch, other
	Size         uint8  `frame:"size_bytes"` // of the memory operand; 0 for none
	Instructions uint64 `frame:"instructions"`

	// Of the run that was counted; 0 without counts.
	Executed uint64  `frame:"executed_instructions"`
	Share    float64 `frame:"share"` // of the scope's executed instructions, from 0 to 1

	total uint64 // executed by the scope
}

// InstructionMix counts instructions by class, loads and stores by width: a row
// for each scope and class that occurs in it.
func InstructionMix(prog *subject.Program, opt MixOptions) ([]Class, error) {
	by := cmp.Or(opt.By, subject.ByProgram)
	kind, ok := map[subject.Scope]cfg.ScopeKind{subject.ByProgram: cfg.ProgramScope, subject.ByRoutine: cfg.RoutineScope, subject.ByLoop: cfg.LoopScope}[by]
	if !ok {
		return nil, fmt.Errorf("perf: instruction mix by %q: want %s, %s or %s", by, subject.ByProgram, subject.ByRoutine, subject.ByLoop)
	}
	var counts *cfg.Counts
	if opt.Counts != nil {
		counts = opt.Counts.Recovered
	}
	s := structureOf(prog, opt.Counts)
	mixes := s.Scopes.Mixes
	if opt.Inclusive || by != subject.ByLoop {
		mixes = s.Scopes.InclusiveMixes
	}
	var rows []Class
	for i, mix := range mixes(counts) {
		if s.Scopes.Scopes[i].Kind != kind {
			continue
		}
		name := s.Scopes.Scopes[i].Path
		if kind == cfg.ProgramScope {
			name = prog.Name
		}
		rows = append(rows, classes(name, mix)...)
	}
	if opt.Counts != nil {
		slices.SortStableFunc(rows, func(a, b Class) int { return cmp.Compare(b.total, a.total) })
	}
	return rows, nil
}

// classes returns the instructions of a scope by class and size.
func classes(scope string, m cfg.Mix) []Class {
	total := m.Total().Executed
	kinds := slices.SortedFunc(maps.Keys(m), func(a, b cfg.Kind) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Size, b.Size))
	})
	var rows []Class
	for _, k := range kinds {
		n := m[k]
		rows = append(rows, Class{
			Scope: scope, Class: k.Class.String(), Group: cfg.GroupOf(k.Class).String(), Size: k.Size,
			Instructions: n.Static, Executed: n.Executed, Share: num.Ratio(float64(n.Executed), float64(total)), total: total,
		})
	}
	return rows
}
