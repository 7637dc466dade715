package misses

import (
	"cmp"
	"fmt"

	"presage/perf/fit"
	"presage/perf/internal/num"
	"presage/perf/locality"
)

// ModelBin is a bin of the model of a reference, or its cold accesses.
type ModelBin struct {
	Program   string  `frame:"program"`
	Reference string  `frame:"reference"`
	Block     uint64  `frame:"block_bytes"`
	Bin       string  `frame:"bin"`             // constant, distance or cold
	Distance  string  `frame:"distance_blocks"` // formula of the average reuse distance; empty for cold
	Accesses  string  `frame:"accesses"`        // formula of the frequency
	Share     float64 `frame:"share"`           // of the reference's accesses, at the last training point
	Err       float64 `frame:"loo_err"`         // relative leave-one-out error of the distance's formula
}

// Bins returns the model's bins for the references that the options choose: a
// row for each reference and bin, by ascending distance, a last row for its
// cold accesses.
func (m *Model) Bins(opt locality.HistogramOptions) ([]ModelBin, error) {
	opt.BlockBytes = cmp.Or(opt.BlockBytes, m.smallestBlock())
	fitted, err := m.forBlocks(opt.BlockBytes)
	if err != nil {
		return nil, err
	}
	var rows []ModelBin
	for g := range fitted.Groups {
		ref := m.first(Group(g))
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
			rows = append(rows, ModelBin{
				m.Program, ref.String(), opt.BlockBytes, kind, bin.Distance.String(), bin.Frequency.String(),
				num.Ratio(hist.Bins[b].Count, total), bin.Distance.LOO,
			})
		}
		rows = append(rows, ModelBin{m.Program, ref.String(), opt.BlockBytes, "cold", "", group.Cold.String(), num.Ratio(hist.Cold, total), group.Cold.LOO})
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("perf: no modelled reference in routine %q at pc %#x", opt.Routine, opt.PC)
	}
	return rows, nil
}

// Residuals returns how far the model's functions for the references that the
// options choose are from what they were fitted to: a row for each function
// and training point at which it has data.
func (m *Model) Residuals(opt locality.HistogramOptions) ([]Residual, error) {
	opt.BlockBytes = cmp.Or(opt.BlockBytes, m.smallestBlock())
	fitted, err := m.forBlocks(opt.BlockBytes)
	if err != nil {
		return nil, err
	}
	var rows []Residual
	for g := range fitted.Groups {
		ref := m.first(Group(g))
		if !opt.Chooses(ref) {
			continue
		}
		row := Residual{Program: m.Program, Reference: ref.String(), Block: opt.BlockBytes}
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
		return nil, fmt.Errorf("perf: no modelled reference in routine %q at pc %#x", opt.Routine, opt.PC)
	}
	return rows, nil
}

// Residual is how far a function of the model is from what it was fitted to, at a
// training point.
type Residual struct {
	Program   string             `frame:"program"`
	Reference string             `frame:"reference"`
	Block     uint64             `frame:"block_bytes"`
	Point     map[string]float64 `frame:",each"`
	Bin       int                `frame:"bin"`          // from 0 by ascending distance; -1 for the cold accesses
	Quantity  string             `frame:"quantity"`     // distance_blocks or accesses
	Value     float64            `frame:"value"`        // of the function
	Residual  float64            `frame:"residual"`     // data less function
	Relative  float64            `frame:"rel_residual"` // divided by the data
}

// residuals adds a row for each point. A function that was fitted to a part of
// the points, where its bin holds accesses, does not say which: it is left out.
func (m *Model) residuals(rows []Residual, row Residual, quantity string, f *fit.Func) []Residual {
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
