package sparse

import (
	"fmt"
	"slices"
	"strconv"

	"presage/perf/cache"
	"presage/perf/spmv"
)

// Average is the mean performance of samples at a value of a parameter.
type Average struct {
	Value   string  `frame:"value"` // or an interval, [low, high)
	Samples int     `frame:"samples"`
	Mflops  float64 `frame:"sim_mflop_per_sec"`
}

// numeric are the parameters of samples that are numbers, by column.
var numeric = map[string]func(s *Sample) float64{
	"block_rows":    func(s *Sample) float64 { return float64(s.BlockRows) },
	"block_columns": func(s *Sample) float64 { return float64(s.BlockColumns) },
	"fill_ratio":    func(s *Sample) float64 { return s.FillRatio },
	"line_bytes":    func(s *Sample) float64 { return float64(s.LineBytes) },
	"data_bytes":    func(s *Sample) float64 { return float64(s.DataBytes) },
	"data_ways":     func(s *Sample) float64 { return float64(s.DataWays) },
	"instr_bytes":   func(s *Sample) float64 { return float64(s.InstrBytes) },
	"instr_ways":    func(s *Sample) float64 { return float64(s.InstrWays) },
}

// policies are the parameters of samples that are replacement policies, by column.
var policies = map[string]func(s *Sample) string{
	"data_replacement":  func(s *Sample) string { return s.DataPolicy },
	"instr_replacement": func(s *Sample) string { return s.InstrPolicy },
}

// Averages returns the mean performance of a matrix's samples (train and validate)
// at each value of a parameter, over all values of the others (2012, Figures 12 and
// 13). A parameter is a column of Place. Numbers are gathered between edges, if
// there are any: [edge, next edge).
func Averages(samples []Sample, matrix, parameter string, edges ...float64) ([]Average, error) {
	var own []*Sample
	for i := range samples {
		if s := &samples[i]; s.Matrix == matrix && (s.Role == Train || s.Role == Validate) {
			own = append(own, s)
		}
	}
	if len(own) == 0 {
		return nil, fmt.Errorf("perf: spmv: no samples of matrix %s", matrix)
	}
	g, err := group(own, parameter, edges)
	if err != nil {
		return nil, err
	}
	sum, count := make(map[string]float64), make(map[string]int)
	for i, l := range g.labels {
		sum[l] += own[i].Mflops
		count[l]++
	}
	var rows []Average
	for _, l := range g.order {
		if count[l] > 0 {
			rows = append(rows, Average{l, count[l], sum[l] / float64(count[l])})
		}
	}
	return rows, nil
}

// groups are samples by the value of a parameter.
type groups struct {
	labels []string // of each sample
	order  []string // all labels, ascending
}

// group labels samples with the value, or the interval between edges, of a
// parameter.
func group(samples []*Sample, parameter string, edges []float64) (groups, error) {
	var g groups
	if policy, ok := policies[parameter]; ok {
		for _, r := range cache.Policies() {
			g.order = append(g.order, r.String())
		}
		for _, s := range samples {
			g.labels = append(g.labels, policy(s))
		}
		return g, nil
	}
	number, ok := numeric[parameter]
	if !ok {
		return g, fmt.Errorf("perf: spmv: there is no parameter %q", parameter)
	}
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = number(s)
	}
	if len(edges) > 0 {
		return between(values, parameter, edges)
	}
	text := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	for _, v := range values {
		g.labels = append(g.labels, text(v))
	}
	for _, v := range slices.Compact(slices.Sorted(slices.Values(values))) {
		g.order = append(g.order, text(v))
	}
	return g, nil
}

// between labels values of a parameter with the interval that they lie in.
func between(values []float64, parameter string, edges []float64) (groups, error) {
	var g groups
	if len(edges) < 2 || !slices.IsSorted(edges) {
		return g, fmt.Errorf("perf: spmv: edges %v: want at least two, ascending", edges)
	}
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	for i := range len(edges) - 1 {
		g.order = append(g.order, short(edges[i])+"–"+short(edges[i+1]))
	}
	for _, v := range values {
		i, found := slices.BinarySearch(edges, v)
		if !found {
			i--
		}
		if i < 0 || i >= len(g.order) {
			return g, fmt.Errorf("perf: spmv: %s is %g, outside the edges %v", parameter, v, edges)
		}
		g.labels = append(g.labels, g.order[i])
	}
	return g, nil
}

// ShapeSpeed is the performance of a block size on the baseline's caches.
type ShapeSpeed struct {
	BlockRows    int     `frame:"block_rows"`
	BlockColumns int     `frame:"block_columns"`
	FillRatio    float64 `frame:"fill_ratio"`
	Mflops       float64 `frame:"sim_mflop_per_sec"`
	PredMflops   float64 `frame:"pred_mflop_per_sec"`
	Speedup      float64 `frame:"sim_speedup"` // over 1×1
	PredSpeedup  float64 `frame:"pred_speedup"`
}

// Topology returns the performance of a matrix on the baseline's caches at all
// block sizes, simulated and predicted (2012, Figure 15).
func Topology(predictions []Prediction, matrix string) ([]ShapeSpeed, error) {
	var rows []ShapeSpeed
	for i := range predictions {
		p := &predictions[i]
		if p.Matrix != matrix || p.Role != Baseline {
			continue
		}
		rows = append(rows, ShapeSpeed{p.BlockRows, p.BlockColumns, p.FillRatio, p.Mflops, p.PredMflops, 0, 0})
		r := &rows[len(rows)-1]
		r.Speedup, r.PredSpeedup = r.Mflops/rows[0].Mflops, r.PredMflops/rows[0].PredMflops
	}
	if len(rows) != len(spmv.Shapes()) {
		return nil, fmt.Errorf("perf: spmv: matrix %s has %d rows of the role baseline, want %d", matrix, len(rows), len(spmv.Shapes()))
	}
	return rows, nil
}
