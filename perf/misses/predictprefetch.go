package misses

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"presage/perf/cache"
	"presage/perf/fit"
	"presage/perf/internal/num"
	"presage/perf/machine"
	"presage/perf/scaling"
	"presage/perf/store"
	"presage/perf/subject"
)

// PredictPrefetchOptions configures PredictPrefetching.
type PredictPrefetchOptions struct {
	// PredictOptions are those of the misses without prefetchers. Coverage and Binaries
	// are not regarded.
	PredictOptions

	Timing

	// Store keeps the simulations of the training runs; nil: the default.
	Store *store.Store
}

// PredictedPrefetchRow is what a machine's prefetchers do for a scope at a level of
// cache, as predicted at a point.
type PredictedPrefetchRow struct {
	Program string             `frame:"program"`
	Point   map[string]float64 `frame:",each"`
	Machine string             `frame:"machine"`
	Level   string             `frame:"level"`
	Scope   string             `frame:"scope"`
	Without float64            `frame:"pred_misses"`         // without prefetchers, as Predict has it
	Left    float64            `frame:"pred_demand_misses"`  // as PrefetchedRow has them
	Late    float64            `frame:"pred_late_misses"`    // likewise
	Wait    float64            `frame:"pred_late_cycles"`    // likewise
	Covered float64            `frame:"pred_covered_misses"` // likewise
	// Share is (Covered + Late) / (Covered + Late + Left).
	Share   float64 `frame:"pred_covered_share"`
	Useless float64 `frame:"pred_useless_prefetches"` // that the scope's accesses make the prefetchers fetch
	Warning string  `frame:"pred_warning"`
}

// PredictPrefetching predicts, at each point, how many of the misses of Predict the
// machine's prefetchers leave, cover, or cover too late. There is a row for each point,
// level of cache and scope, those with the most misses first; of a level that
// floating-point accesses bypass, one whose numbers are missing, as of Predict.
//
// The runs that the model was fitted to are simulated without and with the prefetchers.
// What these leave for each miss of a group of references follows from the order in which
// it walks through memory, which the size does not change, and from the beginnings and
// ends of its walks, of which there are fewer for each miss the longer the walks are: so
// the ratio is modelled as a + b/n over the only parameter n of the runs. Where the step
// of a walk grows with the size, as down a column, so does the share of steps that leave
// a page, across which nothing is fetched: then it is a + b·n, from 0 to 1. Whichever
// foretells the largest run from the others is taken for a group (derived here). With
// several parameters, or with fewer than three sizes at which a group misses, ratios are
// those of the largest; with three, a + b/n.
//
// It returns machine.ErrNoPrefetchers if the description has none.
func PredictPrefetching(ctx context.Context, model *Model, m *machine.Machine, points []subject.Point, opt PredictPrefetchOptions) ([]PredictedPrefetchRow, error) {
	by, err := opt.By.Check()
	if err != nil {
		return nil, err
	}
	if err := opt.Listing.Check(); err != nil {
		return nil, err
	}
	if _, err := m.Prefetching(opt.AccessesPerCycle); err != nil {
		return nil, err
	}
	if opt.Store, err = store.OrDefault(opt.Store); err != nil {
		return nil, err
	}
	for _, point := range points {
		if err := model.Check(point); err != nil {
			return nil, err
		}
	}
	p := prefetchPredictor{model: model, machine: m, opt: opt, scopes: model.Scopes(by)}
	if err := p.train(ctx); err != nil {
		return nil, err
	}
	var rows []PredictedPrefetchRow
	for _, point := range points {
		for level := range m.Caches {
			fresh, err := p.rows(ctx, level, point)
			if err != nil {
				return nil, err
			}
			rows = append(rows, fresh...)
		}
	}
	return rows, nil
}

// prefetchOutcomes are counts, or counts for each miss without prefetchers.
type prefetchOutcomes struct{ left, late, covered, useless, wait float64 }

// trainedPrefetch is what prefetchers did for a group at a level in a run.
type trainedPrefetch struct {
	at      subject.Point
	without float64
	prefetchOutcomes
}

type prefetchPredictor struct {
	model   *Model
	machine *machine.Machine
	opt     PredictPrefetchOptions
	scopes  subject.Partition
	assumed []string
	trained [][][]trainedPrefetch // by level, Group and run
}

