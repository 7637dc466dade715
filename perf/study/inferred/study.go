package inferred

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"presage/perf/infer"
	"presage/perf/progress"
)

// Options say how models of a campaign's profiles are searched for and judged.
// The zero value is the recorded study.
type Options struct {
	// Search says how models are searched for; 0 is 30 generations. Run sets its
	// Seed, and its Scaling, if zero, to CPI with relative residuals (power 1).
	Search infer.SearchOptions

	// Profiles is how many of a new application a model is updated with (0: 20),
	// and Counts how many are tried besides (nil: 10, 40; with Direct none).
	Profiles int
	Counts   []int

	Variables Set // "": LimitSet

	// Direct fits all terms at once and searches for none: splines of all variables
	// and their products, of software with hardware to powers of up to Search.Powers
	// (0: 2), shrunk by Search.Ridge (0: 30; see infer.Ridge). An update weighs the few rows of new
	// software like the many of each known application. It is the way of Portable.
	Direct bool

	// Process fits a regression with a Gaussian process for what it leaves (see
	// infer.Process) in place of a spec. An update takes the model as its prior. It is
	// the way of Counted and Histograms.
	Process bool

	// Products is how many variables the products of the regression of Process have at
	// most; 0: 2, with which the numbers of its kernel were chosen.
	Products int

	// Searched searches for terms genetically where Direct would take them all: among the
	// same variables and powers, with the same response and ridge. It sets search and
	// ridge side by side on the same rows.
	Searched bool

	// Joint is Searched that starts from all terms and from random parts of them, and
	// chooses the ridge as well, both by rows of all applications that a fit has not
	// seen. It implies Known.
	Joint bool

	// Known leaves no software out: it judges interpolation and new hardware alone.
	Known bool

	// Choosing judges by the profiles of the use Choose in place of those that
	// judge: to compare forms of models.
	Choosing bool

	Seed     uint64        // 0: 2012
	Progress progress.Func // called before each search and update
}

// The scenarios of 2012, Figure 6, and of its Figure 10.
const (
	Interpolation = "interpolation" // (a) both known, the pair not
	NewHardware   = "new hardware"  // (b)
	NewVariant    = "new variant"   // (c) a known application, another input or optimisation
	NewSoftware   = "new software"  // (c)
	NewBoth       = "new software and hardware"
	Unseen        = "unseen software" // an application of the role ToJudge, on profiles of the uses Check and New
)

// Prediction is a prediction of a shard's cycles per instruction beside the
// simulation. With Shard -1 it is that of a program: the mean over its shards.
type Prediction struct {
	Scenario     string  `frame:"scenario"`
	Application  string  `frame:"application"`
	Variant      string  `frame:"variant"`
	Shard        int     `frame:"shard"`
	Architecture int     `frame:"architecture"`
	Profiles     int     `frame:"update_profiles"` // of new software that the model was updated with
	Simulated    float64 `frame:"sim_cpi"`
	Predicted    float64 `frame:"pred_cpi"`
}

// Generation is a generation of a search.
type Generation struct {
	Search     string  `frame:"search"`
	Generation int     `frame:"generation"`
	Best       float64 `frame:"best_sum_of_medians"` // over applications, of their median relative errors
	Median     float64 `frame:"median_sum_of_medians"`
	Terms      int     `frame:"terms"` // of the best
}

// Findings are the results of a study.
type Findings struct {
	Predictions []Prediction
	Generations []Generation
	Specs       []Spec

	// Model is fitted to everything but what is kept for validation; nil by a process.
	Model *infer.Model
}

// relative is how CPI enters fits by default.
var relative = infer.Scaling{Power: 1}

// ridge shrinks models of LimitSet by default; those of Paper are fitted by least
// squares, as in 2012.
const ridge = 10

