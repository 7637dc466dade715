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
	"presage/perf/spmv/simd"
)

// KernelOptions configures TimeKernels. The zero value has the defaults.
type KernelOptions struct {
	Threads int           // of threaded kernels; 0: as many as processors
	Passes  int           // through all shapes; 0: 3
	Rounds  int           // of all kernels in a pass; 0: 5
	Least   time.Duration // of each timing, of several products if necessary; 0: 200 µs

	Progress func(pass int, s Shape) // may be nil
}

func (o KernelOptions) withDefaults() (KernelOptions, error) {
	if o.Threads < 0 || o.Passes < 0 || o.Rounds < 0 || o.Least < 0 {
		return o, fmt.Errorf("spmv: %d threads, %d passes of %d rounds, timings of at least %v", o.Threads, o.Passes, o.Rounds, o.Least)
	}
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	o.Passes, o.Rounds, o.Least = cmp.Or(o.Passes, 3), cmp.Or(o.Rounds, 5), cmp.Or(o.Least, 200*time.Microsecond)
	return o, nil
}

// KernelTime is how long a product takes by a kernel, with the matrix where the
// product before left it. Of each round it has a time, so that the times of two
// kernels of a shape are pairs under the same disturbance.
type KernelTime struct {
	Shape       Shape
	Kernel      Kernel
	MatrixBytes int       // values, columns and the starts of rows: what a product must read, without vectors
	Seconds     []float64 // of a product: processor time of the thread that took most (Linux; elsewhere of the day)
	WallSeconds []float64 // by the clock on the wall: other programs, and threads that wait for each other, count
	ReadSeconds []float64 // of loading the same values and columns by as many threads, and nothing else, as Seconds
}

// TimeKernels times products of m by each of Kernels in each shape. In a round every
// kernel has its turn, and each result is compared with that of the plain product
// first: one that differs is an error.
func TimeKernels(ctx context.Context, m *Matrix, opt KernelOptions) ([]KernelTime, error) {
	return timeKernels(ctx, opt, func(s Shape) (*Blocks, error) { return Block(m, s) })
}

// DenseOrders returns the orders of dense matrices for TimeDenseKernels: the first
// three multiples of all block sizes, of 8 to 76 MB.
func DenseOrders() []int { return []int{denseSize / 2, denseSize, denseSize * 3 / 2} }

// TimeDenseKernels times products of a dense matrix of an order, as TimeKernels does:
// profiles from which the speeds of other matrices are predicted (see DenseProfile).
func TimeDenseKernels(ctx context.Context, order int, opt KernelOptions) ([]KernelTime, error) {
	if order < 1 || order%DenseOrders()[0] != 0 {
		return nil, fmt.Errorf("spmv: a dense matrix of order %d: want a multiple of %d, which all block sizes divide", order, DenseOrders()[0])
	}
	value := make([]float64, order*order) // of all shapes
	for i := range value {
		value[i] = 1
	}
	return timeKernels(ctx, opt, func(s Shape) (*Blocks, error) { return dense(order, s, value), nil })
}

