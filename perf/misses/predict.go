package misses

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"presage/perf/fit"
	"presage/perf/internal/num"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// PredictOptions configures Predict.
type PredictOptions struct {
	By subject.Scope
	// Listing says which scopes have a row, by their share of a level's misses.
	Listing subject.Listing

	// Coverage is the probability with which intervals are to hold the misses; 0:
	// predict.DefaultLevel; negative: no intervals, for curves of many points.
	Coverage float64
}

// Row is the misses of a scope at a level of a machine, as predicted at a point.
// All numbers are missing at a level that floating-point accesses bypass.
type Row struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Machine  string             `frame:"machine"`
	Level    string             `frame:"level"`
	Scope    string             `frame:"scope"`
	Accesses float64            `frame:"pred_accesses"` // all of the scope
	Misses   float64            `frame:"pred_misses"`   // in the set-associative cache (2005, section 5.2)
	// Low and High bound the misses with the probability of the options, as far as
	// the residuals of the fitted functions reveal it; see predict.Intervals.
	// Missing if no intervals were asked for.
	Low  float64 `frame:"pred_misses_low"`
	High float64 `frame:"pred_misses_high"`
	// FullyAssoc are the misses in a fully associative cache of the same size
	// (2005, section 5.1); for a fully associative TLB they are Misses.
	FullyAssoc float64 `frame:"pred_misses_fully_assoc"`
	Cold       float64 `frame:"pred_cold_misses"`    // first accesses to a block
	Ratio      float64 `frame:"pred_miss_ratio"`     // Misses / Accesses
	Doubtful   float64 `frame:"pred_doubtful_share"` // of Misses, from functions that fit their data badly, from 0 to 1
	Warning    string  `frame:"pred_warning"`        // why the row is doubtful: far extrapolation, or a policy that is not modelled

	at predict.Level
}

// target is what misses are predicted for: a machine's levels, or caches that
// stand by themselves.
type target struct {
	machine    string
	levels     []predict.Level
	blockBytes []uint64 // that runs need to have been profiled with
}

// targetOf returns the caches and TLBs of m.
func targetOf(m *machine.Machine) *target {
	return &target{m.Name, predict.Levels(m), m.BlockBytes()}
}

// name returns the name of a level in messages.
func (t *target) name(l predict.Level) string {
	if t.machine == "" {
		return l.Name
	}
	return l.Name + " of " + t.machine
}

// Predict predicts the misses of the model's program on a machine, at each point,
// for each cache and TLB: a row for each point, level and scope, those with the
// most misses first.
//
// A level that floating-point accesses bypass is not predicted, as the
// distances were collected over all accesses together: one row says so, its
// numbers missing. The runs that the model was fitted to must have the
// machine's block sizes.
func Predict(ctx context.Context, model *Model, m *machine.Machine, points []subject.Point, opt PredictOptions) ([]Row, error) {
	return model.predict(ctx, targetOf(m), points, opt)
}

// predict returns a row for each point, level and scope.
func (m *Model) predict(ctx context.Context, t *target, points []subject.Point, opt PredictOptions) ([]Row, error) {
	by, err := opt.By.Check()
	if err != nil {
		return nil, err
	}
	if err := opt.Listing.Check(); err != nil {
		return nil, err
	}
	scopes := m.Scopes(by)
	var rows []Row
	for _, point := range points {
		if err := m.Check(point); err != nil {
			return nil, err
		}
		accesses := m.Accesses(point)
		intervals, err := m.intervals(ctx, t, point, scopes, opt.Coverage)
		if err != nil {
			return nil, err
		}
		for i, l := range t.levels {
			blank := Row{Program: m.Program, Point: point, Machine: t.machine, Level: l.Name, at: l}
			if l.BypassFloat {
				rows = append(rows, notPredicted(blank))
				continue
			}
			fresh, err := m.rows(t, l, scopes, accesses, blank)
			if err != nil {
				return nil, err
			}
			if intervals != nil {
				for s := range fresh {
					bounds := intervals[i][s].Including(fresh[s].Misses)
					fresh[s].Low, fresh[s].High = bounds.Low, bounds.High
				}
			}
			slices.SortStableFunc(fresh, func(a, b Row) int { return cmp.Compare(b.Misses, a.Misses) })
			rows = append(rows, listed(fresh, opt.Listing)...)
		}
	}
	return rows, nil
}

