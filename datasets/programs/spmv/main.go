// Command spmv multiplies a sparse matrix in blocked compressed sparse rows with
// a vector, y = y + A·x, with a kernel made for the block size: a subject for the
// study of block sizes and caches together. It makes a banded matrix of -n rows of
// blocks, or reads one from its standard input, multiplies, prints the sum of y,
// and checks y against a plain loop over the blocks.
//
//	spmv -n ROWS [-r R] [-c C] [-repeat N] [-quiet]
//	spmv -stdin [-repeat N] [-quiet] < matrix
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
	"math"
	"os"

	"presage/datasets/programs/internal/program"
	"presage/datasets/programs/spmv/kernels"
)

func main() {
	program.Begin()
	n := flag.Int("n", 1000, "rows of blocks of a matrix that is made")
	r := flag.Int("r", 2, "rows of a block, 1 to 8")
	c := flag.Int("c", 2, "columns of a block, 1 to 8")
	stdin := flag.Bool("stdin", false, "read the matrix from standard input instead")
	repeat := flag.Int("repeat", 1, "how often to multiply")
	quiet := flag.Bool("quiet", false, "print nothing but the verification")
	flag.Parse()
	if *repeat < 0 || *n < 1 || *n > 1<<24 || *r < 1 || *r > 8 || *c < 1 || *c > 8 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "spmv: want -n from 1 to 16777216, -r and -c from 1 to 8, -repeat of 0 or more, and no other arguments")
		os.Exit(program.Usage)
	}
	p, err := band(*n, *r, *c), error(nil)
	if *stdin {
		p, err = read(bufio.NewReaderSize(os.Stdin, 1<<16))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "spmv:", err)
		os.Exit(program.Failed)
	}
	for range *repeat {
		p.multiply(p.start, p.column, p.value, p.y, p.x)
	}
	sum := 0.0
	for _, v := range p.y {
		sum += v
	}
	if !*quiet {
		fmt.Printf("spmv: blocks %dx%d, rows of blocks %d, blocks %d, repeat %d\n", p.r, p.c, len(p.start)-1, len(p.column), *repeat)
		fmt.Printf("sum %.9e\n", sum)
	}
	os.Exit(program.Conclude(os.Stdout, p.verify(*repeat)))
}

// problem is a product to be computed.
type problem struct {
	r, c          int
	multiply      kernels.Kernel
	start, column []int32
	value, y, x   []float64
}

// newProblem makes room.
func newProblem(r, c, rows, blocks, x int) *problem {
	p := &problem{
		r: r, c: c,
		multiply: kernels.Sized(r, c),
		start:    make([]int32, rows+1),
		column:   make([]int32, blocks),
		value:    make([]float64, blocks*r*c),
		x:        make([]float64, x),
		y:        make([]float64, rows*r),
	}
	for i := range p.x {
		p.x[i] = 1 / float64(i+1)
	}
	return p
}

// band returns a matrix of n×n blocks with up to five in a row: on the diagonal, to
// both sides of it, and a seventh of the way to either edge.
func band(n, r, c int) *problem {
	var ends, columns []int32
	for i := range n {
		last := -1
		for _, j := range []int{i - n/7, i - 1, i, i + 1, i + n/7} {
			if j > last && j < n {
				columns = append(columns, int32(j*c))
				last = j
			}
		}
		ends = append(ends, int32(len(columns)))
	}
	p := newProblem(r, c, n, len(columns), n*c)
	copy(p.start[1:], ends)
	copy(p.column, columns)
	for i := range p.value {
		p.value[i] = 1 + float64(i%7)/8
	}
	return p
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
	p := newProblem(int(h.R), int(h.C), int(h.Rows), int(h.Blocks), int(h.X))
	for _, part := range []any{p.start[1:], p.column, p.value} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return nil, fmt.Errorf("matrix: %w", err)
		}
	}
	return p, p.check()
}

// check reports what would make a kernel read outside the matrix.
func (p *problem) check() error {
	last := int32(0)
	for i, s := range p.start {
		if s < last || int(s) > len(p.column) {
			return fmt.Errorf("row of blocks %d begins at block %d of %d", i, s, len(p.column))
		}
		last = s
	}
	for k, j := range p.column {
		if j < 0 || int(j)+p.c > len(p.x) {
			return fmt.Errorf("block %d begins in column %d of %d", k, j, len(p.x))
		}
	}
	return nil
}

// verify holds y against as many products by a plain loop. Sums of n products that
// are rounded in any order, fused or not, differ by at most about n roundings of
// the sum of magnitudes, and as many again for each further product.
func (p *problem) verify(repeat int) error {
	const unit = 1.0 / (1 << 53)
	for i := range len(p.start) - 1 {
		for r := range p.r {
			sum, size, terms := 0.0, 0.0, 0
			for k := p.start[i]; k < p.start[i+1]; k++ {
				row := p.value[(int(k)*p.r+r)*p.c:][:p.c]
				for j, v := range row {
					term := v * p.x[int(p.column[k])+j]
					sum += term
					size += math.Abs(term)
					terms++
				}
			}
			times := float64(repeat)
			bound := 2 * unit * times * size * (float64(terms)*times + 2)
			if y := p.y[i*p.r+r]; !(math.Abs(y-times*sum) <= bound) {
				return fmt.Errorf("row %d is %g, want %g", i*p.r+r, y, times*sum)
			}
		}
	}
	return nil
}
