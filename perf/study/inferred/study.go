package inferred

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"presage/perf/infer"
)

// Study says how models are made of a campaign's profiles and judged. The
// zero value is the study that is recorded.
type Study struct {
	// Search says how models are searched for; 0 is 30 generations. Its Seed is
	// set by the study, and if its Scaling is zero, that is the power 1: CPI with
	// relative residuals.
	Search infer.SearchOptions

	// Profiles is how many of a new application a model is updated with (0: 20),
	// and Counts how many are tried besides (nil: 10, 40).
	Profiles int
	Counts   []int

	Variables Set // "": InferLimitSet

	// Choosing judges by the profiles of the use InferChoose, in place of those
	// that judge: for whoever tries forms of models.
	Choosing bool

	Seed     uint64 // 0: 2012
	Progress func(step string)
}

// The scenarios of 2012, Figure 6, and of its Figure 10.
const (
	Interpolation = "interpolation" // (a) both known, the pair not
	NewHardware   = "new hardware"  // (b)
	NewVariant    = "new variant"   // (c) a known application, another input or optimisation
	NewSoftware   = "new software"  // (c)
	NewBoth       = "new software and hardware"
	Unseen        = "unseen software" // an application that no choice was made by, on InferCheck and InferNew
)

// Prediction is a row of the table of predictions: of a shard, or, with
// Shard -1, of a program: the mean over its shards.
type Prediction struct {
	Scenario     string  `frame:"scenario"`
	Application  string  `frame:"application"`
	Variant      string  `frame:"variant"`
	Shard        int     `frame:"shard"`
	Architecture int     `frame:"architecture"`
	Profiles     int     `frame:"update_profiles"` // of new software that the model was updated with; 0: it was not
	Simulated    float64 `frame:"sim_cpi"`
	Predicted    float64 `frame:"pred_cpi"`
}

// Generation is a row of the table of searches.
type Generation struct {
	Search     string  `frame:"search"`
	Generation int     `frame:"generation"`
	Best       float64 `frame:"best_sum_of_medians"`
	Median     float64 `frame:"median_sum_of_medians"`
	Terms      int     `frame:"terms"`
}

// Spec is a row of the table of specs: one of the best of the last
// generation of the search over everything. Genes are digits after a g, one for
// each variable; interactions are i-j by number of the variable, with the powers
// after ^ if they are not 1. Variables are the names that the numbers stand for;
// see SpecOf.
type Spec struct {
	Rank         int     `frame:"rank"`
	Error        float64 `frame:"mean_of_medians"`
	Genes        string  `frame:"genes"`
	Interactions string  `frame:"interactions"`
	Variables    string  `frame:"variables"` // joined by spaces; "" in older recordings
}

// Findings are the tables of a study.
type Findings struct {
	Predictions []Prediction
	Generations []Generation
	Specs       []Spec

	// Model is fitted to everything but what is kept for validation.
	Model *infer.Model
}

// scaling is how CPI enters fits, unless something else is asked for.
var scaling = infer.Scaling{Power: 1}

// ridge is what shrinks models of InferLimitSet unless something else is
// asked for; those of InferPaper are fitted by least squares, as in 2012.
const ridge = 10

func (s Study) withDefaults() Study {
	s.Profiles = cmp.Or(s.Profiles, 20)
	if s.Counts == nil {
		s.Counts = []int{10, 40}
	}
	s.Seed = cmp.Or(s.Seed, 2012)
	s.Variables = cmp.Or(s.Variables, LimitSet)
	s.Search.Generations = cmp.Or(s.Search.Generations, 30)
	s.Search.Seed = s.Seed
	if s.Search.Scaling == (infer.Scaling{}) {
		s.Search.Scaling = scaling
	}
	if s.Variables == LimitSet {
		s.Search.Ridge = cmp.Or(s.Search.Ridge, ridge)
	}
	if s.Progress == nil {
		s.Progress = func(string) {}
	}
	return s
}

// Run makes the study: interpolation and new hardware by a model of everything;
// each input and each level of optimisation left out in turn (new variants);
// each application left out in turn.
func (s Study) Run(ctx context.Context, p *Profiles) (*Findings, error) {
	r, err := s.runner(p)
	if err != nil {
		return nil, err
	}
	if err := r.steady(ctx); err != nil {
		return nil, err
	}
	for _, left := range r.leftOut() {
		if err := r.leave(ctx, left); err != nil {
			return nil, fmt.Errorf("without %s: %w", left.name, err)
		}
	}
	return r.out, nil
}

func (s Study) runner(p *Profiles) (*runner, error) {
	r := &runner{Study: s.withDefaults(), all: p, out: new(Findings), unseen: p.Unseen()}
	return r, r.Variables.Check()
}

