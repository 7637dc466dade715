package target

import (
	"context"
	"fmt"

	"presage/perf/fit"
	"presage/perf/iperf"
	"presage/perf/trace"
)

// Code is the instruction count of a compiled kernel. In the zero Code only
// references take time.
type Code struct {
	Instructions float64 // an iteration of the innermost loop, loads and stores included
	// OuterInstructions is the number of further instructions for each
	// iteration of the loop around it.
	OuterInstructions float64
}

// Result is a simulated run.
type Result struct {
	Seconds float64
	Counts  Counts
}

// arrayAlignment is the alignment of arrays: the largest page of any described
// machine.
const arrayAlignment = 64 << 10

// Run times a kernel at one problem size by executing its accesses, from empty
// caches, like the report's programs, which do not touch their arrays
// elsewhere.
func Run(ctx context.Context, c Config, k *iperf.Kernel, code Code, at fit.Point) (Result, error) {
	p, err := New(c)
	if err != nil {
		return Result{}, err
	}
	nest, err := k.At(at)
	if err != nil {
		return Result{}, err
	}
	w := walker{p: p, ctx: ctx, nest: nest, code: code, bases: place(nest)}
	w.between = code.Instructions / float64(len(nest.Refs)+1)
	if err := w.loop(0, w.bases); err != nil {
		return Result{}, err
	}
	return Result{Seconds: p.Seconds(), Counts: p.Counts()}, nil
}

// place returns the first address of each reference; arrays are consecutive.
func place(n *iperf.Nest) []int64 {
	next := int64(arrayAlignment)
	begin := make(map[string]int64)
	out := make([]int64, len(n.Refs))
	extents := n.Extents()
	for i, r := range n.Refs {
		if _, ok := begin[r.Array]; !ok {
			e := extents[r.Array]
			begin[r.Array] = next - e[0]
			next += (e[1] - e[0] + arrayAlignment - 1) &^ (arrayAlignment - 1)
		}
		out[i] = begin[r.Array] + r.Offset
	}
	return out
}

// walker executes a nest.
type walker struct {
	p       *Processor
	ctx     context.Context
	nest    *iperf.Nest
	code    Code
	bases   []int64
	between float64 // instructions between one reference and the next
}

// loop runs level l of the nest, with references starting at addresses.
func (w *walker) loop(l int, addresses []int64) error {
	if l == len(w.nest.Trips)-1 {
		w.innermost(addresses)
		return w.ctx.Err()
	}
	at := append([]int64(nil), addresses...)
	for range int(w.nest.Trips[l]) {
		if l == len(w.nest.Trips)-2 {
			w.p.Execute(w.code.OuterInstructions)
		}
		if err := w.loop(l+1, at); err != nil {
			return fmt.Errorf("target: %w", err)
		}
		for i := range at {
			at[i] += w.nest.Refs[i].Strides[l]
		}
	}
	return nil
}

func (w *walker) innermost(addresses []int64) {
	inner := len(w.nest.Trips) - 1
	at := append([]int64(nil), addresses...)
	for range int(w.nest.Trips[inner]) {
		for i := range at {
			w.p.Execute(w.between)
			if w.nest.Refs[i].Kind == trace.Store {
				w.p.Store(uint64(at[i]))
			} else {
				w.p.Load(uint64(at[i]))
			}
			at[i] += w.nest.Refs[i].Strides[inner]
		}
		w.p.Execute(w.between)
	}
}

// Times simulates a kernel at several sizes, with a run for each of the seeds,
// which place its pages, and returns the times as measurements.
func Times(ctx context.Context, c Config, k *iperf.Kernel, code Code, at []fit.Point, seeds []uint64) ([]iperf.Measurement, error) {
	if len(seeds) == 0 {
		return nil, fmt.Errorf("target: no seeds: one is needed for each run")
	}
	var out []iperf.Measurement
	for _, p := range at {
		var runs []float64
		for _, seed := range seeds {
			c.Seed = seed
			r, err := Run(ctx, c, k, code, p)
			if err != nil {
				return nil, err
			}
			runs = append(runs, r.Seconds)
		}
		out = append(out, measurement(p, runs))
	}
	return out, nil
}

// measurement returns the 80% average if there are enough runs, else the mean.
func measurement(p fit.Point, runs []float64) iperf.Measurement {
	if len(runs) >= 3 {
		return iperf.NewMeasurement(p, runs)
	}
	m := iperf.Measurement{Point: p, Runs: runs}
	for _, t := range runs {
		m.Time += t / float64(len(runs))
	}
	return m
}
