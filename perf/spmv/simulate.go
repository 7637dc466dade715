package spmv

import (
	"context"
	"fmt"

	"presage/perf/cache"
	"presage/perf/trace"
)

// Outcome is a simulated product.
type Outcome struct {
	Point Point

	// Counts.
	Rows, Blocks, NonZeros int             // rows of blocks, blocks, entries
	Accesses               float64         // to data
	DataMisses             float64         // lines read
	Writebacks             float64         // lines written back
	ArrayMisses            [arrays]float64 // DataMisses by array: ArrayStart to ArrayY

	// Derived for a machine: see Evaluate.
	FillRatio    float64
	Instructions float64
	InstrMisses  float64
	Flops        float64 // 2 for each entry of the matrix, without operations on filled zeros
	Cycles       float64
	Seconds      float64
	Joules       float64
	Mflops       float64 // million flops a second
	Watts        float64
	JoulesFlop   float64 // energy of a flop
}

// Simulator simulates products of one matrix on many caches.
type Simulator struct {
	Matrix  *Matrix
	Machine Machine
	costs   []Cost
}

// NewSimulator returns a Simulator on DefaultMachine.
func NewSimulator(m *Matrix) (*Simulator, error) {
	costs, err := Costs()
	if err != nil {
		return nil, err
	}
	if m.NonZeros() == 0 {
		return nil, fmt.Errorf("spmv: matrix %q has no entries: there is nothing to tune", m.Name)
	}
	return &Simulator{Matrix: m, Machine: DefaultMachine(), costs: costs}, nil
}

// dataCache holds the parameters that data misses depend on.
type dataCache struct {
	line, bytes, ways int
	policy            cache.Replacement
}

func (h *Hardware) data() dataCache {
	return dataCache{h.LineBytes, h.DataBytes, h.DataWays, h.DataPolicy}
}

// Simulate simulates one product for each point, all of one shape, from empty
// caches. It generates the kernel's references once for all points.
func (s *Simulator) Simulate(ctx context.Context, shape Shape, hardware []Hardware) ([]Outcome, error) {
	for _, h := range hardware {
		if err := h.Check(); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, err := Block(s.Matrix, shape)
	if err != nil {
		return nil, err
	}
	plan := Plan()
	sims := make(map[dataCache]*cache.Simulator)
	var collectors []trace.Collector
	for _, h := range hardware {
		d := h.data()
		if sims[d] != nil {
			continue
		}
		sim, err := cache.New(plan, cache.Config{
			Levels: []cache.Level{{
				Name: "data", Blocks: uint64(d.bytes / d.line), BlockBytes: uint64(d.line), Ways: d.ways, Replacement: d.policy,
			}},
			Seed: 5,
		})
		if err != nil {
			return nil, fmt.Errorf("spmv: %w", err)
		}
		sims[d] = sim
		collectors = append(collectors, sim)
	}
	accesses := b.References(trace.NewDirect(collectors...))
	results := make(map[dataCache]*cache.LevelResult, len(sims))
	for d, sim := range sims {
		results[d] = &sim.Result().Levels[0]
	}
	out := make([]Outcome, len(hardware))
	for i, h := range hardware {
		out[i] = s.outcome(b, h, results[h.data()], float64(accesses))
	}
	return out, nil
}

// outcome returns the counts of a simulated product.
func (s *Simulator) outcome(b *Blocks, h Hardware, data *cache.LevelResult, accesses float64) Outcome {
	rows, blocks := b.Stored()
	o := Outcome{
		Point: Point{b.Shape, h}, Rows: rows, Blocks: blocks, NonZeros: b.NonZeros,
		Accesses:   accesses,
		DataMisses: float64(data.Total.Misses),
		Writebacks: float64(data.Total.Writebacks),
	}
	for i, g := range data.Groups {
		o.ArrayMisses[i] = float64(g.Misses)
	}
	s.Evaluate(&o)
	return o
}

// Evaluate computes time and energy from the counts. The core waits for every
// miss; a write-back occupies the bus, but the core does not wait for memory to
// accept it:
//
//	cycles = core + (data + instruction misses)·(latency + words·transfer) + writebacks·words·transfer
func (s *Simulator) Evaluate(o *Outcome) {
	h, m, cost := &o.Point.Hardware, &s.Machine, &s.costs[o.Point.Shape.index()]
	o.FillRatio = float64(o.Blocks*o.Point.Shape.R*o.Point.Shape.C) / float64(o.NonZeros)
	o.Flops = 2 * float64(o.NonZeros)
	o.Instructions = cost.Instructions(o.Rows, o.Blocks)
	o.InstrMisses = cost.instructionMisses(h.LineBytes)
	words := float64(h.LineBytes) / 8
	o.Cycles = cost.Cycles(o.Rows, o.Blocks) +
		(o.DataMisses+o.InstrMisses)*(m.MemoryCycles+words*m.CyclesPerWord) +
		o.Writebacks*words*m.CyclesPerWord
	o.Seconds = o.Cycles / m.Hertz

	parts := o.Energy(m)
	o.Joules = parts.Sum()
	o.Mflops = o.Flops / o.Seconds / 1e6
	o.Watts = o.Joules / o.Seconds
	o.JoulesFlop = o.Joules / o.Flops
}

// instructionMisses returns the number of lines that the kernel's code spans.
// The code is contiguous and smaller than the smallest instruction cache, so no
// set must hold more lines than it has ways, and each line misses once under
// any replacement policy.
func (c *Cost) instructionMisses(lineBytes int) float64 {
	return float64((c.CodeAddress+c.CodeBytes-1)/lineBytes - c.CodeAddress/lineBytes + 1)
}
