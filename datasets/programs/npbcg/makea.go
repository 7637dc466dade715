package main

import (
	"math"
	"slices"

	"presage/datasets/programs/internal/npb"
)

// rcond bounds the condition number of the matrix before the shift, by 1/rcond.
const rcond = 0.1

// csr is a square sparse matrix in compressed sparse row form: the entries of
// row i are a[rowstr[i]:rowstr[i+1]], in the columns colidx, which ascend.
type csr struct {
	rowstr []int32
	colidx []int32
	a      []float64
}

// generator holds what makea works with: the sparse random vectors, and one row
// of the matrix while it is put together.
type generator struct {
	n, nonzer int
	lo, hi    int // rows that sparse makes
	seed      uint64

	acol []int32   // columns of the vectors, nonzer+1 for each
	aelt []float64 // and the elements there
	arow []int32   // how many elements each has

	marked []int32   // sprnvc: the last vector that had an element there
	row    []float64 // sparse: sums of one row, by column
	inRow  []bool    // and which of them there are
	size   []float64 // weights of the vectors, ω
	first  []int32   // vectors with an element in row i are by[first[i]:first[i+1]]
	by     []int32
}

func newGenerator(n, nonzer int, mine share) *generator {
	most := n * (nonzer + 1)
	g := &generator{
		n: n, nonzer: nonzer, lo: mine.lo, hi: mine.hi,
		acol: make([]int32, most), aelt: make([]float64, most), arow: make([]int32, n),
		marked: make([]int32, n), row: make([]float64, n), inRow: make([]bool, n),
		size: make([]float64, n), first: make([]int32, n+2), by: make([]int32, most),
	}
	g.seed = npb.Seed
	npb.Randlc(&g.seed) // NAS draws a number first, and drops it
	return g
}

// makea sets m to the matrix of NAS CG, with n rows,
//
//	A = Σ ω(i) x(i) x(i)ᵀ + (rcond - shift) I,  ω(i) = rcond^(i/n), i = 0..n-1
//
// where x(i) is a sparse random vector with nonzer elements uniform in (0, 1), and
// then ½ at place i.
//
//go:noinline
func makea(m *csr, g *generator, shift float64) {
	width := g.nonzer + 1
	ratio, size := math.Pow(rcond, 1/float64(g.n)), 1.0
	for i := range g.n {
		g.size[i] = size
		size *= ratio
		column, element := g.acol[i*width:(i+1)*width], g.aelt[i*width:(i+1)*width]
		g.sprnvc(i, column, element)
		g.arow[i] = vecset(column, element, g.nonzer, int32(i), 0.5)
	}
	g.transpose()
	g.sparse(m, shift)
}

// sprnvc makes the sparse random vector i. For each element two numbers are
// drawn, its value and its place among the next power of two; places outside the
// vector and those that it already has are drawn again.
func (g *generator) sprnvc(i int, column []int32, element []float64) {
	places := 1
	for places < g.n {
		places *= 2
	}
	for have := 0; have < g.nonzer; {
		value := npb.Randlc(&g.seed)
		place := int(npb.Randlc(&g.seed) * float64(places))
		if place >= g.n || g.marked[place] == int32(i+1) {
			continue
		}
		g.marked[place] = int32(i + 1)
		column[have], element[have] = int32(place), value
		have++
	}
}

// vecset sets the element of a sparse vector at a place, which may be new, and
// returns how many elements the vector has.
func vecset(column []int32, element []float64, have int, place int32, value float64) int32 {
	at := 0
	for at < have && column[at] != place {
		at++
	}
	column[at], element[at] = place, value
	return int32(max(have, at+1))
}

// transpose lists, for each row of the matrix, the vectors that take part in it,
// in their order.
//
//go:noinline
func (g *generator) transpose() {
	width := g.nonzer + 1
	clear(g.first)
	for i, have := range g.arow {
		for _, row := range g.acol[i*width : i*width+int(have)] {
			g.first[row+2]++
		}
	}
	for row := range g.n {
		g.first[row+2] += g.first[row+1]
	}
	// first[row+1] is now where the list of the row begins, and moves to its end.
	for i, have := range g.arow {
		for _, row := range g.acol[i*width : i*width+int(have)] {
			g.by[g.first[row+1]] = int32(i)
			g.first[row+1]++
		}
	}
}

// sparse adds up the outer products, row by row. Entries (i, j) and (j, i) get
// the same products in the same order: A is symmetric to the last bit.
//
//go:noinline
func (g *generator) sparse(m *csr, shift float64) {
	width := g.nonzer + 1
	m.rowstr, m.colidx, m.a = m.rowstr[:0], m.colidx[:0], m.a[:0]
	for row := g.lo; row < g.hi; row++ {
		m.rowstr = append(m.rowstr, int32(len(m.a)))
		start := len(m.colidx)
		for _, i := range g.by[g.first[row]:g.first[row+1]] {
			lo := int(i) * width
			column, element := g.acol[lo:lo+int(g.arow[i])], g.aelt[lo:lo+int(g.arow[i])]
			at := 0
			for column[at] != int32(row) {
				at++
			}
			for k, c := range column {
				if !g.inRow[c] {
					g.inRow[c], g.row[c] = true, 0
					m.colidx = append(m.colidx, c)
				}
				g.row[c] += float64(g.size[i] * float64(element[at]*element[k]))
			}
		}
		g.row[row] += rcond - shift // vector i has an element at place i
		slices.Sort(m.colidx[start:])
		for _, c := range m.colidx[start:] {
			m.a = append(m.a, g.row[c])
			g.inRow[c] = false
		}
	}
	m.rowstr = append(m.rowstr, int32(len(m.a)))
}
