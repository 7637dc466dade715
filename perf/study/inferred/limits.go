package inferred

import (
	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/infer"
	"presage/perf/isa"
	"presage/perf/pipeline"
)

// limit is a characteristic that the paper does not have: what limits a
// shard on a machine that has one limit alone. It is the same for whatever
// architecture is predicted, as those of Table 1 are.
type limit struct {
	Symbol, Name, Text string

	machine func() pipeline.Config
	of      func(c *pipeline.Counts) float64
	less    string // the limit whose value is subtracted
}

// The reference caches tell how misses overlap in a window. They are the smallest
// of each level in Table 2 with the fewest ways, so that what misses in an
// architecture's misses in them.
const (
	l1RefKiB    = 16
	l1RefWays   = 1
	l1RefCycles = 12
	l2RefKiB    = 256
	l2RefWays   = 2
	l2RefCycles = memoryCycles
)

// inferLimits returns the limits in the order in which they are columns. Windows
// are the smallest and the largest of Table 2, with the queues and registers
// that are tied to them.
func inferLimits() []limit {
	ideal := func(window int) func() pipeline.Config {
		return func() pipeline.Config { return inferIdeal(window) }
	}
	l1 := func(window int) func() pipeline.Config {
		return func() pipeline.Config { return distant(window, l1RefKiB, l1RefWays, l1RefCycles) }
	}
	l2 := func(window int) func() pipeline.Config {
		return func() pipeline.Config { return distant(window, l2RefKiB, l2RefWays, l2RefCycles) }
	}
	branch := func(window int) func() pipeline.Config {
		return func() pipeline.Config { return inferPredicted(window) }
	}
	unit := func(class isa.Class) func() pipeline.Config {
		return func() pipeline.Config { return oneUnit(224, class) }
	}
	return []limit{
		{"x14", "window64_cpi", "cycles per instruction where a window of 64 is the only limit: data flow", ideal(64), cpiOf, ""},
		{"x15", "window224_cpi", "the same of a window of 224", ideal(224), cpiOf, ""},
		{"x16", "l1_miss64_cpi", "cycles per instruction more by misses in a direct-mapped cache of 16 KiB that take 12 cycles each; window of 64", l1(64), cpiOf, "window64_cpi"},
		{"x17", "l1_miss224_cpi", "the same of a window of 224", l1(224), cpiOf, "window224_cpi"},
		{"x18", "l1_misses", "misses in that cache, per instruction", l1(224), missesOf, ""},
		{"x19", "l2_miss64_cpi", "cycles per instruction more by misses in a two-way cache of 256 KiB that take 150 cycles each; window of 64", l2(64), cpiOf, "window64_cpi"},
		{"x20", "l2_miss224_cpi", "the same of a window of 224", l2(224), cpiOf, "window224_cpi"},
		{"x21", "l2_misses", "misses in that cache, per instruction", l2(224), missesOf, ""},
		{"x22", "branch64_cpi", "cycles per instruction more by mispredictions; window of 64", branch(64), cpiOf, "window64_cpi"},
		{"x23", "branch224_cpi", "the same of a window of 224", branch(224), cpiOf, "window224_cpi"},
		{"x24", "int_mul_cpi", "cycles per instruction with one integer multiplier and divider; window of 224", unit(isa.Multiply), cpiOf, ""},
		{"x25", "float_mul_cpi", "cycles per instruction with one floating-point multiplier and divider; window of 224", unit(isa.FPMultiply), cpiOf, ""},
	}
}

func cpiOf(c *pipeline.Counts) float64 { return c.CPI() }

func missesOf(c *pipeline.Counts) float64 {
	return float64(c.Levels[0].Misses) / float64(c.Instructions)
}

// inferIdeal is a machine whose one limit is its window, with what is tied to it.
func inferIdeal(window int) pipeline.Config {
	d := infer.TiedToWindow(window)
	c := pipeline.Config{
		Window: window, LoadQueue: d.LoadStoreQueue, StoreQueue: d.LoadStoreQueue, IntRegisters: d.Registers, FloatRegisters: d.Registers,
		Queues:  []pipeline.Queue{{Name: "instruction queue", Entries: d.InstructionQueue, Classes: isa.Classes()}},
		Timings: inferTimings(),
	}
	for class, t := range c.Timings {
		t.Uses = nil
		c.Timings[class] = t
	}
	c.Memory.ForwardLatency = l1Cycles
	return c
}

// distant is an ideal machine with one cache, of whose misses each takes some
// cycles.
func distant(window, kib, ways, cycles int) pipeline.Config {
	c := inferIdeal(window)
	c.Memory.Levels = []pipeline.Level{{Name: "L1", Blocks: blocks(kib), BlockBytes: blockBytes, Ways: ways, Latency: l1Cycles}}
	c.Memory.Latency = cycles
	return c
}

// oneUnit is an ideal machine but that it has one unit of the kind that a
// class needs. A divider is taken for as long as a division lasts.
func oneUnit(window int, class isa.Class) pipeline.Config {
	c := inferIdeal(window)
	timings := inferTimings()
	kind := timings[class].Uses[0].AnyOf[0]
	c.Units = []pipeline.Unit{{Name: kind, Count: 1}}
	for k, t := range timings {
		if len(t.Uses) > 0 && t.Uses[0].AnyOf[0] == kind {
			c.Timings[k] = t
		}
	}
	return c
}

// inferPredicted is an ideal machine but that it predicts branches as all
// architectures of the study do.
func inferPredicted(window int) pipeline.Config {
	c := inferIdeal(window)
	c.Branch = inferBranch()
	return c
}

// LimitTable lists the characteristics of shards that limits are worked out
// from, beside those of Table 1 and reuse distances: symbol, characteristic,
// meaning.
func LimitTable() dataframe.DataFrame {
	type row struct {
		Symbol string `frame:"symbol"`
		Name   string `frame:"characteristic"`
		Text   string `frame:"meaning"`
	}
	var rows []row
	for _, l := range inferLimits() {
		rows = append(rows, row{l.Symbol, l.Name, l.Text})
	}
	return frame.Of(rows)
}

// limitNames returns the names of the limits.
func limitNames() []string {
	var names []string
	for _, l := range inferLimits() {
		names = append(names, l.Name)
	}
	return names
}
