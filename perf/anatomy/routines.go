package anatomy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/frame"
	"presage/perf/internal/num"
	"presage/perf/subject"
)

// Routines returns the program's routines, by ascending address: a row for
// each.
//
//   - routine: its name, with the file where several have the name
//   - file, first_line, last_line: of its own instructions, where known
//   - pc, size_bytes: where it is
//   - instructions, blocks, edges, loops, deepest_loop: of its control-flow
//     graph, the depth of its deepest nest of loops
//   - references: memory references in the graph
//   - open_jumps: indirect jumps with targets that are not known
//   - gap_bytes: bytes that control was not found to reach
func Routines(prog *subject.Program) dataframe.DataFrame {
	type row struct {
		Routine      string `frame:"routine"`
		File         string `frame:"file"`
		First        int    `frame:"first_line"`
		Last         int    `frame:"last_line"`
		PC           string `frame:"pc"`
		Size         uint64 `frame:"size_bytes"`
		Instructions int    `frame:"instructions"`
		Blocks       int    `frame:"blocks"`
		Edges        int    `frame:"edges"`
		Loops        int    `frame:"loops"`
		Deepest      int    `frame:"deepest_loop"`
		References   int    `frame:"references"`
		Open         int    `frame:"open_jumps"`
		Gap          uint64 `frame:"gap_bytes"`
	}
	s := prog.Structure()
	references := make([]int, len(s.Graph.Routines))
	for i := range s.Access.All {
		if ref := &s.Access.All[i]; ref.InGraph {
			references[ref.RoutineIndex]++
		}
	}
	var rows []row
	for i := range s.Scopes.Scopes {
		scope := &s.Scopes.Scopes[i]
		if scope.Kind != cfg.RoutineScope {
			continue
		}
		r := s.Graph.Routines[scope.Routine]
		row := row{
			Routine: scope.Path, File: scope.Source.File, First: scope.Source.First, Last: scope.Source.Last,
			PC: fmt.Sprintf("%#x", r.Addr), Size: r.Size, Blocks: len(r.Blocks), Edges: len(r.Edges), Loops: len(r.Loops),
			References: references[scope.Routine], Open: len(r.Open),
		}
		for b := range r.Blocks {
			row.Instructions += len(r.Blocks[b].Insts)
		}
		for _, l := range r.Loops {
			row.Deepest = max(row.Deepest, l.Depth)
		}
		for _, g := range r.Gaps {
			row.Gap += g.To - g.From
		}
		rows = append(rows, row)
	}
	return frame.Of(rows)
}

// chosen returns the structure that a table is about, that of the counts if
// there are any, and the routine's index in it, -1 for all.
func chosen(p *subject.Program, counts *Counts, routine string) (s *subject.Structure, only int, err error) {
	if s = p.Structure(); counts != nil {
		s = counts.structure
	}
	if routine == "" {
		return s, -1, nil
	}
	only, err = s.Routine(routine)
	return s, only, err
}

// LoopOptions say which loops a table is about.
type LoopOptions struct {
	// Routine keeps the loops of one routine, named as in the table of
	// routines; empty: all.
	Routine string
	// Counts, of a run, adds how often loops were executed; nil: not.
	Counts *Counts
}

// Loops returns the loops of the source, each with those of the object code
// that come from it: a row for each, outer before inner; with Counts those that
// executed the most instructions first.
//
//   - loop: the scope's name; routine, depth (1 for an outermost loop)
//   - file, first_line, last_line; inlined_from: the routine that the loop was
//     written in, if that was inlined
//   - pc: of the header of the first object-code loop; object_loops: how many
//     there are
//   - blocks, instructions, references: in it and the loops inside it
//   - irreducible: can be entered in the middle
//
// With Counts: entries (times that control came to it from outside),
// iterations (executions of its header, less those that left the loop there),
// trip_count (iterations per entry), executed_instructions and their share of
// the program's.
func Loops(prog *subject.Program, opt LoopOptions) (dataframe.DataFrame, error) {
	s, only, err := chosen(prog, opt.Counts, opt.Routine)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	references := referencesByScope(s)
	var rows []loopRow
	for i := range s.Scopes.Scopes {
		scope := &s.Scopes.Scopes[i]
		if scope.Kind == cfg.LoopScope && (only < 0 || scope.Routine == only) {
			rows = append(rows, newLoopRow(s, i, references[i]))
		}
	}
	if opt.Counts == nil {
		return frame.Of(rows), nil
	}
	return opt.Counts.loops(rows), nil
}

type loopRow struct {
	Loop         string `frame:"loop"`
	Routine      string `frame:"routine"`
	Depth        int    `frame:"depth"`
	File         string `frame:"file"`
	First        int    `frame:"first_line"`
	Last         int    `frame:"last_line"`
	Inlined      string `frame:"inlined_from"`
	PC           string `frame:"pc"`
	ObjectLoops  int    `frame:"object_loops"`
	Blocks       int    `frame:"blocks"`
	Instructions int    `frame:"instructions"`
	References   int    `frame:"references"`
	Irreducible  bool   `frame:"irreducible"`
	scope        int
}

