package replay

import "slices"

// A loop may end by numbers in memory that were stored in other loops:
//
//	for (i = count = 0; i < n; i++) {        for (i = 0; i < n; i++)
//	  first[i] = count;                        for (k = first[i]; k < first[i+1]; k++)
//	  for (j = …)                                s += a[k]*x[column[k]];
//	    if (…) column[count++] = j;
//	}
//
// How often it repeats is no function of i, but one of how often count++ had been executed as
// first[i] and first[i+1] were stored: their difference. As with addresses, see indirect, the
// numbers are never seen.

const (
	// maxNumbers is the number of loads, or pairs of loads, that are tried for a branch.
	maxNumbers = 10
	// maxPairs is the number of writers, or of pairs of them, that may have stored what is
	// compared.
	maxPairs = 16
)

// endNumbers are loads that may decide when a loop ends, with what is known of that, while a run is
// collected.
type endNumbers struct {
	loads []loadAt
	by    []ending
}

// loadAt is a load by a place of a run.
type loadAt struct {
	place *place
	ref   int
}

// ending is the number of the loop's last step, as a function of the vectors, or counts, with
// which writers stored what was loaded.
type ending struct {
	writers []int32
	last    affine
}

// RunNumbers is how a loop ends by numbers that are loaded.
type RunNumbers struct {
	Loads   []RunAt
	Endings []RunEnding
}

// RunEnding is the number of a loop's last step if the numbers were stored by some references.
type RunEnding struct {
	By   []RunAt
	Last RunAffine
}

// numbers returns the candidates for the branch at the end of a place.
func (c *Collector) numbers(p *place) (list []endNumbers) {
	var loads []loadAt
	for _, l := range c.code.comparedLoads(p.block) {
		if i, been := c.known[placeKey{p.context, l.block}]; been {
			loads = append(loads, loadAt{c.places[i], l.ref})
		}
	}
	for i := range loads {
		list = append(list, endNumbers{loads: loads[i : i+1]})
	}
	for i := range loads {
		for k := range i {
			list = append(list, endNumbers{loads: []loadAt{loads[k], loads[i]}})
		}
	}
	return list[:min(len(list), maxNumbers)]
}

// leave takes the end of the innermost loop around a place, in a step.
func (c *Collector) leave(p *place, step int64) {
	kept := p.numbers[:0]
	for _, x := range p.numbers {
		if c.memory.leave(&x, step) {
			kept = append(kept, x)
		}
	}
	p.numbers = kept
}

func (m *memory) leave(x *endNumbers, step int64) bool {
	w := m.vector[:0]
	var writers [2]int32
	for k, l := range x.loads {
		from := len(w)
		if writers[k], w = m.cells.of(l.place.refs[l.ref].at, w); writers[k] == 0 {
			return false
		}
		of := &m.writers[writers[k]-1]
		w = told(w, from, of.place.depth, len(of.counters))
	}
	m.vector = w
	by := writers[:len(x.loads)]
	k := slices.IndexFunc(x.by, func(e ending) bool { return slices.Equal(e.writers, by) })
	if k < 0 {
		if k = len(x.by); k == maxPairs {
			return false
		}
		x.by = append(x.by, ending{writers: slices.Clone(by)})
	}
	return x.by[k].last.add(w, step)
}

// told leaves, of a vector that begins at an index and the counts after it, the counts, or the
// vector if there are none.
func told(w []int64, from, depth, counts int) []int64 {
	if counts > 0 {
		return slices.Delete(w, from, from+depth)
	}
	return w
}

// keepNumbers returns what is kept of the branch at the end of a place.
func (p *place) keepNumbers(m *memory) (out []RunNumbers) {
	for _, x := range p.numbers {
		n := RunNumbers{}
		for _, l := range x.loads {
			n.Loads = append(n.Loads, RunAt{Place: l.place.index, Ref: l.ref})
		}
		for k := range x.by {
			e := RunEnding{Last: x.by[k].last.result()}
			for _, w := range x.by[k].writers {
				e.By = append(e.By, m.writers[w-1].at())
			}
			if !x.by[k].last.coarse {
				n.Endings = append(n.Endings, e)
			}
		}
		if len(n.Endings) == len(x.by) && len(x.by) > 0 {
			out = append(out, n)
		}
	}
	return out
}

// Numbers is how the innermost loop around a place ends: see numbers.
type Numbers struct {
	Loads   []PlaceRef
	Endings []Ending
	Leave   int // the way on that leaves the loop
	Stay    int // the other
}

// Ending is a RunEnding at any size.
type Ending struct {
	By   []int32 // of Program.Writers
	Last Affine
}

