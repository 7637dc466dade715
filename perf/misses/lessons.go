package misses

import "math"

// lesson is what collisions say of other sizes, by group.
type lesson struct {
	share  []float64 // of the way from full to chance, from 0 to 1; missing where both are one
	excess []float64 // misses beyond either, of an access
}

// lessonOf returns what collisions in a run say of others.
func lessonOf(c *collisions) lesson {
	l := lesson{make([]float64, len(c.real)), make([]float64, len(c.real))}
	for g, real := range c.real {
		full, chance := c.full[g], math.Max(c.full[g], c.chance[g])
		within := math.Min(math.Max(real, full), chance)
		l.share[g] = math.NaN()
		if way := chance - full; way > 0.5 {
			l.share[g] = (within - full) / way
		}
		if c.accesses[g] > 0 {
			l.excess[g] = (real - within) / c.accesses[g]
		}
	}
	return l
}

// meanOf returns the mean of lessons.
func meanOf(all []lesson) lesson {
	n := len(all[0].share)
	l := lesson{make([]float64, n), make([]float64, n)}
	for g := range n {
		known := 0.0
		for _, o := range all {
			if !math.IsNaN(o.share[g]) {
				l.share[g] += o.share[g]
				known++
			}
			l.excess[g] += o.excess[g] / float64(len(all))
		}
		l.share[g] /= math.Max(1, known)
	}
	return l
}

// more returns the misses beyond those without conflicts that a lesson lets
// expect at another size: at most those of the binomial formula.
func (l lesson) more(at *collisions) []float64 {
	out := make([]float64, len(at.full))
	for g, full := range at.full {
		if !math.IsNaN(l.share[g]) {
			out[g] = l.share[g] * math.Max(0, at.chance[g]-full)
		}
	}
	return out
}

// withExcess returns what more returned with the excess of a lesson added.
func (l lesson) withExcess(at *collisions) []float64 {
	out := l.more(at)
	for g := range out {
		out[g] = math.Max(out[g]+l.excess[g]*at.accesses[g], -at.full[g])
	}
	return out
}

// leastOf returns, of each pair of numbers, that nearer to zero; zero where one is positive
// and one negative.
func leastOf(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i, x := range a {
		if x > 0 == (b[i] > 0) {
			out[i] = math.Copysign(min(math.Abs(x), math.Abs(b[i])), x)
		}
	}
	return out
}
