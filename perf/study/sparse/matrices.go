package sparse

import (
	"slices"

	"presage/perf/spmv"
)

// Matrices returns the matrices of Table 4 with some names, or all if none is
// given: real ones that a folder holds, and stand-ins for the others.
func Matrices(folders []string, names ...string) ([]*spmv.Matrix, error) {
	var all []*spmv.Matrix
	for _, t := range spmv.AllTable4() {
		if len(names) > 0 && !slices.Contains(names, t.Name) {
			continue
		}
		m, err := t.Load(folders...)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	for _, name := range names {
		if _, err := spmv.FindTable4(name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// MatrixRow describes a matrix.
type MatrixRow struct {
	Matrix    string  `frame:"matrix"`
	StandIn   bool    `frame:"stand_in"` // synthesised for the one of this name
	Rows      int     `frame:"rows"`
	NonZeros  int     `frame:"nonzeros"`
	Sparsity  float64 `frame:"sparsity"`       // share of places that entries fill
	Bandwidth float64 `frame:"mean_bandwidth"` // distance of entries from the diagonal
	Widest    int     `frame:"bandwidth"`      // largest distance
	Origin    string  `frame:"origin"`
}

// Describe returns a row for each matrix.
func Describe(matrices []*spmv.Matrix) []MatrixRow {
	var rows []MatrixRow
	for _, m := range matrices {
		mean, widest := m.Bandwidth()
		rows = append(rows, MatrixRow{m.Name, m.StandIn, m.Rows, m.NonZeros(), m.Sparsity(), mean, widest, m.Origin})
	}
	return rows
}

// FillRow is the fill ratio of a matrix in blocks of a size, exact and estimated
// from a share of the rows.
type FillRow struct {
	Matrix       string  `frame:"matrix"`
	StandIn      bool    `frame:"stand_in"`
	BlockRows    int     `frame:"block_rows"`
	BlockColumns int     `frame:"block_columns"`
	FillRatio    float64 `frame:"fill_ratio"` // stored values by entries, 1 and above
	Share        float64 `frame:"sampled_share"`
	Estimate     float64 `frame:"est_fill_ratio"`     // of one sample
	Median       float64 `frame:"median_abs_rel_err"` // of twenty samples
	High         float64 `frame:"p95_abs_rel_err"`
}

// Fill returns the fill ratios of all block sizes of matrices, estimated from
// opt.Share of their rows with opt.Seed; errors are those of twenty seeds from it on.
func Fill(matrices []*spmv.Matrix, opt Options) ([]FillRow, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	const samples = 20
	var rows []FillRow
	for _, m := range matrices {
		exact := spmv.CountFill(m)
		var estimates []*spmv.SampledFill
		for i := range samples {
			s, err := spmv.SampleFill(m, opt.Share, opt.Seed+uint64(i))
			if err != nil {
				return nil, err
			}
			estimates = append(estimates, s)
		}
		for _, s := range spmv.Shapes() {
			var errs []float64
			for _, e := range estimates {
				errs = append(errs, max(e.Ratio(s)/exact.Ratio(s)-1, 1-e.Ratio(s)/exact.Ratio(s)))
			}
			slices.Sort(errs)
			rows = append(rows, FillRow{
				m.Name, m.StandIn, s.R, s.C, exact.Ratio(s), opt.Share, estimates[0].Ratio(s),
				(errs[samples/2-1] + errs[samples/2]) / 2, errs[samples*95/100-1],
			})
		}
	}
	return rows, nil
}
