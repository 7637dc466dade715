package sparse

import (
	"cmp"
	"context"
	"fmt"
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
	PredMflops   float64 `frame:"pred_mflop_per_sec"`       // of a dense matrix by the same kernel, divided by Estimate
}

// streamBytes is how much memory is read to measure its speed: far beyond caches.
const streamBytes = 256 << 20

// NativeKernels times the kernels of all block sizes for each matrix, scalar and
// vector, on one thread and on all, and predicts their speeds from those of a dense
// matrix by the same kernel. ReadSpeed is that of loading the same values and columns
// by as many threads, MemorySpeed that of reading 256 MiB.
func NativeKernels(ctx context.Context, matrices []*spmv.Matrix, opt Options) ([]KernelRow, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	opt.report("dense", "kernels", 0, len(matrices)+1)
	dense, err := spmv.TimeDenseKernels(ctx, opt.Kernels)
	if err != nil {
		return nil, err
	}
	memory := make(map[int]float64)
	for i := range dense {
		if threads := dense[i].Kernel.Threads; memory[threads] == 0 {
			memory[threads] = spmv.ReadSpeed(streamBytes, threads)
		}
	}
	var rows []KernelRow
	for i, m := range matrices {
		opt.report(m.Name, "kernels", i+1, len(matrices)+1)
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
			r.Matrix, r.StandIn, r.MemorySpeed = m.Name, m.StandIn, memory[t.Kernel.Threads]/1e9
			r.FillRatio, r.Estimate = exact.Ratio(t.Shape), estimate.Ratio(t.Shape)
			r.PredMflops = 2 * spmv.DenseEntries / median(dense[k].Seconds) / 1e6 / r.Estimate
			rows = append(rows, r)
		}
	}
	return rows, nil
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

// KernelBest compares block sizes of a matrix by a kernel on the machine at hand.
type KernelBest struct {
	Matrix     string  `frame:"matrix"`
	Kernel     string  `frame:"kernel"`
	Threads    int     `frame:"threads"`
	Plain      float64 `frame:"meas_1x1_mflop_per_sec"`
	Best       string  `frame:"meas_best"` // the fastest, measured
	BestMflops float64 `frame:"meas_best_mflop_per_sec"`
	Gain       float64 `frame:"meas_best_over_1x1"`
	Predicted  string  `frame:"pred_best"` // by dense speed over fill
	PredRatio  float64 `frame:"pred_best_over_best"`
	PredGain   float64 `frame:"pred_best_over_1x1"`
	Chosen     string  `frame:"chosen"` // by other means: see KernelChoice
	ChoiceOf   float64 `frame:"chosen_over_best"`
	ChoiceGain float64 `frame:"chosen_over_1x1"`
}

// KernelChoice compares, for each matrix and kernel, the fastest block size with the
// one that dense speed over fill predicts, and with the one that chosen has for the
// matrix, such as "3×3"; without one it is 1×1.
func KernelChoice(rows []KernelRow, chosen map[string]string) ([]KernelBest, error) {
	type group struct {
		matrix, kernel string
		threads        int
	}
	type block struct {
		r *KernelRow
		s string
	}
	var order []group
	groups := make(map[group][]block)
	for i := range rows {
		r := &rows[i]
		g := group{r.Matrix, r.Kernel, r.Threads}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], block{r, spmv.Shape{R: r.BlockRows, C: r.BlockColumns}.String()})
	}
	var all []KernelBest
	for _, g := range order {
		of := groups[g]
		find := func(s string) (*KernelRow, error) {
			for _, b := range of {
				if b.s == s {
					return b.r, nil
				}
			}
			return nil, fmt.Errorf("perf: spmv: %s, %s kernel, %d threads: no row of blocks of %q", g.matrix, g.kernel, g.threads, s)
		}
		best := slices.MaxFunc(of, func(a, b block) int { return cmp.Compare(a.r.Mflops, b.r.Mflops) })
		taken := slices.MaxFunc(of, func(a, b block) int { return cmp.Compare(a.r.PredMflops, b.r.PredMflops) })
		name := cmp.Or(chosen[g.matrix], "1×1")
		other, err := find(name)
		if err != nil {
			return nil, err
		}
		one, err := find("1×1")
		if err != nil {
			return nil, err
		}
		all = append(all, KernelBest{
			Matrix: g.matrix, Kernel: g.kernel, Threads: g.threads, Plain: one.Mflops,
			Best: best.s, BestMflops: best.r.Mflops, Gain: best.r.Mflops / one.Mflops,
			Predicted: taken.s, PredRatio: taken.r.Mflops / best.r.Mflops, PredGain: taken.r.Mflops / one.Mflops,
			Chosen: name, ChoiceOf: other.Mflops / best.r.Mflops, ChoiceGain: other.Mflops / one.Mflops,
		})
	}
	return all, nil
}
