// Package annotate puts what a run costs beside the lines of the source: how often they
// were executed, their misses by level, what waiting for these would take, and which
// loop carries the reuses that miss. What goes in is a program, a point and a machine;
// what comes out is text, HTML, a tree of scopes, or a profile for pprof.
package annotate

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"presage/perf/anatomy"
	"presage/perf/callpath"
	"presage/perf/machine"
	"presage/perf/patterns"
	"presage/perf/predict"
	"presage/perf/subject"
)

// Options configures Simulate. The zero value is the default.
type Options struct {
	subject.RunOptions
	// Sources are folders in which the files of the source are looked for, by as much
	// of their recorded paths as is found below; nil: the current folder. No other
	// file is read.
	Sources []string
	// CallPaths finds the calls that led to each access, too, for WritePprof: one more
	// run.
	CallPaths bool
}

// Annotation is what a run costs by line, scope and reference.
type Annotation struct {
	Program  string
	Point    subject.Point
	Machine  string
	Levels   []string  // caches, then TLBs
	Latency  []float64 // of a miss beyond a hit, in cycles, by level; 0: not known
	Lines    []Line    // by file and line
	Scopes   []Scope   // the program first, each scope before those inside it
	Warnings []string

	prog    *subject.Program
	refs    []reference
	sources sources
	calls   *callpath.References // nil: not asked for
}

// Costs are those of a line or scope.
type Costs struct {
	Accesses float64
	Misses   []float64 // by level
	Wait     float64   // cycles that the misses take if none overlaps another
}

func (c *Costs) add(o *Costs) {
	c.Accesses += o.Accesses
	c.Wait += o.Wait
	if c.Misses == nil {
		c.Misses = make([]float64, len(o.Misses))
	}
	for i, n := range o.Misses {
		c.Misses[i] += n
	}
}

// Line is a line of the source that was executed or accessed memory. File is empty,
// and Line 0, for what no line is known of.
type Line struct {
	File         string
	Line         int
	Executions   uint64 // as in anatomy.LineCount
	Instructions uint64
	Costs
	Most     patterns.Pattern // with the longest wait, or, without latencies, most misses
	MostWait float64          // of Most, in cycles or misses
}

// Scope is a routine or loop with its costs: by itself, and with the loops in it.
type Scope struct {
	Name  string // as tables call it; the program's for the first
	Label string // the last part of it
	Depth int    // 0: the program
	Own   Costs
	All   Costs
}

// reference is a memory reference that was executed.
type reference struct {
	ref   subject.Ref
	scope string
	Costs
}

// Simulate runs prog at a point, simulates the machine on it and counts how often its
// lines are executed. Both are kept in the store.
func Simulate(ctx context.Context, prog *subject.Program, m *machine.Machine, point subject.Point, opt Options) (*Annotation, error) {
	loaded, err := prog.At(ctx, point, opt.RunOptions)
	if err != nil {
		return nil, err
	}
	prog = loaded.Program
	found, err := patterns.SimulateReferences(ctx, prog, m, point, opt.RunOptions)
	if err != nil {
		return nil, err
	}
	counts, err := anatomy.Count(ctx, prog, point, opt.RunOptions)
	if err != nil {
		return nil, err
	}
	a := &Annotation{
		Program: prog.Name, Point: point, Machine: m.Name, Levels: found.Levels, Latency: make([]float64, len(found.Levels)), prog: prog,
		Warnings: slices.Compact(slices.Concat(found.Warnings, counts.Warnings)), sources: newSources(opt.Sources),
	}
	penalties, warnings := predict.Penalties(m)
	a.Warnings = append(a.Warnings, warnings...)
	for _, p := range penalties {
		if i := slices.Index(a.Levels, p.Level); i >= 0 {
			a.Latency[i] = p.Latency
		}
	}
	a.collect(found)
	a.lines(found, counts.Lines())
	a.scopes()
	if opt.CallPaths {
		if a.calls, err = callpath.SimulateReferences(ctx, loaded, m, point, opt.RunOptions); err != nil {
			return nil, err
		}
		a.Warnings = append(a.Warnings, a.calls.Warnings...)
		slices.Sort(a.Warnings)
		a.Warnings = slices.Compact(a.Warnings)
	}
	return a, nil
}

