package patterns

import (
	"context"
	"slices"

	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/subject"
	"presage/perf/trace"
)

// References are the misses of each memory reference of a program, as simulated at a
// point.
type References struct {
	Levels   []string // caches, then TLBs
	Parts    []ReferencePart
	Warnings []string
}

// ReferencePart is what one reference has of a pattern at a level.
type ReferencePart struct {
	Ref      subject.Ref
	Level    int // index in References.Levels
	Pattern  Pattern
	Accesses uint64
	Misses   uint64
	Conflict uint64 // as in Simulated
}

// SimulateReferences is Simulate for each reference, at one point. Parts are in no
// particular order, but the same in each call.
func SimulateReferences(ctx context.Context, prog *subject.Program, m *machine.Machine, point subject.Point, opt subject.RunOptions) (*References, error) {
	by, err := locality.ClassificationOf(prog)
	if err != nil {
		return nil, err
	}
	plan := *by.Plan
	plan.Refs = slices.Clone(plan.Refs)
	for i := range plan.Refs {
		plan.Refs[i].Group = trace.GroupID(i) // Plan numbers references as References does
	}
	by.Plan = &plan
	in, err := prog.Inputs(point, opt)
	if err != nil {
		return nil, err
	}
	res, err := simulateStep(ctx, subject.Loaded{Program: prog, Inputs: in}, subject.Step{Options: &opt, Point: point, Total: 1}, by, m.Hierarchy(), nil)
	if err != nil {
		return nil, err
	}
	opt.Progress.Finish(1)
	r := simulated{prog: prog, program: prog.Name, by: subject.ByLoop, result: res}
	out := &References{Warnings: res.Facts.Warnings}
	for i := range res.Levels {
		l := &res.Levels[i]
		out.Levels = append(out.Levels, l.Name)
		for k := range l.Classes {
			x := &l.Classes[k]
			ref := subject.Ref(x.Group)
			out.Parts = append(out.Parts, ReferencePart{
				Ref: ref, Level: i,
				Pattern:  Pattern{prog.ScopeOf(subject.ByLoop, ref), r.scopeName(subject.ByLoop, x.Source), r.scopeName(subject.ByLoop, x.Loop), x.Crosses, x.Object},
				Accesses: x.Accesses, Misses: x.Counts.Misses, Conflict: x.Counts.Conflict,
			})
		}
	}
	return out, nil
}
