package sparse

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"presage/perf/host"
	"presage/perf/internal/order"
	"presage/perf/spmv"
)

// KernelRow is the speed of a matrix in blocks of a size by a kernel on the machine at
// hand: medians and quartiles over rounds in which every kernel of the block size has
// its turn. Times are the processor time of the thread that took most, which other
// programs do not count in, or, where a column says so, by the clock on the wall.
type KernelRow struct {
	Matrix       string  `frame:"matrix"`
	StandIn      bool    `frame:"stand_in"`
	BlockRows    int     `frame:"block_rows"`
	BlockColumns int     `frame:"block_columns"`
	FillRatio    float64 `frame:"fill_ratio"`
	Estimate     float64 `frame:"est_fill_ratio"` // from a share of the rows
	Kernel       string  `frame:"kernel"`         // scalar or vector
	Threads      int     `frame:"threads"`
	Mflops       float64 `frame:"meas_mflop_per_sec"` // of the entries, without operations on filled zeros
	Low          float64 `frame:"meas_q1_mflop_per_sec"`
	High         float64 `frame:"meas_q3_mflop_per_sec"`
	Wall         float64 `frame:"meas_wall_mflop_per_sec"`
	WallLow      float64 `frame:"meas_wall_q1_mflop_per_sec"`
	WallHigh     float64 `frame:"meas_wall_q3_mflop_per_sec"`
	Times        float64 `frame:"meas_times_scalar"`      // as fast as the scalar kernel on one thread, median of pairs
	WallTimes    float64 `frame:"meas_wall_times_scalar"` // the same by the clock on the wall
	MatrixBytes  int     `frame:"matrix_bytes"`           // values, columns and starts
	Speed        float64 `frame:"meas_gb_per_sec"`        // of those bytes
	ReadSpeed    float64 `frame:"meas_read_gb_per_sec"`
	MemorySpeed  float64 `frame:"meas_memory_read_gb_per_sec"`
	Bound        float64 `frame:"meas_bound_mflop_per_sec"` // if only the matrix had to be read, at ReadSpeed
	PredMflops   float64 `frame:"pred_mflop_per_sec"`       // of a dense matrix of as many bytes by the same kernel, divided by Estimate
	PredOne      float64 `frame:"pred_one_mflop_per_sec"`   // of one dense matrix, whatever the bytes, divided by Estimate
}

// streamBytes is how much memory is read to measure its speed: far beyond caches.
const streamBytes = 256 << 20

