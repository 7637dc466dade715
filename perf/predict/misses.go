package predict

import (
	"fmt"

	"presage/perf/fit"
	"presage/perf/scaling"
)

// Misses counts the accesses of a group, or of several, and those that miss.
// Predicted counts are expected values, not whole numbers.
type Misses struct {
	Accesses float64
	Cold     float64 // misses of accesses to blocks never touched before
	Reuse    float64 // misses of the others: capacity and conflict misses
}

// Total returns all misses.
func (m Misses) Total() float64 { return m.Cold + m.Reuse }

// Add returns the sum of m and o.
func (m Misses) Add(o Misses) Misses {
	return Misses{m.Accesses + o.Accesses, m.Cold + o.Cold, m.Reuse + o.Reuse}
}

// OfHistogram returns the misses of a histogram in c (2005 paper, sections 5.1
// and 5.2): Σ over bins of MissProbability(distance)·count. It panics if c has
// no sets or ways; see Cache.Check.
func OfHistogram(h *scaling.Histogram, c Cache) Misses {
	c.mustCheck()
	m := Misses{Accesses: h.Accesses(), Cold: h.Cold}
	for _, b := range h.Bins {
		m.Reuse += c.MissProbability(b.Distance) * b.Count
	}
	return m
}

func (c Cache) mustCheck() {
	if err := c.Check(); err != nil {
		panic(err.Error())
	}
}

// Prediction is the misses of a program at one size in one cache.
type Prediction struct {
	Size     fit.Point
	Cache    Cache
	Groups   []Misses // in the order of the model's groups
	Program  Misses   // their sum
	Warnings []fit.Warning
}

// At predicts the misses of every group of m at a size. It fails if the size
// lacks a parameter or the cache is impossible.
func At(m *scaling.Model, size fit.Point, c Cache) (*Prediction, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := m.Check(size); err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	p := &Prediction{Size: size, Cache: c, Groups: make([]Misses, len(m.Groups)), Warnings: m.Doubts(size)}
	for i, h := range m.Histograms(size) {
		p.Groups[i] = OfHistogram(&h, c)
		p.Program = p.Program.Add(p.Groups[i])
	}
	return p, nil
}