func (o Options) withDefaults() Options {
	o.Profiles = cmp.Or(o.Profiles, 20)
	o.Searched, o.Known = o.Searched || o.Joint, o.Known || o.Joint
	if o.Joint {
		o.Search.Population = cmp.Or(o.Search.Population, 100)
	}
	o.Process = o.Process || o.Variables.meets()
	o.Direct = !o.Searched && !o.Process && (o.Direct || o.Variables == Portable)
	if o.Counts == nil && !o.Direct && !o.Process {
		o.Counts = []int{10, 40}
	}
	o.Seed = cmp.Or(o.Seed, 2012)
	o.Variables = cmp.Or(o.Variables, LimitSet)
	o.Search.Generations = cmp.Or(o.Search.Generations, 30)
	o.Search.Seed = o.Seed
	if o.Search.Scaling == (infer.Scaling{}) {
		o.Search.Scaling = relative
		if o.Variables == Portable {
			o.Search.Scaling = infer.Scaling{Log: true}
		}
	}
	switch {
	case o.Direct, o.Searched:
		o.Search.Powers = cmp.Or(o.Search.Powers, directPowers)
		o.Search.Ridge = cmp.Or(o.Search.Ridge, directRidge)
	case o.Variables == LimitSet:
		o.Search.Ridge = cmp.Or(o.Search.Ridge, ridge)
	}
	return o
}

// What Direct takes by default. Both, and the logarithm, were chosen on profiles of the
// use Choose.
const (
	directPowers = 2
	directRidge  = 30
)

// maxProducts bounds Options.Products.
const maxProducts = 4

// Run searches for a model of all applications and judges it by interpolation and
// on new hardware; then for models without each application, without each input
// and without each level of optimisation, and judges these on the software left out,
// before and after an update.
func (o Options) Run(ctx context.Context, p *Profiles) (*Findings, error) {
	r, err := o.runner(p)
	if err != nil {
		return nil, err
	}
	if err := r.steady(ctx); err != nil {
		return nil, err
	}
	if r.Known {
		return r.out, nil
	}
	for _, left := range r.leftOut() {
		if err := r.leave(ctx, left); err != nil {
			return nil, fmt.Errorf("without %s: %w", left.name, err)
		}
	}
	return r.out, nil
}

func (o Options) runner(p *Profiles) (*runner, error) {
	r := &runner{Options: o.withDefaults(), all: p, out: new(Findings), unseen: p.Unseen()}
	if r.Products < 0 || r.Products > maxProducts {
		return nil, fmt.Errorf("perf: infer: products of %d variables: want 1 to %d, or 0 for the default", r.Products, maxProducts)
	}
	if r.Variables == Histograms && len(p.Distances) == 0 {
		return nil, errNoDistances
	}
	return r, r.Variables.Check()
}

// runner is a study under way.
type runner struct {
	Options
	all    *Profiles
	out    *Findings
	unseen []string
}

// leftOut is software that a system does not know.
type leftOut struct {
	name     string
	scenario string
	is       func(s *Shard) bool
	counts   []int // profiles of each application that the model is updated with
}

// leftOut lists each application, and each input and level of optimisation of
// all of them.
func (r *runner) leftOut() (list []leftOut) {
	for _, a := range r.all.Applications() {
		counts := append([]int{r.Profiles}, r.Counts...)
		list = append(list, leftOut{a, NewSoftware, func(s *Shard) bool { return s.Application == a }, counts})
	}
	inputs, most := r.inputs()
	if most > 1 {
		for i := range most {
			list = append(list, leftOut{fmt.Sprint("input ", i+1), NewVariant, func(s *Shard) bool {
				names := inputs[s.Application]
				return i < len(names) && names[i] == s.Input
			}, []int{r.Profiles}})
		}
	}
	for _, level := range levels() {
		list = append(list, leftOut{string(level), NewVariant, func(s *Shard) bool { return r.known(s) && s.Level == level }, []int{r.Profiles}})
	}
	return list
}

