package explore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"presage/perf/fit"
	"presage/perf/internal/num"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/reuse"
	"presage/perf/subject"
)

// View is what a state shows.
type View struct {
	State State // its scope is the one that is shown

	Scopes    []ScopeShare // of the state's kind, at the size to predict, most misses first
	Curve     []CurveRow
	Errors    []ErrorRow
	Functions []FunctionRow
	Warnings  []string // about the model at the size to predict

	Misses, Accesses float64 // at the size to predict
	Fitted, Computed time.Duration

	session *Session
	model   *misses.Model
	shown   []misses.Function // whose residuals are drawn
	now     *misses.ScopedHistograms
	curve   *predicted
	hists   []reuse.Histogram // by run
}

// ScopeShare is a scope with what it has of the misses.
type ScopeShare struct {
	Scope  string  `frame:"scope"`
	Misses float64 `frame:"pred_misses"`
	Share  float64 `frame:"share"`
}

// CurveRow is a point of the curve of misses. Collected and HeldOut are what the
// histogram of a run gives, where there was one: of a run that the model was fitted
// to, or was not.
type CurveRow struct {
	Point     map[string]float64 `frame:",each"`
	Misses    float64            `frame:"pred_misses"`
	Collected float64            `frame:"collected_misses"`
	HeldOut   float64            `frame:"held_out_misses"`
}

// ErrorRow compares the model with a run.
type ErrorRow struct {
	Point        map[string]float64 `frame:",each"`
	Run          string             `frame:"run"` // fitted to, or held out
	PredAccesses float64            `frame:"pred_accesses"`
	Accesses     float64            `frame:"accesses"`
	PredMisses   float64            `frame:"pred_misses"`
	Misses       float64            `frame:"collected_misses"` // that the run's histogram gives
	Err          float64            `frame:"rel_err"`          // of PredMisses against Misses
}

// FunctionRow is a function of the model with how well it fits.
type FunctionRow struct {
	Number    int     `frame:"number"` // in the figure of residuals; 0: not drawn
	Reference string  `frame:"reference"`
	Bin       int     `frame:"bin"`
	Quantity  string  `frame:"quantity"`
	Share     float64 `frame:"share"`
	Function  string  `frame:"function"`
	LOO       float64 `frame:"loo_err"`
	Residual  float64 `frame:"max_abs_rel_residual"`
	Doubt     string  `frame:"warning"`
}

// maxFunctions are listed, maxDrawn of them drawn.
const (
	maxFunctions = 24
	maxDrawn     = 7
)

// curvePoints is the number of sizes that a curve is computed at, beside the runs'.
const curvePoints = 24

// Show returns what a state shows. Its error is for the user: a basis that cannot be
// read, too few sizes, a scope that is not there.
func (s *Session) Show(ctx context.Context, st State) (*View, error) {
	return s.views.get(s.Query(st), func() (*View, error) { return s.show(ctx, st) })
}

func (s *Session) show(ctx context.Context, st State) (*View, error) {
	v := &View{State: st, session: s}
	began := time.Now()
	var err error
	if v.model, err = s.model(ctx, &st, st.Block); err != nil {
		return nil, err
	}
	v.Fitted = time.Since(began)
	began = time.Now()
	if v.now, err = s.scoped(v.model, &st, st.At); err != nil {
		return nil, err
	}
	if err := v.chooseScope(); err != nil {
		return nil, err
	}
	if v.hists, err = s.histograms(&v.State); err != nil {
		return nil, err
	}
	if err := v.rows(ctx, &st); err != nil {
		return nil, err
	}
	v.Warnings = v.now.Warnings
	v.Computed = time.Since(began)
	return v, nil
}

// rows computes the curve of a state and lists the functions of the view's scope.
func (v *View) rows(ctx context.Context, st *State) error {
	var listed error
	var listing sync.WaitGroup
	listing.Go(func() { listed = v.functionRows() })
	var err error
	v.curve, err = v.session.along(ctx, v.model, st)
	listing.Wait()
	if err := cmp.Or(err, listed); err != nil {
		return err
	}
	v.curveRows()
	return nil
}

// scoped evaluates a model where the state's parameter has a value.
func (s *Session) scoped(m *misses.Model, st *State, value float64) (*misses.ScopedHistograms, error) {
	return m.Scoped(s.at(st, value), s.scopedOptions(st))
}

