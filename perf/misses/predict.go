package misses

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"presage/perf/fit"
	"presage/perf/internal/num"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/progress"
	"presage/perf/subject"
)

// PredictOptions configures Predict.
type PredictOptions struct {
	By subject.Scope
	// Listing says which scopes have a row, by their share of a level's misses.
	Listing subject.Listing

	// Method is how misses of set-associative levels follow from histograms; empty:
	// predict.MethodFullyAssociative.
	Method predict.Method
	// Corrector, if not nil, corrects them for where the program's data lie.
	Corrector Corrector
	// Binaries are executables of points, for a program that has its size compiled in
	// and no Corrector: the start of such a run, and where its variables lie, make a
	// replay exact.
	Binaries []subject.BinaryPoint
	// TrainedSizesOnly, without a Corrector, has loops learned for replays at the sizes of
	// the profiles alone; see replayed.Options.
	TrainedSizesOnly bool
	// Progress, if not nil, is called now and then while runs of the model are profiled or
	// simulated again, and by perf.PredictMisses while loops are learned and replayed, too,
	// unless there is a Corrector, which reports its own. What is found in the store takes
	// no time, and is not reported.
	Progress progress.Func

	// Coverage is the probability with which intervals are to hold the misses; 0:
	// predict.DefaultLevel; negative: no intervals, for curves of many points.
	Coverage float64
}

// Row is the misses of a scope at a level of a machine, as predicted at a point.
// All numbers are missing at a level that floating-point accesses bypass. Misses are
// those of demand accesses without prefetchers; SimulatePrefetching tells what these
// cover.
type Row struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Machine  string             `frame:"machine"`
	Level    string             `frame:"level"`
	Scope    string             `frame:"scope"`
	Accesses float64            `frame:"pred_accesses"` // all of the scope
	// Method is how Misses were predicted: a predict.Method, MethodEvenly, MethodScaledPages,
	// MethodPagesAsLines, MethodPagesBounded, MethodCollisions or what a Corrector did; where
	// groups of references differ, all of them, the one with most misses first.
	Method string  `frame:"method"`
	Misses float64 `frame:"pred_misses"`
	// Low and High are meant to hold the misses with the probability of the options.
	// They contain what the functions compatible with the data say (predict.Intervals) and,
	// unless the method is the papers' formula, what other models of the same runs do, and
	// conflicts as in each of the runs. Missing if no intervals were asked for.
	Low  float64 `frame:"pred_misses_low"`
	High float64 `frame:"pred_misses_high"`
	// FullyAssoc are the misses in a fully associative cache of the same size
	// (2005, section 5.1); of a TLB behind another, of the pages that it holds (see Predict).
	FullyAssoc float64 `frame:"pred_misses_fully_assoc"`
	Cold       float64 `frame:"pred_cold_misses"`    // first accesses to a block
	Ratio      float64 `frame:"pred_miss_ratio"`     // Misses / Accesses
	Doubtful   float64 `frame:"pred_doubtful_share"` // of Misses, from functions that fit their data badly, from 0 to 1
	Warning    string  `frame:"pred_warning"`        // why the row is doubtful: far extrapolation, possible conflicts, a wide interval, a policy that is not modelled

	at predict.Level
}

// target is what misses are predicted for: a machine's levels, or caches that
// stand by themselves.
type target struct {
	machine    string
	levels     []predict.Level
	blockBytes []uint64 // that runs need to have been profiled with
	// hardware is the machine itself; nil: there is none.
	hardware *machine.Machine
	progress progress.Func   // of further runs
	points   []subject.Point // that are predicted together

	smaller smallerRuns
	// heldAbove is how many more pages levels behind others hold; nil: none does.
	heldAbove map[levelAt]int
}

// targetOf returns the caches and TLBs of m.
func targetOf(m *machine.Machine) *target {
	return &target{machine: m.Name, levels: predict.Levels(m), blockBytes: m.BlockBytes(), hardware: m}
}

// name returns the name of a level in messages.
func (t *target) name(l predict.Level) string {
	if t.machine == "" {
		return l.Name
	}
	return l.Name + " of " + t.machine
}