// NativeKernels times the kernels of all block sizes for each matrix, scalar and
// vector, on one thread and on all, and predicts their speeds from those of dense
// matrices by the same kernel. ReadSpeed is that of loading the same values and columns
// by as many threads, MemorySpeed that of reading 256 MiB.
func NativeKernels(ctx context.Context, matrices []*spmv.Matrix, opt Options) ([]KernelRow, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	profile, err := timeProfile(ctx, opt, len(matrices))
	if err != nil {
		return nil, err
	}
	var rows []KernelRow
	for i, m := range matrices {
		opt.report(m.Name, "kernels", i+len(profile), len(matrices)+len(profile))
		estimate, err := spmv.SampleFill(m, opt.Share, opt.Seed)
		if err != nil {
			return nil, err
		}
		timed, err := spmv.TimeKernels(ctx, m, opt.Kernels)
		if err != nil {
			return nil, err
		}
		exact := spmv.CountFill(m)
		scalar := 0 // the index of the shape's first kernel
		for k := range timed {
			t := &timed[k]
			if t.Shape != timed[scalar].Shape {
				scalar = k
			}
			r := kernelRow(t, &timed[scalar], m.NonZeros())
			r.Matrix, r.StandIn, r.MemorySpeed = m.Name, m.StandIn, profile[0].memory[t.Kernel.Threads]/1e9
			r.FillRatio, r.Estimate = exact.Ratio(t.Shape), estimate.Ratio(t.Shape)
			bytes := float64(m.NonZeros()) * r.bytesPerEntry()
			r.PredMflops, r.PredOne = profile.mflops(k, bytes)/r.Estimate, profile[1].mflops[k]/r.Estimate
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// bytesPerEntry returns the bytes of values and columns that are stored for an entry, by
// the estimated fill: a value is 8 bytes, and a block has a column of 4.
func (r *KernelRow) bytesPerEntry() float64 {
	return r.Estimate * (8 + 4/float64(r.BlockRows*r.BlockColumns))
}

// profile is the speeds of dense matrices, the smallest first.
type profile []densePoint

// A densePoint is the speed of one dense matrix by each kernel of each block size.
type densePoint struct {
	mflops, bytes []float64       // in the order of spmv.TimeKernels
	memory        map[int]float64 // how fast threads read memory, bytes a second, by how many; of the first alone
}

// timeProfile times dense matrices of all spmv.DenseOrders, before those of a study.
func timeProfile(ctx context.Context, opt Options, matrices int) (profile, error) {
	var all profile
	orders := spmv.DenseOrders()
	for i, n := range orders {
		opt.report(fmt.Sprintf("dense %d", n), "kernels", i, len(orders)+matrices)
		timed, err := spmv.TimeDenseKernels(ctx, n, opt.Kernels)
		if err != nil {
			return nil, err
		}
		p := densePoint{memory: make(map[int]float64)}
		for k := range timed {
			t := &timed[k]
			p.mflops = append(p.mflops, 2*float64(n)*float64(n)/median(t.Seconds)/1e6)
			p.bytes = append(p.bytes, float64(t.MatrixBytes))
			if threads := t.Kernel.Threads; i == 0 && p.memory[threads] == 0 {
				p.memory[threads] = spmv.ReadSpeed(streamBytes, threads)
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// mflops returns the speed of a dense matrix of a number of bytes by the kernel k,
// linear in the logarithm of the bytes between two that were timed, and that of the
// smallest or largest beyond: caches hold the one, and not the other.
func (p profile) mflops(k int, bytes float64) float64 {
	i := 1
	for i < len(p)-1 && bytes > p[i].bytes[k] {
		i++
	}
	a, b := p[i-1], p[i]
	share := math.Log(bytes/a.bytes[k]) / math.Log(b.bytes[k]/a.bytes[k])
	share = min(max(share, 0), 1)
	return a.mflops[k] + share*(b.mflops[k]-a.mflops[k])
}

// kernelRow sums up the times of a kernel, beside those of the scalar one.
func kernelRow(t, scalar *spmv.KernelTime, nonZeros int) KernelRow {
	sorted := slices.Sorted(slices.Values(t.Seconds))
	wall := slices.Sorted(slices.Values(t.WallSeconds))
	mflops := func(seconds float64) float64 { return 2 * float64(nonZeros) / seconds / 1e6 }
	r := KernelRow{
		BlockRows: t.Shape.R, BlockColumns: t.Shape.C, Kernel: "scalar", Threads: t.Kernel.Threads,
		Mflops: mflops(order.Median(sorted)), Low: mflops(order.Quantile(sorted, 0.75)), High: mflops(order.Quantile(sorted, 0.25)),
		Wall: mflops(order.Median(wall)), WallLow: mflops(order.Quantile(wall, 0.75)), WallHigh: mflops(order.Quantile(wall, 0.25)),
		Times: timesAsFast(scalar.Seconds, t.Seconds), WallTimes: timesAsFast(scalar.WallSeconds, t.WallSeconds),
		MatrixBytes: t.MatrixBytes, Speed: float64(t.MatrixBytes) / order.Median(sorted) / 1e9,
	}
	if t.Kernel.Vector {
		r.Kernel = "vector"
	}
	read := median(t.ReadSeconds)
	r.ReadSpeed, r.Bound = float64(t.MatrixBytes)/read/1e9, mflops(read)
	return r
}

// timesAsFast returns the median ratio of times that are pairs.
func timesAsFast(slow, fast []float64) float64 {
	ratios := make([]float64, len(fast))
	for i := range ratios {
		ratios[i] = slow[i] / fast[i]
	}
	return median(ratios)
}

func median(v []float64) float64 { return order.Median(slices.Sorted(slices.Values(v))) }

// kernelOrigin names the machine and what was measured on it.
func kernelOrigin() string {
	return fmt.Sprintf("measured on %s, %s: processor time of the slowest thread, and by the clock on the wall, medians over three passes of five rounds; scalar kernels of Go %s, vector kernels of perf/spmv/simd",
		host.Name(), runtime.GOOS+"/"+runtime.GOARCH, runtime.Version())
}
