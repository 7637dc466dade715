package inferred

import (
	"presage/perf/infer"
	"presage/perf/isa"
	"presage/perf/pipeline"
)

// Limit is a characteristic of shards that the paper does not have: what a shard
// takes on a machine with a single limit. Like those of Table 1 it does not depend
// on the architecture that is predicted.
type Limit struct {
	Symbol string `frame:"symbol"`
	Name   string `frame:"characteristic"` // key of Shard.Limits
	Text   string `frame:"meaning"`
}

// limit is a Limit and how it is simulated.
type limit struct {
	Limit
	machine func() pipeline.Config
	of      func(c *pipeline.Counts) float64
	less    string // the limit whose value is subtracted
}

// The reference caches tell how misses overlap in a window. They are the smallest
// of each level in Table 2 with the fewest ways, so that every miss of an
// architecture's caches misses in them, too.
const (
	l1RefKiB    = 16
	l1RefWays   = 1
	l1RefCycles = 12
	l2RefKiB    = 256
	l2RefWays   = 2
	l2RefCycles = memoryCycles
)

// limits returns the limits in the order of their columns. Windows are the
// smallest and the largest of Table 2, with the queues and registers that are tied
// to them.
func limits() []limit {
	window := func(n int) func() pipeline.Config {
		return func() pipeline.Config { return windowOnly(n) }
	}
	l1 := func(n int) func() pipeline.Config {
		return func() pipeline.Config { return oneCache(n, l1RefKiB, l1RefWays, l1RefCycles) }
	}
	l2 := func(n int) func() pipeline.Config {
		return func() pipeline.Config { return oneCache(n, l2RefKiB, l2RefWays, l2RefCycles) }
	}
	branch := func(n int) func() pipeline.Config {
		return func() pipeline.Config { return predicting(n) }
	}
	unit := func(class isa.Class) func() pipeline.Config {
		return func() pipeline.Config { return oneUnit(224, class) }
	}
	return []limit{
		{Limit{"x14", "window64_cpi", "cycles per instruction where a window of 64 is the only limit: data flow"}, window(64), cpiOf, ""},
		{Limit{"x15", "window224_cpi", "the same of a window of 224"}, window(224), cpiOf, ""},
		{Limit{"x16", "l1_miss64_cpi", "cycles per instruction more by misses in a direct-mapped cache of 16 KiB that take 12 cycles each; window of 64"}, l1(64), cpiOf, "window64_cpi"},
		{Limit{"x17", "l1_miss224_cpi", "the same of a window of 224"}, l1(224), cpiOf, "window224_cpi"},
		{Limit{"x18", "l1_misses", "misses in that cache, per instruction"}, l1(224), missesOf, ""},
		{Limit{"x19", "l2_miss64_cpi", "cycles per instruction more by misses in a two-way cache of 256 KiB that take 150 cycles each; window of 64"}, l2(64), cpiOf, "window64_cpi"},
		{Limit{"x20", "l2_miss224_cpi", "the same of a window of 224"}, l2(224), cpiOf, "window224_cpi"},
		{Limit{"x21", "l2_misses", "misses in that cache, per instruction"}, l2(224), missesOf, ""},
		{Limit{"x22", "branch64_cpi", "cycles per instruction more by mispredictions; window of 64"}, branch(64), cpiOf, "window64_cpi"},
		{Limit{"x23", "branch224_cpi", "the same of a window of 224"}, branch(224), cpiOf, "window224_cpi"},
		{Limit{"x24", "int_mul_cpi", "cycles per instruction with one integer multiplier and divider; window of 224"}, unit(isa.Multiply), cpiOf, ""},
		{Limit{"x25", "float_mul_cpi", "cycles per instruction with one floating-point multiplier and divider; window of 224"}, unit(isa.FPMultiply), cpiOf, ""},
	}
}

func cpiOf(c *pipeline.Counts) float64 { return c.CPI() }

func missesOf(c *pipeline.Counts) float64 {
	return float64(c.Levels[0].Misses) / float64(c.Instructions)
}

// windowOnly returns a machine whose only limit is its window, with what is tied
// to it.
func windowOnly(window int) pipeline.Config {
	d := infer.TiedToWindow(window)
	c := pipeline.Config{
		Window: window, LoadQueue: d.LoadStoreQueue, StoreQueue: d.LoadStoreQueue, IntRegisters: d.Registers, FloatRegisters: d.Registers,
		Queues:  []pipeline.Queue{{Name: "instruction queue", Entries: d.InstructionQueue, Classes: isa.Classes()}},
		Timings: timings(),
	}
	for class, t := range c.Timings {
		t.Uses = nil
		c.Timings[class] = t
	}
	c.Memory.ForwardLatency = l1Cycles
	return c
}

// oneCache returns a machine limited by its window and by one cache, whose misses
// take some cycles each.
func oneCache(window, kib, ways, cycles int) pipeline.Config {
	c := windowOnly(window)
	c.Memory.Levels = []pipeline.Level{{Name: "L1", Blocks: blocks(kib), BlockBytes: blockBytes, Ways: ways, Latency: l1Cycles}}
	c.Memory.Latency = cycles
	return c
}

// oneUnit returns a machine limited by its window and by a single unit of the kind
// that a class needs. A division occupies a divider until its end.
func oneUnit(window int, class isa.Class) pipeline.Config {
	c := windowOnly(window)
	all := timings()
	kind := all[class].Uses[0].AnyOf[0]
	c.Units = []pipeline.Unit{{Name: kind, Count: 1}}
	for k, t := range all {
		if len(t.Uses) > 0 && t.Uses[0].AnyOf[0] == kind {
			c.Timings[k] = t
		}
	}
	return c
}

// predicting returns a machine limited by its window and by the branch prediction
// that all architectures of the study have.
func predicting(window int) pipeline.Config {
	c := windowOnly(window)
	c.Branch = branchPrediction()
	return c
}

// Limits returns the limits in the order of their columns.
func Limits() []Limit {
	var list []Limit
	for _, l := range limits() {
		list = append(list, l.Limit)
	}
	return list
}

func limitNames() []string {
	var names []string
	for _, l := range limits() {
		names = append(names, l.Name)
	}
	return names
}
