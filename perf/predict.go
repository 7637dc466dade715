package perf

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/fit"
	"presage/perf/frame"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/scaling"
)

// Scope is what a row of a table is about.
type Scope string

// The scopes.
const (
	ByProgram   Scope = "program" // the default
	ByRoutine   Scope = "routine"
	ByLoop      Scope = "loop"
	ByReference Scope = "reference" // a group of references, by its first one
)

// check returns s, or the default for the empty Scope.
func (s Scope) check() (Scope, error) {
	switch s {
	case "":
		return ByProgram, nil
	case ByProgram, ByRoutine, ByLoop, ByReference:
		return s, nil
	}
	return "", fmt.Errorf("perf: scope %q is none of program, routine, loop, reference", string(s))
}

// PredictOptions say what PredictMisses tells.
type PredictOptions struct {
	By Scope

	// Coverage is the probability that an interval is to hold the misses with; 0:
	// predict.DefaultLevel; negative: no intervals, for curves of many points.
	Coverage float64
}

// missRow is a row of the table of predictions.
type missRow struct {
	Program    string             `frame:"program"`
	Point      map[string]float64 `frame:",each"`
	Machine    string             `frame:"machine"`
	Level      string             `frame:"level"`
	Scope      string             `frame:"scope"`
	Accesses   float64            `frame:"pred_accesses"`
	Misses     float64            `frame:"pred_misses"`
	Low        float64            `frame:"pred_misses_low"`
	High       float64            `frame:"pred_misses_high"`
	FullyAssoc float64            `frame:"pred_misses_fully_assoc"`
	Cold       float64            `frame:"pred_cold_misses"`
	Ratio      float64            `frame:"pred_miss_ratio"`
	Doubtful   float64            `frame:"pred_doubtful_share"`
	Warning    string             `frame:"pred_warning"`

	at level
}

// target is what misses are predicted for: a machine's levels, or caches that
// stand by themselves.
type target struct {
	machine    string
	levels     []level
	blockBytes []uint64 // that runs need to have been profiled with
}

// of names a level in messages.
func (t *target) of(l level) string {
	if t.machine == "" {
		return l.name
	}
	return l.name + " of " + t.machine
}

// PredictMisses predicts the misses of the model's program on a machine, at
// each point, for each cache and TLB: a table with a row for each point, level
// and scope, those with the most misses first, and these columns.
//
//   - pred_accesses: all accesses of the scope
//   - pred_misses: misses in the set-associative cache (2005, section 5.2)
//   - pred_misses_low, pred_misses_high: interval that holds the misses with the
//     probability of the options, so far as the residuals of the fitted functions
//     tell; predict.Intervals says how and how often it does
//   - pred_misses_fully_assoc: misses in a fully associative one of the same
//     size (2005, section 5.1); the same for a fully associative TLB
//   - pred_cold_misses: those that are first accesses to a block
//   - pred_miss_ratio: pred_misses / pred_accesses
//   - pred_doubtful_share: the share of pred_misses that comes from functions
//     that fit their data badly, from 0 to 1
//   - pred_warning: why the row is doubtful: far extrapolation, or a policy of
//     the machine that is not modelled
//
// A level that floating-point accesses bypass is not predicted, as the
// distances were collected over all accesses together: one row says so, its
// numbers missing. The runs that the model was fitted to must have the
// machine's block sizes.
func PredictMisses(model *Model, m *machine.Machine, points []Point, opt PredictOptions) (dataframe.DataFrame, error) {
	rows, err := model.predict(&target{m.Name, levels(m), m.BlockBytes()}, points, opt)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	return frame.Of(rows), nil
}

