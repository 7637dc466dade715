package sched

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"presage/perf/access"
	"presage/perf/isa"
)

// ErrUndescribed warns that instructions of a class missing from the core's
// description were executed.
var ErrUndescribed = errors.New("class of instructions that the core does not describe")

// ErrUnsettled warns that many cycles are spent in paths whose executions did not
// settle to a constant time, so that their time is an average.
var ErrUnsettled = errors.New("paths did not settle")

// Result is the time of a program, in cycles, and where it goes.
type Result struct {
	Cycles       float64
	Instructions float64 // executed
	Routines     []RoutineCost
	Paths        []PathCost // by routine, in it as Paths has them; each has a block

	UnitNames []string  // kinds of units of the core
	Units     []float64 // by kind, cycles for which units were occupied
	Warnings  []error   // of kinds ErrUndescribed, ErrUnsettled
}

// RoutineCost is the time of a routine, without its callees.
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

// Program schedules all executed code of a program, with one worker per processor.
// Further calls for the same program, with other frequencies, take a fraction of
// the time of the first.
func (s *Scheduler) Program(ctx context.Context, a *access.Analysis, f *Frequencies) (*Result, error) {
	if err := f.check(a.Program); err != nil {
		return nil, err
	}
	n := len(a.Program.Routines)
	if s.known.of != a {
		*s.known = known{of: a, segments: make([]map[string]*Segment, n)}
	}
	out := &Result{Routines: make([]RoutineCost, n), UnitNames: s.core.names, Units: make([]float64, len(s.core.names))}
	paths := make([][]PathCost, n)
	if err := s.each(ctx, n, func(w *Scheduler, i int) {
		paths[i] = w.routine(a, i, &f.Routines[i], &out.Routines[i])
	}); err != nil {
		return nil, err
	}
	unknown := make([]float64, len(isa.Classes()))
	for i := range paths {
		out.Paths = append(out.Paths, paths[i]...)
		c := &out.Routines[i]
		out.Cycles += c.Cycles
		out.Instructions += c.Instructions
		for k, n := range c.Units {
			out.Units[k] += n
		}
		s.undescribed(a, i, &f.Routines[i], unknown)
	}
	for _, class := range isa.Classes() {
		if n := unknown[class]; n > 0 {
			out.Warnings = append(out.Warnings, fmt.Errorf("sched: %v: %w: %.4g executed, %.2g of all, taken for one cycle on no unit", class, ErrUndescribed, n, n/out.Instructions))
		}
	}
	if n := out.unsettled(); n > doubtful*out.Cycles {
		out.Warnings = append(out.Warnings, fmt.Errorf("sched: %w: of %.2g of the cycles", ErrUnsettled, n/out.Cycles))
	}
	return out, nil
}

// doubtful is the share of all cycles above which doubtful cycles make the total
// doubtful.
const doubtful = 0.1

// unsettled returns the cycles of segments whose time is an average.
func (r *Result) unsettled() float64 {
	sum := 0.0
	for i := range r.Paths {
		for _, g := range r.Paths[i].Segments {
			if g.Slots == nil && g.Period == 0 {
				sum += g.Cycles * r.Paths[i].Frequency
			}
		}
	}
	return sum
}

// each calls do for 0 to n-1, with one scheduler per worker.
func (s *Scheduler) each(ctx context.Context, n int, do func(*Scheduler, int)) error {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			w := s.clone()
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				do(w, int(i))
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// routine schedules the paths of a routine, and adds up what they cost.
func (s *Scheduler) routine(a *access.Analysis, routine int, f *RoutineFrequencies, cost *RoutineCost) []PathCost {
	r := a.Program.Routines[routine]
	cost.Loops = make([]LoopCost, len(r.Loops))
	// A path that goes from one inner loop to the next executes nothing itself.
	paths := slices.DeleteFunc(Paths(r, routine, f, s.opt.Paths), func(p Path) bool { return len(p.Blocks()) == 0 })
	if len(paths) == 0 {
		return nil
	}
	cost.Units = make([]float64, len(s.core.names))
	for l := range cost.Loops {
		cost.Loops[l].Units = make([]float64, len(s.core.names))
	}
	if s.known.segments[routine] == nil { // no other worker is at this routine
		s.known.segments[routine] = make(map[string]*Segment)
	}
	known := s.known.segments[routine]
	list := make([]PathCost, len(paths))
	for i := range paths {
		p := &list[i]
		p.Path, p.Instructions = paths[i], paths[i].Instructions(r)
		p.Segments = s.segments(a, &p.Path, known)
		for _, seg := range p.Segments {
			p.Cycles += seg.Cycles
		}
	}
	s.overlapEntries(r, list)
	for i := range list {
		p := &list[i]
		cost.Cycles += p.Total()
		cost.Instructions += p.Frequency * float64(p.Instructions)
		p.occupy(cost.Units)
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
	return list
}

// occupy adds the path's use of units.
func (p *PathCost) occupy(units []float64) {
	for _, seg := range p.Segments {
		for k, n := range seg.Units {
			units[k] += n * p.Frequency
		}
	}
}

// undescribed counts the executed instructions of undescribed classes.
func (s *Scheduler) undescribed(a *access.Analysis, routine int, f *RoutineFrequencies, counts []float64) {
	r := a.Program.Routines[routine]
	var micros [isa.MaxMicros]isa.Micro
	for b, n := range f.Blocks {
		if n == 0 {
			continue
		}
		for i := range r.Blocks[b].Insts {
			for _, m := range r.Blocks[b].Insts[i].Micros(micros[:0]) {
				if !s.core.timings[m.Class].described {
					counts[m.Class] += n
				}
			}
		}
	}
}
