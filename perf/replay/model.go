package replay

import (
	"context"
	"fmt"
	"slices"

	"presage/perf/access"
	"presage/perf/trace"
)

// Model predicts traces at sizes that were not run. It fits the runs anew for each
// residue class, when a size asks for it. Several goroutines may use one, and several
// Models the same runs, which none of them changes.
type Model struct {
	code  *Code
	sizes []int64
	runs  []*Run

	turn  chan struct{}      // full while somebody fits, who alone touches what follows
	fits  map[string]*fitted // by the sizes that they are to: those of residue classes may be the same
	bends *bendings

	elsewhere []trace.RefID // references that are also executed where nothing is followed

	all  *Program // fitted to all sizes
	gaps []gap    // by place of it

	// Of code, if it is the executable of a size; set before the Model is shared.
	objects []Object
	builtAt int64            // that size
	says    *access.Analysis // nil: nothing
}

// fitted is a fit with its verification.
type fitted struct {
	prog   *Program
	doubts []doubt   // by place, from verification
	total  uint64    // accesses of the largest run
	sure   uint64    // of places without doubts
	most   []int64   // by place: the largest of Outcome.most
	starts []float64 // see Verdict
	turns  []int     // by place: how often the way changes from one size to the next
	ends   []float64
	work   []uint64 // by place: executions and accesses in the largest run
	bends  []bool   // by place: something in it may be the least or greatest of several functions
}

// goodShare is the share of the accesses from which on a fit is not tried to be
// improved by leaving out sizes: the start and the end of a program are
// seldom regular.
const goodShare = 0.99

// minSizes is the least number of sizes of a residue class from which a Model fits:
// a constant, two sizes to spare, and one that is left out.
const minSizes = 4

// NewModel returns the model of runs at sizes, which ascend. Runs of other executables,
// compiled for a size each, are translated to code first: see Code.Translate.
func NewModel(code *Code, sizes []int64, runs []*Run) (*Model, error) {
	if len(sizes) != len(runs) || len(sizes) < minSizes {
		return nil, refuse("%d sizes with %d runs; at least %d sizes are needed, and 6 to 8 are better", len(sizes), len(runs), minSizes)
	}
	for i := range sizes[1:] {
		if sizes[i+1] <= sizes[i] {
			return nil, refuse("sizes %d and %d do not ascend", sizes[i], sizes[i+1])
		}
	}
	var other []trace.RefID
	for _, r := range runs {
		other = append(other, r.Elsewhere...)
	}
	slices.Sort(other)
	return &Model{code: code, sizes: sizes, runs: runs, elsewhere: slices.Compact(other), turn: make(chan struct{}, 1), fits: make(map[string]*fitted), bends: newBendings()}, nil
}

// BuiltFor says that the code is that of an executable compiled for size n, so that
// variables lie there, at this size, where its symbol table says. What its static analysis
// says about addresses and branches need not be shown by the start of a run; with nil,
// all is to be shown. It is called before At.
func (m *Model) BuiltFor(n int64, says *access.Analysis) error {
	objects, err := m.code.objects()
	m.objects, m.builtAt, m.says = objects, n, says
	return err
}

