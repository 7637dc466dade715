package sparse

import (
	"context"
	"hash/fnv"
	"io"

	"presage/perf/cache"
	"presage/perf/campaign"
	"presage/perf/spmv"
	"presage/perf/store"
)

// Place is a block size of a matrix, and caches.
type Place struct {
	BlockRows    int     `frame:"block_rows"`
	BlockColumns int     `frame:"block_columns"`
	FillRatio    float64 `frame:"fill_ratio"` // exact: stored values by entries
	LineBytes    int     `frame:"line_bytes"` // of both caches
	DataBytes    int     `frame:"data_bytes"`
	DataWays     int     `frame:"data_ways"`
	DataPolicy   string  `frame:"data_replacement"` // LRU, NMRU or random
	InstrBytes   int     `frame:"instr_bytes"`
	InstrWays    int     `frame:"instr_ways"`
	InstrPolicy  string  `frame:"instr_replacement"`
}

func placeOf(o *spmv.Outcome) Place {
	h := &o.Point.Hardware
	return Place{
		BlockRows: o.Point.Shape.R, BlockColumns: o.Point.Shape.C, FillRatio: o.FillRatio,
		LineBytes: h.LineBytes, DataBytes: h.DataBytes, DataWays: h.DataWays, DataPolicy: h.DataPolicy.String(),
		InstrBytes: h.InstrBytes, InstrWays: h.InstrWays, InstrPolicy: h.InstrPolicy.String(),
	}
}

// point returns the point of a place, or an error if it is not in Table 5.
func (p *Place) point() (spmv.Point, error) {
	data, err := cache.ParseReplacement(p.DataPolicy)
	if err != nil {
		return spmv.Point{}, err
	}
	instr, err := cache.ParseReplacement(p.InstrPolicy)
	if err != nil {
		return spmv.Point{}, err
	}
	at := spmv.Point{
		Shape: spmv.Shape{R: p.BlockRows, C: p.BlockColumns},
		Hardware: spmv.Hardware{
			LineBytes: p.LineBytes,
			DataBytes: p.DataBytes, DataWays: p.DataWays, DataPolicy: data,
			InstrBytes: p.InstrBytes, InstrWays: p.InstrWays, InstrPolicy: instr,
		},
	}
	if err := at.Shape.Check(); err != nil {
		return at, err
	}
	return at, at.Hardware.Check()
}

// Speed is the performance, power and time of a simulated product.
type Speed struct {
	Mflops     float64 `frame:"sim_mflop_per_sec"` // without operations on filled zeros
	Watts      float64 `frame:"sim_power_watt"`
	EnergyFlop float64 `frame:"sim_energy_nj_per_flop"`
	Cycles     float64 `frame:"sim_cycles"`
}

func speedOf(o *spmv.Outcome) Speed {
	return Speed{Mflops: o.Mflops, Watts: o.Watts, EnergyFlop: o.JoulesFlop * 1e9, Cycles: o.Cycles}
}

// Roles of samples.
const (
	Train    = "train"    // models are fitted to it
	Validate = "validate" // models are judged by it
	Baseline = "baseline" // a block size on the caches of spmv.Baseline
)

// Sample is the simulation of a product at a place, from empty caches.
type Sample struct {
	Matrix  string `frame:"matrix"`
	StandIn bool   `frame:"stand_in"` // synthesised for the one of this name
	Role    string `frame:"role"`     // Train, Validate or Baseline
	Place
	Speed
	Instructions float64 `frame:"sim_instructions"`
	Accesses     float64 `frame:"sim_accesses"` // to data
	Misses       float64 `frame:"sim_misses"`   // of data
	XMisses      float64 `frame:"sim_x_misses"` // of the source vector
	Writebacks   float64 `frame:"sim_writebacks"`
}

// observation returns the part of a sample that models use.
func (s *Sample) observation() (spmv.Observation, error) {
	p, err := s.point()
	return spmv.Observation{Point: p, FillRatio: s.FillRatio, Mflops: s.Mflops, Watts: s.Watts}, err
}

// Samples simulates products of each matrix with block sizes and caches drawn at
// random (2012, Table 5), and with each block size on the caches of spmv.Baseline.
func Samples(ctx context.Context, matrices []*spmv.Matrix, opt Options) ([]Sample, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := simulateAll(ctx, matrices, opt); err != nil {
		return nil, err
	}
	var rows []Sample
	for _, m := range matrices {
		fresh, err := samplesOf(ctx, m, opt)
		if err != nil {
			return nil, err
		}
		rows = append(rows, fresh...)
	}
	return rows, nil
}

// pointsOf returns the points at which a matrix is sampled.
func pointsOf(m *spmv.Matrix, opt Options) []spmv.Point {
	name := fnv.New64a()
	io.WriteString(name, m.Name)
	points := spmv.Sample(opt.Train+opt.Validate, opt.Seed^name.Sum64())
	for _, s := range spmv.Shapes() {
		points = append(points, spmv.Point{Shape: s, Hardware: spmv.Baseline()})
	}
	return points
}

