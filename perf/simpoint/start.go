package simpoint

import (
	"math"
	"math/rand/v2"
)

// begin returns up to k centres in consecutive rows: fewer if there are fewer
// different points.
func (p *points) begin(k int, how Init, r *rand.Rand) []float64 {
	if how == Sample {
		var centres []float64
		for _, i := range r.Perm(p.n)[:min(k, p.n)] {
			centres = append(centres, p.row(i)...)
		}
		return centres
	}
	return p.spread(p.row(p.first(how, r)), k, how, r)
}

// spread returns up to k centres, the first of which is given, each of the others
// chosen by its distance from those before.
func (p *points) spread(first []float64, k int, how Init, r *rand.Rand) []float64 {
	centres := append(make([]float64, 0, k*p.stride), first...)
	nearest := make([]float64, p.n) // squared distance from the nearest centre
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	for len(centres) < k*p.stride {
		last := centres[len(centres)-p.stride:]
		var sum float64
		furthest := 0
		for i := range nearest {
			if d := squared(p.row(i), last); d < nearest[i] {
				nearest[i] = d
			}
			sum += p.weight[i] * nearest[i]
			if nearest[i] > nearest[furthest] {
				furthest = i
			}
		}
		if sum == 0 || nearest[furthest] == 0 {
			break // every point is a centre
		}
		next := furthest
		if how == PlusPlus {
			next = p.draw(nearest, sum*r.Float64())
		}
		centres = append(centres, p.row(next)...)
	}
	return centres
}

// first draws the first centre.
func (p *points) first(how Init, r *rand.Rand) int {
	if how == FurthestFirst {
		return r.IntN(p.n)
	}
	at := r.Float64() * float64(p.n) // the weights add up to n
	for i, w := range p.weight {
		if at -= w; at < 0 {
			return i
		}
	}
	return p.n - 1
}

// draw returns the point whose share of the sum of weighted squared distances
// contains at; never a centre.
func (p *points) draw(nearest []float64, at float64) int {
	last := 0
	for i, d := range nearest {
		if d == 0 {
			continue
		}
		last = i
		if at -= p.weight[i] * d; at < 0 {
			break
		}
	}
	return last
}