// inputs returns the inputs of each application that models are fitted to, in the
// order of their first shards, and the largest number of them.
func (r *runner) inputs() (of map[string][]string, most int) {
	of = make(map[string][]string)
	for i := range r.all.Shards {
		s := &r.all.Shards[i]
		if r.known(s) && !slices.Contains(of[s.Application], s.Input) {
			of[s.Application] = append(of[s.Application], s.Input)
			most = max(most, len(of[s.Application]))
		}
	}
	return of, most
}

// choose returns the profiles of some uses whose shards are wanted.
func (r *runner) choose(wanted func(s *Shard) bool, uses ...string) (list []Profile) {
	shards := r.all.shards()
	for _, q := range r.all.Profiles {
		if slices.Contains(uses, r.use(q)) && wanted(shards[shardKey{q.Variant, q.Shard}]) {
			list = append(list, q)
		}
	}
	return list
}

// use returns what a profile is used for, or "" for nothing.
func (r *runner) use(q Profile) string {
	switch {
	case !r.Choosing || q.Use == Train || q.Use == Update:
		return q.Use
	case q.Use != Choose:
		return ""
	case r.all.Hardware[q.Architecture].Fresh:
		return New
	}
	return Check
}

func everyShard(*Shard) bool { return true }

// steady searches for the model of all applications, and judges it on them and on
// unseen ones.
func (r *runner) steady(ctx context.Context) error {
	system, err := r.system(ctx, "all", r.choose(everyShard, Train), r.Search)
	if err != nil {
		return err
	}
	r.out.Model = system.Model // none of a process
	for i, c := range system.Search.Population[:min(50, len(system.Search.Population))] {
		r.out.Specs = append(r.out.Specs, specRow(i+1, c, Variables(r.Variables)...))
	}
	if err := r.judge(system, Interpolation, 0, r.choose(r.known, Check)); err != nil {
		return err
	}
	if err := r.judge(system, NewHardware, 0, r.choose(r.known, New)); err != nil {
		return err
	}
	if r.Known {
		return nil
	}
	for _, a := range r.unseen {
		left := leftOut{a, Unseen, func(s *Shard) bool { return s.Application == a }, []int{r.Profiles}}
		if len(r.choose(left.is, Check)) == 0 {
			continue // chosen by, or kept for judging
		}
		if err := r.meet(ctx, system, left, Update); err != nil {
			return fmt.Errorf("unseen %s: %w", a, err)
		}
	}
	return nil
}

// known reports whether models are fitted to the application of a shard.
func (r *runner) known(s *Shard) bool {
	return !slices.Contains(r.unseen, s.Application)
}

// system searches for a model of some profiles and keeps the search's history.
func (r *runner) system(ctx context.Context, name string, profiles []Profile, opt infer.SearchOptions) (fitted, error) {
	r.Progress.Report(progress.Report{Task: "search: " + name})
	table := r.all.Table(profiles, r.Variables)
	switch {
	case r.Process:
		return r.processOf(table)
	case r.Direct:
		return r.direct(table)
	}
	search := infer.NewSystem
	if r.Joint {
		search = r.jointly
	}
	system, err := search(ctx, table, opt)
	if err != nil {
		return fitted{}, err
	}
	r.keep(name, system.Search)
	return fitted{System: system}, nil
}

func (r *runner) keep(name string, found *infer.State) {
	for _, g := range found.History {
		r.out.Generations = append(r.out.Generations, Generation{name, g.Number, g.Best, g.Median, g.Terms})
	}
}

// unseen is the weight of an application's own rows in searches that are judged on
// new software: nearly none, so that specs win that predict an application from
// the others. (In 2012, section 3.3, own rows count in full; models found that way
// are off by factors on new software.)
const unseen = 0.001

// leave searches for a model without some software and judges it on that. Updates
// take profiles of the use Train: none of those that judge.
func (r *runner) leave(ctx context.Context, left leftOut) error {
	opt := r.Search
	opt.OwnWeight = unseen
	system, err := r.system(ctx, "without "+left.name, r.choose(func(s *Shard) bool { return !left.is(s) }, Train), opt)
	if err != nil {
		return err
	}
	return r.meet(ctx, system, left, Train)
}

