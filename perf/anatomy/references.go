package anatomy

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"presage/perf/access"
	"presage/perf/subject"
)

// ReferenceOptions configures References.
type ReferenceOptions struct {
	// Routine keeps the references of one routine, named as in the table of
	// routines; empty: all.
	Routine string
	// Stack includes the traffic of the calling convention and of register
	// allocation.
	Stack bool
	// Counts of a run add how often references were executed, and sort them by
	// that; may be nil.
	Counts *Counts
	// Observed strides of a run stand where a reference has no formula; may be nil.
	// They must be of Counts: see ObserveStrides.
	Observed *ObservedStrides
}

// Reference describes a memory reference.
type Reference struct {
	Routine string `frame:"routine"`
	Loop    string `frame:"loop"` // the innermost scope; empty for none
	File    string `frame:"file"`
	Line    int    `frame:"line"`
	PC      string `frame:"pc"`
	Kind    string `frame:"kind"` // load, store, read-modify-write
	Size    uint8  `frame:"size_bytes"`
	Float   bool   `frame:"float"`
	// First is the formula of the first location accessed, in registers as they
	// are when the routine begins, memory cells, and values that instructions
	// leave.
	First string `frame:"first"`
	// Strides are by how much the address changes with an iteration of each loop,
	// from the innermost out, separated by semicolons: formulas, in bytes. With
	// ReferenceOptions.Observed one that has no formula is the most frequent step in
	// that run, such as 48 (observed: 0.97 of steps).
	Strides   string `frame:"strides"`
	Irregular bool   `frame:"irregular"` // any of the strides
	Indirect  bool   `frame:"indirect"`  // any of the strides

	// StridesFrom says for each of Strides whether it is a formula, was observed in a
	// run, and of which size, or is unknown, as the run did not show it. It and the
	// columns that follow are empty without ReferenceOptions.Observed.
	StridesFrom string `frame:"strides_from"`
	// ObservedStride is the stride in the innermost loop for which there is no formula:
	// the step that the run took most often, in bytes. NaN where formulas stand, and
	// where the run showed no step.
	ObservedStride float64 `frame:"observed_stride_bytes"`
	// ObservedShare is how many of all steps were ObservedStride, 0 to 1, or up to 1/16
	// more (access.ObservedStride). NaN where ObservedStride is.
	ObservedShare float64 `frame:"observed_share"`

	Stack string `frame:"stack"` // what a reference to the stack is for; empty for data
	Group int    `frame:"group"` // references of one group share a histogram
	Set   int    `frame:"set"`   // groups of one set come from one loop of the source

	// Accesses are its executions in the run that was counted; 0 without counts.
	Accesses float64 `frame:"accesses"`
}

// References describes the memory references, by ascending address; with counts
// the most executed first.
func References(prog *subject.Program, opt ReferenceOptions) ([]Reference, error) {
	of, err := choose(prog, opt.Counts, opt.Routine)
	if err != nil {
		return nil, err
	}
	if opt.Observed != nil && opt.Observed.counts != opt.Counts {
		return nil, errors.New("perf: the observed strides are not of these counts")
	}
	observed := opt.Observed.byReference()
	var rows []Reference
	for i := range of.Access.All {
		ref := &of.Access.All[i]
		if of.only >= 0 && (!ref.InGraph || ref.RoutineIndex != of.only) || !opt.Stack && ref.Stack != access.NotStack {
			continue
		}
		row := newReference(of.Structure, subject.Ref(i))
		if opt.Counts != nil {
			row.Accesses = float64(opt.Counts.executions(subject.Ref(i)))
		}
		if opt.Observed != nil {
			row.observe(ref, opt.Observed.Run(), observed[subject.Ref(i)])
		}
		rows = append(rows, row)
	}
	if opt.Counts != nil {
		slices.SortStableFunc(rows, func(a, b Reference) int { return cmp.Compare(b.Accesses, a.Accesses) })
	}
	return rows, nil
}

func newReference(s *subject.Structure, r subject.Ref) Reference {
	ref := &s.Access.All[r]
	group := int(s.Groups.Of[r])
	row := Reference{
		Routine: ref.Routine, File: ref.File, Line: ref.Line, PC: fmt.Sprintf("%#x", uint64(ref.PC)),
		Kind: ref.Kind.String(), Size: ref.Size, Float: ref.Float, Stack: ref.Stack.String(),
		Group: group, Set: s.Groups.Set[group],
		ObservedStride: math.NaN(), ObservedShare: math.NaN(),
	}
	if !ref.InGraph {
		return row
	}
	row.Routine = s.Scopes.Scopes[s.OfRoutine[ref.RoutineIndex]].Path
	row.Loop = loopOf(s, ref.RoutineIndex, ref.Block)
	row.First, row.Strides = ref.First.String(), stridesText(ref.Strides)
	for _, st := range ref.Strides {
		row.Irregular = row.Irregular || st.Irregular
		row.Indirect = row.Indirect || st.Indirect
	}
	return row
}

func stridesText(strides []access.Stride) string {
	texts := make([]string, len(strides))
	for i := range strides {
		texts[i] = strides[i].String()
	}
	return strings.Join(texts, "; ")
}

// GroupSize is how many groups of references have a size.
type GroupSize struct {
	// Aggregation is none (each reference for itself), loop (one histogram each
	// at run time) or source loop (added up after the run).
	Aggregation string `frame:"aggregation"`
	References  int    `frame:"references"` // in a group
	Groups      int    `frame:"groups"`     // of that size
}

// GroupSizes returns how the references fall into groups (2005, Figure 3): a row
// for each size of a group that occurs. The traffic of the stack is left out.
func GroupSizes(prog *subject.Program) []GroupSize {
	s := prog.Structure()
	alone, byLoop, bySource := 0, make([]int, len(s.Groups.Refs)), make([]int, len(s.Groups.Sets))
	for i := range s.Access.All {
		if s.Access.All[i].Stack == access.NotStack {
			g := s.Groups.Of[i]
			alone++
			byLoop[g]++
			bySource[s.Groups.Set[g]]++
		}
	}
	rows := []GroupSize{{"none", 1, alone}}
	for _, a := range []struct {
		name  string
		sizes []int
	}{{"loop", byLoop}, {"source loop", bySource}} {
		of := make(map[int]int)
		for _, n := range a.sizes {
			if n > 0 {
				of[n]++
			}
		}
		for _, n := range slices.Sorted(maps.Keys(of)) {
			rows = append(rows, GroupSize{a.name, n, of[n]})
		}
	}
	return rows
}
