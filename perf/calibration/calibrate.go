package calibration

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"presage/perf/frame"
	"presage/perf/host"
	"presage/perf/machine"
	"presage/perf/store"
	"strings"

	"github.com/go-gota/gota/dataframe"
)

// CalibrateOptions say how thoroughly the host is measured.
type CalibrateOptions = host.Options

// Calibration is what was measured of the machine that this runs on, and its
// description. Everything in it is measured, but for what host.Geometry says.
type Calibration struct {
	Profile *host.Profile
	Machine *machine.Machine // its name is "host"
	Text    []byte           // the description, as a file
}

// Calibrate measures the machine that it runs on: see package host for how. It
// takes some 30 s of a processor, 7 s with Quick, and is disturbed by whatever
// else runs; Profile.Warnings tell what is doubtful.
func Calibrate(ctx context.Context, opt CalibrateOptions) (*Calibration, error) {
	p, err := host.Calibrate(ctx, opt)
	if err != nil {
		return nil, err
	}
	return calibrationOf(p)
}

func calibrationOf(p *host.Profile) (*Calibration, error) {
	text, err := p.YAML()
	if err != nil {
		return nil, err
	}
	m, err := machine.Parse("host.yaml", text)
	if err != nil {
		return nil, fmt.Errorf("perf: calibrate: %w", err)
	}
	return &Calibration{Profile: p, Machine: m, Text: text}, nil
}

// Save writes the description to a file, which FindMachine reads if it is given
// the path.
func (c *Calibration) Save(path string) error {
	if filepath.Ext(path) != ".yaml" {
		return fmt.Errorf("perf: calibrate: %s: a machine description has to end in .yaml", path)
	}
	return store.WriteFile(path, c.Text)
}

// name is the host as it stands in tables.
func (c *Calibration) name() string { return c.Profile.Processor }

// Summary returns a row for each number that a machine has: what it is of, the
// least and the median repeat, the spread of repeats, (most - least) / median.
//
//   - part: clock, load, translation, memory, operation, branch
//   - of: the level, or the class of instructions
//   - meas_cycles, meas_ns: the least, which is the estimate
//   - meas_per_cycle: operations that do not depend on each other; missing for
//     what else there is
func (c *Calibration) Summary() dataframe.DataFrame {
	type row struct {
		Host     string  `frame:"host"`
		Part     string  `frame:"part"`
		Of       string  `frame:"of"`
		Cycles   float64 `frame:"meas_cycles"`
		Ns       float64 `frame:"meas_ns"`
		Median   float64 `frame:"meas_median_ns"`
		Spread   float64 `frame:"meas_spread"`
		PerCycle float64 `frame:"meas_per_cycle"`
	}
	p := c.Profile
	var rows []row
	add := func(part, of string, s host.Sample, perCycle float64) {
		rows = append(rows, row{c.name(), part, of, p.Cycles(s.Min), s.Min, s.Median, s.Spread(), perCycle})
	}
	none := math.NaN()
	add("clock", "cycle", p.Cycle, none)
	for _, l := range p.Levels {
		add("load", l.Name, l.Load, none)
	}
	add("load", "memory", p.MemoryNs, none)
	add("load", "memory in order", p.StreamNs, none)
	for i, r := range p.TLBs {
		rows = append(rows, row{c.name(), "translation", c.Machine.TLBs[i].Name, p.Cycles(r.Penalty), r.Penalty, none, none, none})
	}
	for _, op := range p.Operations {
		latency := op.Latency
		if latency.Min == 0 {
			latency = host.Sample{Min: none, Median: none, Max: none}
		}
		add("operation", op.Class.String(), latency, 1/p.Cycles(op.Reciprocal.Min))
	}
	add("operation", "mix", host.Sample{Min: none, Median: none, Max: none}, p.IssueWidth())
	add("branch", "wrong guess", p.Mispredict, none)
	return frame.Of(rows)
}

// Levels returns a row for each cache: what the system says (0: nothing), what
// the curve of load latency shows, and what a hit takes.
//
//   - said_bytes, line_bytes, ways: by the system
//   - detected_lo_bytes, detected_hi_bytes: the largest working set that fits and
//     the smallest that does not; 0 if the curve has no step for the level
func (c *Calibration) Levels() dataframe.DataFrame {
	type row struct {
		Host    string  `frame:"host"`
		Level   string  `frame:"level"`
		Said    uint64  `frame:"said_bytes"`
		Line    uint64  `frame:"line_bytes"`
		Ways    int     `frame:"ways"`
		Lo      uint64  `frame:"detected_lo_bytes"`
		Hi      uint64  `frame:"detected_hi_bytes"`
		Latency float64 `frame:"meas_latency_cycles"`
		Ns      float64 `frame:"meas_latency_ns"`
		Spread  float64 `frame:"meas_spread"`
	}
	var rows []row
	for _, l := range c.Profile.Levels {
		rows = append(rows, row{
			c.name(), l.Name, l.Geometry.Capacity, l.Geometry.LineBytes, l.Geometry.Ways, l.DetectedLo, l.DetectedHi,
			c.Profile.Cycles(l.Load.Min), l.Load.Min, l.Load.Spread(),
		})
	}
	return frame.Of(rows)
}

