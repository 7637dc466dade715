package measure

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"presage/perf/host"
	"presage/perf/internal/order"
	"presage/perf/subject"
)

// Row is the result of repeated runs of a program at one point.
type Row struct {
	Program      string        `frame:"program"`           // base name of the executable
	Point        subject.Point `frame:",each"`             // parameters of the runs
	Host         string        `frame:"host"`              // processor, system and architecture: see Host
	Date         string        `frame:"date"`              // YYYY-MM-DD, in UTC
	Repeats      int           `frame:"repeats"`           // runs that were measured
	Seconds      float64       `frame:"meas_time_sec"`     // median wall time of the process, from its start to its end
	Min          float64       `frame:"meas_min_time_sec"` // least wall time
	Spread       float64       `frame:"meas_spread"`       // (greatest - least) / median wall time
	CPU          float64       `frame:"meas_cpu_time_sec"` // median processor time of all its threads
	Cycles       float64       `frame:"meas_cycles"`       // medians, outside the operating system; NaN without counters
	Instructions float64       `frame:"meas_instructions"`
	CacheMisses  float64       `frame:"meas_cache_misses"` // of the last cache
	BranchMisses float64       `frame:"meas_branch_misses"`
	Warning      string        `frame:"meas_warning"` // what is doubtful, and why there are no counters
}

// What makes a measurement doubtful.
const (
	doubtfulSpread = 0.1                   // of the repeats of a point
	shortRun       = 20 * time.Millisecond // below which starting the process counts
)

// summarize returns the row of a point's runs, of which there is at least one.
func summarize(runs []host.Execution, hostName string, when time.Time) Row {
	wall := ascending(runs, func(e host.Execution) float64 { return e.Wall.Seconds() })
	row := Row{
		Host: hostName, Date: when.UTC().Format(time.DateOnly), Repeats: len(runs),
		Seconds: order.Median(wall), Min: slices.Min(wall), Spread: (slices.Max(wall) - slices.Min(wall)) / order.Median(wall),
		CPU:    order.Median(ascending(runs, func(e host.Execution) float64 { return e.CPU.Seconds() })),
		Cycles: math.NaN(), Instructions: math.NaN(), CacheMisses: math.NaN(), BranchMisses: math.NaN(),
	}
	var doubts []string
	if row.Spread > doubtfulSpread {
		doubts = append(doubts, fmt.Sprintf("repeats differ by %.0f%% of the median", 100*row.Spread))
	}
	if row.Seconds < shortRun.Seconds() {
		doubts = append(doubts, "a short run: starting the process is a part of it")
	}
	doubts = append(doubts, row.count(runs)...)
	row.Warning = strings.Join(doubts, "; ")
	return row
}

// count fills in the counters, if all runs have them, and returns what is doubtful
// about them.
func (r *Row) count(runs []host.Execution) (doubts []string) {
	running := 1.0
	for _, e := range runs {
		if e.NoCounts != nil {
			return []string{e.NoCounts.Error()}
		}
		running = min(running, e.Counts.Running)
	}
	r.Cycles = order.Median(ascending(runs, func(e host.Execution) float64 { return e.Counts.Cycles }))
	r.Instructions = order.Median(ascending(runs, func(e host.Execution) float64 { return e.Counts.Instructions }))
	r.CacheMisses = order.Median(ascending(runs, func(e host.Execution) float64 { return e.Counts.CacheMisses }))
	r.BranchMisses = order.Median(ascending(runs, func(e host.Execution) float64 { return e.Counts.BranchMisses }))
	if running < 1 {
		doubts = append(doubts, fmt.Sprintf("counters ran for %.0f%% of the time and are extrapolated", 100*running))
	}
	return doubts
}

func ascending(runs []host.Execution, of func(host.Execution) float64) []float64 {
	values := make([]float64, len(runs))
	for i, e := range runs {
		values[i] = of(e)
	}
	slices.Sort(values)
	return values
}
