package sparse

import (
	"errors"
	"slices"

	"presage/perf/spmv"
)

// Matrices returns the matrices with some names: real ones of Table 4 that a folder
// holds, stand-ins for others of it, and generated ones (spmv.AllFamilies). Without a
// name they are those of Table 4.
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
		if _, err := spmv.FindTable4(name); err == nil {
			continue
		}
		f, err := spmv.FindFamily(name)
		if err != nil {
			_, other := spmv.FindTable4(name)
			return nil, errors.Join(other, err)
		}
		m, err := f.Generate()
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// RealRow says whether a matrix of Table 4 is in place, and where it is to be had.
type RealRow struct {
	Matrix   string `frame:"matrix"`
	File     string `frame:"file"` // empty: a stand-in takes its place
	Rows     int    `frame:"rows"`
	NonZeros int    `frame:"nonzeros"` // as Table 4 counts them
	Page     string `frame:"page"`
	Save     string `frame:"save_as"`
}

// Real returns a row for each matrix of Table 4, of which folders may hold the real
// ones. A file that is there and is of another matrix is an error.
func Real(folders []string) ([]RealRow, error) {
	var rows []RealRow
	for _, t := range spmv.AllTable4() {
		file, err := t.File(folders...)
		if err != nil {
			return nil, err
		}
		if file != "" {
			if _, err := t.Load(folders...); err != nil {
				return nil, err
			}
		}
		rows = append(rows, RealRow{t.Name, file, t.Dimension, t.NonZeros, "https://sparse.tamu.edu/" + t.Page, t.Name + ".mtx"})
	}
	return rows, nil
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
