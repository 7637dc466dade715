package locality

import (
	"fmt"
	"slices"

	"presage/perf/allocation"
	"presage/perf/reuse"
	"presage/perf/subject"
	"presage/perf/trace"
)

// CarriedPart is the part of a group's accesses in one run to one object whose
// reuses one loop carries, after accesses of one scope.
type CarriedPart struct {
	Group   Group
	Own     trace.GroupID // of Group, in the run
	Object  string
	Loop    Place // that carries the reuses; -1: none
	Source  Place // whose access to the block came before; -1: cold accesses
	Crosses bool  // see reuse.Carried

	Histogram *reuse.Histogram // must not be changed
}

// CarriedParts returns the parts of a run's accesses, whose histograms add up to
// those of the run. The error wraps ErrNoCarriers if it was profiled without.
func (r *Runs) CarriedParts(i int, blockBytes uint64) ([]CarriedPart, error) {
	run := &r.Runs[i]
	switch run.Recorded.Carriers {
	case carriersVersion:
	case 0:
		return nil, fmt.Errorf("perf: %s: %w: profile with the option Carriers (presage profile --carriers)", run.Point, ErrNoCarriers)
	default:
		return nil, fmt.Errorf("perf: %s: %w as this version finds them: profile again", run.Point, ErrNoCarriers)
	}
	c, err := r.Common()
	if err != nil {
		return nil, err
	}
	res, err := run.At(blockBytes)
	if err != nil {
		return nil, err
	}
	plan, err := planOf(run.Program, run.Recorded.Stack)
	if err != nil {
		return nil, err
	}
	by, err := classification(run.Program, plan)
	if err != nil {
		return nil, err
	}
	shared := make([]Group, len(res.Groups))
	for g := range c.All() {
		for _, own := range c.OfRun(i, g) {
			if int(own) < len(shared) {
				shared[own] = g
			}
		}
	}
	parts := make([]CarriedPart, len(res.Carried))
	for k := range res.Carried {
		x := &res.Carried[k]
		parts[k] = CarriedPart{
			Group: shared[x.Group], Own: x.Group, Object: by.NameIn(res.Memory, x.Object, x.Birth), Loop: c.placeOfScope(i, x.Loop), Source: c.placeOfScope(i, x.Source),
			Crosses: x.Crosses, Histogram: &x.Histogram,
		}
	}
	return parts, nil
}

// Classification is what it takes to classify the accesses of a program's run by
// carrier, object and source (reuse.NewClassifier). Loops and sources are numbered
// by the scopes of the program's Structure.
type Classification struct {
	Plan    *trace.Plan // of all references, with the blocks that tell loops
	Options reuse.Options
	Objects []Object // by number
	Births  []string // by number: lines of the source, or routines

	program *subject.Program
}

// Memory returns what tells objects by the changes of a run's memory, for
// Options.Memory of one collector; nil if the engine does not tell of them. Objects
// then has nothing.
func (c *Classification) Memory() *allocation.Table {
	if c.Plan.Memory == nil {
		return nil
	}
	return allocation.New(c.program.File)
}

// NameIn names the object of a reuse.Carried: a variable, "alloc kernel.c:12" for what
// line 12 allocated, heap@kernel.c:17 for what line 17 was the first to access, or
// OtherObject. Names are those that the run's memory told of.
func (c *Classification) NameIn(names []string, object, birth int32) string {
	switch at := int(object) - len(c.Objects); {
	case object < 0:
		return OtherObject
	case at >= 0 && at < len(names):
		return names[at]
	case at >= 0:
		return OtherObject // of results that were changed by hand
	case birth < 0:
		return c.Objects[object].Name
	}
	return c.Objects[object].Name + "@" + c.Births[birth]
}

// Object is a variable or region of a program, in the addresses of traces.
type Object struct {
	Name     string
	Lo, Hi   uint64 // from Lo to below Hi
	Variable bool   // not a region, and not what a section holds beside variables
}

// ClassificationOf returns that of a program.
func ClassificationOf(prog *subject.Program) (*Classification, error) {
	plan, err := prog.Plan()
	if err != nil {
		return nil, err
	}
	return classification(prog, plan)
}

// classification is ClassificationOf for a plan of some references.
func classification(prog *subject.Program, plan *trace.Plan) (*Classification, error) {
	withBlocks, nest, err := withNest(prog, plan)
	if err != nil {
		return nil, err
	}
	table, err := objectTable(prog)
	if err != nil {
		return nil, err
	}
	c := &Classification{Plan: withBlocks, Options: reuse.Options{Nest: nest, Sources: sourcesOf(prog, plan)}, program: prog}
	if tells, err := prog.TellsMemory(); err != nil {
		return nil, err
	} else if tells {
		if _, err := prog.File.Variables(); err != nil {
			return nil, err // the table could not tell them
		}
		c.Plan.Memory = allocation.Plan(prog.File)
	}
	c.Options.Births, c.Births = birthsOf(prog, plan)
	for _, o := range table {
		c.Objects = append(c.Objects, Object{o.name, o.Lo, o.Hi, o.variable})
		c.Options.Objects = append(c.Options.Objects, o.Object)
	}
	return c, nil
}

// sourcesOf returns the scope of each reference of a plan: the innermost loop or
// routine; 0, the program, of what no control-flow graph holds.
func sourcesOf(prog *subject.Program, plan *trace.Plan) []int32 {
	s := prog.Structure()
	at := make(map[trace.PC]int32)
	for _, r := range prog.References() {
		if r.InGraph {
			at[r.PC] = int32(s.Scopes.Of(r.RoutineIndex, r.Block))
		}
	}
	of := make([]int32, len(plan.Refs))
	for i := range plan.Refs {
		of[i] = at[plan.Refs[i].PC]
	}
	return of
}

// NameAt names the object at an address, in a block that a reference of the plan was the
// first to access.
func (c *Classification) NameAt(addr uint64, first trace.RefID) string {
	i := slices.IndexFunc(c.Objects, func(o Object) bool { return o.Lo <= addr && addr < o.Hi })
	if i >= 0 && c.Options.Objects[i].ByBirth {
		return c.NameIn(nil, int32(i), c.Options.Births[first])
	}
	return c.NameIn(nil, int32(i), reuse.NoBirth)
}