// simulateAll has the samples of all matrices simulated in one campaign, if there is
// one.
func simulateAll(ctx context.Context, matrices []*spmv.Matrix, opt Options) error {
	if opt.Campaign == nil {
		return nil
	}
	var jobs []campaign.Job
	for _, m := range matrices {
		list, err := batches(m, pointsOf(m, opt))
		if err != nil {
			return err
		}
		for _, b := range list {
			job, err := b.job(opt.Store)
			if err != nil {
				return err
			}
			jobs = append(jobs, job)
		}
	}
	return opt.Campaign.Run(ctx, opt.Store, jobs, opt.Progress)
}

// samplesOf returns the samples of a matrix. The points depend on its name, not on
// the other matrices.
func samplesOf(ctx context.Context, m *spmv.Matrix, opt Options) ([]Sample, error) {
	outcomes, err := simulate(ctx, m, pointsOf(m, opt), opt, "samples")
	if err != nil {
		return nil, err
	}
	rows := make([]Sample, len(outcomes))
	for i := range outcomes {
		o := &outcomes[i]
		rows[i] = Sample{
			Matrix: m.Name, StandIn: m.StandIn, Role: Baseline, Place: placeOf(o), Speed: speedOf(o),
			Instructions: o.Instructions, Accesses: o.Accesses,
			Misses: o.DataMisses, XMisses: o.ArrayMisses[spmv.ArrayX], Writebacks: o.Writebacks,
		}
		switch {
		case i < opt.Train:
			rows[i].Role = Train
		case i < opt.Train+opt.Validate:
			rows[i].Role = Validate
		}
	}
	return rows, nil
}

// version is part of the key of stored simulations: raise it when what
// spmv.Simulate computes changes.
const version = 1

// batch is the products of a matrix at a block size that are simulated together: what
// the store keeps as one entry.
type batch struct {
	sim      *spmv.Simulator
	shape    spmv.Shape
	hardware []spmv.Hardware
	at       []int // indices of the points
}

// batches returns the batches of some points.
func batches(m *spmv.Matrix, points []spmv.Point) ([]batch, error) {
	sim, err := spmv.NewSimulator(m)
	if err != nil {
		return nil, err
	}
	byShape := make(map[spmv.Shape][]int)
	for i, p := range points {
		byShape[p.Shape] = append(byShape[p.Shape], i)
	}
	var list []batch
	for _, shape := range spmv.Shapes() {
		b := batch{sim: sim, shape: shape, at: byShape[shape]}
		for _, i := range b.at {
			b.hardware = append(b.hardware, points[i].Hardware)
		}
		if len(b.at) > 0 {
			list = append(list, b)
		}
	}
	return list, nil
}

// key returns the key of the batch in the store.
func (b *batch) key() (store.Key, error) {
	return store.NewKey("spmv", version, struct {
		Matrix   string
		Shape    spmv.Shape
		Hardware []spmv.Hardware
	}{b.sim.Matrix.Digest(), b.shape, b.hardware})
}

// outcomes returns what the simulations of the batch count, from the store if it is
// there. A damaged entry is computed again.
func (b *batch) outcomes(ctx context.Context, st *store.Store) ([]spmv.Outcome, error) {
	key, err := b.key()
	if err != nil {
		return nil, err
	}
	found, err := store.Memo(st, key, func() ([]spmv.Outcome, error) { return b.sim.Simulate(ctx, b.shape, b.hardware) })
	return found.Value, err
}

// simulate simulates products of m at points, in their order. The store keeps those
// of each block size.
func simulate(ctx context.Context, m *spmv.Matrix, points []spmv.Point, opt Options, what string) ([]spmv.Outcome, error) {
	list, err := batches(m, points)
	if err != nil {
		return nil, err
	}
	tasks := make([]campaign.Task[[]spmv.Outcome], len(list))
	for i, b := range list {
		tasks[i] = campaign.Task[[]spmv.Outcome]{
			Job: func() (campaign.Job, error) { return b.job(opt.Store) },
			Collect: func(ctx context.Context) ([]spmv.Outcome, error) {
				opt.report(m.Name, what, i, len(list))
				return b.outcomes(ctx, opt.Store)
			},
		}
	}
	found, err := campaign.Map(ctx, opt.Campaign, opt.Store, opt.Progress, tasks)
	if err != nil {
		return nil, err
	}
	out := make([]spmv.Outcome, len(points))
	for i, b := range list {
		for j, at := range b.at {
			out[at] = found[i][j]
			b.sim.Evaluate(&out[at]) // counts are stored, what follows from them may have changed
		}
	}
	opt.report(m.Name, what, len(list), len(list))
	return out, nil
}
