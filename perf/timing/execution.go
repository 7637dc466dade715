package timing

import (
	"context"
	"fmt"
	"slices"

	"presage/perf/anatomy"
	"presage/perf/cfg"
	"presage/perf/fit"
	"presage/perf/scaling"
	"presage/perf/sched"
	"presage/perf/subject"
)

// ExecutionModel predicts how often every block and edge of a program is
// executed at any problem size. Its schedule is weighted by that.
type ExecutionModel struct {
	Program  string
	Points   []subject.Point // that it was fitted on
	Warnings []string

	structure *subject.Structure
	counts    []*anatomy.Counts // that it was fitted to
	model     *scaling.CountModel
	series    map[flowKey]int // of what was executed, in model

	binaries *binaries // if there are several executables: none of the above
}

// flowKey names an edge, or an entry of a routine, whatever else a run showed of
// the graph around it.
type flowKey struct {
	routine  uint64 // its address: code that routines share is in each of them
	from, to uint64 // addresses of the edge's last instruction and of its target
	kind     cfg.EdgeKind
	entry    bool // no edge: how often the routine is entered at to
}

// FitExecution fits a model of the frequency of each edge and each entry that was
// executed at any of the points (2004, section 3.2: "we construct models of basic
// block execution frequency using data from edge counter execution histograms").
// The counts are of one program at three points at least; see anatomy.CountSweep.
//
// Counts of several executables, each compiled for its point, have no blocks in
// common. They are kept as they are, and Predict models what the loops and
// routines that they have in common take on its machine.
func FitExecution(ctx context.Context, counts []*anatomy.Counts) (*ExecutionModel, error) {
	if len(counts) == 0 {
		return nil, fmt.Errorf("perf: no counts to fit a model to")
	}
	m := &ExecutionModel{Program: counts[0].Program.Name, counts: counts, series: make(map[flowKey]int)}
	if severalExecutables(counts) {
		return m.ofBinaries(counts), nil
	}
	var sizes []fit.Point
	var series []scaling.Series
	for i, c := range counts {
		m.Points, sizes = append(m.Points, c.Point), append(sizes, fit.Point(c.Point))
		m.Warnings = append(m.Warnings, c.Warnings...)
		// Each run completes the graph by what it executed: take the last of the
		// largest.
		if m.structure == nil || edgesOf(c.Structure()) >= edgesOf(m.structure) {
			m.structure = c.Structure()
		}
		flow(c, func(k flowKey, n uint64) {
			at, ok := m.series[k]
			if !ok {
				at = len(series)
				m.series[k] = at
				series = append(series, scaling.Series{Name: fmt.Sprintf("%#x %v %#x", k.from, k.kind, k.to), Counts: make([]float64, len(counts))})
			}
			series[at].Counts[i] += float64(n)
		})
	}
	var err error
	if m.model, err = scaling.FitCounts(ctx, sizes, series, scaling.Options{Chance: len(sizes) >= scaling.RecommendedSizes}); err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	for _, w := range m.model.Warnings {
		m.Warnings = append(m.Warnings, w.Error())
	}
	slices.Sort(m.Warnings)
	m.Warnings = slices.Compact(m.Warnings)
	return m, nil
}

// severalExecutables reports whether the counts are of more than one.
func severalExecutables(counts []*anatomy.Counts) bool {
	return slices.ContainsFunc(counts, func(c *anatomy.Counts) bool {
		return c.Program.File.SHA256 != counts[0].Program.File.SHA256
	})
}

// ofBinaries returns the model for counts of several executables.
func (m *ExecutionModel) ofBinaries(counts []*anatomy.Counts) *ExecutionModel {
	var points []subject.BinaryPoint
	for _, c := range counts {
		points = append(points, subject.BinaryPoint{Point: c.Point, Program: c.Program})
		m.Points = append(m.Points, c.Point)
		m.Warnings = append(m.Warnings, c.Warnings...)
	}
	slices.Sort(m.Warnings)
	m.Warnings = slices.Compact(m.Warnings)
	m.Program, m.binaries = subject.CommonName(points), newBinaries(counts)
	return m
}

func edgesOf(s *subject.Structure) int {
	n := 0
	for _, r := range s.Graph.Routines {
		n += len(r.Edges)
	}
	return n
}

// flow calls do with the executions of each edge and entry that was executed.
func flow(c *anatomy.Counts, do func(k flowKey, n uint64)) {
	for i, r := range c.Structure().Graph.Routines {
		counts := &c.Recovered.Routines[i]
		for e, n := range counts.Edges {
			if n > 0 {
				do(edgeKey(r, e), n)
			}
		}
		for e, n := range counts.Entries {
			if n > 0 {
				do(entryKey(r, e), n)
			}
		}
	}
}

func edgeKey(r *cfg.Routine, e int) flowKey {
	edge := &r.Edges[e]
	return flowKey{routine: r.Addr, from: r.Blocks[edge.From].Last().PC, to: r.Blocks[edge.To].PC(), kind: edge.Kind}
}

func entryKey(r *cfg.Routine, e int) flowKey {
	return flowKey{routine: r.Addr, to: r.Blocks[r.Entries[e]].PC(), entry: true}
}

// doubts are those about the model as a whole, and about a point.
func (m *ExecutionModel) doubts(point subject.Point) []string {
	doubts := fit.WarningTexts(fit.CheckReach(m.model.Domain, fit.Point(point)))
	for _, w := range m.model.Warnings {
		doubts = append(doubts, fmt.Sprintf("frequencies: %v", w))
	}
	return doubts
}

// at returns the predicted frequencies at a point.
func (m *ExecutionModel) at(point subject.Point) (*sched.Frequencies, error) {
	if err := checkPoint(m.model, point); err != nil {
		return nil, err
	}
	value := func(k flowKey) float64 {
		i, ok := m.series[k]
		if !ok {
			return 0
		}
		return max(0, m.model.Funcs[i].Eval(fit.Point(point)))
	}
	f := &sched.Frequencies{Routines: make([]sched.RoutineFrequencies, len(m.structure.Graph.Routines))}
	for i, r := range m.structure.Graph.Routines {
		edges, entries := make([]float64, len(r.Edges)), make([]float64, len(r.Entries))
		for e := range edges {
			edges[e] = value(edgeKey(r, e))
		}
		for e := range entries {
			entries[e] = value(entryKey(r, e))
		}
		f.Routines[i] = sched.FromEdges(r, edges, entries)
	}
	return f, nil
}
