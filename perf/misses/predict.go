package misses

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/fit"
	"presage/perf/frame"
	"presage/perf/internal/num"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// PredictOptions say what PredictMisses tells.
type PredictOptions struct {
	By subject.Scope

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

	at predict.Level
}

// Target is what misses are predicted for: a machine's levels, or caches that
// stand by themselves.
type Target struct {
	machine    string
	Levels     []predict.Level
	blockBytes []uint64 // that runs need to have been profiled with
}

// TargetOf returns the caches and TLBs of m.
func TargetOf(m *machine.Machine) *Target {
	return &Target{m.Name, predict.Levels(m), m.BlockBytes()}
}

// Of names a level in messages.
func (t *Target) Of(l predict.Level) string {
	if t.machine == "" {
		return l.Name
	}
	return l.Name + " of " + t.machine
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
func PredictMisses(model *Model, m *machine.Machine, points []subject.Point, opt PredictOptions) (dataframe.DataFrame, error) {
	rows, err := model.predict(TargetOf(m), points, opt)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	return frame.Of(rows), nil
}

// predict returns a row for each point, level and scope.
func (m *Model) predict(t *Target, points []subject.Point, opt PredictOptions) ([]missRow, error) {
	scope, err := opt.By.Check()
	if err != nil {
		return nil, err
	}
	names, scopeOf := m.Scopes(scope)
	var rows []missRow
	for _, point := range points {
		if err := m.Check(point); err != nil {
			return nil, err
		}
		accesses := m.Accesses(point)
		intervals, err := m.intervals(t, point, scopeOf, opt.Coverage)
		if err != nil {
			return nil, err
		}
		for i, l := range t.Levels {
			blank := missRow{Program: m.Program, Point: point, Machine: t.machine, Level: l.Name, at: l}
			if l.BypassFloat {
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
func (m *Model) intervals(t *Target, point subject.Point, scopeOf []int, coverage float64) ([][]predict.Interval, error) {
	if coverage < 0 {
		return nil, nil
	}
	out := make([][]predict.Interval, len(t.Levels))
	for blockBytes, fitted := range m.byBlock {
		var caches []predict.Cache
		var of []int
		for i, l := range t.Levels {
			if l.BlockBytes == blockBytes && !l.BypassFloat {
				caches, of = append(caches, l.Cache()), append(of, i)
			}
		}
		if len(of) == 0 {
			continue
		}
		all, err := predict.Intervals(fitted, fit.Point(point), caches, scopeOf, predict.IntervalOptions{Level: coverage})
		if err != nil {
			return nil, fmt.Errorf("perf: %s at %s: %w", t.Of(t.Levels[of[0]]), point, err)
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

// Check reports parameters that a point lacks, or has in vain.
func (m *Model) Check(point subject.Point) error {
	if err := point.Check(); err != nil {
		return err
	}
	for _, name := range point.Names() {
		if _, ok := m.Points[0][name]; !ok {
			return fmt.Errorf("perf: point %q: the model has no parameter %s; it has %s", point, name, strings.Join(m.Points[0].Names(), ", "))
		}
	}
	return nil
}

// Accesses predicts the accesses of each group. They are those of the model of
// the smallest blocks, whatever the level, so that they agree between levels.
func (m *Model) Accesses(point subject.Point) []float64 {
	fitted := m.byBlock[num.Keys(m.byBlock)[0]]
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
func (m *Model) rows(t *Target, l predict.Level, point subject.Point, names []string, scopeOf []int, accesses []float64, blank missRow) ([]missRow, error) {
	setAssoc, full, err := m.Misses(t, l, point)
	if err != nil {
		return nil, err
	}
	blank.Warning = strings.Join(append(fit.WarningTexts(setAssoc.Warnings), l.NotModelled...), "; ")
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
		row.Doubtful += doubtfulMisses(&m.byBlock[l.BlockBytes].Groups[g], fit.Point(point), l.Cache())
	}
	for i := range rows {
		row := &rows[i]
		if math.IsNaN(row.Misses) || math.IsInf(row.Misses, 0) {
			return nil, fmt.Errorf("perf: %s at %s: the model has no finite value there", t.Of(l), point)
		}
		row.Ratio, row.Doubtful = num.Ratio(row.Misses, row.Accesses), num.Ratio(row.Doubtful, row.Misses)
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
func (m *Model) fittedFor(t *Target, l predict.Level) (*scaling.Model, error) {
	fitted := m.byBlock[l.BlockBytes]
	if fitted == nil {
		return nil, fmt.Errorf("perf: %s has blocks of %d bytes, and the runs were profiled with %v; profile with block sizes %v",
			t.Of(l), l.BlockBytes, num.Keys(m.byBlock), t.blockBytes)
	}
	return fitted, nil
}

// Misses evaluates the model for one level, as it is and fully associative.
func (m *Model) Misses(t *Target, l predict.Level, point subject.Point) (setAssoc, full *predict.Prediction, err error) {
	fitted, err := m.fittedFor(t, l)
	if err != nil {
		return nil, nil, err
	}
	setAssoc, err = predict.At(fitted, fit.Point(point), l.Cache())
	if err != nil {
		return nil, nil, fmt.Errorf("perf: %s at %s: %w", t.Of(l), point, err)
	}
	full = setAssoc
	if l.Sets > 1 {
		full, err = predict.At(fitted, fit.Point(point), predict.FullyAssociative(l.Blocks()))
	}
	return setAssoc, full, err
}

// Scopes returns the names of all scopes of a kind and, for each group of the
// model, which it belongs to.
func (m *Model) Scopes(by subject.Scope) (names []string, of []int) {
	return subject.Numbered(len(m.groups), func(g int) string { return m.Shared.ScopeOf(by, m.groups[g]) })
}