func newLoopRow(s *subject.Structure, i, references int) loopRow {
	scope := &s.Scopes.Scopes[i]
	r := s.Graph.Routines[scope.Routine]
	row := loopRow{
		Loop: scope.Path, Routine: s.Scopes.Scopes[s.OfRoutine[scope.Routine]].Path, Depth: scope.Depth,
		File: scope.Source.File, First: scope.Source.First, Last: scope.Source.Last,
		PC:          fmt.Sprintf("%#x", r.Blocks[r.Loops[scope.Loops[0]].Header].PC()),
		ObjectLoops: len(scope.Loops), References: references, scope: i,
	}
	if n := len(scope.Inlined); n > 0 {
		row.Inlined = scope.Inlined[n-1].Routine
	}
	for _, l := range scope.Loops {
		row.Irreducible = row.Irreducible || r.Loops[l].Irreducible
		row.Blocks += len(r.Loops[l].Blocks)
		for _, b := range r.Loops[l].Blocks {
			row.Instructions += len(r.Blocks[b].Insts)
		}
	}
	return row
}

// referencesByScope counts the references in each scope and those inside it.
func referencesByScope(s *subject.Structure) []int {
	n := make([]int, len(s.Scopes.Scopes))
	for i := range s.Access.All {
		if ref := &s.Access.All[i]; ref.InGraph {
			n[s.Scopes.Of(ref.RoutineIndex, ref.Block)]++
		}
	}
	for i := len(n) - 1; i > 0; i-- {
		n[s.Scopes.Scopes[i].Parent] += n[i]
	}
	return n
}

// ReferenceOptions say which references a table is about.
type ReferenceOptions struct {
	// Routine keeps the references of one routine, named as in the table of
	// routines; empty: all.
	Routine string
	// Stack keeps the traffic of the calling convention and of register
	// allocation, which is left out otherwise.
	Stack bool
	// Counts, of a run, adds how often references were executed, and puts
	// those first that were most; nil: not.
	Counts *Counts
}

// References returns what is known of memory references: a row for each, by
// ascending address, or most executed first.
//
//   - routine, loop (the innermost scope, empty for none), file, line, pc
//   - kind (load, store, read-modify-write), size_bytes, float
//   - first: formula of the first location accessed, in registers as they are
//     when the routine begins, memory cells, and values that instructions leave
//   - strides: by how much it changes with an iteration of each loop, from the
//     innermost out, separated by semicolons
//   - irregular, indirect: flags of any of the strides
//   - stack: what a reference to the stack is for; empty for data
//   - group, set: references of one group share a histogram; groups of one
//     set come from one loop of the source and are added up after a run
//
// With Counts: accesses.
func References(prog *subject.Program, opt ReferenceOptions) (dataframe.DataFrame, error) {
	s, only, err := chosen(prog, opt.Counts, opt.Routine)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var rows []referenceRow
	for i := range s.Access.All {
		ref := &s.Access.All[i]
		if only >= 0 && (!ref.InGraph || ref.RoutineIndex != only) || !opt.Stack && ref.Stack != access.NotStack {
			continue
		}
		rows = append(rows, newReferenceRow(s, i))
	}
	if opt.Counts == nil {
		return frame.Of(rows), nil
	}
	type counted struct {
		referenceRow
		Accesses uint64
	}
	all := make([]counted, len(rows))
	for i, row := range rows {
		all[i] = counted{row, opt.Counts.executions(row.index)}
	}
	slices.SortStableFunc(all, func(a, b counted) int { return cmp.Compare(b.Accesses, a.Accesses) })
	accesses := make([]float64, len(all))
	for i := range all {
		rows[i], accesses[i] = all[i].referenceRow, float64(all[i].Accesses)
	}
	return frame.WithFloats(frame.Of(rows), "accesses", accesses), nil
}

type referenceRow struct {
	Routine   string `frame:"routine"`
	Loop      string `frame:"loop"`
	File      string `frame:"file"`
	Line      int    `frame:"line"`
	PC        string `frame:"pc"`
	Kind      string `frame:"kind"`
	Size      uint8  `frame:"size_bytes"`
	Float     bool   `frame:"float"`
	First     string `frame:"first"`
	Strides   string `frame:"strides"`
	Irregular bool   `frame:"irregular"`
	Indirect  bool   `frame:"indirect"`
	Stack     string `frame:"stack"`
	Group     int    `frame:"group"`
	Set       int    `frame:"set"`
	index     int
}

