package sched

import (
	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/machine"
)

// Branches says how a core predicts the conditional branches of a program, estimated
// from the frequencies of their two directions and from what they depend on.
type Branches struct {
	// Wrong is the share of the executions of each edge in which the branch is
	// mispredicted, by routine and edge.
	Wrong [][]float64

	// Counted reports, by routine and loop, that no branch out of the loop depends on
	// data that it walks over: it makes about as many trips each time.
	Counted [][]bool
}

// PredictBranches estimates the mispredictions of each branch.
//
// A branch that depends on data (on what a load brings whose address changes from one
// iteration to the next) is taken to be drawn at random. A two-bit counter that sees a
// direction with the odds r is in its four states with the odds 1 : r : r² : r³.
// History does not help.
//
// For any other branch a counter, with history or without, mispredicts the rarer
// direction: of a loop's exit once for each time the loop is executed. The exit is
// foreseen if the loop makes no more iterations than machine.Branch.LoopReach or, if
// that is not known, if a predictor with history remembers all branches that are
// executed from one exit to the next, and none of them depends on data; if one does,
// the exit is as good as random, too. Of the routines that a loop calls, only those
// called from it directly are asked.
//
// A static predictor predicts backward branches taken and all others not taken.
//
// Data are seldom as random as that: the greater of two scores is often that of the cell
// before. Where seen, which may be nil, has a branch that is taken to be random, it is
// mispredicted as many times as often, or as seldom, as in the run.
func PredictBranches(core *machine.Core, a *access.Analysis, f *Frequencies, seen *SeenBranches) *Branches {
	p := &branchPredictor{core: core, analysis: a, f: f, seen: seen}
	for i := range a.Program.Routines {
		p.all = append(p.all, p.find(i))
	}
	out := &Branches{}
	for i, r := range a.Program.Routines {
		counted := make([]bool, len(r.Loops))
		for l := range counted {
			counted[l] = !p.all[i].exits[l]
		}
		out.Counted = append(out.Counted, counted)
		out.Wrong = append(out.Wrong, p.wrong(i))
	}
	return out
}

// Of returns how many branches are mispredicted in each block of a routine.
func (b *Branches) Of(routine int, r *cfg.Routine, f *RoutineFrequencies) []float64 {
	wrong := make([]float64, len(r.Blocks))
	for e, share := range b.Wrong[routine] {
		wrong[r.Edges[e].From] += f.Edges[e] * share
	}
	return wrong
}

// branchPredictor estimates the mispredictions of a program.
type branchPredictor struct {
	core     *machine.Core
	analysis *access.Analysis
	f        *Frequencies
	seen     *SeenBranches
	all      []branchFacts // by routine
}

// SeenBranches are the mispredictions that a core's predictor has in a run.
type SeenBranches struct {
	F *Frequencies // of the run
	// Wrong is the share of the executions of each conditional branch, by its address,
	// that are mispredicted, of those with enough executions to tell.
	Wrong map[uint64]float64
}

// ratio returns how many times as often as a random one a branch is mispredicted, of
// which two edges are the ways; 1 if that is not known.
func (s *SeenBranches) ratio(routine int, r *cfg.Routine, x, y int) float64 {
	if s == nil {
		return 1
	}
	seen, ok := s.Wrong[r.Blocks[r.Edges[x].From].Last().PC]
	f := s.F.Routines[routine].Edges
	if !ok || f[x] == 0 || f[y] == 0 {
		return 1
	}
	wrongX, wrongY := atRandom(f[x] / f[y])
	return seen * (f[x] + f[y]) / (f[x]*wrongX + f[y]*wrongY)
}

// atRandom returns which shares of two directions that are drawn at random a two-bit
// counter mispredicts, if the first is taken so many times as often as the second.
func atRandom(odds float64) (x, y float64) {
	sum := 1 + odds + odds*odds + odds*odds*odds
	return (1 + odds) / sum, (odds*odds + odds*odds*odds) / sum
}

// branchFacts are what the branches of a routine depend on.
type branchFacts struct {
	data  []bool // by block: its branch depends on data
	exits []bool // by loop: a branch that leaves it does
	noisy bool   // some branch depends on data, and goes both ways
}

// often is the share of the rarer direction from which on a branch that depends on data
// spoils the history for others.
const often = 0.02

// find finds what the branches of a routine depend on.
func (p *branchPredictor) find(routine int) branchFacts {
	r, f := p.analysis.Program.Routines[routine], &p.f.Routines[routine]
	out := branchFacts{data: make([]bool, len(r.Blocks)), exits: make([]bool, len(r.Loops))}
	if cost, _ := p.core.Mispredict(); cost == 0 && p.core.Branch.Predictor != "static" {
		return out
	}
	d := dataflow{r, loadsOf(p.analysis, routine), f}
	for l := -1; l < len(r.Loops); l++ {
		if l >= 0 && f.Blocks[r.Loops[l].Header] == 0 {
			continue
		}
		for b, tainted := range d.branches(l) {
			if !tainted {
				continue
			}
			leaves := leaving(r, b)
			if leaves >= 0 && leaves != l {
				continue // an exit is judged by the data of the loop that it leaves
			}
			out.data[b] = true
			if leaves >= 0 {
				out.exits[l] = true
			}
		}
	}
	out.noisy = anyNoisy(r, f, out.data)
	return out
}