// At returns the program at size n, from the fit to all sizes or, if the replay of
// some of these then differs from the runs, to those of n's residue class modulo 2, 4
// or 8, or to all but the smallest: whichever explains most of the largest
// run's accesses, first the simplest.
func (m *Model) At(ctx context.Context, n int64) (*Instance, error) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var best *fitted
	var in *Instance
	share := 0.0
	for _, some := range m.choices(n) {
		if share >= goodShare {
			break
		}
		f, err := m.fit(ctx, some)
		if err != nil {
			return nil, err
		}
		at, err := f.prog.At(m.code, n)
		if err != nil {
			return nil, err
		}
		if s := f.share(at); best == nil || s > share {
			best, in, share = f, at, s
		}
	}
	for i := range in.doubts {
		in.doubts[i] |= best.doubts[i]
		in.doubts[i] |= in.ownDoubts(i)
	}
	switch {
	case m.objects != nil && m.builtAt == n:
		in.own, in.says = true, m.says
		in.objects = m.objects
		in.placeObjects(m.runs[len(m.runs)-1].Loaded)
	case apart(m.runs):
		in.trustStack()
	}
	in.overlaps = newOverlaps(m.code, best)
	in.gaps, in.trained, in.ends, in.fitted = m.gapsOf(best.prog), m.sizes, best.ends, best
	in.starts, in.elsewhere = best.starts, m.elsewhere
	in.doubtTurns()
	if newBits(n, best.prog.Sizes) != 0 {
		s := residues{m.code, make(map[int]bool)}
		for i := range in.doubts {
			if s.inContext(best.prog.Contexts, &best.prog.Places[i]) {
				in.doubts[i] |= otherClass | control
			}
		}
	}
	return in, nil
}

// gapsOf returns the gaps by place of a fit; those of all runs, as what some size
// did is known.
func (m *Model) gapsOf(p *Program) []gap {
	if m.gaps == nil {
		m.gaps = newWays(m.code, m.all).gaps()
	}
	if p == m.all {
		return m.gaps
	}
	at := make(map[placeKey]int)
	for i := range m.all.Places {
		at[placeKey{m.all.Places[i].Context, m.all.Places[i].Block}] = i
	}
	contexts := m.all.contextsOf(p)
	out := make([]gap, len(p.Places))
	for i := range out {
		out[i] = m.gaps[at[placeKey{contexts[p.Places[i].Context], p.Places[i].Block}]]
	}
	return out
}

// share returns the share of the largest run's accesses that a fit explains, and of which it
// is known at a size how they are come to: not those after a place that goes one way in each
// run, and comes too late for a run at the size to show which. If only larger sizes go another
// way, it is the size and not its residue class that decides, as far as anyone can tell.
func (f *fitted) share(at *Instance) float64 {
	share := float64(f.sure) / float64(max(1, f.total))
	for i := range at.places {
		if at.heap.holds(i) { // nothing else follows from which way that is
			continue
		}
		if at.places[i].oneWay && f.turns[i] > 1 && f.starts[i] >= patience && f.starts[i] < 1 {
			share = min(share, f.starts[i])
		}
	}
	return share
}

// choices returns the runs, by index, that a size may be replayed by, all of them first:
// those of its residue classes, and, of a size beyond, all but the smallest, at which loops
// may not be entered, or memory lie, as at any other.
func (m *Model) choices(n int64) (list [][]int) {
	for modulus := int64(1); modulus <= 8; modulus *= 2 {
		var some []int
		for i, size := range m.sizes {
			if (size-n)%modulus == 0 {
				some = append(some, i)
			}
		}
		if len(some) >= minSizes {
			list = append(list, some)
		}
	}
	if n > m.sizes[len(m.sizes)-1] && len(m.sizes)-1 > minSizes {
		some := make([]int, len(m.sizes)-1)
		for i := range some {
			some[i] = i + 1
		}
		list = append(list, some)
	}
	return list
}

// fit returns the verified fit to some runs.
func (m *Model) fit(ctx context.Context, some []int) (*fitted, error) {
	sizes, runs := make([]int64, len(some)), make([]*Run, len(some))
	for k, i := range some {
		sizes[k], runs[k] = m.sizes[i], m.runs[i]
	}
	key := fmt.Sprint(sizes)
	if f := m.fits[key]; f != nil {
		return f, nil
	}
	f, err := m.verified(ctx, sizes, runs)
	if err != nil {
		return nil, err
	}
	m.fits[key] = f
	if len(some) == len(m.sizes) {
		m.all = f.prog
	}
	return f, nil
}

