package anatomy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"presage/perf/fit"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// Counted is a kind of thing whose executions are modelled.
type Counted string

// What can be counted.
const (
	OfEdges    Counted = "edge"    // of the control-flow graphs, taken at all
	OfBlocks   Counted = "block"   // basic blocks, executed at all
	OfClasses  Counted = "class"   // instructions of the program by class and width
	OfRoutines Counted = "routine" // entries of routines
)

// FrequencyOptions configures FitFrequency.
type FrequencyOptions struct {
	// Of is what is modelled; empty: OfEdges.
	Of Counted
	// Basis lists the functions that models are sums of, as in FitOptions.
	Basis string
}

// FrequencyModel predicts how often edges, blocks, routines or classes of
// instructions are executed at any problem size.
type FrequencyModel struct {
	Program  string
	Of       Counted
	Points   []subject.Point // that it was fitted on
	Warnings []string

	model *scaling.CountModel
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
	options := scaling.Options{Chance: len(sizes) >= scaling.RecommendedSizes}
	if opt.Basis != "" {
		basis, err := fit.ParseBasis(opt.Basis, m.Points[0].Names()...)
		if err != nil {
			return nil, fmt.Errorf("perf: basis: %w", err)
		}
		options.Basis = basis
	}
	var series []scaling.Series
	for _, name := range slices.Sorted(maps.Keys(values)) {
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
		for k, n := range s.Scopes.InclusiveMixes(c.Recovered)[0] {
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

// Frequency is the model of how often one thing is executed.
type Frequency struct {
	Program string  `frame:"program"`
	Of      string  `frame:"of"`
	Name    string  `frame:"name"`
	Formula string  `frame:"executions"`
	LOO     float64 `frame:"loo_err"`     // relative leave-one-out error
	Warning string  `frame:"fit_warning"` // doubts about it
}

// Rows returns the models.
func (m *FrequencyModel) Rows() []Frequency {
	var rows []Frequency
	for i := range m.model.Funcs {
		f := &m.model.Funcs[i]
		rows = append(rows, Frequency{m.Program, string(m.Of), m.model.Names[i], f.String(), f.LOO, strings.Join(fit.WarningTexts(f.Warnings), "; ")})
	}
	return rows
}

// Executions is how often one thing is predicted to be executed at a point.
type Executions struct {
	Program string             `frame:"program"`
	Point   map[string]float64 `frame:",each"`
	Of      string             `frame:"of"`
	Name    string             `frame:"name"`
	N       float64            `frame:"pred_executions"` // 0 where the function is negative, which it is only beyond its reach
	Warning string             `frame:"pred_warning"`    // doubts about the model there, such as far extrapolation
}

// Predict returns the predicted executions at each point: a row for each point
// and name, those with the most executions at the first point first.
func (m *FrequencyModel) Predict(points []subject.Point) ([]Executions, error) {
	for _, point := range points {
		if err := point.Check(); err != nil {
			return nil, err
		}
		for _, name := range m.model.Params {
			if _, ok := point[name]; !ok {
				return nil, fmt.Errorf("perf: the point %q has no parameter %s, which the model depends on", point, name)
			}
		}
	}
	var rows []Executions
	var order []int
	for _, point := range points {
		at := fit.Point(point)
		if order == nil {
			order = m.byExecutions(at)
		}
		for _, i := range order {
			f := &m.model.Funcs[i]
			rows = append(rows, Executions{m.Program, point, string(m.Of), m.model.Names[i], max(0, f.Eval(at)), strings.Join(fit.WarningTexts(f.Check(at)), "; ")})
		}
	}
	return rows, nil
}

// byExecutions returns the indices of the functions, the largest at a point
// first.
func (m *FrequencyModel) byExecutions(at fit.Point) []int {
	order := make([]int, len(m.model.Funcs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.model.Funcs[b].Eval(at), m.model.Funcs[a].Eval(at)) })
	return order
}