// anyNoisy reports whether one of the branches that depend on data, given by block, goes
// both ways.
func anyNoisy(r *cfg.Routine, f *RoutineFrequencies, data []bool) bool {
	for b, depends := range data {
		if !depends {
			continue
		}
		if rare, all := rarer(r, f, b); rare > often*all {
			return true
		}
	}
	return false
}

// rarer returns how often a branch takes its rarer direction, and how often it is
// executed.
func rarer(r *cfg.Routine, f *RoutineFrequencies, b int) (rare, all float64) {
	succs := r.Blocks[b].Succs
	if r.Blocks[b].Last().Class != isa.Branch || len(succs) < 2 {
		return 0, 0
	}
	n, m := f.Edges[succs[0]], f.Edges[succs[1]]
	return min(n, m), n + m
}

// wrong returns the share of each edge of a routine that is mispredicted.
func (p *branchPredictor) wrong(routine int) []float64 {
	r, f := p.analysis.Program.Routines[routine], &p.f.Routines[routine]
	wrong := make([]float64, len(r.Edges))
	if cost, _ := p.core.Mispredict(); cost == 0 {
		return wrong
	}
	for b := range r.Blocks {
		if rare, _ := rarer(r, f, b); rare == 0 && p.core.Branch.Predictor != "static" {
			continue
		}
		if r.Blocks[b].Last().Class != isa.Branch || len(r.Blocks[b].Succs) < 2 {
			continue
		}
		p.branch(routine, b, wrong)
	}
	return wrong
}

// branch sets the shares of the edges of a branch.
func (p *branchPredictor) branch(routine, b int, wrong []float64) {
	r, f := p.analysis.Program.Routines[routine], &p.f.Routines[routine]
	succs := r.Blocks[b].Succs
	x, y := succs[0], succs[1]
	if p.core.Branch.Predictor == "static" {
		for _, e := range succs[:2] {
			taken := r.Edges[e].Kind == cfg.Taken
			if back := taken && r.Blocks[r.Edges[e].To].PC() <= r.Blocks[b].Last().PC; taken && !back || !taken && p.backward(r, b) {
				wrong[e] = 1
			}
		}
		return
	}
	random := p.all[routine].data[b]
	if l := leaving(r, b); l >= 0 && !random {
		foreseen, noisy := p.foresees(routine, l, b)
		if foreseen {
			return
		}
		random = noisy
	}
	if !random {
		if f.Edges[x] > f.Edges[y] {
			x = y
		}
		wrong[x] = 1
		return
	}
	wrong[x], wrong[y] = atRandom(f.Edges[x] / f.Edges[y])
	ratio := p.seen.ratio(routine, r, x, y)
	wrong[x], wrong[y] = min(1, wrong[x]*ratio), min(1, wrong[y]*ratio)
}

// backward reports whether the branch of a block leads back if it is taken.
func (p *branchPredictor) backward(r *cfg.Routine, b int) bool {
	for _, e := range r.Blocks[b].Succs {
		if r.Edges[e].Kind == cfg.Taken {
			return r.Blocks[r.Edges[e].To].PC() <= r.Blocks[b].Last().PC
		}
	}
	return false
}

// leaving returns the innermost loop of a block if its branch may leave that, or -1.
func leaving(r *cfg.Routine, b int) int {
	l := r.Blocks[b].Loop
	if l < 0 {
		return -1
	}
	for _, e := range r.Blocks[b].Succs {
		if !r.Contains(l, r.Edges[e].To) {
			return l
		}
	}
	return -1
}

// foresees reports whether the exit of a loop in block b is foreseen; if it is not,
// whether that is because other branches depend on data.
func (p *branchPredictor) foresees(routine, loop, b int) (foreseen, noisy bool) {
	r, f := p.analysis.Program.Routines[routine], &p.f.Routines[routine]
	rare, all := rarer(r, f, b)
	branch := &p.core.Branch
	if branch.LoopReach != 0 || !branch.HasHistory() {
		return all/rare <= float64(branch.Foresees()), false
	}
	executed := 0.0
	for _, in := range r.Loops[loop].Blocks {
		rare, all := rarer(r, f, in)
		executed += all
		noisy = noisy || p.all[routine].data[in] && rare > often*all || p.callsNoisy(r, in)
	}
	return !noisy && executed/rare <= float64(branch.Foresees()), noisy
}

// callsNoisy reports whether a block calls a routine with branches that depend on data.
func (p *branchPredictor) callsNoisy(r *cfg.Routine, b int) bool {
	last := r.Blocks[b].Last()
	if last.Class != isa.Call || !last.HasTarget {
		return false
	}
	for i, callee := range p.analysis.Program.Routines {
		if callee.Addr == last.Target {
			return p.all[i].noisy
		}
	}
	return false
}