// train simulates the runs of the model without and with prefetchers.
func (p *prefetchPredictor) train(ctx context.Context) error {
	p.trained = make([][][]trainedPrefetch, len(p.machine.Caches))
	for l := range p.trained {
		p.trained[l] = make([][]trainedPrefetch, p.model.Groups())
	}
	for i := range p.model.Runs().Runs {
		results, err := p.simulate(ctx, i)
		if err != nil {
			return err
		}
		for l := range p.trained {
			for g := range p.trained[l] {
				t := trainedPrefetch{at: p.model.Points[i]}
				for _, id := range p.model.OfRun(i, Group(g)) {
					t.add(results[0].Levels[l].Groups[id], results[1].Levels[l].Groups[id], results[1].Levels[l].PrefetchedGroups[id])
				}
				t.wait = p.opt.Cycles(t.wait)
				p.trained[l][g] = append(p.trained[l][g], t)
			}
		}
	}
	return nil
}

func (t *trainedPrefetch) add(plain, with cache.Counts, p cache.Prefetches) {
	t.without += float64(plain.Misses)
	t.left += float64(with.Misses)
	t.late += float64(p.Late)
	t.covered += float64(p.Covered)
	t.useless += float64(p.Useless())
	t.wait += p.Wait
}

// simulate returns the simulations of run i without and with prefetchers.
func (p *prefetchPredictor) simulate(ctx context.Context, i int) (out [2]*cache.Result, err error) {
	run := &p.model.Runs().Runs[i]
	with, err := p.opt.Config(ctx, p.machine, run.Program, run.Recorded.Inputs)
	if err != nil {
		return out, err
	}
	p.assumed = with.Assumed
	for k, c := range []cache.Config{p.machine.Hierarchy(), with.Config} {
		opt := subject.RunOptions{Store: p.opt.Store, Progress: p.model.refits.again(p.opt.Progress, "simulating", i)}
		sim, err := simulateAgain(ctx, run, c, opt)
		if err != nil {
			return out, err
		}
		out[k] = sim.Result
	}
	return out, nil
}

// rows predicts one level of cache at a point.
func (p *prefetchPredictor) rows(ctx context.Context, level int, point subject.Point) ([]PredictedPrefetchRow, error) {
	c := &p.machine.Caches[level]
	name := c.Name
	if c.BypassFloat {
		none := math.NaN()
		return []PredictedPrefetchRow{{
			Program: p.model.Program, Point: point, Machine: p.machine.Name, Level: name, Scope: p.model.Program,
			Without: none, Left: none, Late: none, Wait: none, Covered: none, Share: none, Useless: none, Warning: bypassed,
		}}, nil
	}
	at, err := p.model.ByGroup(ctx, p.machine, name, point, p.opt.PredictOptions)
	if err != nil {
		return nil, err
	}
	rows := make([]PredictedPrefetchRow, len(p.scopes.Names))
	unseen := make([]float64, len(rows))
	for n, scope := range p.scopes.Names {
		rows[n] = PredictedPrefetchRow{Program: p.model.Program, Point: point, Machine: p.machine.Name, Level: name, Scope: scope}
	}
	for g, misses := range at.Misses {
		n := p.scopes.Of[g]
		row := &rows[n]
		row.Without += misses
		ratio, ok := prefetchRatio(p.trained[level][g], point)
		if !ok {
			unseen[n] += misses
			ratio.left = 1
		}
		row.Left += misses * ratio.left
		row.Late += misses * ratio.late
		row.Wait += misses * ratio.wait
		row.Covered += misses * ratio.covered
		row.Useless += misses * ratio.useless
	}
	for n := range rows {
		r := &rows[n]
		warnings := slices.Concat(p.assumed, at.Warnings)
		if unseen[n] > leastUnseen*r.Without {
			warnings = append(warnings, num.Percent(unseen[n]/r.Without)+" of the misses are of references that miss in no run: taken as left")
		}
		r.Warning = strings.Join(warnings, "; ")
	}
	rows = slices.DeleteFunc(rows, func(r PredictedPrefetchRow) bool { return r.Without == 0 })
	slices.SortStableFunc(rows, func(a, b PredictedPrefetchRow) int { return cmp.Compare(b.Without, a.Without) })
	rows = listedPrediction(rows, p.opt.Listing)
	for n := range rows {
		r := &rows[n]
		r.Share = num.Ratio(r.Covered+r.Late, r.Covered+r.Late+r.Left)
	}
	return rows, nil
}

// leastUnseen is the share of misses of references that never missed in a run from which
// on it is said.
const leastUnseen = 0.01