// meet judges a system on software that it does not know, updates it with a few
// profiles of a use, and judges it again.
func (r *runner) meet(ctx context.Context, system fitted, left leftOut, use string) error {
	if err := r.judgeLeft(system, left, 0); err != nil {
		return err
	}
	fresh := r.choose(left.is, use)
	update := r.Search
	update.Generations = (r.Search.Generations + 1) / 2
	for _, n := range left.counts {
		r.Progress.Report(progress.Report{Task: fmt.Sprintf("update: %s with %d profiles", left.name, n)})
		drawn, err := r.draw(fresh, n)
		if err != nil {
			return err
		}
		updated, err := r.update(ctx, system, r.all.Table(drawn, r.Variables), update)
		if err != nil {
			return err
		}
		r.keep(fmt.Sprintf("update with %d of %s", n, left.name), updated.Search)
		if err := r.judgeLeft(updated, left, n); err != nil {
			return err
		}
	}
	return nil
}

// draw returns n profiles of each application at random, a superset of those for a
// smaller n.
func (r *runner) draw(profiles []Profile, n int) (drawn []Profile, err error) {
	shards := r.all.shards()
	by := make(map[string][]Profile)
	for _, q := range profiles {
		a := shards[shardKey{q.Variant, q.Shard}].Application
		by[a] = append(by[a], q)
	}
	for i, a := range slices.Concat(r.all.Applications(), r.unseen) {
		list := by[a]
		if len(list) == 0 {
			continue
		}
		if len(list) < n {
			return nil, fmt.Errorf("perf: infer: %s has %d profiles, fewer than %d to update with", a, len(list), n)
		}
		rng := rand.New(rand.NewPCG(r.Seed, 1000+uint64(i)))
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		drawn = append(drawn, list[:n]...)
	}
	return drawn, nil
}

// judgeLeft judges a model on software that was left out.
func (r *runner) judgeLeft(m fitted, left leftOut, profiles int) error {
	if err := r.judge(m, left.scenario, profiles, r.choose(left.is, Check)); err != nil {
		return err
	}
	if left.scenario != NewSoftware {
		return r.judge(m, left.scenario, profiles, r.choose(left.is, New))
	}
	return r.judge(m, NewBoth, profiles, r.choose(left.is, New))
}

// judge predicts profiles, and programs as means over their shards: shards have
// equal numbers of instructions, so CPI can be averaged.
func (r *runner) judge(m fitted, scenario string, updated int, profiles []Profile) error {
	predicted, err := m.Predict(r.all.Table(profiles, r.Variables))
	if err != nil {
		return err
	}
	shards := r.all.shards()
	type pair struct {
		variant      string
		architecture int
	}
	at := make(map[pair]int) // the row of a program
	shardsOf := make(map[pair]float64)
	var programs []Prediction
	for i, q := range profiles {
		row := Prediction{scenario, shards[shardKey{q.Variant, q.Shard}].Application, q.Variant, q.Shard, q.Architecture, updated, q.CPI(), predicted[i]}
		if updated == 0 || updated == r.Profiles { // for other counts, programs only
			r.out.Predictions = append(r.out.Predictions, row)
		}
		key := pair{q.Variant, q.Architecture}
		if _, known := at[key]; !known {
			at[key] = len(programs)
			programs = append(programs, row)
			programs[at[key]].Shard, programs[at[key]].Simulated, programs[at[key]].Predicted = -1, 0, 0
		}
		programs[at[key]].Simulated += row.Simulated
		programs[at[key]].Predicted += row.Predicted
		shardsOf[key]++
	}
	for key, i := range at {
		programs[i].Simulated /= shardsOf[key]
		programs[i].Predicted /= shardsOf[key]
	}
	r.out.Predictions = append(r.out.Predictions, programs...)
	return nil
}