// predict returns a row for each point, level and scope.
func (m *Model) predict(t *target, points []Point, opt PredictOptions) ([]missRow, error) {
	scope, err := opt.By.check()
	if err != nil {
		return nil, err
	}
	names, scopeOf := m.scopes(scope)
	var rows []missRow
	for _, point := range points {
		if err := m.check(point); err != nil {
			return nil, err
		}
		accesses := m.accesses(point)
		intervals, err := m.intervals(t, point, scopeOf, opt.Coverage)
		if err != nil {
			return nil, err
		}
		for i, l := range t.levels {
			blank := missRow{Program: m.Program, Point: point, Machine: t.machine, Level: l.name, at: l}
			if l.bypassFloat {
				rows = append(rows, notPredicted(blank))
				continue
			}
			fresh, err := m.rows(t, l, point, names, scopeOf, accesses, blank)
			if err != nil {
				return nil, err
			}
			for s := range fresh {
				fresh[s].Low, fresh[s].High = math.NaN(), math.NaN()
				if intervals != nil {
					bounds := intervals[i][s].Including(fresh[s].Misses)
					fresh[s].Low, fresh[s].High = bounds.Low, bounds.High
				}
			}
			slices.SortStableFunc(fresh, func(a, b missRow) int { return cmp.Compare(b.Misses, a.Misses) })
			rows = append(rows, fresh...)
		}
	}
	return rows, nil
}

// intervals returns the intervals of each level and scope; nil if coverage is
// negative. Levels of one block size are drawn together.
func (m *Model) intervals(t *target, point Point, scopeOf []int, coverage float64) ([][]predict.Interval, error) {
	if coverage < 0 {
		return nil, nil
	}
	out := make([][]predict.Interval, len(t.levels))
	for blockBytes, fitted := range m.byBlock {
		var caches []predict.Cache
		var of []int
		for i, l := range t.levels {
			if l.blockBytes == blockBytes && !l.bypassFloat {
				caches, of = append(caches, l.cache()), append(of, i)
			}
		}
		if len(of) == 0 {
			continue
		}
		all, err := predict.Intervals(fitted, fit.Point(point), caches, scopeOf, predict.IntervalOptions{Level: coverage})
		if err != nil {
			return nil, fmt.Errorf("perf: %s at %s: %w", t.of(t.levels[of[0]]), point, err)
		}
		for c, i := range of {
			out[i] = all[c]
		}
	}
	return out, nil
}

// bypassed is why a level is not predicted.
const bypassed = "not predicted: floating-point accesses bypass this level"

// notPredicted fills the row of a level that some accesses bypass.
func notPredicted(row missRow) missRow {
	nan := math.NaN()
	row.Scope, row.Warning = row.Program, bypassed
	row.Accesses, row.Misses, row.Low, row.High, row.FullyAssoc, row.Cold, row.Ratio, row.Doubtful = nan, nan, nan, nan, nan, nan, nan, nan
	return row
}

// check reports parameters that a point lacks, or has in vain.
func (m *Model) check(point Point) error {
	if err := point.check(); err != nil {
		return err
	}
	for _, name := range point.names() {
		if _, ok := m.Points[0][name]; !ok {
			return fmt.Errorf("perf: point %q: the model has no parameter %s; it has %s", point, name, strings.Join(m.Points[0].names(), ", "))
		}
	}
	return nil
}

// accesses predicts the accesses of each group. They are those of the model of
// the smallest blocks, whatever the level, so that they agree between levels.
func (m *Model) accesses(point Point) []float64 {
	fitted := m.byBlock[sortedKeys(m.byBlock)[0]]
	if fitted.Check(fit.Point(point)) != nil {
		return make([]float64, len(m.groups)) // the rows report it, with the level
	}
	n := make([]float64, len(fitted.Groups))
	for g := range fitted.Groups {
		h := fitted.Groups[g].Histogram(fit.Point(point))
		n[g] = h.Accesses()
	}
	return n
}

// rows predicts one level, a row for each scope that begins as blank does.
func (m *Model) rows(t *target, l level, point Point, names []string, scopeOf []int, accesses []float64, blank missRow) ([]missRow, error) {
	setAssoc, full, err := m.misses(t, l, point)
	if err != nil {
		return nil, err
	}
	blank.Warning = strings.Join(append(warningTexts(setAssoc.Warnings), l.notModelled...), "; ")
	rows := make([]missRow, len(names))
	for i, name := range names {
		rows[i] = blank
		rows[i].Scope = name
	}
	for g := range setAssoc.Groups {
		row := &rows[scopeOf[g]]
		row.Accesses += accesses[g]
		row.Misses += setAssoc.Groups[g].Total()
		row.FullyAssoc += full.Groups[g].Total()
		row.Cold += setAssoc.Groups[g].Cold
		row.Doubtful += doubtfulMisses(&m.byBlock[l.blockBytes].Groups[g], fit.Point(point), l.cache())
	}
	for i := range rows {
		row := &rows[i]
		if math.IsNaN(row.Misses) || math.IsInf(row.Misses, 0) {
			return nil, fmt.Errorf("perf: %s at %s: the model has no finite value there", t.of(l), point)
		}
		row.Ratio, row.Doubtful = ratio(row.Misses, row.Accesses), ratio(row.Doubtful, row.Misses)
	}
	return rows, nil
}