// prefetchRatio returns what prefetchers do for each miss of a group at a point, and
// whether the group missed in any run. What is left and what is used are modelled over
// the size; how much of that is late, and how much is fetched in vain, is that of all
// runs together, as both depend on where blocks lie more than on the size; so is the wait
// for each that is late.
func prefetchRatio(runs []trainedPrefetch, point subject.Point) (out prefetchOutcomes, missed bool) {
	runs = slices.DeleteFunc(slices.Clone(runs), func(t trainedPrefetch) bool { return t.without == 0 })
	if len(runs) == 0 {
		return out, false
	}
	var sum trainedPrefetch
	for i := range runs {
		sum.without += runs[i].without
		sum.late += runs[i].late
		sum.covered += runs[i].covered
		sum.useless += runs[i].useless
		sum.wait += runs[i].wait
	}
	slices.SortStableFunc(runs, func(a, b trainedPrefetch) int { return scaling.CompareSizes(fit.Point(a.at), fit.Point(b.at)) })
	last := &runs[len(runs)-1]
	left, used := last.ratio(leftOf), last.ratio(usedOf)
	if names := point.Names(); len(names) == 1 && len(runs) >= 3 {
		form := walkForms[0]
		if len(runs) > 3 {
			form = slices.MinFunc(walkForms[:], func(f, g walkForm) int {
				return cmp.Compare(missedBy(runs, names[0], f), missedBy(runs, names[0], g))
			})
		}
		left = fittedRatio(runs, names[0], form, point[names[0]], leftOf)
		used = fittedRatio(runs, names[0], form, point[names[0]], usedOf)
	}
	out.left, out.useless = left, sum.useless/sum.without
	out.late = used * num.Ratio(sum.late, sum.late+sum.covered)
	out.covered = used - out.late
	out.wait = out.late * num.Ratio(sum.wait, sum.late)
	return out, true
}

func leftOf(o *prefetchOutcomes) float64 { return o.left }

func usedOf(o *prefetchOutcomes) float64 { return o.late + o.covered }

// ratio returns an outcome for each miss.
func (t *trainedPrefetch) ratio(of func(*prefetchOutcomes) float64) float64 {
	return of(&t.prefetchOutcomes) / t.without
}

// walkForm is a term over the size.
type walkForm func(n float64) float64

// walkForms are what ratios are linear in: the number of walks for each miss, where their
// length grows with the size, or the step of a walk, where that does.
var walkForms = [...]walkForm{
	func(n float64) float64 { return 1 / n },
	func(n float64) float64 { return n },
}

// missedBy returns how far a form is off at the largest size, the last, from the others, in
// what is left.
func missedBy(runs []trainedPrefetch, param string, form walkForm) float64 {
	last := &runs[len(runs)-1]
	return math.Abs(fittedRatio(runs[:len(runs)-1], param, form, last.at[param], leftOf) - last.ratio(leftOf))
}

// fittedRatio returns a ratio at a size by least squares over runs, weighted with their
// misses. It ends at 0 and at 1, or at the largest of the runs if that is more. Runs at
// which the form has no value, as 1/n at 0, are left out; at such a size the ratio is what
// it tends to.
func fittedRatio(runs []trainedPrefetch, param string, form walkForm, at float64, of func(*prefetchOutcomes) float64) float64 {
	var s [5]float64 // sums of weights, of x, of y, of x², of xy
	most := 1.0
	for i := range runs {
		w, x, y := runs[i].without, form(runs[i].at[param]), runs[i].ratio(of)
		most = max(most, y)
		if !finite(x) {
			continue
		}
		for j, term := range []float64{w, w * x, w * y, w * x * x, w * x * y} {
			s[j] += term
		}
	}
	if s[0] == 0 {
		return runs[len(runs)-1].ratio(of)
	}
	v := s[2] / s[0]
	if d := s[0]*s[3] - s[1]*s[1]; d > 1e-12*s[0]*s[3] {
		if b := (s[0]*s[4] - s[1]*s[2]) / d; b != 0 {
			v = (s[2]-b*s[1])/s[0] + b*form(at)
		}
	}
	return min(most, max(0, v))
}

// listedPrediction is listedBy for predictions of prefetching.
func listedPrediction(rows []PredictedPrefetchRow, l subject.Listing) []PredictedPrefetchRow {
	return listedBy(rows, l, func(r *PredictedPrefetchRow) float64 { return r.Without }, func(other, r *PredictedPrefetchRow) {
		other.Scope = subject.OtherScopes
		other.Without += r.Without
		other.Left += r.Left
		other.Late += r.Late
		other.Wait += r.Wait
		other.Covered += r.Covered
		other.Useless += r.Useless
	})
}
