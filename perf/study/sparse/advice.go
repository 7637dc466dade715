package sparse

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"presage/perf/host"
	"presage/perf/progress"
	"presage/perf/spmv"
	"presage/perf/store"
)

// AdviceOptions say how a matrix is assessed. The zero value measures a dense
// matrix alone, once on each machine.
type AdviceOptions struct {
	Share    float64 // of the rows, from which fill ratios are estimated; 0: 0.02
	Seed     uint64
	Timing   spmv.TimeOptions
	Verify   bool         // also time all block sizes for the matrix itself
	Store    *store.Store // keeps the speeds of a dense matrix on this machine; nil: the default store
	Anew     bool         // measure those speeds even if they are kept, and replace them
	Progress progress.Func
}

// Advice is which block size a matrix is best stored in on the machine at hand.
type Advice struct {
	Matrix *spmv.Matrix
	Shape  spmv.Shape // recommended
	Fill   float64    // its fill ratio, estimated
	Gain   float64    // predicted speed over that of 1×1 blocks

	// Best is the fastest by measurement, Loss by how much the recommended one is
	// slower, from 0 to 1, and MeasuredGain the recommended one's speed over that of
	// 1×1. They are 0 unless Verified.
	Verified     bool
	Best         spmv.Shape
	Loss         float64
	MeasuredGain float64

	Shapes []ShapeAdvice // the fastest predicted first

	DenseKept bool   // the speeds of a dense matrix were measured earlier
	Warning   string // why those speeds could not be kept or read; usually empty
}

// ShapeAdvice is the speed of a block size.
type ShapeAdvice struct {
	BlockRows    int     `frame:"block_rows"`
	BlockColumns int     `frame:"block_columns"`
	Estimate     float64 `frame:"est_fill_ratio"`
	PredMflops   float64 `frame:"pred_mflop_per_sec"`
	Mflops       float64 `frame:"meas_mflop_per_sec"` // 0 unless verified
}

// Advise recommends a block size for a matrix that was never seen before, by the
// speed of a dense matrix in such blocks, which it measures on the machine at hand
// and keeps, and the fill ratio, which it estimates from a share of the rows.
func Advise(ctx context.Context, m *spmv.Matrix, opt AdviceOptions) (*Advice, error) {
	if m.NonZeros() == 0 {
		return nil, fmt.Errorf("perf: spmv: matrix %q has no entries: there is nothing to tune", m.Name)
	}
	estimate, err := spmv.SampleFill(m, cmp.Or(opt.Share, defaultShare), opt.Seed)
	if err != nil {
		return nil, err
	}
	profile, err := opt.dense(ctx)
	if err != nil {
		return nil, err
	}
	dense := profile.Value
	predicted := func(i int) float64 {
		return dense[i].Mflops(spmv.DenseEntries) / estimate.Ratio(dense[i].Shape)
	}
	order := make([]int, len(dense))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(predicted(b), predicted(a)) })
	taken := order[0]
	a := &Advice{
		Matrix: m, Shape: dense[taken].Shape, Fill: estimate.Ratio(dense[taken].Shape),
		Gain: predicted(taken) / predicted(0), DenseKept: profile.Stored, Warning: profile.Warning,
	}
	for _, i := range order {
		s := dense[i].Shape
		a.Shapes = append(a.Shapes, ShapeAdvice{BlockRows: s.R, BlockColumns: s.C, Estimate: estimate.Ratio(s), PredMflops: predicted(i)})
	}
	if !opt.Verify {
		return a, nil
	}
	timed, err := spmv.Time(ctx, m, opt.timing(m.Name))
	if err != nil {
		return nil, err
	}
	best := 0
	for k, i := range order {
		a.Shapes[k].Mflops = timed[i].Mflops(m.NonZeros())
		if timed[i].Seconds < timed[best].Seconds {
			best = i
		}
	}
	a.Verified, a.Best = true, timed[best].Shape
	a.Loss = 1 - timed[best].Seconds/timed[taken].Seconds
	a.MeasuredGain = timed[0].Seconds / timed[taken].Seconds
	return a, nil
}

// denseVersion is part of the key of kept speeds: raise it when the kernels or the
// way in which they are timed change.
const denseVersion = 1

// dense returns the times of a dense matrix in blocks of each size.
func (o *AdviceOptions) dense(ctx context.Context) (store.Memoized[[]spmv.Timed], error) {
	var none store.Memoized[[]spmv.Timed]
	st, err := store.OrDefault(o.Store)
	if err != nil {
		return none, err
	}
	timing, err := o.Timing.WithDefaults()
	if err != nil {
		return none, err
	}
	key, err := store.NewKey("spmv-dense", denseVersion, struct {
		Processor, Architecture, Go string
		Passes, Repeats             int
		Least                       time.Duration
	}{host.Name(), runtime.GOARCH, runtime.Version(), timing.Passes, timing.Repeats, timing.Least})
	if err != nil {
		return none, err
	}
	measure := func() ([]spmv.Timed, error) { return spmv.DenseProfile(ctx, o.timing("dense")) }
	if !o.Anew {
		return store.Memo(st, key, measure)
	}
	timed, err := measure()
	if err != nil {
		return none, err
	}
	m := store.Memoized[[]spmv.Timed]{Value: timed}
	if err := st.Save(key, timed); err != nil {
		m.Warning = fmt.Sprintf("%v; the speeds were not kept", err)
	}
	return m, nil
}

// timing returns how kernels are timed for a matrix, with the progress of the
// options unless Timing has its own.
func (o *AdviceOptions) timing(matrix string) spmv.TimeOptions {
	t := o.Timing
	if t.Progress == nil {
		done, total := 0, cmp.Or(t.Passes, spmv.DefaultPasses)*len(spmv.Shapes())
		t.Progress = func(_ int, _ spmv.Shape) {
			o.Progress.Report(progress.Report{Task: matrix + ": timings", Done: done, Total: total})
			done++
		}
	}
	return t
}

// Text returns the recommendation in a few lines.
func (a *Advice) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d×%d, %d entries\n", a.Matrix.Name, a.Matrix.Rows, a.Matrix.Cols, a.Matrix.NonZeros())
	fmt.Fprintf(&b, "Store it in blocks of %v: fill ratio %.2f (estimated), predicted %.2f times as fast as 1×1.\n", a.Shape, a.Fill, a.Gain)
	if a.DenseKept {
		b.WriteString("The speeds of a dense matrix, which that follows from, were measured on this machine earlier.\n")
	}
	if a.Verified {
		fmt.Fprintf(&b, "Measured: %.2f times as fast as 1×1; the best block size is %v", a.MeasuredGain, a.Best)
		if a.Best != a.Shape {
			fmt.Fprintf(&b, ", by %.1f%% of its speed", 100*a.Loss)
		}
		b.WriteString(".\n")
	}
	return b.String()
}