// Predict predicts the misses of the model's program on a machine: a row for each point,
// cache or TLB, and scope, those with the most misses first.
//
// Beyond the sizes that the model was fitted to, unless the method is the papers'
// formula, the reuses of each loop are modelled by themselves, and pages scaled (see
// MethodScaledPages), where that foretells the largest size. It takes further block
// sizes of the runs: the program is run once more at each size that the model was
// fitted to, if the store has no such result. Runs that are samples, and those of
// several parameters, are taken as they are.
//
// Caches of sets take another run of each size, in which the machine is simulated, unless
// the runs are samples or leave the stack out: see Row.Low. Beyond the sizes that the model
// was fitted to, that of the three largest simulates caches of fewer sets, too, which tell
// what becomes of conflicts; see MethodCollisions.
//
// A fully associative TLB behind another holds some pages more or less than it has entries,
// since it sees only what misses in the first. Where that decides about its misses, two or
// three of the largest runs tell how many: they are profiled once more, and simulated in TLBs
// alone. Rows say so. Where they cannot be run again, it is taken to hold as many as it has
// entries.
//
// A level that floating-point accesses bypass is not predicted, as the
// distances were collected over all accesses together: one row says so, its
// numbers missing. The runs that the model was fitted to must have the
// machine's block sizes.
func Predict(ctx context.Context, model *Model, m *machine.Machine, points []subject.Point, opt PredictOptions) ([]Row, error) {
	t := targetOf(m)
	t.progress = opt.Progress
	return model.predict(ctx, t, points, opt)
}

// predict returns a row for each point, level and scope.
func (m *Model) predict(ctx context.Context, t *target, points []subject.Point, opt PredictOptions) ([]Row, error) {
	var err error
	if opt.By, err = opt.By.Check(); err != nil {
		return nil, err
	}
	if opt.Method, err = opt.Method.Check(); err != nil {
		return nil, err
	}
	if err := opt.Listing.Check(); err != nil {
		return nil, err
	}
	if m.refits.opt.Draft && opt.Coverage >= 0 {
		return nil, errors.New("perf: a draft of a model knows no intervals: ask for a Coverage of -1, or fit without FitOptions.Draft")
	}
	scopes := m.Scopes(opt.By)
	for _, point := range points {
		if err := m.Check(point); err != nil {
			return nil, err
		}
	}
	rows, err := m.predictOwn(ctx, t, points, scopes, opt)
	if err != nil {
		return nil, err
	}
	for i, point := range points {
		if err := m.replaceAll(ctx, t, point, opt, rows[i*len(t.levels):][:len(t.levels)]); err != nil {
			return nil, err
		}
	}
	return slices.Concat(rows...), nil
}

// predictOwn returns the rows of each point and level, by the model itself.
func (m *Model) predictOwn(ctx context.Context, t *target, points []subject.Point, scopes subject.Partition, opt PredictOptions) ([][]Row, error) {
	t.points, t.smaller.made = points, false
	if err := m.collectByLoop(ctx, t.levels, points, opt.Method, opt.Progress); err != nil {
		return nil, err
	}
	if err := m.findHeldAbove(ctx, t, t.levels, opt); err != nil {
		return nil, err
	}
	workers := 1
	if _, none := opt.Corrector.(NoCorrection); none || opt.Corrector == nil {
		if err := m.simulateSmaller(ctx, t, opt.Method); err != nil {
			return nil, err
		}
		if err := m.simulateRuns(ctx, t, opt); err != nil {
			return nil, err
		}
		workers = runtime.GOMAXPROCS(0)
	}
	if c, ok := opt.Corrector.(Preparer); ok {
		c.Prepare(ctx, points)
	}
	levels := len(t.levels)
	done := make([]atomic.Int64, len(points)) // levels
	return inOrder(workers, len(points)*levels, func(i int) ([]Row, error) {
		rows, err := m.predictAt(ctx, t, points[i/levels], t.levels[i%levels], scopes, opt)
		if done[i/levels].Add(1) == int64(levels) {
			m.forget(points[i/levels], opt.Method)
		}
		return rows, err
	})
}