// Latencies returns a row for each point of the curve of load latency, in
// ordinary and in huge pages (if the system granted any), each pass by itself.
func (c *Calibration) Latencies() dataframe.DataFrame {
	type row struct {
		Host   string  `frame:"host"`
		Pages  string  `frame:"pages"`
		Bytes  uint64  `frame:"working_set_bytes"`
		Ns     float64 `frame:"meas_latency_ns"`
		Cycles float64 `frame:"meas_latency_cycles"`
		Median float64 `frame:"meas_median_ns"`
		Spread float64 `frame:"meas_spread"`
	}
	var rows []row
	for _, l := range c.Profile.Latencies {
		rows = append(rows, row{c.name(), pagesName(l.Huge), l.Bytes, l.Load.Min, c.Profile.Cycles(l.Load.Min), l.Load.Median, l.Load.Spread()})
	}
	return frame.Of(rows)
}

func pagesName(huge bool) string {
	if huge {
		return "huge"
	}
	return "ordinary"
}

// Translations returns a row for each number of pages that the TLBs were tried
// with: a load with one line a page, and with as many lines side by side.
func (c *Calibration) Translations() dataframe.DataFrame {
	type row struct {
		Host   string  `frame:"host"`
		Page   uint64  `frame:"page_bytes"`
		Pages  int     `frame:"pages"`
		Sparse float64 `frame:"meas_sparse_ns"`
		Dense  float64 `frame:"meas_dense_ns"`
		Cycles float64 `frame:"meas_difference_cycles"`
		Spread float64 `frame:"meas_spread"` // of sparse
	}
	var rows []row
	for _, p := range c.Profile.Pages {
		rows = append(rows, row{
			c.name(), c.Profile.PageBytes, p.Pages, p.Sparse.Min, p.Dense.Min,
			c.Profile.Cycles(p.Sparse.Min - p.Dense.Min), p.Sparse.Spread(),
		})
	}
	return frame.Of(rows)
}

// Bandwidths returns a row for each stream and working set.
func (c *Calibration) Bandwidths() dataframe.DataFrame {
	type row struct {
		Host   string  `frame:"host"`
		Kind   string  `frame:"kind"`
		Bytes  uint64  `frame:"working_set_bytes"`
		Rate   float64 `frame:"meas_bytes_per_sec"`
		Median float64 `frame:"meas_median_bytes_per_sec"`
		Spread float64 `frame:"meas_spread"`
	}
	var rows []row
	for _, b := range c.Profile.Bandwidths {
		rows = append(rows, row{c.name(), b.Kind, b.Bytes, b.BytesPerSec(), 1e9 / b.Byte.Median, b.Byte.Spread()})
	}
	return frame.Of(rows)
}

// Parallelism returns a row for each number of chains that were followed through
// memory at once, with how many misses that makes in flight.
func (c *Calibration) Parallelism() dataframe.DataFrame {
	type row struct {
		Host     string  `frame:"host"`
		Chains   int     `frame:"chains"`
		Ns       float64 `frame:"meas_latency_ns"`
		InFlight float64 `frame:"meas_outstanding_misses"`
		Spread   float64 `frame:"meas_spread"`
	}
	var rows []row
	for _, p := range c.Profile.Parallel {
		rows = append(rows, row{c.name(), p.Chains, p.Load.Min, c.Profile.Parallel[0].Load.Min / p.Load.Min, p.Load.Spread()})
	}
	return frame.Of(rows)
}

// Windows returns a row for each number of instructions that were put between
// two independent loads from memory: what the pair takes, and the instructions
// alone.
func (c *Calibration) Windows() dataframe.DataFrame {
	type row struct {
		Host         string  `frame:"host"`
		Instructions int     `frame:"instructions"`
		Pair         float64 `frame:"meas_pair_ns"`
		Filler       float64 `frame:"meas_filler_ns"`
		Spread       float64 `frame:"meas_spread"`
	}
	var rows []row
	for _, w := range c.Profile.Windows {
		rows = append(rows, row{c.name(), w.Instructions, w.Pair.Min, w.Filler.Min, w.Pair.Spread()})
	}
	return frame.Of(rows)
}

// Loops returns a row for each number of iterations and pass: what a loop takes
// that always has as many, and an iteration of it. Where the end is not foreseen
// that is more by what a wrong guess costs.
func (c *Calibration) Loops() dataframe.DataFrame {
	type row struct {
		Host       string  `frame:"host"`
		Iterations int     `frame:"iterations"`
		Cycles     float64 `frame:"meas_cycles"`
		Each       float64 `frame:"meas_iteration_cycles"`
		Median     float64 `frame:"meas_median_ns"`
		Spread     float64 `frame:"meas_spread"`
	}
	var rows []row
	for _, l := range c.Profile.Loops {
		cycles := c.Profile.Cycles(l.Execution.Min)
		rows = append(rows, row{c.name(), l.Iterations, cycles, cycles / float64(l.Iterations), l.Execution.Median, l.Execution.Spread()})
	}
	return frame.Of(rows)
}

// CalibrationTables are the names that Table knows.
var CalibrationTables = []string{"summary", "levels", "latency", "tlb", "bandwidth", "parallelism", "window", "loops"}

// Table returns a table by one of the names of CalibrationTables.
func (c *Calibration) Table(name string) (dataframe.DataFrame, error) {
	switch name {
	case "summary":
		return c.Summary(), nil
	case "levels":
		return c.Levels(), nil
	case "latency":
		return c.Latencies(), nil
	case "tlb":
		return c.Translations(), nil
	case "bandwidth":
		return c.Bandwidths(), nil
	case "parallelism":
		return c.Parallelism(), nil
	case "window":
		return c.Windows(), nil
	case "loops":
		return c.Loops(), nil
	}
	return dataframe.DataFrame{}, fmt.Errorf("perf: calibrate: no table %q; there are %s", name, strings.Join(CalibrationTables, ", "))
}
