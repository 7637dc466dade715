package main

import (
	"math"

	"presage/datasets/programs/internal/npb"
)

// charges is the number of points with charge 1, and of those with charge -1.
const charges = 10

// problem holds the meshes and what the iterations found.
type problem struct {
	class      string
	n          int // points along an edge of the finest mesh
	iterations int

	v     []float64 // right-hand side
	level []level   // from the coarsest, with 2 points along an edge, to the finest

	work1, work2, work3 []float64 // lines

	plus, minus extremes // where v is 1, and where it is -1

	first, last, lastMax float64 // norm of the residual before and after, and its largest element
}

// place is a point of a mesh, as an index, and the number that was drawn there.
type place struct {
	at    int
	value float64
}

// extremes are the places with the largest values of those seen, which ascend.
type extremes struct {
	place [charges]place
	sign  float64 // values are compared after multiplying them with it
}

// see puts a place into its rank, if it has one.
func (e *extremes) see(at int, value float64) {
	value *= e.sign
	i := 0
	for i < charges && e.place[i].value < value {
		i++
	}
	if i == 0 {
		return
	}
	copy(e.place[:i-1], e.place[1:i])
	e.place[i-1] = place{at, value}
}

// allocate returns a problem with all the memory that it will ever use.
func allocate(o options) *problem {
	total, levels := 0, 0
	for n := 2; n <= o.n; n *= 2 {
		total += cube(n + 2)
		levels++
	}
	m := o.n + 2
	p := &problem{
		class: o.class, n: o.n, iterations: o.iterations,
		v: make([]float64, cube(m)), level: make([]level, levels),
		work1: make([]float64, m), work2: make([]float64, m), work3: make([]float64, m),
	}
	u, r := make([]float64, total), make([]float64, total)
	for k := range p.level {
		m := 2<<k + 2
		p.level[k] = level{m: m, u: u[:cube(m)], r: r[:cube(m)]}
		u, r = u[cube(m):], r[cube(m):]
	}
	return p
}

func cube(n int) int { return n * n * n }

// zran3 sets the right-hand side: random numbers are drawn for all points, i
// fastest; v is 1 where the ten largest are, -1 where the ten smallest are, and 0
// elsewhere.
//
//go:noinline
func zran3(p *problem) {
	m := p.n + 2
	x := uint64(npb.Seed)
	p.plus, p.minus = extremes{sign: 1}, extremes{sign: -1}
	for i := range charges {
		p.plus.place[i].value, p.minus.place[i].value = math.Inf(-1), math.Inf(-1)
	}
	for k := 1; k <= p.n; k++ {
		for j := 1; j <= p.n; j++ {
			l := line(p.v, m, j, k)
			npb.Vranlc(&x, l[1:m-1])
			first := m * (j + m*k)
			for i := 1; i <= p.n; i++ {
				p.plus.see(first+i, l[i])
				p.minus.see(first+i, l[i])
			}
		}
	}
	clear(p.v)
	for i := range charges {
		p.v[p.plus.place[i].at] = 1
		p.v[p.minus.place[i].at] = -1
	}
	comm3(p.v, m)
}

// norm2u3 returns the norms of a mesh: √(Σ r² / n³), and max |r|.
//
//go:noinline
func norm2u3(r []float64, m int) (l2, most float64) {
	sum := 0.0
	for k := 1; k < m-1; k++ {
		for j := 1; j < m-1; j++ {
			for _, e := range line(r, m, j, k)[1 : m-1] {
				sum += e * e
				most = max(most, math.Abs(e))
			}
		}
	}
	return math.Sqrt(sum / float64(cube(m-2))), most
}