// inOrder returns the results of f for 0 to n - 1, which so many workers compute; or the
// first error by number of those that were met.
func inOrder[T any](workers, n int, f func(int) (T, error)) ([]T, error) {
	out, errs := make([]T, n), make([]error, n)
	var next atomic.Int64
	var failed atomic.Bool
	var wg sync.WaitGroup
	work := func() {
		for i := int(next.Add(1)) - 1; i < n && !failed.Load(); i = int(next.Add(1)) - 1 {
			if out[i], errs[i] = f(i); errs[i] != nil {
				failed.Store(true)
			}
		}
	}
	for range min(workers, n) - 1 {
		wg.Go(work)
	}
	work() // the caller's goroutine, so that one worker is no other
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// share calls f with 0 to n - 1, some by each processor.
func share(n int, f func(int)) {
	_, _ = inOrder(runtime.GOMAXPROCS(0), n, func(i int) (struct{}, error) { f(i); return struct{}{}, nil })
}

// simulateRuns simulates the machine in the runs if intervals will ask for that, in the
// caller's goroutine, to which alone progress is reported. What cannot be run is left to
// those that ask.
func (m *Model) simulateRuns(ctx context.Context, t *target, opt PredictOptions) error {
	ofSets := func(l predict.Level) bool { return l.Sets > 1 && !l.BypassFloat }
	if t.hardware == nil || opt.Coverage < 0 || opt.Method == predict.MethodBinomial || !slices.ContainsFunc(t.levels, ofSets) {
		return nil
	}
	for run := range m.refits.runs.Runs {
		if _, err := m.refits.simulated(ctx, run, t.hardware, t.progress); err != nil && !errors.Is(err, errNotRun) {
			return err
		}
	}
	return nil
}

// predictAt returns a row for each scope at a point and level.
func (m *Model) predictAt(ctx context.Context, t *target, point subject.Point, l predict.Level, scopes subject.Partition, opt PredictOptions) ([]Row, error) {
	l, more := t.withHeldAbove(l, point)
	blank := Row{Program: m.Program, Point: point, Machine: t.machine, Level: l.Name, at: l}
	if l.BypassFloat {
		return []Row{notPredicted(blank)}, nil
	}
	e, err := m.estimateAt(ctx, t, l, point, opt)
	if err != nil {
		return nil, err
	}
	e.saysAbove(more)
	rows, err := m.rows(t, e, l, scopes, m.accesses(point), blank)
	if err != nil {
		return nil, err
	}
	if err := m.doubt(ctx, t, e, rows, scopes, opt.Coverage); err != nil {
		return nil, err
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.Misses, a.Misses) })
	return listed(rows, opt.Listing), nil
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
func (m *Model) Accesses(point subject.Point) []float64 { return slices.Clone(m.accesses(point)) }

// accesses is Accesses with a result that must not be changed: all levels at a point, and
// all models of them, ask for the same.
func (m *Model) accesses(point subject.Point) []float64 {
	r, at := m.refits, point.String()
	r.mu.Lock()
	known := r.accesses[at]
	r.mu.Unlock()
	if known != nil {
		return known
	}
	known = m.evaluateAccesses(point)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.accesses) >= mostAccesses {
		clear(r.accesses)
	}
	r.accesses[at] = known
	return known
}

// mostAccesses is the number of points whose accesses are known: more than are predicted
// at a time.
const mostAccesses = 64

func (m *Model) evaluateAccesses(point subject.Point) []float64 {
	fitted := m.byBlock[m.smallestBlock()]
	if fitted.Check(fit.Point(point)) != nil {
		return make([]float64, len(m.parts)) // the rows report it, with the level
	}
	n := make([]float64, len(fitted.Groups))
	for g, h := range fitted.Histograms(fit.Point(point)) {
		n[g] = h.Accesses()
	}
	return n
}

