package spmv

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"presage/perf/internal/order"
)

// DefaultPasses is the default number of passes.
const DefaultPasses = 5

// TimeOptions configures native timings. The zero value has the defaults.
type TimeOptions struct {
	Passes  int           // through all shapes; 0: DefaultPasses
	Repeats int           // products in a pass; 0: 5
	Least   time.Duration // of each timing, of several products if necessary; 0: 200 µs

	Progress func(pass int, s Shape) // may be nil
}

// Timed is the native time of a product.
type Timed struct {
	Shape   Shape
	Seconds float64 // of a product: median over the passes of each one's minimum
	Spread  float64 // (most - least) / median over the passes
}

// WithDefaults returns the options with the defaults in the place of zeros; negative
// ones are an error.
func (opt TimeOptions) WithDefaults() (TimeOptions, error) {
	if opt.Passes < 0 || opt.Repeats < 0 || opt.Least < 0 {
		return opt, fmt.Errorf("spmv: %d passes of %d products of at least %v", opt.Passes, opt.Repeats, opt.Least)
	}
	opt.Passes, opt.Repeats = cmp.Or(opt.Passes, DefaultPasses), cmp.Or(opt.Repeats, 5)
	opt.Least = cmp.Or(opt.Least, 200*time.Microsecond)
	return opt, nil
}

// Time times products of m with each of the 64 kernels on this machine, on one
// thread (processor time on Linux, elsewhere the time of day), with the matrix
// in memory and caches as the previous product left them. It goes through all
// shapes several times, so that a disturbance affects few timings of each, and
// converts the matrix anew each time, as 64 copies may not fit in memory. The
// minimum over consecutive products excludes disturbance.
func Time(ctx context.Context, m *Matrix, opt TimeOptions) ([]Timed, error) {
	return timeShapes(ctx, opt, func(s Shape) (*Blocks, error) { return Block(m, s) })
}

// timeShapes times products of what block returns for each shape.
func timeShapes(ctx context.Context, opt TimeOptions, block func(Shape) (*Blocks, error)) ([]Timed, error) {
	opt, err := opt.WithDefaults()
	if err != nil {
		return nil, err
	}
	times := make([][]float64, MaxBlock*MaxBlock)
	for pass := range opt.Passes {
		for i, s := range Shapes() {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if opt.Progress != nil {
				opt.Progress(pass, s)
			}
			b, err := block(s)
			if err != nil {
				return nil, err
			}
			times[i] = append(times[i], b.time(opt))
		}
	}
	out := make([]Timed, len(times))
	for i, s := range Shapes() {
		v := slices.Sorted(slices.Values(times[i]))
		median := order.Median(v)
		out[i] = Timed{s, median, (v[len(v)-1] - v[0]) / median}
	}
	return out, nil
}

// time returns the minimum time of a product.
func (b *Blocks) time(opt TimeOptions) float64 {
	ny, nx := b.Lengths()
	y, x := make([]float64, ny), make([]float64, nx)
	for i := range x {
		x[i] = 1 / float64(i+1)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b.Multiply(y, x) // warms the caches
	rounds, best := 1, math.Inf(1)
	for done := 0; done < opt.Repeats; {
		begin := clock()
		for range rounds {
			b.Multiply(y, x)
		}
		took := clock() - begin
		if took < opt.Least/2 {
			rounds *= 2
			continue
		}
		best = min(best, took.Seconds()/float64(rounds))
		done++
	}
	return best
}

// DenseProfile times a dense matrix stored in blocks of each shape: what OSKI
// calls the machine's register profile. Divided by fill ratios it predicts the
// best shape for a matrix that was never timed:
//
//	Mflop/s(matrix, r×c) ≈ Mflop/s(dense, r×c) / fill(matrix, r×c)
func DenseProfile(ctx context.Context, opt TimeOptions) ([]Timed, error) {
	value := make([]float64, DenseEntries) // of all shapes
	for i := range value {
		value[i] = 1
	}
	return timeShapes(ctx, opt, func(s Shape) (*Blocks, error) { return dense(denseSize, s, value), nil })
}

// denseSize is the order of DenseProfile's matrix: 23 MB, beyond the caches of a
// core, and a multiple of all block sizes.
const denseSize = 1680

// dense returns a dense matrix of order n, a multiple of the shape, as Block would
// store it: with blocks by rows, which hold value, n² numbers, one after the other.
func dense(n int, s Shape, value []float64) *Blocks {
	b := &Blocks{Shape: s, Rows: n, Cols: n, NonZeros: n * n, start: make([]int32, n/s.R+1), value: value}
	b.column = make([]int32, 0, n/s.R*(n/s.C))
	for i := range n / s.R {
		for j := 0; j < n; j += s.C {
			b.column = append(b.column, int32(j))
		}
		b.start[i+1] = int32(len(b.column))
	}
	return b
}

// Mflops returns million flops per second for a matrix with the given number of
// entries.
func (t Timed) Mflops(nonZeros int) float64 { return 2 * float64(nonZeros) / t.Seconds / 1e6 }

// DenseEntries is the number of entries of DenseProfile's matrix.
const DenseEntries = denseSize * denseSize