// verified fits runs, and replays the sizes: the largest one from a fit without it,
// too.
func (m *Model) verified(ctx context.Context, sizes []int64, runs []*Run) (*fitted, error) {
	prog, err := m.bends.fit(m.code, sizes, runs)
	if err != nil {
		return nil, err
	}
	f := &fitted{prog: prog, doubts: make([]doubt, len(prog.Places)), most: make([]int64, len(prog.Places))}
	for i, n := range sizes {
		v, err := prog.Verify(ctx, m.code, n, runs[i])
		if err != nil {
			return nil, err
		}
		for j := range f.doubts {
			f.doubts[j] |= v.doubtsOf(j, failsTraining)
			f.most[j] = max(f.most[j], v.most[j])
		}
		f.starts, f.ends = v.starts, v.ends
	}
	if f.turns, err = prog.turns(m.code, runs); err != nil {
		return nil, err
	}
	last := len(sizes) - 1
	if err := m.holdOut(ctx, f, sizes[:last], runs[:last], sizes[last], runs[last]); err != nil {
		return nil, err
	}
	here, err := prog.locate(m.code, runs[last])
	if err != nil {
		return nil, err
	}
	f.work, f.bends = make([]uint64, len(here)), make([]bool, len(here))
	for i, p := range here {
		if p == nil {
			continue
		}
		f.work[i], f.bends[i] = p.Count*uint64(1+len(p.Refs)), p.bends()
		f.total += p.Count * uint64(len(p.Refs))
		if !f.doubts[i].access().any() {
			f.sure += p.Count * uint64(len(p.Refs))
		}
	}
	return f, nil
}

// holdOut adds the doubts that the replay of a size brings that was left out of a
// fit.
func (m *Model) holdOut(ctx context.Context, f *fitted, sizes []int64, runs []*Run, n int64, run *Run) error {
	prog, err := m.bends.fit(m.code, sizes, runs)
	if err != nil {
		return err
	}
	v, err := prog.Verify(ctx, m.code, n, run)
	if err != nil {
		return err
	}
	at := make(map[placeKey]int)
	contexts := f.prog.contextsOf(prog)
	for i := range prog.Places {
		at[placeKey{contexts[prog.Places[i].Context], prog.Places[i].Block}] = i
	}
	for i := range f.prog.Places {
		k, ok := at[placeKey{f.prog.Places[i].Context, f.prog.Places[i].Block}]
		if !ok {
			f.doubts[i] |= failsHeldOut // only the largest run has been there
			continue
		}
		f.doubts[i] |= v.doubtsOf(k, failsHeldOut)
	}
	return nil
}

// contextsOf returns the contexts of p that those of another fit are, -1 for none.
func (p *Program) contextsOf(o *Program) []int32 {
	known := make(map[Context]int32)
	for i, c := range p.Contexts {
		known[c] = int32(i)
	}
	out := make([]int32, len(o.Contexts))
	for i, c := range o.Contexts {
		if i == 0 {
			continue
		}
		c.Parent = out[c.Parent]
		k, ok := known[c]
		if !ok {
			k = -1
		}
		out[i] = k
	}
	return out
}

// doubtsOf returns d if the verdict on place i is not that all was the same.
func (v *Verdict) doubtsOf(i int, d doubt) doubt {
	if !v.Counts[i] {
		return d | control
	}
	for _, same := range v.Refs[i] {
		if !same && !v.Next[i] {
			return d | control
		}
		if !same {
			return d
		}
	}
	if !v.Next[i] {
		return otherWays | control
	}
	return 0
}

// ownDoubts returns the doubts about place i that do not depend on the replay.
func (in *Instance) ownDoubts(i int) doubt {
	var d doubt
	l := &in.places[i]
	if !l.exact {
		d |= fewSizes
	}
	if !l.sureBranch {
		d |= fewBounds | control
	}
	for j := range l.refs {
		if l.refs[j].kind == irregular {
			d |= drawnAddress
		}
	}
	if l.choice == chance {
		d |= drawnBranch | control
	}
	return d
}
