package sparse

import (
	"cmp"
	"fmt"
	"slices"

	"presage/perf/spmv"
)

// KernelBest compares block sizes of a matrix by a kernel on the machine at hand.
type KernelBest struct {
	Matrix     string  `frame:"matrix"`
	Kernel     string  `frame:"kernel"`
	Threads    int     `frame:"threads"`
	Plain      float64 `frame:"meas_1x1_mflop_per_sec"`
	Best       string  `frame:"meas_best"` // the fastest, measured
	BestMflops float64 `frame:"meas_best_mflop_per_sec"`
	Gain       float64 `frame:"meas_best_over_1x1"`
	Predicted  string  `frame:"pred_best"` // by the speed of a dense matrix of as many bytes over fill
	PredRatio  float64 `frame:"pred_best_over_best"`
	PredGain   float64 `frame:"pred_best_over_1x1"`
	OneSize    string  `frame:"pred_one_best"` // by that of one dense matrix
	OneRatio   float64 `frame:"pred_one_over_best"`
	OneGain    float64 `frame:"pred_one_over_1x1"`
	Fewest     string  `frame:"pred_bytes_best"` // of the fewest bytes, by fill; nothing is measured
	FewestOf   float64 `frame:"pred_bytes_over_best"`
	FewestGain float64 `frame:"pred_bytes_over_1x1"`
	Chosen     string  `frame:"chosen"` // by other means: see KernelChoice
	ChoiceOf   float64 `frame:"chosen_over_best"`
	ChoiceGain float64 `frame:"chosen_over_1x1"`
}

// KernelChoice compares, for each matrix and kernel, the fastest block size with the
// ones that dense speeds over fill predict, with the one of the fewest bytes, and with
// the one that chosen has for the matrix, such as "3×3"; without one it is 1×1.
func KernelChoice(rows []KernelRow, chosen map[string]string) ([]KernelBest, error) {
	type kernel struct {
		matrix, name string
		threads      int
	}
	var sequence []kernel
	groups := make(map[kernel][]*KernelRow)
	for i := range rows {
		r := &rows[i]
		k := kernel{r.Matrix, r.Kernel, r.Threads}
		if groups[k] == nil {
			sequence = append(sequence, k)
		}
		groups[k] = append(groups[k], r)
	}
	all := make([]KernelBest, 0, len(sequence))
	for _, k := range sequence {
		b, err := bestOf(groups[k], cmp.Or(chosen[k.matrix], "1×1"))
		if err != nil {
			return nil, fmt.Errorf("perf: spmv: %s, %s kernel, %d threads: %w", k.matrix, k.name, k.threads, err)
		}
		all = append(all, b)
	}
	return all, nil
}

// bestOf compares the rows of one matrix and kernel.
func bestOf(rows []*KernelRow, chosen string) (KernelBest, error) {
	most := func(by func(*KernelRow) float64) *KernelRow {
		return slices.MaxFunc(rows, func(a, b *KernelRow) int { return cmp.Compare(by(a), by(b)) })
	}
	best := most(func(r *KernelRow) float64 { return r.Mflops })
	taken := most(func(r *KernelRow) float64 { return r.PredMflops })
	one := most(func(r *KernelRow) float64 { return r.PredOne })
	fewest := most(func(r *KernelRow) float64 { return -r.bytesPerEntry() })
	named := make(map[string]*KernelRow)
	for _, r := range rows {
		named[r.shape()] = r
	}
	plain, other := named["1×1"], named[chosen]
	if plain == nil || other == nil {
		return KernelBest{}, fmt.Errorf("no row of blocks of 1×1 or of %q", chosen)
	}
	return KernelBest{
		Matrix: best.Matrix, Kernel: best.Kernel, Threads: best.Threads, Plain: plain.Mflops,
		Best: best.shape(), BestMflops: best.Mflops, Gain: best.Mflops / plain.Mflops,
		Predicted: taken.shape(), PredRatio: taken.Mflops / best.Mflops, PredGain: taken.Mflops / plain.Mflops,
		OneSize: one.shape(), OneRatio: one.Mflops / best.Mflops, OneGain: one.Mflops / plain.Mflops,
		Fewest: fewest.shape(), FewestOf: fewest.Mflops / best.Mflops, FewestGain: fewest.Mflops / plain.Mflops,
		Chosen: chosen, ChoiceOf: other.Mflops / best.Mflops, ChoiceGain: other.Mflops / plain.Mflops,
	}, nil
}

// shape returns the row's block size.
func (r *KernelRow) shape() string { return spmv.Shape{R: r.BlockRows, C: r.BlockColumns}.String() }