// rows predicts one level, a row for each scope that begins as blank does.
func (m *Model) rows(t *target, e *estimate, l predict.Level, scopes subject.Partition, accesses []float64, blank Row) ([]Row, error) {
	blank.Low, blank.High = math.NaN(), math.NaN()
	rows := make([]Row, len(scopes.Names))
	methods := make([]methodShares, len(rows))
	for i, name := range scopes.Names {
		rows[i] = blank
		rows[i].Scope = name
	}
	for g := range e.misses {
		row := &rows[scopes.Of[g]]
		row.Accesses += accesses[g]
		row.Misses += e.misses[g].Total()
		row.FullyAssoc += e.full[g].Total()
		row.Cold += e.misses[g].Cold
		row.Doubtful += e.doubtful[g]
		methods[scopes.Of[g]].add(e.methods[g], e.misses[g].Total())
	}
	for i := range rows {
		row := &rows[i]
		if !finite(row.Misses) {
			return nil, notFinite(t, l, subject.Point(blank.Point))
		}
		row.Method = methods[i].String()
		row.Ratio, row.Doubtful = num.Ratio(row.Misses, row.Accesses), num.Ratio(row.Doubtful, row.Misses)
	}
	return rows, nil
}

// methodShares are the misses of a scope's groups by method.
type methodShares struct {
	names  []string
	misses []float64
}

func (s *methodShares) add(method string, misses float64) {
	i := slices.Index(s.names, method)
	if i < 0 {
		i = len(s.names)
		s.names, s.misses = append(s.names, method), append(s.misses, 0)
	}
	s.misses[i] += misses
}

// String names the methods, the one with the most misses first.
func (s *methodShares) String() string {
	order := make([]int, len(s.names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.misses[b], s.misses[a]) })
	names := make([]string, len(order))
	for k, i := range order {
		names[k] = s.names[i]
	}
	return strings.Join(names, ", ")
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func notFinite(t *target, l predict.Level, point subject.Point) error {
	return fmt.Errorf("perf: %s at %s: the model has no finite value there", t.name(l), point)
}

// GroupMisses are the misses that a model predicts of each group at one level.
type GroupMisses struct {
	BlockBytes uint64    // of the level
	Misses     []float64 // by Group
	Warnings   []string
}

// lacks adds a warning that says what is lacking, if something is.
func (g *GroupMisses) lacks(what string) {
	if what != "" {
		g.Warnings = append(g.Warnings, what)
	}
}

// ByGroup predicts the misses of each group of references at a level of a
// machine; of the options it uses Method, Corrector and Progress. It returns an error if the
// machine has no such level, or if the model has no finite value at the point.
func (m *Model) ByGroup(ctx context.Context, on *machine.Machine, level string, point subject.Point, opt PredictOptions) (*GroupMisses, error) {
	var err error
	if opt.Method, err = opt.Method.Check(); err != nil {
		return nil, err
	}
	t := targetOf(on)
	t.points = []subject.Point{point}
	i := slices.IndexFunc(t.levels, func(l predict.Level) bool { return l.Name == level })
	if i < 0 {
		return nil, fmt.Errorf("perf: %s has no level %q", on.Name, level)
	}
	l := t.levels[i]
	taken, err := m.substitutesAt(ctx, opt.Corrector, point, []predict.Level{l})
	if err != nil {
		return nil, err
	}
	if s := taken.at[0]; s != nil {
		out, err := s.byGroup(ctx, m, on, level, point, opt)
		if err == nil {
			out.lacks(taken.lacking)
		}
		return out, err
	}
	if err := m.collectByLoop(ctx, t.levels[i:i+1], []subject.Point{point}, opt.Method, opt.Progress); err != nil {
		return nil, err
	}
	t.progress = opt.Progress
	if err := m.findHeldAbove(ctx, t, t.levels[i:i+1], opt); err != nil {
		return nil, err
	}
	l, more := t.withHeldAbove(l, point)
	e, err := m.estimateAt(ctx, t, l, point, opt)
	if err != nil {
		return nil, err
	}
	e.saysAbove(more)
	out := &GroupMisses{BlockBytes: l.BlockBytes, Misses: make([]float64, len(e.misses)), Warnings: slices.Concat(e.policies(l, 0, subject.Partition{Of: make([]int, len(e.misses))}), e.warnings)}
	out.lacks(taken.lacking)
	for g := range out.Misses {
		if out.Misses[g] = e.misses[g].Total(); !finite(out.Misses[g]) {
			return nil, notFinite(t, l, point)
		}
	}
	return out, nil
}