func (s *Session) scopedOptions(st *State) misses.ScopedOptions {
	return misses.ScopedOptions{By: st.By, BlockBytes: st.Block, Method: st.Method}
}

// along evaluates a model along the state's parameter, at the sizes of the runs and
// between them and the size to predict.
func (s *Session) along(ctx context.Context, m *misses.Model, st *State) (*predicted, error) {
	lo, hi := s.span(st.Param)
	to := max(2*hi, st.At)
	key := curveKey{st.modelOf(st.Block), st.By, st.Method, st.Param, to}
	return s.curves.get(key, func() (*predicted, error) {
		p := &predicted{at: s.values(st.Param)}
		whole := !slices.ContainsFunc(p.at, func(x float64) bool { return x != math.Trunc(x) })
		for i := range curvePoints {
			x := subject.Round(lo * math.Pow(to/lo, float64(i)/(curvePoints-1)))
			if whole {
				x = math.Round(x)
			}
			p.at = append(p.at, x)
		}
		slices.Sort(p.at)
		p.at = slices.Compact(p.at)
		p.scoped = make([]*misses.ScopedHistograms, len(p.at))
		points := make([]subject.Point, len(p.at))
		for i, x := range p.at {
			points[i] = s.at(st, x)
		}
		parts := slices.Collect(slices.Chunk(points, (len(points)-1)/runtime.GOMAXPROCS(0)+1))
		return p, each(ctx, len(parts), func(i int) error {
			scoped, err := m.ScopedAt(parts[i], s.scopedOptions(st))
			copy(p.scoped[i*len(parts[0]):], scoped)
			return err
		})
	})
}

