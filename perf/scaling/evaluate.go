package scaling

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"presage/perf/fit"
)

// WeightedBin is a bin of a predicted histogram.
type WeightedBin struct {
	Distance float64 // average reuse distance, blocks
	Count    float64 // accesses
}

// Histogram is a predicted histogram of reuse distances.
type Histogram struct {
	Cold float64 // accesses to blocks never touched before
	Bins []WeightedBin
}

// Accesses returns the number of accesses, cold ones included.
func (h *Histogram) Accesses() float64 {
	n := h.Cold
	for _, b := range h.Bins {
		n += b.Count
	}
	return n
}

// Check returns an error if p is not a size for m: a parameter is missing or
// not positive. Doubtful sizes, such as far extrapolation, are Doubts.
func (m *Model) Check(p fit.Point) error {
	for _, name := range m.Params {
		x, ok := p[name]
		if !ok {
			return fmt.Errorf("scaling: %w: size %v lacks parameter %s", ErrData, p, name)
		}
		if !(x > 0) || math.IsInf(x, 0) {
			return fmt.Errorf("scaling: %w: parameter %s is %g, not positive", ErrData, name, x)
		}
	}
	return nil
}

// Doubts returns warnings about evaluating m at p: extrapolation beyond
// fit.ReachLimit times the sizes of the model, and rows or planes that outgrow
// a page between the model's sizes and p.
func (m *Model) Doubts(p fit.Point) []fit.Warning {
	return append(fit.CheckReach(m.Domain, p), m.outgrown(p)...)
}

// Histogram returns the group's histogram at size p. The bins' frequencies are
// scaled so that they and the cold accesses sum to the model of the accesses; if
// there are no bins to hold them, all are cold. A negative value, which the shape
// forbids only within the reach, counts as zero. It panics if p lacks a
// parameter; see Model.Check.
func (g *GroupModel) Histogram(p fit.Point) Histogram {
	h := Histogram{Cold: math.Max(0, g.Cold.Eval(p)), Bins: make([]WeightedBin, len(g.Bins))}
	for i := range g.Bins {
		h.Bins[i] = WeightedBin{Distance: math.Max(0, g.Bins[i].Distance.Eval(p)), Count: math.Max(0, g.Bins[i].Frequency.Eval(p))}
	}
	h.scaleTo(g.Accesses.Eval(p))
	return h
}

// Histograms returns the histogram of each group at size p, as GroupModel.Histogram
// does.
func (m *Model) Histograms(p fit.Point) []Histogram { return m.HistogramsAt([]fit.Point{p})[0] }

// HistogramsAt returns the histograms at several sizes, by size and group, in a fraction
// of the time: groups share the values of terms, and each function is visited once.
func (m *Model) HistogramsAt(sizes []fit.Point) [][]Histogram {
	all := make([][]Histogram, len(sizes))
	for k := range sizes {
		all[k] = make([]Histogram, len(m.Groups))
	}
	parts := min(runtime.GOMAXPROCS(0), (len(m.Groups)+groupsEach-1)/groupsEach)
	each(context.Background(), parts, parts, func(p int) {
		m.histogramsOf(p*len(m.Groups)/parts, (p+1)*len(m.Groups)/parts, sizes, all)
	})
	return all
}

// groupsEach is how many groups are worth another worker.
const groupsEach = 64

// histogramsOf sets the histograms of some groups.
func (m *Model) histogramsOf(first, end int, sizes []fit.Point, all [][]Histogram) {
	n := 0
	for i := range m.Groups[first:end] {
		n += len(m.Groups[first+i].Bins)
	}
	bins := make([][]WeightedBin, len(sizes))
	for k := range sizes {
		bins[k] = make([]WeightedBin, n)
	}
	at, one, other := fit.At(sizes...), make([]float64, len(sizes)), make([]float64, len(sizes))
	from := 0
	for i := first; i < end; i++ {
		g := &m.Groups[i]
		to := from + len(g.Bins)
		for b := range g.Bins {
			distances, counts := at.Each(one, &g.Bins[b].Distance), at.Each(other, &g.Bins[b].Frequency)
			for k := range sizes {
				bins[k][from+b] = WeightedBin{Distance: math.Max(0, distances[k]), Count: math.Max(0, counts[k])}
			}
		}
		cold, accesses := at.Each(one, &g.Cold), at.Each(other, &g.Accesses)
		for k := range sizes {
			h := &all[k][i]
			h.Cold, h.Bins = math.Max(0, cold[k]), bins[k][from:to:to]
			h.scaleTo(accesses[k])
		}
		from = to
	}
}

// scaleTo makes bins and cold accesses sum to accesses.
func (h *Histogram) scaleTo(accesses float64) {
	total, sum := math.Max(0, accesses-h.Cold), 0.0
	for _, b := range h.Bins {
		sum += b.Count
	}
	switch {
	case sum > 0:
		for i := range h.Bins {
			h.Bins[i].Count *= total / sum
		}
	case len(h.Bins) > 0: // none is known to have more than another
		for i := range h.Bins {
			h.Bins[i].Count = total / float64(len(h.Bins))
		}
	default:
		h.Cold += total
	}
}
