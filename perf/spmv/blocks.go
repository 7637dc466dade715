package spmv

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"presage/datasets/programs/spmv/kernels"
)

// Blocks is a matrix in blocked compressed sparse rows (BCSR, 2012, Figure 11).
// The last row of blocks and the last block in a row may extend beyond the
// matrix, and the vectors of Multiply with them.
type Blocks struct {
	Shape      Shape
	Rows, Cols int // of the matrix
	NonZeros   int // of the matrix, without filled zeros

	// The kernels rely on the invariants of these fields, which only Block
	// sets.
	start  []int32   // of each row of blocks in column, and the end
	column []int32   // first column of each block
	value  []float64 // R·C values a block, by rows
}

// maxStored bounds the number of blocks, which are counted in 32 bits.
const maxStored = 1 << 30

// Block stores m in blocks of shape s.
func Block(m *Matrix, s Shape) (*Blocks, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	b := &Blocks{Shape: s, Rows: m.Rows, Cols: m.Cols, NonZeros: m.NonZeros()}
	rows := (m.Rows + s.R - 1) / s.R
	b.start = make([]int32, rows+1)
	area, c := s.R*s.C, uint32(s.C)
	position := make([]int32, m.Cols/s.C+1) // of a block in column, if it is in this row of blocks
	seen := make([]int32, m.Cols/s.C+1)
	var found []int32
	b.column = make([]int32, 0, m.NonZeros()/area+rows)
	for i := range rows {
		first, last := i*s.R, min((i+1)*s.R, m.Rows)
		found = found[:0]
		for _, col := range m.Column[m.Start[first]:m.Start[last]] {
			if j := uint32(col) / c; seen[j] != int32(i+1) {
				seen[j] = int32(i + 1)
				found = append(found, int32(j))
			}
		}
		slices.Sort(found)
		base := len(b.column)
		if base+len(found) > maxStored {
			return nil, fmt.Errorf("spmv: more than %d blocks of %v", maxStored, s)
		}
		for k, j := range found {
			position[j] = int32(base + k)
			b.column = append(b.column, j*int32(c))
		}
		b.start[i+1] = int32(len(b.column))
		b.value = slices.Grow(b.value, len(found)*area)[:len(b.column)*area]
		clear(b.value[base*area:])
		for row := first; row < last; row++ {
			for k := m.Start[row]; k < m.Start[row+1]; k++ {
				col := uint32(m.Column[k])
				at := int(position[col/c])*area + (row-first)*s.C + int(col%c)
				b.value[at] = m.Value[k]
			}
		}
	}
	return b, nil
}

// Stored returns the number of rows of blocks and of blocks.
func (b *Blocks) Stored() (rows, blocks int) { return len(b.start) - 1, len(b.column) }

// Encode writes b in the input format of the guest program
// datasets/programs/spmv.
func (b *Blocks) Encode(w io.Writer) error {
	y, x := b.Lengths()
	head := []int32{int32(b.Shape.R), int32(b.Shape.C), int32(len(b.start) - 1), int32(len(b.column)), int32(y), int32(x)}
	for _, part := range []any{head, b.start[1:], b.column, b.value} {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return fmt.Errorf("spmv: %w", err)
		}
	}
	return nil
}

// Lengths returns the lengths of y and x that Multiply needs: the dimensions
// rounded up to whole blocks.
func (b *Blocks) Lengths() (y, x int) {
	up := func(n, by int) int { return (n + by - 1) / by * by }
	return up(b.Rows, b.Shape.R), up(b.Cols, b.Shape.C)
}

// Multiply adds A·x to y with the kernel of the block size. It panics unless
// the vectors have the Lengths. Elements beyond the matrix must be finite in x
// and are unchanged in y.
func (b *Blocks) Multiply(y, x []float64) {
	if ny, nx := b.Lengths(); len(y) != ny || len(x) != nx {
		panic(fmt.Sprintf("spmv: y and x have %d and %d elements, want %d and %d", len(y), len(x), ny, nx))
	}
	kernels.Sized(b.Shape.R, b.Shape.C)(b.start, b.column, b.value, y, x)
}