// doubtfulMisses returns the misses of a group in those bins whose distance or
// frequency is a function that fits badly.
func doubtfulMisses(g *scaling.GroupModel, point fit.Point, c predict.Cache) float64 {
	h := g.Histogram(point)
	sum := 0.0
	for i, bin := range h.Bins {
		if fitsBadly(&g.Bins[i].Distance) || fitsBadly(&g.Bins[i].Frequency) {
			sum += c.MissProbability(bin.Distance) * bin.Count
		}
	}
	if fitsBadly(&g.Cold) {
		sum += h.Cold
	}
	return sum
}

func fitsBadly(f *fit.Func) bool {
	return slices.ContainsFunc(f.Warnings, func(w fit.Warning) bool {
		return w.Doubt == scaling.PoorFit || w.Doubt == scaling.Pieces || w.Doubt == scaling.HeldConstant
	})
}

// fittedFor returns the model for a level's block size.
func (m *Model) fittedFor(t *target, l level) (*scaling.Model, error) {
	fitted := m.byBlock[l.blockBytes]
	if fitted == nil {
		return nil, fmt.Errorf("perf: %s has blocks of %d bytes, and the runs were profiled with %v; profile with block sizes %v",
			t.of(l), l.blockBytes, sortedKeys(m.byBlock), t.blockBytes)
	}
	return fitted, nil
}

// misses evaluates the model for one level, as it is and fully associative.
func (m *Model) misses(t *target, l level, point Point) (setAssoc, full *predict.Prediction, err error) {
	fitted, err := m.fittedFor(t, l)
	if err != nil {
		return nil, nil, err
	}
	setAssoc, err = predict.At(fitted, fit.Point(point), l.cache())
	if err != nil {
		return nil, nil, fmt.Errorf("perf: %s at %s: %w", t.of(l), point, err)
	}
	full = setAssoc
	if l.sets > 1 {
		full, err = predict.At(fitted, fit.Point(point), predict.FullyAssociative(l.blocks()))
	}
	return setAssoc, full, err
}

// scopes returns the names of all scopes of a kind and, for each group of the
// model, which it belongs to.
func (m *Model) scopes(by Scope) (names []string, of []int) {
	return numbered(len(m.groups), func(g int) string { return m.shared.scopeOf(by, m.groups[g]) })
}

// scopesOf numbers the scopes of groups, given by the first reference of each,
// in order of first appearance.
func (p *Program) scopesOf(by Scope, first []int) (names []string, of []int) {
	return numbered(len(first), func(g int) string { return p.scopeOf(by, first[g]) })
}

// numbered numbers the names of n things in order of first appearance.
func numbered(n int, nameOf func(int) string) (names []string, of []int) {
	index := make(map[string]int)
	of = make([]int, n)
	for g := range n {
		name := nameOf(g)
		i, ok := index[name]
		if !ok {
			i = len(names)
			index[name] = i
			names = append(names, name)
		}
		of[g] = i
	}
	return names, of
}

// scopeOf names the scope of a reference. A reference in no loop belongs to its
// routine, one that no graph holds to what holds its address.
func (p *Program) scopeOf(by Scope, ref int) string {
	s := p.Structure()
	r := &s.Access.All[ref]
	switch {
	case by == ByReference:
		return r.String()
	case by == ByProgram:
		return p.Name
	case !r.InGraph:
		return r.Routine
	case by == ByLoop:
		return s.Scopes.Scopes[s.Scopes.Of(r.RoutineIndex, r.Block)].Path
	}
	return s.Scopes.Scopes[s.ofRoutine[r.RoutineIndex]].Path
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func warningTexts(warnings []fit.Warning) []string {
	texts := make([]string, len(warnings))
	for i, w := range warnings {
		texts[i] = w.Error()
	}
	return texts
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	var keys []K
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
