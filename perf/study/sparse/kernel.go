package sparse

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"presage/perf/isa"
	"presage/perf/pipeline"
	"presage/perf/spmv"
	"presage/perf/subject"
	"presage/perf/trace"
)

// core returns the core of the study without its caches: in order, one instruction
// a cycle, loads of 2 cycles, fused multiply-adds of 4, taken branches that cost 2
// (nothing is predicted; a pipeline of five stages resolves branches in its third).
// Loads always hit: spmv.Simulator adds the cost of misses.
func core() pipeline.Config {
	one := func(latency int) pipeline.Timing { return pipeline.Timing{Latency: latency} }
	c := pipeline.Config{
		InOrder:    true,
		FetchWidth: 1, DispatchWidth: 1, IssueWidth: 1, RetireWidth: 1,
		TakenPerCycle: 1, FetchBuffer: 2, Window: 8,
		Timings: make(map[isa.Class]pipeline.Timing),
		Branch:  pipeline.Branch{Predictor: pipeline.Perfect, TakenBubble: 2},
	}
	for _, class := range isa.Classes() {
		c.Timings[class] = one(1)
	}
	c.Timings[isa.Load], c.Timings[isa.FPLoad] = one(2), one(2)
	for _, class := range []isa.Class{isa.FPAdd, isa.FPMultiply, isa.FPFused} {
		c.Timings[class] = one(4)
	}
	return c
}

// kernel is the kernel of a shape in the guest program.
type kernel struct {
	prog  *subject.Program
	shape spmv.Shape
	code  [][]isa.Inst
	plan  *trace.Plan
}

// newKernel finds the kernel of a shape in prog.
func newKernel(prog *subject.Program, shape spmv.Shape) (*kernel, error) {
	k := &kernel{prog: prog, shape: shape}
	s := prog.Structure()
	at, err := s.Routine(fmt.Sprintf("presage/datasets/programs/spmv/kernels.multiply%dx%d", shape.R, shape.C))
	if err != nil {
		return nil, err
	}
	for _, b := range s.Graph.Routines[at].Blocks {
		if len(b.Insts) > 0 {
			k.code = append(k.code, b.Insts)
		}
	}
	slices.SortFunc(k.code, func(a, b []isa.Inst) int { return cmp.Compare(a[0].PC, b[0].PC) })
	if k.plan, err = pipeline.Plan(k.code); err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	return k, nil
}

// run multiplies by b once in the engine, with collectors on the kernel.
func (k *kernel) run(ctx context.Context, b *spmv.Blocks, collectors ...trace.Collector) error {
	var stdin bytes.Buffer
	if err := b.Encode(&stdin); err != nil {
		return err
	}
	in := subject.Inputs{Program: k.prog.File.SHA256, Name: k.prog.Name, Args: []string{"-stdin"}, Stdin: stdin.String()}
	_, err := k.prog.Run(ctx, subject.Request{Inputs: in, Plan: k.plan, Collectors: collectors})
	return err
}

// time simulates the core on a product with b.
func (k *kernel) time(ctx context.Context, b *spmv.Blocks) (*pipeline.Result, error) {
	sim, err := pipeline.New(k.prog.File.Target, k.plan, k.code, core(), pipeline.Options{})
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	if err := k.run(ctx, b, sim); err != nil {
		return nil, err
	}
	return sim.Result(), nil
}

// probe returns a matrix with a number of rows of blocks of a shape, and of blocks in
// each.
func probe(s spmv.Shape, rows, blocks int) (*spmv.Blocks, error) {
	var entries []spmv.Entry
	for i := range rows {
		for k := range blocks {
			entries = append(entries, spmv.Entry{Row: i * s.R, Col: k * s.C, Value: 1})
		}
	}
	m, err := spmv.NewMatrix(rows*s.R, blocks*s.C, entries)
	if err != nil {
		return nil, err
	}
	return spmv.Block(m, s)
}

// Cost measures the cost of the kernel of a shape on the study's core: it runs prog,
// which is datasets/programs/spmv, in the engine with three matrices that differ in
// rows and blocks.
func Cost(ctx context.Context, prog *subject.Program, shape spmv.Shape) (spmv.Cost, error) {
	cost := spmv.Cost{Shape: shape}
	k, err := newKernel(prog, shape)
	if err != nil {
		return cost, err
	}
	// Rows of blocks, and blocks in each.
	probes := [3][2]float64{{40, 3}, {40, 13}, {20, 13}}
	var instructions, cycles [3]float64
	first, last := uint64(math.MaxUint64), uint64(0)
	for i, p := range probes {
		b, err := probe(shape, int(p[0]), int(p[1]))
		if err != nil {
			return cost, err
		}
		r, err := k.time(ctx, b)
		if err != nil {
			return cost, err
		}
		instructions[i], cycles[i] = float64(r.Instructions), float64(r.Cycles)
		for j, n := range r.BlockExecutions {
			if insts := k.code[j]; n > 0 {
				end := &insts[len(insts)-1]
				first, last = min(first, uint64(insts[0].PC)), max(last, uint64(end.PC)+uint64(end.Len))
			}
		}
	}
	solve := func(v [3]float64) (call, row, block float64) {
		block = (v[1] - v[0]) / 400
		row = (v[1]-v[2])/20 - 13*block
		return v[2] - 20*row - 260*block, row, block
	}
	cost.CallInstructions, cost.RowInstructions, cost.BlockInstructions = solve(instructions)
	cost.CallCycles, cost.RowCycles, cost.BlockCycles = solve(cycles)
	cost.CodeAddress, cost.CodeBytes = int(first), int(last-first)
	return cost, nil
}

// Costs is Cost for all shapes, in the order of spmv.Shapes.
func Costs(ctx context.Context, prog *subject.Program) ([]spmv.Cost, error) {
	var all []spmv.Cost
	for _, s := range spmv.Shapes() {
		c, err := Cost(ctx, prog, s)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}