// fitNumbers looks for numbers by which the loop around place i ends in all runs.
func (f *fitter) fitNumbers(i int) *Numbers {
	last := -1
	for r, in := range f.in[i] {
		if in != nil {
			last = r
		}
	}
	p := &f.prog.Places[i]
	leave := slices.IndexFunc(p.Next, func(n Next) bool { return int(n.Keep) < p.Depth })
	if last < 0 || len(p.Next) != 2 || leave < 0 || int(p.Next[1-leave].Keep) < p.Depth {
		return nil
	}
	for k := range f.in[i][last].Numbers {
		runs := make([]*RunNumbers, len(f.runs))
		loads, ok := f.refsIn(last, f.in[i][last].Numbers[k].Loads)
		for r, in := range f.in[i] {
			if in != nil && ok {
				runs[r] = f.numbersIn(r, in, loads)
				ok = runs[r] != nil
			}
		}
		if !ok {
			continue
		}
		if out := f.endings(runs, loads); out != nil {
			out.Leave, out.Stay = leave, 1-leave
			return out
		}
	}
	return nil
}

// refsIn returns the references of the program that some of a run are.
func (f *fitter) refsIn(run int, list []RunAt) (out []PlaceRef, ok bool) {
	for _, at := range list {
		ref, ok := f.refIn(run, at)
		if !ok {
			return nil, false
		}
		out = append(out, ref)
	}
	return out, true
}

func (f *fitter) numbersIn(run int, in *RunPlace, loads []PlaceRef) *RunNumbers {
	for k := range in.Numbers {
		if at, ok := f.refsIn(run, in.Numbers[k].Loads); ok && slices.Equal(at, loads) {
			return &in.Numbers[k]
		}
	}
	return nil
}

// endings fits the functions of all writers; nil if one has no polynomials for slopes.
func (f *fitter) endings(runs []*RunNumbers, loads []PlaceRef) *Numbers {
	out := &Numbers{Loads: loads}
	var seen [][]PlaceRef
	for r, x := range runs {
		if x == nil {
			continue
		}
		for k := range x.Endings {
			by, ok := f.refsIn(r, x.Endings[k].By)
			if !ok || slices.ContainsFunc(seen, func(o []PlaceRef) bool { return slices.Equal(o, by) }) {
				continue
			}
			seen = append(seen, by)
			e := Ending{Last: f.affine(func(r int) *RunAffine { return f.endingIn(r, runs[r], by) }, unshifted)}
			if len(e.Last) == 0 || slices.ContainsFunc(e.Last[1:], func(k int32) bool { return !f.prog.Series[k].spares() }) {
				return nil
			}
			for _, w := range by {
				e.By = append(e.By, f.writer(w))
			}
			out.Endings = append(out.Endings, e)
		}
	}
	return out
}

// spares reports whether values are those of polynomials with sizes to spare.
func (s *Series) spares() bool {
	return !slices.ContainsFunc(s.Sizes, func(n int64) bool { return s.At(n).Spare == 0 })
}

func (f *fitter) endingIn(run int, x *RunNumbers, by []PlaceRef) *RunAffine {
	if x == nil {
		return nil
	}
	for k := range x.Endings {
		if at, ok := f.refsIn(run, x.Endings[k].By); ok && slices.Equal(at, by) {
			return &x.Endings[k].Last
		}
	}
	return nil
}

// liveNumbers are Numbers at a size.
type liveNumbers struct {
	loads       []PlaceRef
	endings     []liveEnding
	leave, stay int
}

type liveEnding struct {
	by   []int32 // by number among Program.Writers, from 1
	last []int64
}

func (in *Instance) buildNumbers(n *Numbers, l *livePlace) {
	l.choice, l.spins = numbered, false
	l.numbers = &liveNumbers{loads: n.Loads, leave: n.Leave, stay: n.Stay}
	for _, e := range n.Endings {
		out := liveEnding{last: in.affine(e.Last, l, &l.sureBranch)}
		for _, w := range e.By {
			out.by = append(out.by, w+1)
		}
		l.numbers.endings = append(l.numbers.endings, out)
	}
}

// numberedWay returns the way on from a place at a vector; false if it is not known where the numbers
// were stored that decide.
func (in *Instance) numberedWay(n *liveNumbers, v []int64) (int, bool) {
	w := in.scratch[:0]
	var writers [2]int32
	for k, l := range n.loads {
		from := len(w)
		if writers[k], w = in.cells.of(in.places[l.Place].refs[l.Ref].at, w); writers[k] == 0 {
			return 0, false
		}
		w = told(w, from, in.prog.Places[in.prog.Writers[writers[k]-1].Place].Depth, len(in.counters[writers[k]-1]))
	}
	in.scratch = w
	for k := range n.endings {
		if e := &n.endings[k]; slices.Equal(e.by, writers[:len(n.loads)]) && len(e.last) <= len(w)+1 {
			if v[len(v)-1]*scale >= valueOf(e.last, w) {
				return n.leave, true
			}
			return n.stay, true
		}
	}
	return 0, false
}

// numbered returns the way on from a place whose loop ends by numbers: drawn if it is not known
// where these were stored.
func (r *player) numbered(cur int32, v []int64) int {
	p := &r.places[cur]
	way, known := r.numberedWay(p.numbers, v)
	if !known {
		r.doubts[cur] |= unstored | control
		way = p.draws.way(r.rng)
	}
	return way
}
