package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"presage/datasets/programs/spmv/kernels"
)

// A product is a matrix of random blocks, some rows of which are empty, and vectors.
type product struct {
	start, column []int32
	value, y, x   []float64
}

func random(rng *rand.Rand, r, c, rows int) *product {
	p := &product{start: []int32{0}}
	const columns = 9
	for range rows {
		for j := range columns {
			if rng.IntN(3) == 0 {
				p.column = append(p.column, int32(j*c))
			}
		}
		p.start = append(p.start, int32(len(p.column)))
	}
	fill := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	p.value, p.y, p.x = fill(len(p.column)*r*c), fill(rows*r), fill(columns*c)
	return p
}

// plain is the obvious product of a part of the rows; sizes are sums of absolute
// values, which rounding is relative to.
func (p *product) plain(r, c, from, to int) (y, sizes []float64) {
	y, sizes = append([]float64(nil), p.y...), make([]float64, len(p.y))
	for i := from; i < to; i++ {
		for k := p.start[i]; k < p.start[i+1]; k++ {
			for a := range r * c {
				term := p.value[int(k)*r*c+a] * p.x[int(p.column[k])+a%c]
				y[i*r+a/c] += term
				sizes[i*r+a/c] += math.Abs(term)
			}
		}
	}
	for i := range y {
		sizes[i] += math.Abs(p.y[i])
	}
	return y, sizes
}

// apart is how far sums in another order may be apart, relative to the sum of
// absolute values: 72 terms at most, each rounded to 2^-53.
const apart = 72.0 / (1 << 53)

// TestKernelsAgreeWithThePlainProduct multiplies random matrices of all block sizes,
// whole and in parts of their rows.
func TestKernelsAgreeWithThePlainProduct(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for r := 1; r <= kernels.Largest; r++ {
		for c := 1; c <= kernels.Largest; c++ {
			for range 20 {
				rows := rng.IntN(7)
				p := random(rng, r, c, rows)
				from := rng.IntN(rows + 1)
				to := from + rng.IntN(rows-from+1)
				want, sizes := p.plain(r, c, from, to)
				Sized(r, c)(p.start[from:to+1], p.column, p.value[int(p.start[from])*r*c:], p.y[from*r:to*r], p.x)
				for i := range want {
					if !(math.Abs(p.y[i]-want[i]) <= apart*sizes[i]) {
						t.Fatalf("%d×%d, rows %d to %d of %d: y[%d] is %g, want %g", r, c, from, to, rows, i, p.y[i], want[i])
					}
				}
			}
		}
	}
}

// TestRowsDoNotMix has an infinite value in one row of a block: no other row of y
// must see it.
func TestRowsDoNotMix(t *testing.T) {
	for r := 1; r <= kernels.Largest; r++ {
		for c := 1; c <= kernels.Largest; c++ {
			for at := range r * c {
				p := &product{start: []int32{0, 1, 2}, column: []int32{0, 0}, value: make([]float64, 2*r*c), y: make([]float64, 2*r), x: make([]float64, c)}
				for i := range p.x {
					p.x[i] = 1
				}
				p.value[at] = math.Inf(1)
				Sized(r, c)(p.start, p.column, p.value, p.y, p.x)
				for i, v := range p.y {
					want := 0.0
					if i == at/c {
						want = math.Inf(1)
					}
					if v != want {
						t.Fatalf("%d×%d: value %d is infinite, y[%d] is %g", r, c, at, i, v)
					}
				}
			}
		}
	}
}

// BenchmarkProduct multiplies a matrix of 2,000 rows of blocks that caches hold.
func BenchmarkProduct(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, size := range [][2]int{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {6, 6}, {8, 8}} {
		r, c := size[0], size[1]
		p := random(rng, r, c, 2000)
		for name, kernel := range map[string]kernels.Kernel{"scalar": kernels.Sized(r, c), "vector": Sized(r, c)} {
			b.Run(fmt.Sprintf("block=%dx%d/kernel=%s", r, c, name), func(b *testing.B) {
				for b.Loop() {
					kernel(p.start, p.column, p.value, p.y, p.x)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(p.column)), "ns/block")
			})
		}
	}
}
