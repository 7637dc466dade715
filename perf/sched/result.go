package sched

import (
	"context"
	"errors"
	"fmt"

	"presage/perf/access"
	"presage/perf/isa"
)

// ErrUndescribed says, as a warning, that instructions were executed of a class
// that the core's description does not have.
var ErrUndescribed = errors.New("class of instructions that the core does not describe")

// Result is the time of a program, in cycles, and where it goes.
type Result struct {
	Cycles       float64
	Instructions float64 // executed
	Routines     []RoutineCost
	Paths        []PathCost // by routine, in it as Paths has them

	UnitNames []string  // kinds of units of the core
	Units     []float64 // by kind, cycles for which units were occupied
	Warnings  []error   // among them of kind ErrUndescribed
}

// RoutineCost is the time of a routine, without what it calls.
type RoutineCost struct {
	Cycles       float64
	Instructions float64
	Units        []float64 // as Result.Units; nil if the routine was not executed
	Loops        []LoopCost
}

// LoopCost is the time of a loop of a routine's graph.
type LoopCost struct {
	Own          float64 // cycles of its own paths
	Cycles       float64 // with the loops inside it
	Instructions float64 // with the loops inside it
	Units        []float64
}

// PathCost is the time of a path.
type PathCost struct {
	Path
	Cycles       float64 // of one execution
	Instructions int     // of one execution
	Segments     []*Segment
}

// Total returns the cycles of all executions of the path.
func (p *PathCost) Total() float64 { return p.Cycles * p.Frequency }

// Program schedules all that is executed of a program.
func (s *Scheduler) Program(ctx context.Context, a *access.Analysis, f *Frequencies) (*Result, error) {
	if err := f.check(a.Program); err != nil {
		return nil, err
	}
	out := &Result{
		Routines: make([]RoutineCost, len(a.Program.Routines)), UnitNames: s.core.names,
		Units: make([]float64, len(s.core.names)),
	}
	unknown := make([]float64, len(isa.Classes()))
	for i := range a.Program.Routines {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.routine(a, i, &f.Routines[i], out)
		out.Cycles += out.Routines[i].Cycles
		out.Instructions += out.Routines[i].Instructions
		s.undescribed(a, i, &f.Routines[i], unknown)
	}
	for _, class := range isa.Classes() {
		if n := unknown[class]; n > 0 {
			out.Warnings = append(out.Warnings, fmt.Errorf("sched: %v: %w: %.4g executed, %.2g of all, taken for one cycle on no unit", class, ErrUndescribed, n, n/out.Instructions))
		}
	}
	return out, nil
}

// routine schedules the paths of a routine, and adds them to a result.
func (s *Scheduler) routine(a *access.Analysis, routine int, f *RoutineFrequencies, out *Result) {
	r := a.Program.Routines[routine]
	cost := &out.Routines[routine]
	cost.Loops = make([]LoopCost, len(r.Loops))
	paths := Paths(r, routine, f, s.opt.Paths)
	if len(paths) == 0 {
		return
	}
	cost.Units = make([]float64, len(s.core.names))
	for l := range cost.Loops {
		cost.Loops[l].Units = make([]float64, len(s.core.names))
	}
	known := make(map[string]*Segment)
	for i := range paths {
		p := PathCost{Path: paths[i], Instructions: paths[i].Instructions(r)}
		p.Segments = s.segments(a, &p.Path, known)
		for _, seg := range p.Segments {
			p.Cycles += seg.Cycles
		}
		out.Paths = append(out.Paths, p)
		out.add(&p)
		if p.Loop >= 0 {
			cost.Loops[p.Loop].Own += p.Total()
		}
		for l := p.Loop; l >= 0; l = r.Loops[l].Parent {
			in := &cost.Loops[l]
			in.Cycles += p.Total()
			in.Instructions += p.Frequency * float64(p.Instructions)
			p.occupy(in.Units)
		}
	}
}

// add adds a path to its routine and the program's units.
func (r *Result) add(p *PathCost) {
	cost := &r.Routines[p.Routine]
	cost.Cycles += p.Total()
	cost.Instructions += p.Frequency * float64(p.Instructions)
	p.occupy(cost.Units)
	p.occupy(r.Units)
}

// occupy adds the path's use of units.
func (p *PathCost) occupy(units []float64) {
	for _, seg := range p.Segments {
		for k, n := range seg.Units {
			units[k] += n * p.Frequency
		}
	}
}

// undescribed counts executed instructions of classes that are not described.
func (s *Scheduler) undescribed(a *access.Analysis, routine int, f *RoutineFrequencies, counts []float64) {
	r := a.Program.Routines[routine]
	for b, n := range f.Blocks {
		if n == 0 {
			continue
		}
		for i := range r.Blocks[b].Insts {
			if class := r.Blocks[b].Insts[i].Class; !s.core.timings[class].described {
				counts[class] += n
			}
		}
	}
}
