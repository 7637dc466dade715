// Command spmv multiplies a sparse matrix in blocked compressed sparse rows with
// a vector, y = y + A·x, with a kernel made for the block size: a subject for the
// study of block sizes and caches together. It reads the matrix from its standard
// input, multiplies, and prints the sum of y.
//
//	spmv [-repeat N] < matrix
//
// The input is little-endian: six 32-bit numbers, which are the block's rows and
// columns, the rows of blocks, the blocks, and the lengths of y and x; then for
// each row of blocks where its blocks end, and for each block its first column,
// 32 bits each; then the values, 64 bits each. x is 1, 1/2, 1/3, … at first, y 0.
package main

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	repeat := flag.Int("repeat", 1, "how often to multiply")
	flag.Parse()
	p, err := read(bufio.NewReaderSize(os.Stdin, 1<<16))
	if err != nil {
		fmt.Fprintln(os.Stderr, "spmv:", err)
		os.Exit(1)
	}
	for range *repeat {
		p.multiply(p.start, p.column, p.value, p.y, p.x)
	}
	sum := 0.0
	for _, v := range p.y {
		sum += v
	}
	fmt.Printf("sum %.17g\n", sum)
}

// problem is a product to be computed.
type problem struct {
	multiply      func(start, column []int32, value, y, x []float64)
	start, column []int32
	value, y, x   []float64
}

func read(r io.Reader) (*problem, error) {
	var head struct{ R, C, Rows, Blocks, Y, X int32 }
	if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	h := head
	if h.R < 1 || h.R > 8 || h.C < 1 || h.C > 8 {
		return nil, fmt.Errorf("blocks of %d×%d: want from 1×1 to 8×8", h.R, h.C)
	}
	if h.Rows < 0 || h.Blocks < 0 || h.Y != h.Rows*h.R || h.X < 0 || h.X%h.C != 0 {
		return nil, fmt.Errorf("%d rows of blocks, %d blocks, vectors of %d and %d: these do not fit together", h.Rows, h.Blocks, h.Y, h.X)
	}
	p := &problem{
		multiply: kernels[(h.R-1)*8+h.C-1],
		start:    make([]int32, h.Rows+1),
		column:   make([]int32, h.Blocks),
		value:    make([]float64, int(h.Blocks)*int(h.R*h.C)),
		x:        make([]float64, h.X),
		y:        make([]float64, h.Y),
	}
	for _, part := range []any{p.start[1:], p.column, p.value} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return nil, fmt.Errorf("matrix: %w", err)
		}
	}
	for i := range p.x {
		p.x[i] = 1 / float64(i+1)
	}
	return p, p.check(int(h.C))
}

// check reports what would make a kernel read outside the matrix.
func (p *problem) check(c int) error {
	last := int32(0)
	for i, s := range p.start {
		if s < last || int(s) > len(p.column) {
			return fmt.Errorf("row of blocks %d begins at block %d of %d", i, s, len(p.column))
		}
		last = s
	}
	for k, j := range p.column {
		if j < 0 || int(j)+c > len(p.x) {
			return fmt.Errorf("block %d begins in column %d of %d", k, j, len(p.x))
		}
	}
	return nil
}
