package main

import (
	"fmt"
	"io"
	"math"
)

// share is what one of several ranks does: a block of rows of the matrix, and of the
// vectors. Search directions are held whole, as rows reach all of them.
type share struct {
	ranks, rank int
	lo, hi      int // rows
}

// shareOf returns the share of a rank: rows as equal as can be.
func shareOf(n, ranks, rank int) share {
	return share{ranks, rank, rank * n / ranks, (rank + 1) * n / ranks}
}

// ring is how ranks hear of each other.
type ring interface {
	gather(all []float64, lo, hi int) // completes a vector, of which all[lo:hi] is the rank's own
	sum(own float64) float64          // of all ranks
}

// alone is a ring in which the others are silent: what would come from them is zero.
// Zeros are written where their parts of a vector would be, so that the rank's
// accesses are those that it makes among others; and what it solves is the system of
// its own rows and columns, which is symmetric and definite as the whole is.
type alone struct{}

func (alone) gather(all []float64, lo, hi int) {
	clear(all[:lo])
	clear(all[hi:])
}

func (alone) sum(own float64) float64 { return own }

// iterateShare is iterate by one rank.
//
//go:noinline
func iterateShare(p *problem, others ring) {
	for i := range p.x {
		p.x[i] = 1
	}
	for range p.iterations {
		rnorm, rho, energy := conjGradShare(p, others)
		xz := others.sum(dot(p.x, p.z))
		p.rnorm, p.rho, p.work = append(p.rnorm, rnorm), append(p.rho, math.Sqrt(rho)), append(p.work, energy/xz)
		p.zeta = append(p.zeta, p.shift+1/xz)
		scale(p.x, p.z, 1/math.Sqrt(others.sum(dot(p.z, p.z))))
	}
}

// conjGradShare is conjGrad by one rank. Its own part of the search direction is the
// part of p between its rows.
//
//go:noinline
func conjGradShare(p *problem, others ring) (rnorm, rho, energy float64) {
	own := p.p[p.lo:p.hi]
	clear(p.z)
	copy(p.r, p.x)
	copy(own, p.x)
	rho = others.sum(dot(p.r, p.r))
	p.mostCurved = math.Inf(-1)
	for range cgitmax {
		others.gather(p.p, p.lo, p.hi)
		matvec(p.q, &p.matrix, p.p)
		d := others.sum(dot(own, p.q))
		p.mostCurved = max(p.mostCurved, d)
		alpha, before := rho/d, rho
		energy += alpha * before
		advance(p.z, p.r, own, p.q, alpha)
		rho = others.sum(dot(p.r, p.r))
		direction(own, p.r, rho/before)
	}
	copy(own, p.z)
	others.gather(p.p, p.lo, p.hi)
	matvec(p.r, &p.matrix, p.p)
	return math.Sqrt(others.sum(distance(p.x, p.r))), rho, energy
}

// examineShare measures what must hold of a rank alone: the residual and the energy.
func examineShare(p *problem) findings {
	f := findings{asymmetricIn: -1}
	length := math.Sqrt(float64(len(p.x)))
	for i, rnorm := range p.rnorm {
		f.residual = larger(f.residual, math.Abs(rnorm-p.rho[i])/length)
		length = 1
		f.energy = larger(f.energy, math.Abs(p.work[i]-1))
	}
	return f
}

func reportShare(w io.Writer, p *problem, f findings) {
	fmt.Fprintf(w, "npbcg: rank %d of %d, rows %d to %d of %d, entries %d, iterations %d\n", p.rank, p.ranks, p.lo, p.hi-1, p.n, len(p.matrix.a), p.iterations)
	fmt.Fprintf(w, "residual: as carried along %t, energy %t\n", f.residual <= residualTolerance, f.energy <= residualTolerance)
}

// checkRanks reports a rank that there is not.
func (o options) checkRanks() error {
	if o.ranks < 1 || o.ranks > 64 || o.rank < 0 || o.rank >= o.ranks {
		return fmt.Errorf("-ranks %d -rank %d: want 1 to 64 ranks, counted from 0", o.ranks, o.rank)
	}
	return nil
}
