package calibration

import (
	"math"

	"presage/perf/host"
)

// SummaryRow is a number that a machine description holds. Repeats only ever make
// it larger, so the least is the estimate.
type SummaryRow struct {
	Host     string  `frame:"host"`           // processor
	Part     string  `frame:"part"`           // clock, load, translation, operation or branch
	Of       string  `frame:"of"`             // the level, or the class of instructions
	Cycles   float64 `frame:"meas_cycles"`    // least repeat
	Ns       float64 `frame:"meas_ns"`        // likewise, in nanoseconds
	Median   float64 `frame:"meas_median_ns"` // median repeat; NaN where none was taken
	Spread   float64 `frame:"meas_spread"`    // (greatest - least) / median of the repeats
	PerCycle float64 `frame:"meas_per_cycle"` // independent operations in a cycle; NaN for other parts
}

// Summary returns a row for each number of the machine description.
func (c *Calibration) Summary() []SummaryRow {
	p := c.Profile
	var rows []SummaryRow
	add := func(part, of string, s host.Sample, perCycle float64) {
		rows = append(rows, SummaryRow{c.name(), part, of, p.Cycles(s.Min), s.Min, s.Median, s.Spread(), perCycle})
	}
	none := math.NaN()
	unknown := host.Sample{Min: none, Median: none, Max: none}
	add("clock", "cycle", p.Cycle, none)
	for _, l := range p.Levels {
		add("load", l.Name, l.Load, none)
	}
	add("load", "memory", p.MemoryNs, none)
	add("load", "memory in order", p.StreamNs, none)
	for i, r := range p.TLBs {
		rows = append(rows, SummaryRow{c.name(), "translation", c.Machine.TLBs[i].Name, p.Cycles(r.Penalty), r.Penalty, none, none, none})
	}
	for _, op := range p.Operations {
		latency := op.Latency
		if latency.Min == 0 {
			latency = unknown
		}
		add("operation", op.Class.String(), latency, 1/p.Cycles(op.Reciprocal.Min))
	}
	add("operation", "mix", unknown, p.IssueWidth())
	add("branch", "wrong guess", p.Mispredict, none)
	return rows
}

// LevelRow is a cache: what the system reports, what the curve of load latency
// shows, and the latency of a hit.
type LevelRow struct {
	Host    string  `frame:"host"`
	Level   string  `frame:"level"`
	Said    uint64  `frame:"said_bytes"` // capacity by the system, as line_bytes and ways; 0: it says nothing
	Line    uint64  `frame:"line_bytes"`
	Ways    int     `frame:"ways"`
	Lo      uint64  `frame:"detected_lo_bytes"` // largest working set that fits; 0 if the curve has no step for the level
	Hi      uint64  `frame:"detected_hi_bytes"` // smallest that does not, likewise
	Latency float64 `frame:"meas_latency_cycles"`
	Ns      float64 `frame:"meas_latency_ns"`
	Spread  float64 `frame:"meas_spread"`
}

// Levels returns a row for each cache.
func (c *Calibration) Levels() []LevelRow {
	var rows []LevelRow
	for _, l := range c.Profile.Levels {
		rows = append(rows, LevelRow{
			c.name(), l.Name, l.Geometry.Capacity, l.Geometry.LineBytes, l.Geometry.Ways, l.DetectedLo, l.DetectedHi,
			c.Profile.Cycles(l.Load.Min), l.Load.Min, l.Load.Spread(),
		})
	}
	return rows
}

// LatencyRow is a point of the curve of load latency.
type LatencyRow struct {
	Host   string  `frame:"host"`
	Pages  string  `frame:"pages"` // ordinary or huge
	Bytes  uint64  `frame:"working_set_bytes"`
	Ns     float64 `frame:"meas_latency_ns"`
	Cycles float64 `frame:"meas_latency_cycles"`
	Median float64 `frame:"meas_median_ns"`
	Spread float64 `frame:"meas_spread"`
}

// Latencies returns a row for each point of the curve of load latency, in ordinary
// and in huge pages (if the system granted any), each pass by itself.
func (c *Calibration) Latencies() []LatencyRow {
	var rows []LatencyRow
	for _, l := range c.Profile.Latencies {
		pages := "ordinary"
		if l.Huge {
			pages = "huge"
		}
		rows = append(rows, LatencyRow{c.name(), pages, l.Bytes, l.Load.Min, c.Profile.Cycles(l.Load.Min), l.Load.Median, l.Load.Spread()})
	}
	return rows
}

// TranslationRow is the latency of loads from one line in each of a number of pages,
// and from as many adjacent lines.
type TranslationRow struct {
	Host   string  `frame:"host"`
	Page   uint64  `frame:"page_bytes"`
	Pages  int     `frame:"pages"`
	Sparse float64 `frame:"meas_sparse_ns"` // one line a page
	Dense  float64 `frame:"meas_dense_ns"`  // side by side
	Cycles float64 `frame:"meas_difference_cycles"`
	Spread float64 `frame:"meas_spread"` // of sparse
}

