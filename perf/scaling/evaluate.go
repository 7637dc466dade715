package scaling

import (
	"fmt"
	"math"

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
	return g.histogram(fit.At(p), make([]WeightedBin, 0, len(g.Bins)))
}

// Histograms returns the histogram of each group at size p, as GroupModel.Histogram
// does, in a fraction of the time: groups share the values of terms.
func (m *Model) Histograms(p fit.Point) []Histogram {
	n := 0
	for i := range m.Groups {
		n += len(m.Groups[i].Bins)
	}
	at, bins, all := fit.At(p), make([]WeightedBin, n), make([]Histogram, len(m.Groups))
	for i := range m.Groups {
		k := len(m.Groups[i].Bins)
		all[i] = m.Groups[i].histogram(at, bins[:0:k])
		bins = bins[k:]
	}
	return all
}

// histogram returns the group's histogram with bins in to, which is empty and has room
// for them.
func (g *GroupModel) histogram(at *fit.Values, to []WeightedBin) Histogram {
	h := Histogram{Cold: math.Max(0, at.Of(&g.Cold)), Bins: to}
	total, sum := math.Max(0, at.Of(&g.Accesses)-h.Cold), 0.0
	for i := range g.Bins {
		b := WeightedBin{
			Distance: math.Max(0, at.Of(&g.Bins[i].Distance)),
			Count:    math.Max(0, at.Of(&g.Bins[i].Frequency)),
		}
		sum += b.Count
		h.Bins = append(h.Bins, b)
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
	return h
}
