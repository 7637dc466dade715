package main

// problem holds the system of equations and the state of the iteration.
type problem struct {
	n, rows    int // mesh points along an edge, unknowns: n³
	iterations int // at most

	matrix csr

	solution []float64 // u, known
	b        []float64 // right-hand side, A u
	x        []float64 // the iterate
	r        []float64 // residual b - A x, carried along
	p, q     []float64 // search direction, and A p

	next []int32 // work space of the check for symmetry, one for each row

	history []step
}

// csr is a square sparse matrix in compressed sparse row form: the entries of
// row i are value[start[i]:start[i+1]], in the columns named beside them, which
// ascend. The 256³ rows of the largest mesh have less than 2³¹ entries.
type csr struct {
	start  []int32
	column []int32
	value  []float64
}

// step is what one iteration did.
type step struct {
	alpha    float64 // its length along p
	before   float64 // r·r when it began
	residual float64 // r·r when it was done
}

// entries returns how many entries the matrix of an n x n x n mesh has: the
// diagonal, and two for each pair of neighbours.
func entries(n int) int { return n*n*n + 6*n*n*(n-1) }

// allocate returns a problem with all the memory that it will ever use.
func allocate(o options) *problem {
	rows := o.n * o.n * o.n
	vector := func() []float64 { return make([]float64, rows) }
	return &problem{
		n: o.n, rows: rows, iterations: o.iterations,
		matrix: csr{
			start:  make([]int32, 0, rows+1),
			column: make([]int32, 0, entries(o.n)),
			value:  make([]float64, 0, entries(o.n)),
		},
		solution: vector(), b: vector(), x: vector(), r: vector(), p: vector(), q: vector(),
		next:    make([]int32, rows),
		history: make([]step, 0, o.iterations),
	}
}

// initialize assembles the matrix, sets the solution and makes the right-hand
// side from it.
//
//go:noinline
func initialize(p *problem) {
	assemble(&p.matrix, p.n)
	fill(p.solution)
	stencil(p.b, p.solution, p.n)
}

// assemble writes the rows of the matrix, one after the other.
//
//go:noinline
func assemble(m *csr, n int) {
	row := int32(0)
	near, far := int32(n), int32(n*n) // distance of neighbours along j and k
	for k := range n {
		for j := range n {
			for i := range n {
				m.start = append(m.start, int32(len(m.value)))
				m.add(k > 0, row-far, -1)
				m.add(j > 0, row-near, -1)
				m.add(i > 0, row-1, -1)
				m.add(true, row, 6)
				m.add(i < n-1, row+1, -1)
				m.add(j < n-1, row+near, -1)
				m.add(k < n-1, row+far, -1)
				row++
			}
		}
	}
	m.start = append(m.start, int32(len(m.value)))
}

// add appends an entry to the last row, if its column is inside the mesh.
func (m *csr) add(inside bool, column int32, value float64) {
	if inside {
		m.column = append(m.column, column)
		m.value = append(m.value, value)
	}
}

// fill sets v to numbers in [½, 3/2) by a linear congruential generator modulo
// 2⁶⁴, with the multiplier and increment of Knuth's MMIX. As they have no
// symmetry, the error has a part in every eigenvector of the matrix.
//
//go:noinline
func fill(v []float64) {
	s := uint64(1)
	for i := range v {
		s = s*6364136223846793005 + 1442695040888963407
		v[i] = 0.5 + float64(s>>12)*0x1p-52 // 52 bits
	}
}

// stencil sets dst = A v without the matrix.
//
//go:noinline
func stencil(dst, v []float64, n int) {
	c := 0
	for k := range n {
		for j := range n {
			for i := range n {
				sum := 6 * v[c]
				if k > 0 {
					sum -= v[c-n*n]
				}
				if j > 0 {
					sum -= v[c-n]
				}
				if i > 0 {
					sum -= v[c-1]
				}
				if i < n-1 {
					sum -= v[c+1]
				}
				if j < n-1 {
					sum -= v[c+n]
				}
				if k < n-1 {
					sum -= v[c+n*n]
				}
				dst[c] = sum
				c++
			}
		}
	}
}