// intervals returns the intervals of each level and scope; nil if coverage is
// negative. Levels of one block size are drawn together.
func (m *Model) intervals(ctx context.Context, t *target, point subject.Point, scopes subject.Partition, coverage float64) ([][]predict.Interval, error) {
	if coverage < 0 {
		return nil, nil
	}
	out := make([][]predict.Interval, len(t.levels))
	for blockBytes, fitted := range m.byBlock {
		var caches []predict.Cache
		var of []int
		for i, l := range t.levels {
			if l.BlockBytes == blockBytes && !l.BypassFloat {
				caches, of = append(caches, l.Cache()), append(of, i)
			}
		}
		if len(of) == 0 {
			continue
		}
		all, err := predict.Intervals(ctx, fitted, fit.Point(point), caches, scopes.Of, predict.IntervalOptions{Level: coverage})
		if err != nil {
			return nil, fmt.Errorf("perf: %s at %s: %w", t.name(t.levels[of[0]]), point, err)
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
func notPredicted(row Row) Row {
	nan := math.NaN()
	row.Scope, row.Warning = row.Program, bypassed
	row.Accesses, row.Misses, row.Low, row.High, row.FullyAssoc, row.Cold, row.Ratio, row.Doubtful = nan, nan, nan, nan, nan, nan, nan, nan
	return row
}

// Accesses predicts the accesses of each group. They are those of the model of
// the smallest blocks, whatever the level, so that they agree between levels.
func (m *Model) Accesses(point subject.Point) []float64 {
	fitted := m.byBlock[m.smallestBlock()]
	if fitted.Check(fit.Point(point)) != nil {
		return make([]float64, len(m.parts)) // the rows report it, with the level
	}
	n := make([]float64, len(fitted.Groups))
	for g := range fitted.Groups {
		h := fitted.Groups[g].Histogram(fit.Point(point))
		n[g] = h.Accesses()
	}
	return n
}

// rows predicts one level, a row for each scope that begins as blank does.
func (m *Model) rows(t *target, l predict.Level, scopes subject.Partition, accesses []float64, blank Row) ([]Row, error) {
	point := subject.Point(blank.Point)
	at, err := m.at(t, l, point)
	if err != nil {
		return nil, err
	}
	blank.Low, blank.High = math.NaN(), math.NaN()
	blank.Warning = strings.Join(slices.Concat(fit.WarningTexts(at.setAssoc.Warnings), l.NotModelled, m.about), "; ")
	rows := make([]Row, len(scopes.Names))
	for i, name := range scopes.Names {
		rows[i] = blank
		rows[i].Scope = name
	}
	for g := range at.setAssoc.Groups {
		row := &rows[scopes.Of[g]]
		row.Accesses += accesses[g]
		row.Misses += at.setAssoc.Groups[g].Total()
		row.FullyAssoc += at.full.Groups[g].Total()
		row.Cold += at.setAssoc.Groups[g].Cold
		row.Doubtful += doubtfulMisses(&m.byBlock[l.BlockBytes].Groups[g], fit.Point(point), l.Cache())
	}
	for i := range rows {
		row := &rows[i]
		if !finite(row.Misses) {
			return nil, notFinite(t, l, point)
		}
		row.Ratio, row.Doubtful = num.Ratio(row.Misses, row.Accesses), num.Ratio(row.Doubtful, row.Misses)
	}
	return rows, nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func notFinite(t *target, l predict.Level, point subject.Point) error {
	return fmt.Errorf("perf: %s at %s: the model has no finite value there", t.name(l), point)
}

// doubtfulMisses returns the misses of a group in the bins whose distance or
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
func (m *Model) fittedFor(t *target, l predict.Level) (*scaling.Model, error) {
	fitted := m.byBlock[l.BlockBytes]
	if fitted == nil {
		return nil, fmt.Errorf("perf: %s has blocks of %d bytes, and the runs were profiled with %v; profile with block sizes %v",
			t.name(l), l.BlockBytes, m.blockSizes(), t.blockBytes)
	}
	return fitted, nil
}

// atLevel is what the model predicts of one level, by group: as the level is, and
// fully associative.
type atLevel struct{ setAssoc, full *predict.Prediction }

func (m *Model) at(t *target, l predict.Level, point subject.Point) (atLevel, error) {
	fitted, err := m.fittedFor(t, l)
	if err != nil {
		return atLevel{}, err
	}
	setAssoc, err := predict.At(fitted, fit.Point(point), l.Cache())
	if err != nil {
		return atLevel{}, fmt.Errorf("perf: %s at %s: %w", t.name(l), point, err)
	}
	full := setAssoc
	if l.Sets > 1 {
		full, err = predict.At(fitted, fit.Point(point), predict.FullyAssociative(l.Blocks()))
	}
	return atLevel{setAssoc, full}, err
}

// GroupMisses are the misses that a model predicts of each group at one level.
type GroupMisses struct {
	BlockBytes uint64    // of the level
	Misses     []float64 // by Group
	Warnings   []string
}

// ByGroup predicts the misses of each group of references at a level of a
// machine. It returns an error if the machine has no such level, or if the model
// has no finite value at the point.
func (m *Model) ByGroup(on *machine.Machine, level string, point subject.Point) (*GroupMisses, error) {
	t := targetOf(on)
	i := slices.IndexFunc(t.levels, func(l predict.Level) bool { return l.Name == level })
	if i < 0 {
		return nil, fmt.Errorf("perf: %s has no level %q", on.Name, level)
	}
	l := t.levels[i]
	at, err := m.at(t, l, point)
	if err != nil {
		return nil, err
	}
	out := &GroupMisses{
		BlockBytes: l.BlockBytes, Misses: make([]float64, len(at.setAssoc.Groups)),
		Warnings: slices.Concat(fit.WarningTexts(at.setAssoc.Warnings), l.NotModelled, m.about),
	}
	for g := range out.Misses {
		if out.Misses[g] = at.setAssoc.Groups[g].Total(); !finite(out.Misses[g]) {
			return nil, notFinite(t, l, point)
		}
	}
	return out, nil
}
