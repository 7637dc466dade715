package spmv

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
)

// MaxDimension bounds rows and columns: a file of a few bytes can claim rows
// that take 8 bytes each, and column indices in the kernels are 32-bit numbers.
const MaxDimension = 1 << 27

// Entry is a stored element of a matrix; rows and columns count from 0.
type Entry struct {
	Row, Col int
	Value    float64
}

// Matrix is a sparse matrix in compressed rows. The columns of a row ascend
// without repeats. It is immutable and may be shared.
type Matrix struct {
	// Name is the name of the matrix, Origin its source: "file", or how it was
	// synthesised. A stand-in is not the matrix that it is named after.
	Name    string
	Origin  string
	StandIn bool

	Rows, Cols int
	Start      []int     // of each row in Column and Value, and the end: Rows+1
	Column     []int32   // by row
	Value      []float64 // by row
}

// NonZeros returns the number of stored entries; those of a file may include
// explicit zeros.
func (m *Matrix) NonZeros() int { return len(m.Column) }

// NewMatrix returns the matrix with the given entries. Entries for the same
// place are added, as Matrix Market specifies.
func NewMatrix(rows, cols int, entries []Entry) (*Matrix, error) {
	if rows < 0 || cols < 0 || rows > MaxDimension || cols > MaxDimension {
		return nil, fmt.Errorf("spmv: a matrix of %d×%d: want dimensions from 0 to %d", rows, cols, MaxDimension)
	}
	m := &Matrix{Rows: rows, Cols: cols, Start: make([]int, rows+1)}
	for i, e := range entries {
		if e.Row < 0 || e.Row >= rows || e.Col < 0 || e.Col >= cols {
			return nil, fmt.Errorf("spmv: entry %d is at (%d, %d), outside %d×%d", i, e.Row, e.Col, rows, cols)
		}
		m.Start[e.Row+1]++
	}
	for i := range rows {
		m.Start[i+1] += m.Start[i]
	}
	// By row, in the order given.
	placed := make([]Entry, len(entries))
	next := slices.Clone(m.Start)
	for _, e := range entries {
		placed[next[e.Row]] = e
		next[e.Row]++
	}
	m.Column, m.Value = make([]int32, 0, len(entries)), make([]float64, 0, len(entries))
	for row := range rows {
		line := placed[m.Start[row]:m.Start[row+1]]
		slices.SortStableFunc(line, func(a, b Entry) int { return cmp.Compare(a.Col, b.Col) })
		m.Start[row] = len(m.Column)
		for i, e := range line {
			if i > 0 && e.Col == line[i-1].Col {
				m.Value[len(m.Value)-1] += e.Value
				continue
			}
			m.Column, m.Value = append(m.Column, int32(e.Col)), append(m.Value, e.Value)
		}
	}
	m.Start[rows] = len(m.Column)
	return m, nil
}

// Sparsity returns the number of entries divided by the number of elements
// (2012, Table 4).
func (m *Matrix) Sparsity() float64 {
	return float64(m.NonZeros()) / (float64(m.Rows) * float64(m.Cols))
}

// Bandwidth returns the mean distance of entries from the diagonal, and the
// largest one.
func (m *Matrix) Bandwidth() (mean float64, largest int) {
	sum := 0.0
	for row := range m.Rows {
		for _, col := range m.Column[m.Start[row]:m.Start[row+1]] {
			d := max(row-int(col), int(col)-row)
			sum += float64(d)
			largest = max(largest, d)
		}
	}
	if m.NonZeros() == 0 {
		return math.NaN(), 0
	}
	return sum / float64(m.NonZeros()), largest
}

// Digest returns a short text that is equal for matrices with entries in the
// same places, and different for others: time and energy do not depend on
// values.
func (m *Matrix) Digest() string {
	h := sha256.New()
	buf := binary.LittleEndian.AppendUint64(nil, uint64(m.Rows))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(m.Cols))
	for _, s := range m.Start {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(s))
	}
	h.Write(buf)
	buf = buf[:0]
	for _, c := range m.Column {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(c))
	}
	h.Write(buf)
	return hex.EncodeToString(h.Sum(nil)[:16])
}
