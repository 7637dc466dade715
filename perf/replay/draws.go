package replay

import "math/rand"

// draws chooses the way on from a place that data decide about, so that ways have the
// frequencies of a run, and go on as often as there: an obstacle in a lattice fills cells
// one after the other, and drawn one by one they would leave no line of a cache whole.
// It is a Markov chain of first order.
type draws struct {
	chances []float64 // of each way, cumulated
	stays   []float64 // the share of a way's executions that it follows
	enters  []float64 // how often a way follows another one
	last    int       // way; -1: none yet
}

func newDraws(chances, stays []float64) draws {
	d := draws{stays: stays, last: -1}
	sum := 0.0
	for k, c := range chances {
		sum += c
		d.chances = append(d.chances, sum)
		enter := c
		if k < len(stays) {
			enter *= 1 - stays[k]
		}
		d.enters = append(d.enters, enter)
	}
	return d
}

// way draws the next way.
func (d *draws) way(rng *rand.Rand) int {
	switch {
	case d.last < 0 || len(d.stays) == 0:
		d.last = first(d.chances, rng.Float64())
	case rng.Float64() >= d.stays[d.last]:
		d.last = d.other(rng)
	}
	return d.last
}

// other draws a way other than the last, in proportion to how often each is entered.
func (d *draws) other(rng *rand.Rand) int {
	sum, way := 0.0, d.last
	for k, e := range d.enters {
		if k == d.last || e == 0 {
			continue
		}
		if sum += e; rng.Float64()*sum < e {
			way = k
		}
	}
	return way
}

// first returns the index of the first cumulated chance above x.
func first(chances []float64, x float64) int {
	for i, c := range chances {
		if x < c {
			return i
		}
	}
	return len(chances) - 1
}
