package anatomy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/fit"
	"presage/perf/frame"
	"presage/perf/internal/num"
	"presage/perf/progress"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// Counted says of what the executions are modelled.
type Counted string

// What can be counted.
const (
	OfEdges    Counted = "edge"    // of the control-flow graphs, taken at all
	OfBlocks   Counted = "block"   // basic blocks, executed at all
	OfClasses  Counted = "class"   // instructions of the program by class and width
	OfRoutines Counted = "routine" // entries of routines
)

// FrequencyOptions say how execution frequencies are modelled.
type FrequencyOptions struct {
	// Of is what is modelled; empty: OfEdges.
	Of Counted
	// Basis lists the functions that models are sums of, as in FitOptions.
	Basis string
}

// FrequencyModel predicts how often things are executed at any problem size.
type FrequencyModel struct {
	Program  string
	Of       Counted
	Points   []subject.Point // that it was fitted on
	Warnings []string

	model *scaling.CountModel
}

// CountSweep counts at each point, as Count does at one.
func CountSweep(ctx context.Context, prog *subject.Program, points []subject.Point, opt subject.RunOptions) ([]*Counts, error) {
	report := opt.Progress
	var all []*Counts
	for i, point := range points {
		opt.Progress = func(p progress.Report) {
			if p.Done == 0 {
				p.Done, p.Total = i, len(points)
				report.Report(p)
			}
		}
		c, err := Count(ctx, prog, point, opt)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	report.Finish(len(points))
	return all, nil
}

// FitFrequency fits, for each edge, block, routine or class of instructions
// that was executed at any point, a model of how often it is (2004, section
// 2.3.1). The counts are of one program at three points at least.
func FitFrequency(ctx context.Context, counts []*Counts, opt FrequencyOptions) (*FrequencyModel, error) {
	if len(counts) == 0 {
		return nil, fmt.Errorf("perf: no counts to fit a model to")
	}
	if opt.Of == "" {
		opt.Of = OfEdges
	}
	m := &FrequencyModel{Program: counts[0].Program.Name, Of: opt.Of}
	var sizes []fit.Point
	values := make(map[string][]float64)
	for i, c := range counts {
		if c.Program.File.SHA256 != counts[0].Program.File.SHA256 {
			return nil, fmt.Errorf("perf: counts of %s and of %s, which are not one program", counts[0].Program.Name, c.Program.Name)
		}
		m.Points, sizes = append(m.Points, c.Point), append(sizes, fit.Point(c.Point))
		m.Warnings = append(m.Warnings, c.Warnings...)
		err := c.each(opt.Of, func(name string, n uint64) {
			if values[name] == nil {
				values[name] = make([]float64, len(counts))
			}
			values[name][i] += float64(n)
		})
		if err != nil {
			return nil, err
		}
	}
	options := scaling.Options{}
	if opt.Basis != "" {
		basis, err := fit.ParseBasis(opt.Basis, m.Points[0].Names()...)
		if err != nil {
			return nil, fmt.Errorf("perf: basis: %w", err)
		}
		options.Basis = basis
	}
	var series []scaling.Series
	for _, name := range num.Keys(values) {
		series = append(series, scaling.Series{Name: name, Counts: values[name]})
	}
	var err error
	if m.model, err = scaling.FitCounts(ctx, sizes, series, options); err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	for _, w := range m.model.Warnings {
		m.Warnings = append(m.Warnings, w.Error())
	}
	return m, nil
}

// each calls do with the name and executions of all that was executed.
func (c *Counts) each(of Counted, do func(name string, n uint64)) error {
	put := func(name string, n uint64) {
		if n > 0 {
			do(name, n)
		}
	}
	s := c.structure
	switch of {
	case OfEdges, OfBlocks, OfRoutines:
	case OfClasses:
		for k, n := range s.Scopes.Mixes(c.Recovered, true)[0] {
			put(k.String(), n.Executed)
		}
		return nil
	default:
		return fmt.Errorf("perf: frequencies of %q: want %s, %s, %s or %s", of, OfEdges, OfBlocks, OfRoutines, OfClasses)
	}
	for i, r := range s.Graph.Routines {
		counts := &c.Recovered.Routines[i]
		name := s.Scopes.Scopes[s.OfRoutine[i]].Path
		switch of {
		case OfRoutines:
			var sum uint64
			for _, n := range counts.Entries {
				sum += n
			}
			put(name, sum)
		case OfBlocks:
			for b, n := range counts.Blocks {
				put(fmt.Sprintf("%s %#x", name, r.Blocks[b].PC()), n)
			}
		case OfEdges:
			for e, n := range counts.Edges {
				edge := r.Edges[e]
				put(fmt.Sprintf("%s %#x %s %#x", name, r.Blocks[edge.From].Last().PC, edge.Kind, r.Blocks[edge.To].PC()), n)
			}
		}
	}
	return nil
}

// Frame returns the models: a row for each.
//
//   - program, of (edge, block, routine, class), name
//   - executions: the formula
//   - loo_err: relative leave-one-out error
//   - fit_warning: doubts about it
func (m *FrequencyModel) Frame() dataframe.DataFrame {
	type row struct {
		Program string  `frame:"program"`
		Of      string  `frame:"of"`
		Name    string  `frame:"name"`
		Formula string  `frame:"executions"`
		LOO     float64 `frame:"loo_err"`
		Warning string  `frame:"fit_warning"`
	}
	var rows []row
	for i := range m.model.Funcs {
		f := &m.model.Funcs[i]
		rows = append(rows, row{m.Program, string(m.Of), m.model.Names[i], f.String(), f.LOO, strings.Join(fit.WarningTexts(f.Warnings), "; ")})
	}
	return frame.Of(rows)
}

// Predict returns the predicted executions at each point: a row for each point
// and name, those with the most executions at the first point first.
//
//   - program, the point, of, name
//   - pred_executions: 0 where the function is negative, which it is only
//     beyond its reach
//   - pred_warning: doubts about the model there, such as far extrapolation
func (m *FrequencyModel) Predict(points []subject.Point) (dataframe.DataFrame, error) {
	type row struct {
		Program string             `frame:"program"`
		Point   map[string]float64 `frame:",each"`
		Of      string             `frame:"of"`
		Name    string             `frame:"name"`
		N       float64            `frame:"pred_executions"`
		Warning string             `frame:"pred_warning"`
	}
	order := make([]int, len(m.model.Funcs))
	for i := range order {
		order[i] = i
	}
	var rows []row
	for k, point := range points {
		if err := point.Check(); err != nil {
			return dataframe.DataFrame{}, err
		}
		for _, name := range m.model.Params {
			if _, ok := point[name]; !ok {
				return dataframe.DataFrame{}, fmt.Errorf("perf: the point %q has no parameter %s, which the model depends on", point, name)
			}
		}
		at := fit.Point(point)
		if k == 0 {
			slices.SortStableFunc(order, func(a, b int) int {
				x, y := m.model.Funcs[a].Eval(at), m.model.Funcs[b].Eval(at)
				switch {
				case x > y:
					return -1
				case x < y:
					return 1
				}
				return 0
			})
		}
		for _, i := range order {
			f := &m.model.Funcs[i]
			rows = append(rows, row{m.Program, point, string(m.Of), m.model.Names[i], max(0, f.Eval(at)), strings.Join(fit.WarningTexts(f.Check(at)), "; ")})
		}
	}
	return frame.Of(rows), nil
}
