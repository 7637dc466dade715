package spmv

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteMarket writes m in Matrix Market coordinate form, real and general, with
// its name and origin in a comment. Reading it again gives the same matrix.
func WriteMarket(w io.Writer, m *Matrix) error {
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

// WriteMarketGzip is WriteMarket compressed by gzip.
func WriteMarketGzip(w io.Writer, m *Matrix) error {
	z := gzip.NewWriter(w)
	if err := WriteMarket(z, m); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("spmv: %w", err)
	}
	return nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
