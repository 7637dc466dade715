package sparse

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/spmv"
	"presage/perf/store"
)

// Options say how matrices are studied. The zero value is the paper's study.
type Options struct {
	Train, Validate int     // samples of block sizes and caches a matrix; 0: 400 and 100
	Share           float64 // of the rows, from which fill ratios are estimated; 0: 0.02
	Seed            uint64
	Objectives      []spmv.Objective // of tuning; nil: performance and energy
	Store           *store.Store     // keeps simulations; nil: the default store

	// Progress, if not nil, is called before each block size of each matrix.
	Progress func(matrix, what string, done, total int)
}

func (o Options) withDefaults() (Options, error) {
	if o.Train == 0 {
		o.Train = 400
	}
	if o.Validate == 0 {
		o.Validate = 100
	}
	if o.Share == 0 {
		o.Share = 0.02
	}
	if o.Train < 0 || o.Validate < 0 {
		return o, fmt.Errorf("perf: spmv: %d samples to train and %d to validate", o.Train, o.Validate)
	}
	if o.Objectives == nil {
		o.Objectives = []spmv.Objective{spmv.Fastest, spmv.Frugal}
	}
	if o.Progress == nil {
		o.Progress = func(string, string, int, int) {}
	}
	var err error
	o.Store, err = store.OrDefault(o.Store)
	return o, err
}

// spmvRow is a row of a table of products, simulated or predicted.
type spmvRow struct {
	Matrix       string  `frame:"matrix"`
	StandIn      bool    `frame:"stand_in"`
	Role         string  `frame:"role"`
	BlockRows    int     `frame:"block_rows"`
	BlockColumns int     `frame:"block_columns"`
	FillRatio    float64 `frame:"fill_ratio"`
	LineBytes    int     `frame:"line_bytes"`
	DataBytes    int     `frame:"data_bytes"`
	DataWays     int     `frame:"data_ways"`
	DataPolicy   string  `frame:"data_replacement"`
	InstrBytes   int     `frame:"instr_bytes"`
	InstrWays    int     `frame:"instr_ways"`
	InstrPolicy  string  `frame:"instr_replacement"`
	Mflops       float64 `frame:"sim_mflop_per_sec"`
	Watts        float64 `frame:"sim_power_watt"`
	EnergyFlop   float64 `frame:"sim_energy_nj_per_flop"`
	Cycles       float64 `frame:"sim_cycles"`
	Instructions float64 `frame:"sim_instructions"`
	Accesses     float64 `frame:"sim_accesses"`
	Misses       float64 `frame:"sim_misses"`
	XMisses      float64 `frame:"sim_x_misses"`
	Writebacks   float64 `frame:"sim_writebacks"`
}

func newSpMVRow(m *spmv.Matrix, role string, o *spmv.Outcome) spmvRow {
	h := &o.Point.Hardware
	return spmvRow{
		Matrix: m.Name, StandIn: m.StandIn, Role: role,
		BlockRows: o.Point.Shape.R, BlockColumns: o.Point.Shape.C, FillRatio: o.FillRatio,
		LineBytes: h.LineBytes, DataBytes: h.DataBytes, DataWays: h.DataWays, DataPolicy: h.DataPolicy.String(),
		InstrBytes: h.InstrBytes, InstrWays: h.InstrWays, InstrPolicy: h.InstrPolicy.String(),
		Mflops: o.Mflops, Watts: o.Watts, EnergyFlop: o.JoulesFlop * 1e9,
		Cycles: o.Cycles, Instructions: o.Instructions, Accesses: o.Accesses,
		Misses: o.DataMisses, XMisses: o.ArrayMisses[spmv.ArrayX], Writebacks: o.Writebacks,
	}
}

// version is part of the key of stored simulations: raise it when what
// spmv.Simulate computes changes.
const version = 1

// simulate simulates products of m at points, in their order, keeping those
// of each block size in the store.
func simulate(ctx context.Context, m *spmv.Matrix, points []spmv.Point, opt Options, what string) ([]spmv.Outcome, error) {
	sim, err := spmv.NewSimulator(m)
	if err != nil {
		return nil, err
	}
	byShape := make(map[spmv.Shape][]int)
	for i, p := range points {
		byShape[p.Shape] = append(byShape[p.Shape], i)
	}
	out := make([]spmv.Outcome, len(points))
	done := 0
	for _, shape := range spmv.Shapes() {
		at := byShape[shape]
		if len(at) == 0 {
			continue
		}
		opt.Progress(m.Name, what, done, len(byShape))
		done++
		var hardware []spmv.Hardware
		for _, i := range at {
			hardware = append(hardware, points[i].Hardware)
		}
		key, err := store.NewKey("spmv", version, struct {
			Matrix   string
			Shape    spmv.Shape
			Hardware []spmv.Hardware
		}{m.Digest(), shape, hardware})
		if err != nil {
			return nil, err
		}
		memo, err := store.Memo(opt.Store, key, func() ([]spmv.Outcome, error) { // a damaged entry is computed again
			return sim.Simulate(ctx, shape, hardware)
		})
		if err != nil {
			return nil, err
		}
		for j, i := range at {
			out[i] = memo.Value[j]
			sim.Evaluate(&out[i]) // counts are stored, what follows from them may have changed
		}
	}
	opt.Progress(m.Name, what, done, len(byShape))
	return out, nil
}

