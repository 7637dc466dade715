package spmv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"presage/datasets/programs/spmv/kernels"
)

// MaxBlock is the largest number of rows and of columns of a block (2012, Table
// 5).
const MaxBlock = kernels.Largest

// Shape is a block size: rows r (brow, x1 of 2012, Table 5) and columns c (bcol,
// x2).
type Shape struct{ R, C int }

func (s Shape) String() string { return fmt.Sprintf("%d×%d", s.R, s.C) }

// Check returns an error if s is not between 1×1 and 8×8.
func (s Shape) Check() error {
	if s.R < 1 || s.R > MaxBlock || s.C < 1 || s.C > MaxBlock {
		return fmt.Errorf("spmv: block size %v: want from 1×1 to %d×%d", s, MaxBlock, MaxBlock)
	}
	return nil
}

// Shapes returns the 64 block sizes by rows, then columns.
func Shapes() []Shape {
	var all []Shape
	for r := 1; r <= MaxBlock; r++ {
		for c := 1; c <= MaxBlock; c++ {
			all = append(all, Shape{r, c})
		}
	}
	return all
}

// index returns the index of s in Shapes.
func (s Shape) index() int { return (s.R-1)*MaxBlock + s.C - 1 }

// Fill holds the number of blocks of a matrix for each of the 64 shapes.
type Fill struct {
	Blocks   [MaxBlock * MaxBlock]int // by Shape, in the order of Shapes
	NonZeros int                      // of the matrix
}

// Ratio returns the fill ratio of a shape: stored values divided by entries
// (2012, section 5.2), at least 1; 1 for a matrix without entries.
func (f *Fill) Ratio(s Shape) float64 {
	if f.NonZeros == 0 {
		return 1
	}
	return float64(f.Blocks[s.index()]*s.R*s.C) / float64(f.NonZeros)
}

// stamps records which blocks of columns were seen in the current row of
// blocks: for each number of columns c, the latest row of blocks that contained
// each block.
type stamps [MaxBlock + 1][]int32

func newStamps(cols int) *stamps {
	s := new(stamps)
	for c := 1; c <= MaxBlock; c++ {
		s[c] = make([]int32, cols/c+1)
	}
	return s
}

// add records an entry in column col of row of blocks id, counted from 1, and
// counts the blocks that it is the first of. Blocks are nested: if one of 2
// columns was seen, so were those of 4 and of 8 columns around it.
func (s *stamps) add(col uint32, id int32, counts []int) {
	if s[1][col] == id {
		return
	}
	s[1][col] = id
	counts[0]++
	if at := &s[2][col/2]; *at != id {
		*at = id
		counts[1]++
		if at := &s[4][col/4]; *at != id {
			*at = id
			counts[3]++
			if at := &s[8][col/8]; *at != id {
				*at = id
				counts[7]++
			}
		}
	}
	if at := &s[3][col/3]; *at != id {
		*at = id
		counts[2]++
		if at := &s[6][col/6]; *at != id {
			*at = id
			counts[5]++
		}
	}
	if at := &s[5][col/5]; *at != id {
		*at = id
		counts[4]++
	}
	if at := &s[7][col/7]; *at != id {
		*at = id
		counts[6]++
	}
}

// CountFill counts the blocks of all 64 shapes exactly, in one pass over the
// matrix for each number of rows. Stamps take 11 bytes for each column.
func CountFill(m *Matrix) *Fill {
	f := &Fill{NonZeros: m.NonZeros()}
	seen := newStamps(m.Cols)
	id := int32(0) // below 2^31: 2.72 MaxDimension rows of blocks
	for r := 1; r <= MaxBlock; r++ {
		counts := f.Blocks[(r-1)*MaxBlock : r*MaxBlock]
		for first := 0; first < m.Rows; first += r {
			id++
			for _, col := range m.Column[m.Start[first]:m.Start[min(first+r, m.Rows)]] {
				seen.add(uint32(col), id, counts)
			}
		}
	}
	return f
}

// SampleFill estimates fill ratios from a share of the rows of blocks, as OSKI
// does, but with probabilities by size: a row of blocks i with n_i entries in
// b_i blocks is drawn with a probability proportional to n_i, and the mean of
// b_i/n_i over the draws estimates the number of blocks for each entry:
//
//	fill = r·c·Σ b_i / Σ n_i = r·c·E[b_i/n_i]
//
// Rows are drawn at equal steps of the entries, in the order of the rows'
// sizes, so that short and long ones are represented fairly (derived here: with
// equal probabilities the few long rows of a circuit dominate the error). The
// same seed gives the same sample.
func SampleFill(m *Matrix, share float64, seed uint64) (*SampledFill, error) {
	if !(share > 0 && share <= 1) {
		return nil, fmt.Errorf("spmv: a share of %g of the rows: want more than 0, at most 1", share)
	}
	f := new(SampledFill)
	for i := range f.ratio {
		f.ratio[i] = 1
	}
	if m.NonZeros() == 0 {
		return f, nil
	}
	rng := rand.New(rand.NewPCG(seed, 0x5b3))
	s := newStamps(m.Cols)
	id := int32(0)
	for r := 1; r <= MaxBlock; r++ {
		order, entries := bySize(m, r)
		draws := int(math.Ceil(float64(len(order)) * share))
		step := float64(m.NonZeros()) / float64(draws)
		next := rng.Float64() * step
		var sum [MaxBlock]float64
		passed := 0.0
		for _, i := range order {
			passed += float64(entries[i])
			if next >= passed {
				continue
			}
			var counts [MaxBlock]int
			id++
			for _, col := range m.Column[m.Start[i*r]:m.Start[min((i+1)*r, m.Rows)]] {
				s.add(uint32(col), id, counts[:])
			}
			f.Rows[r-1]++
			for ; next < passed; next += step {
				for c := range sum {
					sum[c] += float64(counts[c]) / float64(entries[i])
				}
			}
		}
		for c := 1; c <= MaxBlock; c++ {
			f.ratio[Shape{r, c}.index()] = max(1, float64(r*c)*sum[c-1]/float64(draws))
		}
	}
	return f, nil
}

// SampledFill holds estimated fill ratios.
type SampledFill struct {
	ratio [MaxBlock * MaxBlock]float64

	// Rows is the number of rows of blocks sampled, by rows of a block less
	// one.
	Rows [MaxBlock]int
}

// Ratio returns the estimated fill ratio of a shape.
func (f *SampledFill) Ratio(s Shape) float64 { return f.ratio[s.index()] }

// bySize returns the rows of blocks of r rows that have entries, smallest
// first, and the number of entries of each.
func bySize(m *Matrix, r int) (order, entries []int) {
	entries = make([]int, (m.Rows+r-1)/r)
	for i := range entries {
		if entries[i] = m.Start[min((i+1)*r, m.Rows)] - m.Start[i*r]; entries[i] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return entries[a] - entries[b] })
	return order, entries
}
