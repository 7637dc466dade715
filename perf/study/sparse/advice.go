package sparse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/spmv"
)

// Advice is which block size a matrix is best stored in on the machine at
// hand.
type Advice struct {
	Matrix *spmv.Matrix
	Shape  spmv.Shape // recommended
	Fill   float64    // its fill ratio, estimated
	Gain   float64    // predicted speed over that of 1×1 blocks

	// Best is the fastest by measurement, and Loss by how much the recommended one
	// is slower than it, as a share; MeasuredGain the recommended one's speed over
	// that of 1×1. Only if it was verified.
	Verified     bool
	Best         spmv.Shape
	Loss         float64
	MeasuredGain float64

	// Shapes is a table of the block sizes, the fastest predicted first:
	// est_fill_ratio, pred_mflop_per_sec, and if verified meas_mflop_per_sec.
	Shapes dataframe.DataFrame
}

// AdviseSpMV recommends a block size for a matrix that was never seen before, by
// the speed of a dense matrix in such blocks, which it measures on the machine at
// hand, and the fill ratio, which it estimates from a share of the rows. To verify
// it times all block sizes for the matrix itself.
func AdviseSpMV(ctx context.Context, m *spmv.Matrix, opt Options, timing spmv.TimeOptions, verify bool) (*Advice, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	if m.NonZeros() == 0 {
		return nil, fmt.Errorf("perf: spmv: matrix %q has no entries: there is nothing to tune", m.Name)
	}
	estimate, err := spmv.SampleFill(m, opt.Share, opt.Seed)
	if err != nil {
		return nil, err
	}
	dense, err := spmv.DenseProfile(ctx, opt.timing(timing, "dense"))
	if err != nil {
		return nil, err
	}
	type row struct {
		BlockRows    int     `frame:"block_rows"`
		BlockColumns int     `frame:"block_columns"`
		Estimate     float64 `frame:"est_fill_ratio"`
		PredFlops    float64 `frame:"pred_mflop_per_sec"`
	}
	predicted := func(i int) float64 {
		return dense[i].Mflops(spmv.DenseEntries) / estimate.Ratio(dense[i].Shape)
	}
	order := make([]int, len(dense))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(predicted(b), predicted(a)) })
	var rows []row
	for _, i := range order {
		s := dense[i].Shape
		rows = append(rows, row{s.R, s.C, estimate.Ratio(s), predicted(i)})
	}
	taken := order[0]
	a := &Advice{
		Matrix: m, Shape: dense[taken].Shape, Fill: estimate.Ratio(dense[taken].Shape),
		Gain: predicted(taken) / predicted(0), Shapes: frame.Of(rows),
	}
	if !verify {
		return a, nil
	}
	timed, err := spmv.Time(ctx, m, opt.timing(timing, m.Name))
	if err != nil {
		return nil, err
	}
	measured := make([]float64, len(order))
	best := 0
	for k, i := range order {
		measured[k] = timed[i].Mflops(m.NonZeros())
		if timed[i].Seconds < timed[best].Seconds {
			best = i
		}
	}
	a.Verified, a.Best = true, timed[best].Shape
	a.Loss = 1 - timed[best].Seconds/timed[taken].Seconds
	a.MeasuredGain = timed[0].Seconds / timed[taken].Seconds
	a.Shapes = frame.WithFloats(a.Shapes, "meas_mflop_per_sec", measured)
	return a, nil
}

// timing returns how kernels are timed, with opt's progress unless timing has its own.
func (o Options) timing(timing spmv.TimeOptions, matrix string) spmv.TimeOptions {
	if timing.Progress == nil {
		done := 0
		timing.Progress = func(_ int, _ spmv.Shape) {
			o.Progress(matrix, "timings", done, cmp.Or(timing.Passes, spmv.DefaultPasses)*len(spmv.Shapes()))
			done++
		}
	}
	return timing
}

// Text says the recommendation in a few lines.
func (a *Advice) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d×%d, %d entries\n", a.Matrix.Name, a.Matrix.Rows, a.Matrix.Cols, a.Matrix.NonZeros())
	fmt.Fprintf(&b, "Store it in blocks of %v: fill ratio %.2f (estimated), predicted %.2f times as fast as 1×1.\n", a.Shape, a.Fill, a.Gain)
	if a.Verified {
		fmt.Fprintf(&b, "Measured: %.2f times as fast as 1×1; the best block size is %v", a.MeasuredGain, a.Best)
		if a.Best != a.Shape {
			fmt.Fprintf(&b, ", by %.1f%% of its speed", 100*a.Loss)
		}
		b.WriteString(".\n")
	}
	return b.String()
}

// TuneSpMV simulates samples of one matrix, fits its models, and tunes it as
// SpMVModel.Tune does. It returns the table of that, and SpMVAccuracy of the models.
func TuneSpMV(ctx context.Context, m *spmv.Matrix, opt Options) (tuned, accuracy dataframe.DataFrame, err error) {
	samples, err := Samples(ctx, []*spmv.Matrix{m}, opt)
	if err != nil {
		return tuned, accuracy, err
	}
	if opt, err = opt.withDefaults(); err != nil {
		return tuned, accuracy, err
	}
	model, err := fitSpMV(ctx, samples, spmv.ModelOptions{}, opt.Store)
	if err != nil {
		return tuned, accuracy, err
	}
	predictions, err := model.Predictions()
	if err != nil {
		return tuned, accuracy, err
	}
	if accuracy, err = Accuracy(predictions, "validate"); err != nil {
		return tuned, accuracy, err
	}
	tuned, err = model.Tune(ctx, []*spmv.Matrix{m}, opt)
	return tuned, accuracy, err
}