func timeKernels(ctx context.Context, opt KernelOptions, block func(Shape) (*Blocks, error)) ([]KernelTime, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	rows, err := block(Shape{1, 1})
	if err != nil {
		return nil, err
	}
	want := newPlain(rows)
	kernels := Kernels(opt.Threads)
	all := make([]KernelTime, 0, len(Shapes())*len(kernels))
	for _, s := range Shapes() {
		for _, k := range kernels {
			all = append(all, KernelTime{Shape: s, Kernel: k})
		}
	}
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
			if err := b.timeKernels(all[i*len(kernels):(i+1)*len(kernels)], want, opt); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// timeKernels adds the times of opt.Rounds rounds.
func (b *Blocks) timeKernels(all []KernelTime, want *plain, opt KernelOptions) error {
	runtime.LockOSThread() // see timed
	defer runtime.UnlockOSThread()
	y, x := want.vectors(b)
	bytes := 8*len(b.value) + 4*len(b.column) + 4*len(b.start)
	var products, reads []*timed
	for i := range all {
		m, err := b.multiplier(all[i].Kernel, true)
		if err != nil {
			return err
		}
		defer m.Close()
		clear(y)
		m.Multiply(y, x)
		if err := want.check(y); err != nil {
			return fmt.Errorf("spmv: kernel of %v, %v: %w", b.Shape, all[i].Kernel, err)
		}
		all[i].MatrixBytes = bytes
		products = append(products, newTimed(m.team, m.work, opt.Least))
		reads = append(reads, newTimed(m.team, m.read, opt.Least))
	}
	runtime.GC() // what blocks before left
	for range opt.Rounds {
		for i := range all {
			product, read := products[i].once(), reads[i].once()
			all[i].Seconds = append(all[i].Seconds, product.processor)
			all[i].WallSeconds = append(all[i].WallSeconds, product.wall)
			all[i].ReadSeconds = append(all[i].ReadSeconds, read.processor)
		}
	}
	return nil
}

// ReadSpeed measures how fast threads together read memory, in bytes a second, once
// over a number of bytes, much more than caches hold; the median of nine times, of the
// processor time of the thread that took most.
func ReadSpeed(bytes, threads int) float64 {
	runtime.LockOSThread() // see timed
	defer runtime.UnlockOSThread()
	const times = 9
	values := make([]float64, max(bytes/8, threads))
	for i := range values {
		values[i] = 1 // a page that was never written is the page of zeros
	}
	t := newTeam(threads, true)
	defer t.close()
	each := len(values) / threads
	read := newTimed(t, func(i int) { simd.Read(values[i*each:(i+1)*each], nil) }, time.Millisecond)
	seconds := make([]float64, times)
	for i := range seconds {
		seconds[i] = read.once().processor
	}
	slices.Sort(seconds)
	return float64(8*each*threads) / order.Median(seconds)
}

// timed is work for a team whose workers, and whose caller, are bound to threads, and
// how often it is done for a timing.
type timed struct {
	team  *team
	work  func(part int)
	spent []time.Duration // processor time of each thread in the timing under way
	times int
}

// newTimed does the work, to warm up, until a timing takes least.
func newTimed(t *team, work func(part int), least time.Duration) *timed {
	d := &timed{team: t, spent: make([]time.Duration, len(t.wake)+1), times: 1}
	d.work = func(part int) {
		begin := clock()
		work(part)
		d.spent[part] += clock() - begin
	}
	d.once()
	for d.once().processor*float64(d.times) < least.Seconds()/2 {
		d.times *= 2
	}
	return d
}

// took is how long work takes once, in seconds.
type took struct{ processor, wall float64 }

func (d *timed) once() took {
	clear(d.spent)
	begin := time.Now()
	for range d.times {
		d.team.run(d.work)
	}
	n := float64(d.times)
	return took{slices.Max(d.spent).Seconds() / n, time.Since(begin).Seconds() / n}
}

// plain is the result of the plain product of a matrix, and the sums of the absolute
// values of its terms, which rounding is relative to.
type plain struct{ x, y, sizes []float64 }

// newPlain multiplies a matrix in blocks of 1×1 by a vector of numbers from 1 down.
func newPlain(rows *Blocks) *plain {
	p := &plain{x: make([]float64, rows.Cols), y: make([]float64, rows.Rows), sizes: make([]float64, rows.Rows)}
	for i := range p.x {
		p.x[i] = 1 / float64(i+1)
	}
	for i := range p.y {
		for k := rows.start[i]; k < rows.start[i+1]; k++ {
			term := rows.value[k] * p.x[rows.column[k]]
			p.y[i] += term
			p.sizes[i] += math.Abs(term)
		}
	}
	return p
}

// vectors returns y and x of the lengths that b needs.
func (p *plain) vectors(b *Blocks) (y, x []float64) {
	ny, nx := b.Lengths()
	y, x = make([]float64, ny), make([]float64, nx)
	copy(x, p.x)
	return y, x
}

// apart is how far results may be from the plain product's, relative to the sum of
// absolute values: those of rows of thousands of terms, in another order.
const apart = 1e-12

func (p *plain) check(y []float64) error {
	for i, want := range p.y {
		if !(math.Abs(y[i]-want) <= apart*p.sizes[i]) {
			return fmt.Errorf("row %d of the product is %g, that of the plain product %g", i, y[i], want)
		}
	}
	return nil
}
