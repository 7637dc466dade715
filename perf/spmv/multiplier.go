package spmv

import (
	"fmt"

	"presage/datasets/programs/spmv/kernels"
	"presage/perf/spmv/simd"
)

// Kernel is how a product is computed on the machine at hand.
type Kernel struct {
	Vector  bool // with vector instructions (package simd) instead of Go's scalar code
	Threads int  // goroutines that share the rows; 0: 1
}

func (k Kernel) String() string {
	name := "scalar"
	if k.Vector {
		name = "vector"
	}
	if k.Threads > 1 {
		name += fmt.Sprintf(", %d threads", k.Threads)
	}
	return name
}

// Kernels returns the kernels of the machine at hand for a number of threads: scalar
// ones, and vector ones where it has the instructions; each on one thread and, if
// there are more, on all.
func Kernels(threads int) []Kernel {
	all := []Kernel{{Threads: 1}}
	if simd.Available() {
		all = append(all, Kernel{Vector: true, Threads: 1})
	}
	if threads > 1 {
		for _, k := range all {
			all = append(all, Kernel{k.Vector, threads})
		}
	}
	return all
}

// Split divides the rows of blocks into n parts of about equally many blocks, by
// n+1 ascending numbers: part i has the rows from the i-th to the next. It panics
// unless n is positive.
func (b *Blocks) Split(n int) []int {
	if n < 1 {
		panic(fmt.Sprintf("spmv: rows in %d parts", n))
	}
	bounds := make([]int, n+1)
	rows, blocks := b.Stored()
	row := 0
	for i := 1; i < n; i++ {
		for row < rows && int(b.start[row]) < i*blocks/n {
			row++
		}
		bounds[i] = row
	}
	bounds[n] = rows
	return bounds
}

// part is rows of blocks, as arguments of a kernel.
type part struct {
	start    []int32
	value    []float64
	columns  []int32
	from, to int // rows of y
}

func (b *Blocks) parts(n int) []part {
	bounds := b.Split(n)
	all := make([]part, n)
	for i := range all {
		first, last := bounds[i], bounds[i+1]
		area := b.Shape.R * b.Shape.C
		blocks, end := int(b.start[first]), int(b.start[last])
		all[i] = part{
			start: b.start[first : last+1], value: b.value[blocks*area : end*area], columns: b.column[blocks:end],
			from: first * b.Shape.R, to: last * b.Shape.R,
		}
	}
	return all
}

// Multiplier computes products of one matrix by a Kernel, as often as wanted. It
// holds goroutines until it is closed. Products of one Multiplier must not overlap.
type Multiplier struct {
	blocks *Blocks
	sized  kernels.Kernel
	parts  []part
	team   *team
	y, x   []float64 // of the product under way
	work   func(i int)
}

// Multiplier returns the Multiplier of b by k, or an error if the machine does not
// have the kernel.
func (b *Blocks) Multiplier(k Kernel) (*Multiplier, error) { return b.multiplier(k, false) }

// multiplier is Multiplier, with goroutines that are bound to threads if asked.
func (b *Blocks) multiplier(k Kernel, bound bool) (*Multiplier, error) {
	if k.Threads < 0 {
		return nil, fmt.Errorf("spmv: %d threads", k.Threads)
	}
	threads := max(k.Threads, 1)
	m := &Multiplier{blocks: b, sized: kernels.Sized(b.Shape.R, b.Shape.C), parts: b.parts(threads)}
	if k.Vector {
		if !simd.Available() {
			return nil, fmt.Errorf("spmv: this processor has no AVX2 and FMA, which vector kernels need: take the scalar ones")
		}
		m.sized = simd.Sized(b.Shape.R, b.Shape.C)
	}
	m.team = newTeam(threads, bound)
	m.work = func(i int) {
		p := &m.parts[i]
		m.sized(p.start, b.column, p.value, m.y[p.from:p.to], m.x)
	}
	return m, nil
}

// Multiply adds A·x to y. It panics unless the vectors have the Lengths of the
// blocks. Elements beyond the matrix must be finite in x and are unchanged in y.
func (m *Multiplier) Multiply(y, x []float64) {
	if ny, nx := m.blocks.Lengths(); len(y) != ny || len(x) != nx {
		panic(fmt.Sprintf("spmv: y and x have %d and %d elements, want %d and %d", len(y), len(x), ny, nx))
	}
	m.y, m.x = y, x
	m.team.run(m.work)
}

// read loads every value and column of a part.
func (m *Multiplier) read(i int) { simd.Read(m.parts[i].value, m.parts[i].columns) }

// Close ends the goroutines.
func (m *Multiplier) Close() { m.team.close() }