// Translations returns a row for each number of pages tried.
func (c *Calibration) Translations() []TranslationRow {
	var rows []TranslationRow
	for _, p := range c.Profile.Pages {
		rows = append(rows, TranslationRow{
			c.name(), c.Profile.PageBytes, p.Pages, p.Sparse.Min, p.Dense.Min,
			c.Profile.Cycles(p.Sparse.Min - p.Dense.Min), p.Sparse.Spread(),
		})
	}
	return rows
}

// BandwidthRow is a stream through a working set.
type BandwidthRow struct {
	Host   string  `frame:"host"`
	Kind   string  `frame:"kind"` // of the stream: read or copy
	Bytes  uint64  `frame:"working_set_bytes"`
	Rate   float64 `frame:"meas_bytes_per_sec"` // of the fastest repeat
	Median float64 `frame:"meas_median_bytes_per_sec"`
	Spread float64 `frame:"meas_spread"`
}

// Bandwidths returns a row for each stream and working set.
func (c *Calibration) Bandwidths() []BandwidthRow {
	var rows []BandwidthRow
	for _, b := range c.Profile.Bandwidths {
		rows = append(rows, BandwidthRow{c.name(), b.Kind, b.Bytes, b.BytesPerSec(), 1e9 / b.Byte.Median, b.Byte.Spread()})
	}
	return rows
}

// ParallelRow is the time of a load from memory while several chains of dependent
// loads are followed at once.
type ParallelRow struct {
	Host     string  `frame:"host"`
	Chains   int     `frame:"chains"`
	Ns       float64 `frame:"meas_latency_ns"`         // for each load
	InFlight float64 `frame:"meas_outstanding_misses"` // latency of one chain over this
	Spread   float64 `frame:"meas_spread"`
}

// Parallelism returns a row for each number of chains.
func (c *Calibration) Parallelism() []ParallelRow {
	var rows []ParallelRow
	for _, p := range c.Profile.Parallel {
		rows = append(rows, ParallelRow{c.name(), p.Chains, p.Load.Min, c.Profile.Parallel[0].Load.Min / p.Load.Min, p.Load.Spread()})
	}
	return rows
}

// WindowRow is the time of two independent loads from memory with instructions
// between them.
type WindowRow struct {
	Host         string  `frame:"host"`
	Instructions int     `frame:"instructions"`   // between the loads
	Pair         float64 `frame:"meas_pair_ns"`   // loads and instructions
	Filler       float64 `frame:"meas_filler_ns"` // instructions alone
	Spread       float64 `frame:"meas_spread"`
}

// Windows returns a row for each number of instructions between the loads.
func (c *Calibration) Windows() []WindowRow {
	var rows []WindowRow
	for _, w := range c.Profile.Windows {
		rows = append(rows, WindowRow{c.name(), w.Instructions, w.Pair.Min, w.Filler.Min, w.Pair.Spread()})
	}
	return rows
}

// LoopRow is the time of a loop with a fixed number of iterations. If the core does
// not predict its end, it includes a misprediction.
type LoopRow struct {
	Host       string  `frame:"host"`
	Iterations int     `frame:"iterations"`
	Cycles     float64 `frame:"meas_cycles"`           // of the loop
	Each       float64 `frame:"meas_iteration_cycles"` // of an iteration
	Ends       float64 `frame:"meas_ends_cycles"`      // what it takes beyond as many iterations of an endless loop
	Median     float64 `frame:"meas_median_ns"`
	Spread     float64 `frame:"meas_spread"`
}

// Loops returns a row for each number of iterations and pass.
func (c *Calibration) Loops() []LoopRow {
	var rows []LoopRow
	for _, l := range c.Profile.Loops {
		cycles := c.Profile.Cycles(l.Execution.Min)
		rows = append(rows, LoopRow{c.name(), l.Iterations, cycles, cycles / float64(l.Iterations), c.Profile.Cycles(l.Ends.Median), l.Execution.Median, l.Execution.Spread()})
	}
	return rows
}

// PatternRow is the time of a branch whose directions come again.
type PatternRow struct {
	Host       string  `frame:"host"`
	Directions int     `frame:"directions"`
	Cycles     float64 `frame:"meas_branch_cycles"` // beyond one that always goes the same way, the median
	Wrong      float64 `frame:"meas_wrong_share"`   // that, of what a wrong guess costs; missing where that does not show
}

// Patterns returns a row for each length of a pattern.
func (c *Calibration) Patterns() []PatternRow {
	var rows []PatternRow
	for _, p := range c.Profile.Patterns {
		wrong := math.NaN()
		if cost := c.Profile.Mispredict.Min; cost > 0 {
			wrong = p.Branch.Median / cost
		}
		rows = append(rows, PatternRow{c.name(), p.Directions, c.Profile.Cycles(p.Branch.Median), wrong})
	}
	return rows
}
