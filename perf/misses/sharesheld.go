package misses

import (
	"math"
	"slices"

	"presage/perf/reuse"
)

// bySharesHeld returns what the largest runs say of a level if as large a share of the
// accesses of each group misses as in a level that holds as large a part of what the run
// touches: a third way to look at the runs, without a function of the size, which knows
// nothing of rows and planes, but cannot go astray by more than shares do.
func (d *doubter) bySharesHeld() []other {
	if d.beyondRuns(d.point, d.by) == "" {
		return nil
	}
	runs := d.refits.runs
	b := slices.Index(runs.BlockBytes(), d.level.BlockBytes)
	touched := (d.touched.Lo + d.touched.Hi) / 2
	accesses := d.accesses(d.point)
	var out []other
	for _, run := range slices.Backward(d.refits.bySize()) {
		held := float64(d.level.Blocks()) * float64(coldOf(&runs.Runs[run], b)) / touched
		if !(held <= float64(d.level.Blocks())) || len(out) == likeRuns {
			break
		}
		o := other{misses: make([]float64, len(d.scopes.Names))}
		for g := range d.misses {
			if d.counted(Group(g)) {
				continue
			}
			var h reuse.Histogram
			for _, of := range d.OfRun(run, Group(g)) {
				h = h.Plus(&runs.Runs[run].Reuse[b].Groups[of])
			}
			if n := h.Accesses(); n > 0 {
				o.misses[d.scopes.Of[g]] += accesses[g] * reuseMisses(&h, held) / float64(n)
			}
			o.misses[d.scopes.Of[g]] += d.misses[g].Cold
		}
		out = append(out, o)
	}
	return out
}

// reuseMisses returns the misses that are no first accesses in a fully associative cache
// of so many blocks, which need be no whole number.
func reuseMisses(h *reuse.Histogram, blocks float64) float64 {
	lo := math.Floor(blocks)
	below := h.Misses(uint64(lo))
	return float64(below-h.Cold) - (blocks-lo)*float64(below-h.Misses(uint64(lo)+1))
}
