package misses

import (
	"fmt"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/fit"
	"presage/perf/frame"
	"presage/perf/internal/num"
	"presage/perf/locality"
)

// Bins returns the model's bins for the references that the options choose: a
// row for each reference and bin, by ascending distance, a last row for its
// cold accesses.
//
//   - program, reference, block_bytes
//   - bin: constant, distance or cold
//   - distance_blocks: formula of the average reuse distance; empty for cold
//   - accesses: formula of the frequency
//   - share: of the reference's accesses, at the last training point
//   - loo_err: relative leave-one-out error of the distance's formula
func (m *Model) Bins(opt locality.HistogramOptions) (dataframe.DataFrame, error) {
	type row struct {
		Program   string  `frame:"program"`
		Reference string  `frame:"reference"`
		Block     uint64  `frame:"block_bytes"`
		Bin       string  `frame:"bin"`
		Distance  string  `frame:"distance_blocks"`
		Accesses  string  `frame:"accesses"`
		Share     float64 `frame:"share"`
		Err       float64 `frame:"loo_err"`
	}
	if opt.BlockBytes == 0 {
		opt.BlockBytes = num.Keys(m.byBlock)[0]
	}
	fitted := m.byBlock[opt.BlockBytes]
	if fitted == nil {
		return dataframe.DataFrame{}, fmt.Errorf("perf: no model for blocks of %d bytes; there are %v", opt.BlockBytes, num.Keys(m.byBlock))
	}
	var rows []row
	for g := range fitted.Groups {
		ref := &m.Refs[m.Members[g][0]]
		if !opt.Chooses(ref) {
			continue
		}
		group := &fitted.Groups[g]
		last := fit.Point(m.Points[len(m.Points)-1])
		hist := group.Histogram(last)
		total := hist.Accesses()
		for b := range group.Bins {
			bin := &group.Bins[b]
			kind := "distance"
			if bin.Constant {
				kind = "constant"
			}
			rows = append(rows, row{
				m.Program, ref.String(), opt.BlockBytes, kind, bin.Distance.String(), bin.Frequency.String(),
				num.Ratio(hist.Bins[b].Count, total), bin.Distance.LOO,
			})
		}
		rows = append(rows, row{m.Program, ref.String(), opt.BlockBytes, "cold", "", group.Cold.String(), num.Ratio(hist.Cold, total), group.Cold.LOO})
	}
	if len(rows) == 0 {
		return dataframe.DataFrame{}, fmt.Errorf("perf: no modelled reference in routine %q at pc %#x", opt.Routine, opt.PC)
	}
	return frame.Of(rows), nil
}

// Residuals returns how far the model's functions for the references that the
// options choose are from what they were fitted to: a row for each function
// and training point at which it has data.
//
//   - program, reference, block_bytes, the point
//   - bin: its number, from 0 by ascending distance; -1 for the cold accesses
//   - quantity: distance_blocks or accesses
//   - value: of the function
//   - residual: data less function; rel_residual: divided by the data
func (m *Model) Residuals(opt locality.HistogramOptions) (dataframe.DataFrame, error) {
	if opt.BlockBytes == 0 {
		opt.BlockBytes = num.Keys(m.byBlock)[0]
	}
	fitted := m.byBlock[opt.BlockBytes]
	if fitted == nil {
		return dataframe.DataFrame{}, fmt.Errorf("perf: no model for blocks of %d bytes; there are %v", opt.BlockBytes, num.Keys(m.byBlock))
	}
	var rows []residualRow
	for g := range fitted.Groups {
		ref := &m.Refs[m.Members[g][0]]
		if !opt.Chooses(ref) {
			continue
		}
		row := residualRow{Program: m.Program, Reference: ref.String(), Block: opt.BlockBytes}
		for b := range fitted.Groups[g].Bins {
			bin := &fitted.Groups[g].Bins[b]
			row.Bin = b
			rows = m.residuals(rows, row, "distance_blocks", &bin.Distance)
			rows = m.residuals(rows, row, "accesses", &bin.Frequency)
		}
		row.Bin = -1
		rows = m.residuals(rows, row, "accesses", &fitted.Groups[g].Cold)
	}
	if len(rows) == 0 {
		return dataframe.DataFrame{}, fmt.Errorf("perf: no modelled reference in routine %q at pc %#x", opt.Routine, opt.PC)
	}
	return frame.Of(rows), nil
}

type residualRow struct {
	Program   string             `frame:"program"`
	Reference string             `frame:"reference"`
	Block     uint64             `frame:"block_bytes"`
	Point     map[string]float64 `frame:",each"`
	Bin       int                `frame:"bin"`
	Quantity  string             `frame:"quantity"`
	Value     float64            `frame:"value"`
	Residual  float64            `frame:"residual"`
	Relative  float64            `frame:"rel_residual"`
}

// residuals adds a row for each point. A function that was fitted to a part of
// the points, where its bin holds accesses, does not say which: it is left out.
func (m *Model) residuals(rows []residualRow, row residualRow, quantity string, f *fit.Func) []residualRow {
	if len(f.Residuals) != len(m.Points) {
		return rows
	}
	for i, p := range m.Points {
		row.Point, row.Quantity = p, quantity
		row.Value, row.Residual = f.Eval(fit.Point(p)), f.Residuals[i]
		row.Relative = num.Ratio(row.Residual, row.Value+row.Residual)
		rows = append(rows, row)
	}
	return rows
}