type runner struct {
	Study
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
	inputs := make(map[string][]string) // of each application, in the order of their first shards
	for i := range r.all.Shards {
		x := &r.all.Shards[i]
		if !r.known(x) {
			continue
		}
		if input := inferPart(x, 2); !slices.Contains(inputs[x.Application], input) {
			inputs[x.Application] = append(inputs[x.Application], input)
		}
	}
	most := 0
	for _, names := range inputs {
		most = max(most, len(names))
	}
	if most > 1 {
		for i := range most {
			list = append(list, leftOut{fmt.Sprint("input ", i+1), NewVariant, func(s *Shard) bool {
				names := inputs[s.Application]
				return r.known(s) && i < len(names) && names[i] == inferPart(s, 2)
			}, []int{r.Profiles}})
		}
	}
	for _, level := range []string{"O1", "O3"} {
		list = append(list, leftOut{level, NewVariant, func(s *Shard) bool { return r.known(s) && inferPart(s, 1) == level }, []int{r.Profiles}})
	}
	return list
}

// inferPart returns a part of a variant's name: 1, the level of optimisation; 2,
// the input.
func inferPart(s *Shard, part int) string {
	return strings.Split(s.Variant, "-")[part]
}

// choose returns the profiles of some uses whose shard is wanted.
func (r *runner) choose(wanted func(s *Shard) bool, uses ...string) (list []Profile) {
	shards := r.all.shards()
	for _, q := range r.all.Profiles {
		if slices.Contains(uses, r.use(q)) && wanted(shards[shardKey{q.Variant, q.Shard}]) {
			list = append(list, q)
		}
	}
	return list
}

// use returns what a profile is used for.
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

// steady makes the model of everything, and judges interpolation.
func (r *runner) steady(ctx context.Context) error {
	system, err := r.system(ctx, "all", r.choose(everyShard, Train), r.Search)
	if err != nil {
		return err
	}
	r.out.Model = system.Model
	for i, c := range system.Search.Population[:min(50, len(system.Search.Population))] {
		r.out.Specs = append(r.out.Specs, inferSpec(i+1, c, Variables(r.Variables)...))
	}
	if err := r.judge(system.Model, Interpolation, 0, r.choose(r.known, Check)); err != nil {
		return err
	}
	if err := r.judge(system.Model, NewHardware, 0, r.choose(r.known, New)); err != nil {
		return err
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

// known tells shards of applications that models are made of.
func (r *runner) known(s *Shard) bool {
	return !slices.Contains(r.unseen, s.Application)
}

// system searches for a model of some profiles, and keeps the history.
func (r *runner) system(ctx context.Context, name string, profiles []Profile, opt infer.SearchOptions) (*infer.System, error) {
	r.Progress("search: " + name)
	system, err := infer.NewSystem(ctx, r.all.Table(profiles, r.Variables), opt)
	if err != nil {
		return nil, err
	}
	r.keep(name, system.Search)
	return system, nil
}

func (r *runner) keep(name string, found *infer.State) {
	for _, g := range found.History {
		r.out.Generations = append(r.out.Generations, Generation{name, g.Number, g.Best, g.Median, g.Terms})
	}
}

// unseen is the weight of an application's own rows in the searches that
// judge what new software is to be expected to do: nearly none, so that specs win
// which tell an application from the others. (In 2012, section 3.3, own rows
// count in full; models that are found so are off by factors on new software.)
const unseen = 0.001

// leave makes a model without some software, and lets it meet that. Profiles to
// update with are those of the use InferTrain: none of those that judge.
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
// profiles of some use, and judges it again.
func (r *runner) meet(ctx context.Context, system *infer.System, left leftOut, use string) error {
	if err := r.judgeLeft(system.Model, left, 0); err != nil {
		return err
	}
	fresh := r.choose(left.is, use)
	update := r.Search
	update.Generations = (r.Search.Generations + 1) / 2
	for _, n := range left.counts {
		r.Progress(fmt.Sprintf("update: %s with %d profiles", left.name, n))
		drawn, err := r.draw(fresh, n)
		if err != nil {
			return err
		}
		updated, err := system.Update(ctx, r.all.Table(drawn, r.Variables), update)
		if err != nil {
			return err
		}
		r.keep(fmt.Sprintf("update with %d of %s", n, left.name), updated.Search)
		if err := r.judgeLeft(updated.Model, left, n); err != nil {
			return err
		}
	}
	return nil
}

// draw returns n profiles of each application at random; those for a smaller n
// are among them.
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

func (r *runner) judgeLeft(m *infer.Model, left leftOut, profiles int) error {
	if err := r.judge(m, left.scenario, profiles, r.choose(left.is, Check)); err != nil {
		return err
	}
	if left.scenario != NewSoftware {
		return r.judge(m, left.scenario, profiles, r.choose(left.is, New))
	}
	return r.judge(m, NewBoth, profiles, r.choose(left.is, New))
}

// judge predicts profiles, and programs as the means over their shards: shards
// have equal numbers of instructions, so that CPI can be averaged.
func (r *runner) judge(m *infer.Model, scenario string, updated int, profiles []Profile) error {
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
		if updated == 0 || updated == r.Profiles { // else of programs only
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