func newReferenceRow(s *subject.Structure, i int) referenceRow {
	ref := &s.Access.All[i]
	group := int(s.Groups.Of[i])
	row := referenceRow{
		Routine: ref.Routine, File: ref.File, Line: ref.Line, PC: fmt.Sprintf("%#x", uint64(ref.PC)),
		Kind: ref.Kind.String(), Size: ref.Size, Float: ref.Float, Stack: ref.Stack.String(),
		Group: group, Set: s.Groups.Set[group], index: i,
	}
	if !ref.InGraph {
		return row
	}
	row.Routine = s.Scopes.Scopes[s.OfRoutine[ref.RoutineIndex]].Path
	if scope := s.Scopes.Of(ref.RoutineIndex, ref.Block); s.Scopes.Scopes[scope].Kind == cfg.LoopScope {
		row.Loop = s.Scopes.Scopes[scope].Path
	}
	row.First = ref.First.String()
	var strides []string
	for _, st := range ref.Strides {
		strides = append(strides, st.String())
		row.Irregular = row.Irregular || st.Irregular
		row.Indirect = row.Indirect || st.Indirect
	}
	row.Strides = strings.Join(strides, "; ")
	return row
}

// GroupSizes returns how the references fall into groups (Figure 3 of the 2005
// paper): a row for each size of a group that occurs, with the number of
// groups of that size. The traffic of the stack is left out.
//
//   - aggregation: none (each reference for itself), loop (one histogram each
//     at run time), source loop (added up after the run)
//   - references: in a group; groups: that have so many
func GroupSizes(prog *subject.Program) dataframe.DataFrame {
	type row struct {
		Aggregation string `frame:"aggregation"`
		References  int    `frame:"references"`
		Groups      int    `frame:"groups"`
	}
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
	rows := []row{{"none", 1, alone}}
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
		for _, n := range num.Keys(of) {
			rows = append(rows, row{a.name, n, of[n]})
		}
	}
	return frame.Of(rows)
}

// MixOptions say how instructions are counted.
type MixOptions struct {
	// By is the scope: ByProgram (the default), ByRoutine, ByLoop.
	By subject.Scope
	// Counts, of a run, counts executed instructions beside those in the code,
	// and puts the scopes first that executed the most; nil: not.
	Counts *Counts
	// Inclusive counts the instructions of a loop in the loops around it, too.
	Inclusive bool
}

// InstructionMix counts instructions by class, loads and stores by width: a
// row for each scope and class that occurs in it.
//
//   - scope, class, group (integer, fp, load, store, branch, other)
//   - size_bytes: of the memory operand, 0 for none
//   - instructions: in the code
//
// With Counts: executed_instructions, and their share of the scope's.
func InstructionMix(prog *subject.Program, opt MixOptions) (dataframe.DataFrame, error) {
	s := prog.Structure()
	if opt.Counts != nil {
		s = opt.Counts.structure
	}
	if opt.By == "" {
		opt.By = subject.ByProgram
	}
	kind, ok := map[subject.Scope]cfg.ScopeKind{subject.ByProgram: cfg.ProgramScope, subject.ByRoutine: cfg.RoutineScope, subject.ByLoop: cfg.LoopScope}[opt.By]
	if !ok {
		return dataframe.DataFrame{}, fmt.Errorf("perf: instruction mix by %q: want %s, %s or %s", opt.By, subject.ByProgram, subject.ByRoutine, subject.ByLoop)
	}
	var counts *cfg.Counts
	if opt.Counts != nil {
		counts = opt.Counts.Recovered
	}
	mixes := s.Scopes.Mixes(counts, opt.Inclusive || opt.By != subject.ByLoop)
	var rows []mixRow
	for i, mix := range mixes {
		if s.Scopes.Scopes[i].Kind != kind {
			continue
		}
		name := s.Scopes.Scopes[i].Path
		if kind == cfg.ProgramScope {
			name = prog.Name
		}
		rows = append(rows, mixRows(name, mix)...)
	}
	if opt.Counts == nil {
		return frame.Of(rows).Drop([]string{"executed_instructions", "share"}), nil
	}
	slices.SortStableFunc(rows, func(a, b mixRow) int { return cmp.Compare(b.total, a.total) })
	return frame.Of(rows), nil
}

type mixRow struct {
	Scope        string  `frame:"scope"`
	Class        string  `frame:"class"`
	Group        string  `frame:"group"`
	Size         uint8   `frame:"size_bytes"`
	Instructions uint64  `frame:"instructions"`
	Executed     uint64  `frame:"executed_instructions"`
	Share        float64 `frame:"share"`
	total        uint64
}

// mixRows returns the kinds of instructions of a scope by class and size.
func mixRows(scope string, m cfg.Mix) []mixRow {
	total := m.Total().Executed
	kinds := make([]cfg.Kind, 0, len(m))
	for k := range m {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b cfg.Kind) int { return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Size, b.Size)) })
	var rows []mixRow
	for _, k := range kinds {
		n := m[k]
		rows = append(rows, mixRow{
			Scope: scope, Class: k.Class.String(), Group: cfg.GroupOf(k.Class).String(), Size: k.Size,
			Instructions: n.Static, Executed: n.Executed, Share: num.Ratio(float64(n.Executed), float64(total)), total: total,
		})
	}
	return rows
}