// Samples simulates products of each matrix with block sizes and caches drawn
// at random (2012, Table 5), and with each block size on the baseline's caches.
// The table has a row for each product:
//
//   - matrix, stand_in: whether a stand-in was taken for it
//   - role: train, validate, or baseline: all block sizes on spmv.Baseline
//   - block_rows, block_columns, fill_ratio (exact), line_bytes and the caches
//   - sim_mflop_per_sec: without operations on filled zeros; sim_power_watt,
//     sim_energy_nj_per_flop
//   - sim_cycles, sim_instructions, sim_accesses to data, sim_misses, those for
//     the source vector in sim_x_misses, sim_writebacks
func Samples(ctx context.Context, matrices []*spmv.Matrix, opt Options) (dataframe.DataFrame, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var rows []spmvRow
	for _, m := range matrices {
		fresh, err := spmvSamples(ctx, m, opt)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		rows = append(rows, fresh...)
	}
	return frame.Of(rows), nil
}

// spmvSamples is SpMVSamples for one matrix. The points depend on its name, not on
// which others there are.
func spmvSamples(ctx context.Context, m *spmv.Matrix, opt Options) ([]spmvRow, error) {
	name := fnv.New64a()
	io.WriteString(name, m.Name)
	points := spmv.Sample(opt.Train+opt.Validate, opt.Seed^name.Sum64())
	for _, s := range spmv.Shapes() {
		points = append(points, spmv.Point{Shape: s, Hardware: spmv.Baseline()})
	}
	outcomes, err := simulate(ctx, m, points, opt, "samples")
	if err != nil {
		return nil, err
	}
	rows := make([]spmvRow, len(outcomes))
	for i := range outcomes {
		role := "baseline"
		switch {
		case i < opt.Train:
			role = "train"
		case i < opt.Train+opt.Validate:
			role = "validate"
		}
		rows[i] = newSpMVRow(m, role, &outcomes[i])
	}
	return rows, nil
}

// Matrices returns the matrices of Table 4 called by name, all for none, real
// where a folder has them and stand-ins otherwise.
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

// MatrixTable describes matrices, one a row: number of entries, share of
// places that they fill (sparsity), and their distance from the diagonal.
func MatrixTable(matrices []*spmv.Matrix) dataframe.DataFrame {
	type row struct {
		Matrix    string  `frame:"matrix"`
		StandIn   bool    `frame:"stand_in"`
		Rows      int     `frame:"rows"`
		NonZeros  int     `frame:"nonzeros"`
		Sparsity  float64 `frame:"sparsity"`
		Bandwidth float64 `frame:"mean_bandwidth"`
		Widest    int     `frame:"bandwidth"`
		Origin    string  `frame:"origin"`
	}
	var rows []row
	for _, m := range matrices {
		mean, widest := m.Bandwidth()
		rows = append(rows, row{m.Name, m.StandIn, m.Rows, m.NonZeros(), m.Sparsity(), mean, widest, m.Origin})
	}
	return frame.Of(rows)
}

// Fill returns fill ratios of all block sizes, exact and estimated from a
// share of the rows: the estimate of one sample, with the seed of opt, and the
// errors of twenty samples, the median and the 95th percentile.
func Fill(matrices []*spmv.Matrix, opt Options) (dataframe.DataFrame, error) {
	type row struct {
		Matrix       string  `frame:"matrix"`
		StandIn      bool    `frame:"stand_in"`
		BlockRows    int     `frame:"block_rows"`
		BlockColumns int     `frame:"block_columns"`
		FillRatio    float64 `frame:"fill_ratio"`
		Share        float64 `frame:"sampled_share"`
		Estimate     float64 `frame:"est_fill_ratio"`
		Median       float64 `frame:"median_abs_rel_err"`
		High         float64 `frame:"p95_abs_rel_err"`
	}
	opt, err := opt.withDefaults()
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	const samples = 20
	var rows []row
	for _, m := range matrices {
		exact := spmv.CountFill(m)
		var estimates []*spmv.SampledFill
		for i := range samples {
			s, err := spmv.SampleFill(m, opt.Share, opt.Seed+uint64(i))
			if err != nil {
				return dataframe.DataFrame{}, err
			}
			estimates = append(estimates, s)
		}
		for _, s := range spmv.Shapes() {
			var errs []float64
			for _, e := range estimates {
				errs = append(errs, max(e.Ratio(s)/exact.Ratio(s)-1, 1-e.Ratio(s)/exact.Ratio(s)))
			}
			slices.Sort(errs)
			rows = append(rows, row{
				m.Name, m.StandIn, s.R, s.C, exact.Ratio(s), opt.Share, estimates[0].Ratio(s),
				(errs[samples/2-1] + errs[samples/2]) / 2, errs[samples*95/100-1],
			})
		}
	}
	return frame.Of(rows), nil
}
