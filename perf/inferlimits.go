package perf

import (
	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/infer"
	"presage/perf/isa"
	"presage/perf/pipeline"
)

// inferLimit is a characteristic that the paper does not have: what limits a
// shard on a machine that has one limit alone. It is the same for whatever
// architecture is predicted, as those of Table 1 are.
type inferLimit struct {
	Symbol, Name, Text string

	machine func() pipeline.Config
	of      func(c *pipeline.Counts) float64
	less    string // the limit whose value is subtracted
}

// The caches that misses are told by, the smallest of each level in Table 2, so
// that what misses in an architecture's has missed in them, more or less: what is
// further away than the first is a near miss, than the second a far one.
const (
	inferNearKiB    = 16
	inferNearCycles = 12
	inferFarKiB     = 256
	inferFarCycles  = inferMemoryCycles
)

// inferLimits returns the limits in the order in which they are columns. Windows
// are the smallest and the largest of Table 2, with the queues and registers
// that are tied to them.
func inferLimits() []inferLimit {
	ideal := func(window int) func() pipeline.Config {
		return func() pipeline.Config { return inferIdeal(window) }
	}
	near := func(window int) func() pipeline.Config {
		return func() pipeline.Config { return inferDistant(window, inferNearKiB, inferNearCycles) }
	}
	far := func(window int) func() pipeline.Config {
		return func() pipeline.Config { return inferDistant(window, inferFarKiB, inferFarCycles) }
	}
	branch := func(window int) func() pipeline.Config {
		return func() pipeline.Config { return inferPredicted(window) }
	}
	unit := func(class isa.Class) func() pipeline.Config {
		return func() pipeline.Config { return inferOneUnit(224, class) }
	}
	return []inferLimit{
		{"x14", "window64_cpi", "cycles per instruction where a window of 64 is the only limit: data flow", ideal(64), cpiOf, ""},
		{"x15", "window224_cpi", "the same of a window of 224", ideal(224), cpiOf, ""},
		{"x16", "near64_cpi", "cycles per instruction more where what is not in 16 KiB is 12 cycles away; window of 64", near(64), cpiOf, "window64_cpi"},
		{"x17", "near224_cpi", "the same of a window of 224", near(224), cpiOf, "window224_cpi"},
		{"x18", "near_misses", "misses in those 16 KiB, per instruction", near(224), missesOf, ""},
		{"x19", "far64_cpi", "cycles per instruction more where what is not in 256 KiB is 150 cycles away; window of 64", far(64), cpiOf, "window64_cpi"},
		{"x20", "far224_cpi", "the same of a window of 224", far(224), cpiOf, "window224_cpi"},
		{"x21", "far_misses", "misses in those 256 KiB, per instruction", far(224), missesOf, ""},
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
	c.Memory.ForwardLatency = inferL1Cycles
	return c
}

// inferDistant is an ideal machine but that some memory is far.
func inferDistant(window, nearKiB, cycles int) pipeline.Config {
	c := inferIdeal(window)
	c.Memory.Levels = []pipeline.Level{{Name: "near", Blocks: inferBlocks(nearKiB), BlockBytes: inferBlockBytes, Ways: 8, Latency: inferL1Cycles}}
	c.Memory.Latency = cycles
	return c
}

// inferOneUnit is an ideal machine but that it has one unit of the kind that a
// class needs. A divider is taken for as long as a division lasts.
func inferOneUnit(window int, class isa.Class) pipeline.Config {
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

// InferLimitTable lists the characteristics of shards that limits are worked out
// from, beside those of Table 1 and reuse distances: symbol, characteristic,
// meaning.
func InferLimitTable() dataframe.DataFrame {
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

// inferLimitNames returns the names of the limits.
func inferLimitNames() []string {
	var names []string
	for _, l := range inferLimits() {
		names = append(names, l.Name)
	}
	return names
}