// values returns the values of a parameter in the runs on its axis, ascending.
func (s *Session) values(param string) []float64 {
	var all []float64
	for i := range s.runs.Runs {
		if s.onAxis(i, param) {
			all = append(all, s.runs.Runs[i].Point[param])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// onAxis reports whether a run differs from the last in one parameter alone.
func (s *Session) onAxis(run int, param string) bool {
	p := maps.Clone(s.runs.Runs[run].Point)
	p[param] = s.runs.Runs[len(s.runs.Runs)-1].Point[param]
	return maps.Equal(p, s.runs.Runs[len(s.runs.Runs)-1].Point)
}

// chooseScope lists the scopes and takes the one with the most misses if none is
// asked for.
func (v *View) chooseScope() error {
	cache := v.State.cache()
	total := 0.0
	for i, name := range v.now.Names {
		m := v.now.Misses(i, cache).Total()
		if math.IsNaN(m) || math.IsInf(m, 0) {
			return fmt.Errorf("the model has no finite value at %s = %g: ask for a smaller size, or leave the term out of the basis", v.State.Param, v.State.At)
		}
		total += m
		v.Scopes = append(v.Scopes, ScopeShare{Scope: name, Misses: m})
	}
	for i := range v.Scopes {
		v.Scopes[i].Share = num.Ratio(v.Scopes[i].Misses, total)
	}
	slices.SortStableFunc(v.Scopes, func(a, b ScopeShare) int { return cmp.Compare(b.Misses, a.Misses) })
	if v.State.Scope == "" || v.State.By == subject.ByProgram {
		v.State.Scope = v.Scopes[0].Scope
	}
	i := v.now.Index(v.State.Scope)
	if i < 0 {
		return fmt.Errorf("the program has no %s %q: choose one of the menu", v.State.By, v.State.Scope)
	}
	v.Misses, v.Accesses = v.now.Misses(i, cache).Total(), v.now.Accesses[i]
	return nil
}

func (v *View) curveRows() {
	st, cache := &v.State, v.State.cache()
	scope := v.curve.scoped[0].Index(st.Scope)
	byValue := make(map[float64]int) // run on the axis
	for i := range v.session.runs.Runs {
		if v.session.onAxis(i, st.Param) {
			byValue[v.session.runs.Runs[i].Point[st.Param]] = i
		}
	}
	for i, x := range v.curve.at {
		h := v.curve.scoped[i]
		row := CurveRow{Point: v.session.at(st, x), Misses: h.Misses(scope, cache).Total(), Collected: math.NaN(), HeldOut: math.NaN()}
		if run, ok := byValue[x]; ok {
			e := ErrorRow{
				Point: row.Point, Run: "fitted to", PredAccesses: h.Accesses[scope], Accesses: float64(v.hists[run].Accesses()),
				PredMisses: row.Misses, Misses: v.missesOf(&v.hists[run], cache),
			}
			e.Err = num.RelErr(e.PredMisses, e.Misses)
			if row.Collected = e.Misses; slices.Contains(st.Without, v.session.points[run]) {
				e.Run, row.Collected, row.HeldOut = "held out", math.NaN(), e.Misses
			}
			v.Errors = append(v.Errors, e)
		}
		v.Curve = append(v.Curve, row)
	}
}

// missesOf returns the misses that a run's histogram gives, by the state's method.
func (v *View) missesOf(h *reuse.Histogram, c predict.Cache) float64 {
	c = v.State.Method.Of(c)
	if c.Sets == 1 {
		return float64(h.Misses(c.Ways))
	}
	sum := float64(h.Cold)
	for _, b := range h.Bins {
		sum += c.MissProbability(b.Mid()) * float64(b.Count)
	}
	return sum
}

func (v *View) functionRows() error {
	all, err := v.model.Functions(v.State.By, v.State.Scope, v.State.Block, maxFunctions)
	if err != nil {
		return err
	}
	for _, f := range all {
		row := FunctionRow{Reference: f.Reference, Bin: f.Bin, Quantity: f.Quantity, Share: f.Share, Function: f.Func.String(), LOO: f.Func.LOO, Residual: math.NaN()}
		if f.Bin < 0 {
			row.Quantity = "cold accesses"
		}
		if f.Relative != nil {
			row.Residual = 0
		}
		for _, r := range f.Relative {
			row.Residual = max(row.Residual, math.Abs(r))
		}
		if f.Relative != nil && len(v.shown) < maxDrawn {
			v.shown = append(v.shown, f)
			row.Number = len(v.shown)
		}
		row.Doubt = strings.Join(fit.WarningTexts(f.Func.Warnings), "; ")
		v.Functions = append(v.Functions, row)
	}
	return nil
}

// Summary says what is predicted, in one sentence.
func (v *View) Summary() string {
	st := &v.State
	return fmt.Sprintf("%s misses in %s of %s (%s) at %s: %s %s, %s of its %s accesses.",
		count(v.Misses), st.Level, st.Machine, v.geometry(), v.session.at(st, st.At), st.By, st.Scope, num.Percent(num.Ratio(v.Misses, v.Accesses)), count(v.Accesses))
}

// Held says how far the model is off at the sizes that were held out, or was fitted
// to.
func (v *View) Held() string {
	worst := map[string]*ErrorRow{}
	for i := range v.Errors {
		e := &v.Errors[i]
		if math.IsNaN(e.Err) || math.IsInf(e.Err, 0) {
			continue // no misses at all in the run
		}
		if w := worst[e.Run]; w == nil || math.Abs(e.Err) > math.Abs(w.Err) {
			worst[e.Run] = e
		}
	}
	var parts []string
	for _, kind := range []string{"fitted to", "held out"} {
		if e := worst[kind]; e != nil {
			parts = append(parts, fmt.Sprintf("at most %+.2g%% at sizes %s (%s)", 100*e.Err, kind, subject.Point(e.Point)))
		}
	}
	if parts == nil {
		return "The runs have no such misses."
	}
	return "Errors against the runs' own histograms: " + strings.Join(parts, ", ") + "."
}

// geometry describes the cache.
func (v *View) geometry() string {
	st := &v.State
	ways := "fully associative"
	if st.Ways > 0 {
		ways = fmt.Sprintf("%d ways", st.Ways)
		if st.Method != predict.MethodBinomial {
			ways += ", taken for fully associative"
		}
	}
	return fmt.Sprintf("%v, %s, blocks of %v", machine.Bytes(st.Capacity), ways, machine.Bytes(st.Block))
}

// count writes a number of events for people.
func count(v float64) string {
	if v < 0 || math.IsNaN(v) || v >= 1e15 {
		return fmt.Sprintf("%.3g", v)
	}
	digits := fmt.Sprintf("%.0f", v)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
