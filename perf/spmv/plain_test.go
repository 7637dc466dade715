package spmv

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// matrix returns b in compressed rows, without its zeros, whether they were
// filled in or stored in the matrix.
func (b *Blocks) matrix() (*Matrix, error) {
	var entries []Entry
	for i := range len(b.start) - 1 {
		for k := b.start[i]; k < b.start[i+1]; k++ {
			for at, v := range b.value[int(k)*b.Shape.R*b.Shape.C:][:b.Shape.R*b.Shape.C] {
				if v != 0 {
					entries = append(entries, Entry{i*b.Shape.R + at/b.Shape.C, int(b.column[k]) + at%b.Shape.C, v})
				}
			}
		}
	}
	return NewMatrix(b.Rows, b.Cols, entries)
}

// fillRatio is the number of stored values divided by that of entries.
func (b *Blocks) fillRatio() float64 {
	if b.NonZeros == 0 {
		return 1
	}
	return float64(len(b.value)) / float64(b.NonZeros)
}

// entries returns the stored entries by row and column.
func (m *Matrix) entries() []Entry {
	all := make([]Entry, 0, m.NonZeros())
	for row := range m.Rows {
		for k := m.Start[row]; k < m.Start[row+1]; k++ {
			all = append(all, Entry{row, int(m.Column[k]), m.Value[k]})
		}
	}
	return all
}

// multiply adds A·x to y, row by row: the obvious kernel, which the blocked ones
// are checked against. y has m.Rows elements, x has m.Cols.
func (m *Matrix) multiply(y, x []float64) {
	if len(y) != m.Rows || len(x) != m.Cols {
		panic(fmt.Sprintf("spmv: y and x have %d and %d elements, want %d and %d", len(y), len(x), m.Rows, m.Cols))
	}
	for row := range m.Rows {
		sum := y[row]
		for k := m.Start[row]; k < m.Start[row+1]; k++ {
			sum += m.Value[k] * x[m.Column[k]]
		}
		y[row] = sum
	}
}

// writeMarketGzip is writeMarket compressed by gzip.
func writeMarketGzip(w io.Writer, m *Matrix) error {
	z := gzip.NewWriter(w)
	if err := writeMarket(z, m); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("spmv: %w", err)
	}
	return nil
}

// writeMarket writes m in Matrix Market coordinate form, real and general, with
// its name and origin in a comment. Reading it again gives the same matrix.
func writeMarket(w io.Writer, m *Matrix) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "%%MatrixMarket matrix coordinate real general")
	if m.Name != "" {
		kind := ""
		if m.StandIn {
			kind = "stand-in for "
		}
		fmt.Fprintf(b, "%% %s%s (%s)\n", kind, oneLine(m.Name), oneLine(m.Origin))
	}
	fmt.Fprintf(b, "%d %d %d\n", m.Rows, m.Cols, m.NonZeros())
	var line []byte
	for row := range m.Rows {
		for k := m.Start[row]; k < m.Start[row+1]; k++ {
			line = strconv.AppendInt(line[:0], int64(row)+1, 10)
			line = strconv.AppendInt(append(line, ' '), int64(m.Column[k])+1, 10)
			line = strconv.AppendFloat(append(line, ' '), m.Value[k], 'g', -1, 64)
			if _, err := b.Write(append(line, '\n')); err != nil {
				return fmt.Errorf("spmv: %w", err)
			}
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("spmv: %w", err)
	}
	return nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