// collect sums parts by reference.
func (a *Annotation) collect(found *patterns.References) {
	at := make(map[subject.Ref]*reference)
	for i := range found.Parts {
		p := &found.Parts[i]
		r := at[p.Ref]
		if r == nil {
			r = &reference{ref: p.Ref, scope: p.Pattern.Scope}
			at[p.Ref] = r
		}
		r.add(a.costs(p))
	}
	for _, ref := range slices.Sorted(maps.Keys(at)) {
		a.refs = append(a.refs, *at[ref])
	}
}

// costs returns those of a part. Accesses are counted at the first level, which sees
// them all.
func (a *Annotation) costs(p *patterns.ReferencePart) *Costs {
	c := &Costs{Misses: make([]float64, len(a.Levels))}
	if p.Level == 0 {
		c.Accesses = float64(p.Accesses)
	}
	c.Misses[p.Level] = float64(p.Misses)
	c.Wait = a.Latency[p.Level] * float64(p.Misses)
	return c
}

// place is a line of the source.
type place struct {
	file string
	line int
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.file, q.file), cmp.Compare(p.line, q.line))
}

func (a *Annotation) placeOf(ref subject.Ref) place {
	r := &a.prog.References()[ref]
	if r.Line <= 0 {
		return place{}
	}
	return place{r.File, r.Line}
}

// lines sums references and counts by line.
func (a *Annotation) lines(found *patterns.References, counts []anatomy.LineCount) {
	at := make(map[place]*Line)
	line := func(p place) *Line {
		l := at[p]
		if l == nil {
			l = &Line{File: p.file, Line: p.line, Costs: Costs{Misses: make([]float64, len(a.Levels))}}
			at[p] = l
		}
		return l
	}
	for i := range counts {
		l := line(place{counts[i].File, counts[i].Line})
		l.Executions, l.Instructions = counts[i].Executions, counts[i].Instructions
	}
	for i := range a.refs {
		line(a.placeOf(a.refs[i].ref)).add(&a.refs[i].Costs)
	}
	a.most(found, line)
	for _, p := range slices.SortedFunc(maps.Keys(at), place.compare) {
		a.Lines = append(a.Lines, *at[p])
	}
}

// most sets the pattern of each line that costs most.
func (a *Annotation) most(found *patterns.References, line func(place) *Line) {
	type at struct {
		place
		patterns.Pattern
	}
	known := slices.ContainsFunc(a.Latency, func(l float64) bool { return l > 0 })
	waits := make(map[at]float64)
	var order []at
	for i := range found.Parts {
		p := &found.Parts[i]
		key := at{a.placeOf(p.Ref), p.Pattern}
		wait := float64(p.Misses)
		if known {
			wait *= a.Latency[p.Level]
		}
		if _, ok := waits[key]; !ok {
			order = append(order, key)
		}
		waits[key] += wait
	}
	for _, key := range order {
		if l := line(key.place); waits[key] > l.MostWait {
			l.Most, l.MostWait = key.Pattern, waits[key]
		}
	}
}

// scopes builds the tree of scopes from those of the references.
func (a *Annotation) scopes() {
	at := map[string]*Scope{"": {Name: a.Program, Label: a.Program}}
	for i := range a.refs {
		r := &a.refs[i]
		name := ""
		at[name].All.add(&r.Costs)
		for k, part := range patterns.Nest(r.scope) {
			if k > 0 {
				name += "/"
			}
			name += part
			if at[name] == nil {
				at[name] = &Scope{Name: name, Label: part, Depth: k + 1}
			}
			at[name].All.add(&r.Costs)
		}
		at[name].Own.add(&r.Costs)
	}
	children := make(map[string][]string)
	for name := range at {
		if name != "" {
			list := patterns.Nest(name)
			parent := strings.Join(list[:len(list)-1], "/")
			children[parent] = append(children[parent], name)
		}
	}
	var walk func(name string)
	walk = func(name string) {
		s := at[name]
		if s.Own.Misses == nil {
			s.Own.Misses = make([]float64, len(a.Levels))
		}
		a.Scopes = append(a.Scopes, *s)
		slices.SortFunc(children[name], func(x, y string) int {
			return cmp.Or(-cmp.Compare(at[x].All.Wait, at[y].All.Wait), -cmp.Compare(at[x].All.Misses[0], at[y].All.Misses[0]), cmp.Compare(x, y))
		})
		for _, child := range children[name] {
			walk(child)
		}
	}
	if len(a.refs) > 0 {
		walk("")
	}
}
