package misses

import (
	"math"
	"slices"

	"presage/perf/reuse"
)

// bySharesHeld returns what the largest runs say of a level if as large a share of the
// accesses of each scope misses as in a level that holds as large a part of what the run
// touches: a third way to look at the runs, without a function of the size, which knows
// nothing of rows and planes, but cannot go astray by more than shares do. It is of scopes,
// as the accesses of groups may do so, too.
func (d *doubter) bySharesHeld() []other {
	if d.beyondRuns(d.point, d.by) == "" {
		return nil
	}
	runs := d.refits.runs
	b := slices.Index(runs.BlockBytes(), d.level.BlockBytes)
	touched := (d.touched.Lo + d.touched.Hi) / 2
	expected, cold := make([]float64, len(d.scopes.Names)), make([]float64, len(d.scopes.Names))
	for g, n := range d.accesses(d.point) {
		if !d.counted(Group(g)) {
			expected[d.scopes.Of[g]] += n
			cold[d.scopes.Of[g]] += d.misses[g].Cold
		}
	}
	var out []other
	for _, run := range slices.Backward(d.refits.bySize()) {
		held := float64(d.level.Blocks()) * float64(coldOf(&runs.Runs[run], b)) / touched
		if !(held <= float64(d.level.Blocks())) || len(out) == likeRuns {
			break
		}
		missed, accesses := d.missedIn(run, b, held)
		o := other{misses: slices.Clone(cold)}
		for i, n := range accesses {
			if n > 0 {
				o.misses[i] += expected[i] * missed[i] / n
			}
		}
		out = append(out, o)
	}
	return out
}

// missedIn returns, for each scope, the misses of a run that are no first accesses in a
// fully associative level of so many blocks, and the accesses, of groups whose misses are
// not counted.
func (d *doubter) missedIn(run, b int, blocks float64) (missed, accesses []float64) {
	missed, accesses = make([]float64, len(d.scopes.Names)), make([]float64, len(d.scopes.Names))
	hists := d.refits.runs.Runs[run].Reuse[b].Groups
	for g := range d.misses {
		if d.counted(Group(g)) {
			continue
		}
		for _, of := range d.OfRun(run, Group(g)) {
			missed[d.scopes.Of[g]] += reuseMisses(&hists[of], blocks)
			accesses[d.scopes.Of[g]] += float64(hists[of].Accesses())
		}
	}
	return missed, accesses
}

// reuseMisses returns the misses that are no first accesses in a fully associative cache
// of so many blocks, which need be no whole number.
func reuseMisses(h *reuse.Histogram, blocks float64) float64 {
	lo := math.Floor(blocks)
	below := h.Misses(uint64(lo))
	return float64(below-h.Cold) - (blocks-lo)*float64(below-h.Misses(uint64(lo)+1))
}
