package host

import (
	"context"
	"slices"
	"time"

	"presage/perf/internal/order"
)

// Sample is a time measured repeatedly.
type Sample struct {
	Min, Median, Max float64 // ns
}

// Spread returns (most - least) / median.
func (s Sample) Spread() float64 { return (s.Max - s.Min) / s.Median }

// scaled returns the sample in another unit, or for a part of the timed code.
func (s Sample) scaled(by float64) Sample { return Sample{s.Min * by, s.Median * by, s.Max * by} }

// orLess returns the sample with the smaller minimum; the zero Sample does not
// count.
func (s Sample) orLess(o Sample) Sample {
	if o.Min > 0 && o.Min < s.Min {
		return o
	}
	return s
}

// sampleOf summarizes values; there must be at least one.
func sampleOf(values []float64) Sample {
	v := slices.Sorted(slices.Values(values))
	return Sample{v[0], order.Median(v), v[len(v)-1]}
}

// meter times short pieces of code.
type meter struct {
	ctx     context.Context
	repeats int
	slice   time.Duration // how long one repeat takes, about
}

// maxRounds bounds the search for a number of rounds that fills a slice: code
// that the compiler removed would never fill one.
const maxRounds = 1 << 40

// time returns the ns of one round of body.
func (m *meter) time(body func(rounds int)) (Sample, error) {
	rounds, err := m.rounds(body)
	if err != nil {
		return Sample{}, err
	}
	times := make([]float64, m.repeats)
	for i := range times {
		if err := m.ctx.Err(); err != nil {
			return Sample{}, err
		}
		times[i] = float64(elapsed(body, rounds)) / float64(rounds)
	}
	return sampleOf(times), nil
}

// pairs returns the ns of one round of a and of one of b, measured in turn: what
// makes the core slower for longer than a slice is in both of a pair.
func (m *meter) pairs(a, b func(rounds int)) (as, bs []float64, err error) {
	ofA, err := m.rounds(a)
	if err != nil {
		return nil, nil, err
	}
	ofB, err := m.rounds(b)
	if err != nil {
		return nil, nil, err
	}
	for range m.repeats {
		if err := m.ctx.Err(); err != nil {
			return nil, nil, err
		}
		as = append(as, float64(elapsed(a, ofA))/float64(ofA))
		bs = append(bs, float64(elapsed(b, ofB))/float64(ofB))
	}
	return as, bs, nil
}

// rounds returns how many rounds of body fill a slice.
func (m *meter) rounds(body func(rounds int)) (int, error) {
	rounds := 1
	for {
		if err := m.ctx.Err(); err != nil {
			return 0, err
		}
		took := elapsed(body, rounds)
		if took >= m.slice/2 || rounds >= maxRounds {
			return rounds, nil
		}
		// At least 2, at most 16 times as many: a first round is cold.
		factor := float64(m.slice) / max(1, float64(took))
		rounds = int(float64(rounds) * min(16, max(2, factor)))
	}
}

func elapsed(body func(rounds int), rounds int) time.Duration {
	begin := time.Now()
	body(rounds)
	return time.Since(begin)
}
