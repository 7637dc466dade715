package inferred

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"presage/perf/frame"
	"presage/perf/infer"
	"presage/perf/internal/oracle"
	"presage/perf/isa"
	"presage/perf/isa/rv64"
	"presage/perf/pipeline"
	"presage/perf/shard"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// inventedProfiles are those of a campaign over four applications whose CPI is
// a formula of some characteristics and parameters.
func inventedProfiles() *Profiles {
	rng := rand.New(rand.NewPCG(1, 2))
	p := new(Profiles)
	for i, a := range infer.SampleArchitectures(rng, 60) {
		h := Hardware{Architecture: i, Fresh: i >= 50, Parameters: make(map[string]float64)}
		for j, y := range infer.HardwareSpace() {
			h.Parameters[y.Name] = a[j]
		}
		p.Hardware = append(p.Hardware, h)
	}
	for _, application := range []string{"p", "q", "r", "s", "t"} {
		for _, level := range []string{"O1", "O3"} {
			for _, input := range []string{"first", "second"} {
				p.invent(rng, application, application+"-"+level+"-"+input)
			}
		}
	}
	return p
}

// inventedUnseen is the application that no model is to be made of.
const inventedUnseen = "t"

// invent adds a variant of two shards, on 24 architectures to fit to, one shard
// each, and on three of each kind to choose by, and to check.
func (p *Profiles) invent(rng *rand.Rand, application, variant string) {
	for k := range 2 {
		s := Shard{
			Application: application, Variant: variant, Shard: k, Instructions: 1000000,
			Characteristics: make(map[string]float64), Limits: make(map[string]float64),
		}
		for _, c := range shard.Characteristics() {
			s.Characteristics[c.Name] = rng.Float64()
		}
		for _, name := range limitNames() {
			s.Limits[name] = rng.Float64() / 10
		}
		p.Shards = append(p.Shards, s)
		for stream, sets := range inferSets() {
			most := rng.Uint64N(30000)
			for _, n := range sets {
				m := shard.Misses{Stream: shard.Stream(stream), Sets: n}
				for ways := range m.ByWays {
					m.ByWays[ways] = most / uint64(1+ways)
				}
				p.addMisses(variant, k, m)
			}
		}
	}
	shards := p.Shards[len(p.Shards)-2:]
	add := func(architecture, k int, use string) {
		h, c := p.Hardware[architecture].Parameters, shards[k].Characteristics
		cpi := (1+c["memory"]*8/h["dcache_kib"])*(0.3+1/h["width_instructions"]) + c["control"]*0.2
		p.Profiles = append(p.Profiles, Profile{variant, k, architecture, use, 1000000, uint64(1e6 * cpi * math.Exp(0.01*rng.NormFloat64()))})
	}
	pool, fit := rng.Perm(50), Train
	if application == inventedUnseen {
		fit = Update
	}
	for i := range 24 {
		add(pool[i], i%2, fit)
	}
	for i := range 3 {
		for k := range 2 {
			add(pool[24+i], k, Check)
			add(50+i, k, New)
			if application != inventedUnseen {
				add(pool[27+i], k, Choose)
				add(55+i, k, Choose)
			}
		}
	}
}

func smallStudy() Study {
	return Study{Variables: Paper, Search: infer.SearchOptions{Population: 16, Generations: 4, Powers: 1}, Profiles: 8, Counts: []int{4}}
}

func runStudy(t *testing.T, p *Profiles) *Findings {
	t.Helper()
	found, err := smallStudy().Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// scenarioRow is what names a prediction.
type scenarioRow struct {
	scenario, variant             string
	shard, architecture, profiles int
}

func predictionsOf(f *Findings) map[scenarioRow][]float64 {
	all := make(map[scenarioRow][]float64)
	for _, r := range f.Predictions {
		k := scenarioRow{r.Scenario, r.Variant, r.Shard, r.Architecture, r.Profiles}
		all[k] = append(all[k], r.Predicted) // variants are left out by input and by level
	}
	return all
}

// Profiles that judge, and those of unseen applications, are seen by neither
// search nor fit: whatever they say, the searches, the model and all predictions
// are the same, but those that were updated with them.
func TestValidationIsNeverSeen(t *testing.T) {
	for _, set := range []Set{Paper, LimitSet} {
		t.Run(string(set), func(t *testing.T) {
			s := smallStudy()
			s.Variables = set
			p := inventedProfiles()
			want, err := s.Run(context.Background(), p)
			if err != nil {
				t.Fatal(err)
			}
			for i := range p.Profiles {
				if q := &p.Profiles[i]; q.Use != Train {
					q.Cycles = q.Cycles*uint64(1+i%7) + 12345
				}
			}
			got, err := s.Run(context.Background(), p)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(steadyOf(got), steadyOf(want)) || !reflect.DeepEqual(got.Specs, want.Specs) || !reflect.DeepEqual(got.Model, want.Model) {
				t.Error("a search or a model depends on profiles that judge it")
			}
			after, before := predictionsOf(got), predictionsOf(want)
			for k := range before {
				if updated := k.scenario == Unseen && k.profiles > 0; reflect.DeepEqual(after[k], before[k]) == updated {
					t.Errorf("%+v: %v, and %v where other profiles judge", k, before[k], after[k])
				}
			}
			if len(want.Predictions) == 0 || reflect.DeepEqual(got.Predictions, want.Predictions) {
				t.Error("the changed profiles are not among those that judge")
			}
		})
	}
}

// steadyOf returns the generations of all searches but those that were updated
// with profiles of an unseen application.
func steadyOf(f *Findings) (list []Generation) {
	for _, g := range f.Generations {
		if !strings.HasSuffix(g.Search, " of "+inventedUnseen) {
			list = append(list, g)
		}
	}
	return list
}

// Who chooses looks at profiles that judge nothing, and the other way round.
func TestChoosingAndJudgingAreApart(t *testing.T) {
	p := inventedProfiles()
	use := make(map[string]string) // of a variant on an architecture
	for _, q := range p.Profiles {
		use[fmt.Sprint(q.Variant, q.Architecture)] = q.Use
	}
	s := smallStudy()
	s.Counts = []int{}
	for _, choosing := range []bool{false, true} {
		s.Choosing = choosing
		found, err := s.Run(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		scenarios := make(map[string]int)
		for _, r := range found.Predictions {
			scenarios[r.Scenario]++
			if u := use[fmt.Sprint(r.Variant, r.Architecture)]; (u == Choose) != choosing {
				t.Fatalf("choosing %v: judged by a profile of use %s", choosing, u)
			}
			if fresh := p.Hardware[r.Architecture].Fresh; r.Scenario == Interpolation && fresh || r.Scenario == NewHardware && !fresh {
				t.Fatalf("%s on an architecture that is new: %v", r.Scenario, fresh)
			}
		}
		if want := 6 - map[bool]int{true: 1}[choosing]; len(scenarios) != want {
			t.Errorf("choosing %v: scenarios %v", choosing, scenarios)
		}
	}
}

// A model without an application, before an update, does not depend on any
// profile of it; after one, it does.
func TestLeftOutSoftwareIsNotSeen(t *testing.T) {
	p := inventedProfiles()
	before := predictionsOf(runStudy(t, p))
	shards := p.shards()
	for i := range p.Profiles {
		if q := &p.Profiles[i]; shards[shardKey{q.Variant, q.Shard}].Application == "r" {
			q.Cycles *= uint64(2 + i%3)
		}
	}
	changed := 0
	for k, values := range predictionsOf(runStudy(t, p)) {
		if !strings.HasPrefix(k.variant, "r-") || k.scenario != NewSoftware && k.scenario != NewBoth {
			continue
		}
		same := slices.Equal(values, before[k])
		if k.profiles == 0 && !same {
			t.Errorf("%+v depends on profiles of r", k)
		}
		if k.profiles > 0 && !same {
			changed++
		}
	}
	if changed == 0 {
		t.Error("updates do not depend on the profiles that they are made with")
	}
}

// What was invented is found: the formula's noise is 1%, of which half of all
// rows have 0.67% at most.
func TestStudyOfInvention(t *testing.T) {
	p := inventedProfiles()
	s := Study{Variables: Paper, Search: infer.SearchOptions{Population: 60, Generations: 25, Powers: 1}, Counts: []int{}}
	r, err := s.runner(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.steady(context.Background()); err != nil {
		t.Fatal(err)
	}
	a := judgedOf(r.out.Predictions, Interpolation, 0)
	if a.Rows != 16*3*2 || a.Median > 0.03 || a.Correlation < 0.98 {
		t.Errorf("interpolation: %+v", a)
	}
	// The mean of two shards is that of their times.
	rows := make(map[string][]float64)
	for _, q := range r.out.Predictions {
		if q.Scenario == Interpolation {
			key := fmt.Sprint(q.Variant, q.Architecture, q.Shard >= 0)
			rows[key] = append(rows[key], q.Simulated)
		}
	}
	for key, values := range rows {
		if shards, ok := rows[strings.TrimSuffix(key, "false")+"true"]; ok && len(values) == 1 && math.Abs(values[0]-(shards[0]+shards[1])/2) > 1e-12 {
			t.Errorf("%s: %v of shards %v", key, values, shards)
		}
	}
}

func judgedOf(predictions []Prediction, scenario string, profiles int) infer.Accuracy {
	var predicted, simulated []float64
	for _, q := range predictions {
		if q.Scenario == scenario && q.Profiles == profiles && q.Shard >= 0 {
			predicted, simulated = append(predicted, q.Predicted), append(simulated, q.Simulated)
		}
	}
	return infer.Judge(predicted, simulated)
}

func TestInferProfilesAreRecorded(t *testing.T) {
	p := inventedProfiles()
	dir := t.TempDir()
	if err := p.Record(dir, "invented"); err != nil {
		t.Fatal(err)
	}
	got, err := LoadInferProfiles(dir)
	if err != nil || !reflect.DeepEqual(got, p) {
		t.Fatalf("read back as something else, error %v", err)
	}
	p.Profiles[3].Architecture = 99
	if err := p.Record(dir, "invented"); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadInferProfiles(dir); err == nil || !strings.Contains(err.Error(), "architecture 99") {
		t.Errorf("a profile of an unknown architecture: %v", err)
	}
	p.Misses = p.Misses[1:]
	if err := p.Record(dir, "invented"); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadInferProfiles(dir); err == nil || !strings.Contains(err.Error(), "misses of shard 0 of p-O1-first") {
		t.Errorf("misses that are not there: %v", err)
	}
}

// A campaign over one program: counts of both kinds of collectors agree (Run
// fails if they do not), the same again from the store, and a shard on one
// architecture simulated alone takes the same cycles as among others.
func TestInferCampaign(t *testing.T) {
	oracle.Need(t, "riscv64-linux-gnu-gcc")
	c := Campaign{
		Subjects: []Subject{{Application: "hmm", Optimised: true, Input: "small", Folder: "hmm", Args: []string{"-count", "20"}}},
		Programs: filepath.Join("..", "..", "..", "datasets", "programs"),
		Length:   100_000, Shards: 2, Pool: 6, Fresh: 2, Train: 4, Check: 1, New: 1, Store: store.Open(t.TempDir()),
	}
	p, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Shards) != 2 || len(p.Hardware) != 6+2*2 || len(p.Profiles) != 4+2*(2+2) || len(p.Warnings) > 0 {
		t.Fatalf("%d shards, %d architectures, %d profiles, warnings %v", len(p.Shards), len(p.Hardware), len(p.Profiles), p.Warnings)
	}
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	again, err := c.Run(context.Background())
	if err != nil || !reflect.DeepEqual(again, p) {
		t.Errorf("from the store: something else, error %v", err)
	}
	for _, q := range p.Profiles {
		if s := p.shards()[shardKey{q.Variant, q.Shard}]; q.Instructions != s.Instructions || s.Instructions < 99_000 || s.Instructions > 101_000 {
			t.Errorf("shard %d: %d instructions simulated, %d characterised", q.Shard, q.Instructions, s.Instructions)
		}
		width := p.Hardware[q.Architecture].Parameters["width_instructions"]
		if cpi := q.CPI(); cpi < 1/width || cpi > 20 {
			t.Errorf("%+v has a CPI of %g", q, cpi)
		}
		if freshly := q.Use == New; freshly != (q.Architecture >= 8) {
			t.Errorf("%+v: architectures from 8 on are those that judge new hardware", q)
		}
	}
	surveyIsSound(t, p)
	c.Subjects[0].Unseen = true
	if p, err = c.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(p.Applications()) != 0 || !slices.Equal(p.Unseen(), []string{"hmm"}) || len(p.Profiles) != 4+2+2 {
		t.Errorf("unseen: applications %v and %v, %d profiles", p.Applications(), p.Unseen(), len(p.Profiles))
	}
}

// What is found of a shard does not depend on which others are looked at, though
// the run is one, and they follow each other closely.
func TestShardsDoNotDependOnEachOther(t *testing.T) {
	oracle.Need(t, "riscv64-linux-gnu-gcc")
	c, err := Campaign{Length: 50_000, Warm: 300_000, Shards: 3, Store: store.Open(t.TempDir())}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	of := Subject{Application: "fdtd", Optimised: true, Folder: "fdtd", Args: []string{"-n", "18", "-steps", "4"}}
	prog, err := of.Build(t.Context(), filepath.Join("..", "..", "..", "datasets", "programs"), c.Store)
	if err != nil {
		t.Fatal(err)
	}
	opt := subject.RunOptions{Store: c.Store}
	in, err := prog.InputsOf(of.Args, opt)
	if err != nil {
		t.Fatal(err)
	}
	architectures := infer.SampleArchitectures(rand.New(rand.NewPCG(9, 9)), 3)
	cycles := func(jobs ...inferJob) map[[2]int]uint64 {
		v := program{campaign: &c, variant: "fdtd", prog: prog, in: in, out: new(Profiles)}
		if err := v.prepare(context.Background(), random(1, "fdtd"), opt); err != nil {
			t.Fatal(err)
		}
		if err := v.look(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := v.simulate(context.Background(), architectures, jobs); err != nil {
			t.Fatal(err)
		}
		found := make(map[[2]int]uint64)
		for _, q := range v.out.Profiles {
			found[[2]int{q.Architecture, q.Shard}] = q.Cycles
		}
		return found
	}
	for a := range architectures {
		all := cycles(inferJob{number: a, shards: []int{0, 1, 2}})
		for k := range 3 {
			if alone := cycles(inferJob{number: a, shards: []int{k}}); len(alone) != 1 || alone[[2]int{a, k}] != all[[2]int{a, k}] || alone[[2]int{a, k}] == 0 {
				t.Errorf("architecture %d, shard %d: %v cycles alone, %v with others", a, k, alone, all)
			}
		}
	}
}

// surveyIsSound checks what else is known of shards against what they did: a
// larger window is no slower, and an access is in one bin of its stream.
func surveyIsSound(t *testing.T, p *Profiles) {
	t.Helper()
	for _, s := range p.Shards {
		l := s.Limits
		if !(l["window224_cpi"] > 0) || l["window64_cpi"] < l["window224_cpi"] || l["l2_misses"] > l["l1_misses"] || l["l1_miss64_cpi"] < 0 || l["l2_miss64_cpi"] < l["l2_miss224_cpi"]*0.9 || !(l["branch224_cpi"] > 0) {
			t.Errorf("shard %d has the limits %v", s.Shard, l)
		}
		misses := make(map[inferCaches]Misses)
		for _, m := range p.Misses {
			if m.Shard == s.Shard {
				misses[inferCaches{m.Stream, m.Sets}] = m
				if m.One < m.Two || m.Two < m.Four || m.Four < m.Eight || m.One > s.Instructions {
					t.Errorf("misses %+v", m)
				}
			}
		}
		for stream, sets := range inferSets() {
			for _, n := range sets {
				if _, known := misses[inferCaches{shard.Stream(stream).String(), n}]; !known {
					t.Errorf("no misses of caches of %d sets", n)
				}
			}
		}
		// The cache that near misses are told by is one of those.
		m := misses[inferCaches{"data", blocks(l1RefKiB)}]
		if counted, simulated := float64(m.One), l["l1_misses"]*float64(s.Instructions); math.Abs(counted-simulated) > 0.02*simulated+20 {
			t.Errorf("shard %d: %g misses of data counted, %g simulated", s.Shard, counted, simulated)
		}
	}
}

// Every corner of the hardware space is a processor that can be simulated, and
// more of everything is not slower on a small kernel.
func TestInferCores(t *testing.T) {
	var least, most infer.Architecture
	for _, y := range infer.HardwareSpace() {
		least, most = append(least, y.Values[0]), append(most, y.Values[len(y.Values)-1])
	}
	most[7] = least[7] // latency: less is better
	cycles := func(a infer.Architecture) uint64 {
		config, err := Core(a)
		if err != nil {
			t.Fatal(err)
		}
		code, plan := kernelCode(t)
		sim, err := pipeline.New(rv64.Target(), plan, code, config, pipeline.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sim.Observe(&trace.Batch{Blocks: make([]trace.BlockID, 2000)})
		return sim.Result().Cycles
	}
	if slow, fast := cycles(least), cycles(most); fast >= slow {
		t.Errorf("%d cycles on the least architecture, %d on the most", slow, fast)
	}
	if _, err := Core(least[:2]); err == nil {
		t.Error("an architecture of two parameters, and no error")
	}
}

// kernelCode is a block of independent additions.
func kernelCode(t *testing.T) ([][]isa.Inst, *trace.Plan) {
	var insts []isa.Inst
	for i := range 16 {
		in := isa.Inst{PC: 0x1000 + 4*uint64(i), Len: 4, Class: isa.ALU}
		in.AddDef(isa.Reg(5 + i%8))
		insts = append(insts, in)
	}
	code := [][]isa.Inst{insts}
	plan, err := pipeline.Plan(code)
	if err != nil {
		t.Fatal(err)
	}
	return code, plan
}

// Specs come back from their text; tables count them.
func TestInferSpecs(t *testing.T) {
	want := infer.Spec{Genes: []infer.Gene{4, 0, 1}, Interactions: []infer.Interaction{{I: 0, J: 1, PowerI: 1, PowerJ: 1}, {I: 0, J: 2, PowerI: 3, PowerJ: 1}}}
	row := inferSpec(1, infer.Candidate{Spec: want})
	got, err := row.Spec()
	if err != nil || !got.Equal(want) {
		t.Fatalf("%+v becomes %+v, error %v", row, got, err)
	}
	names := []string{"control", "taken", "ports"}
	table, err := Transformations([]Spec{row, row}, names)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(table.Col("commonest").Records(), table.Col("symbol").Records(), table.Col("spline").Records()) != "[spline, 3 knots un-used linear] [x1 x2 y13] [2 0 0]" {
		t.Errorf("%v", table)
	}
	pairs, err := Interactions([]Spec{row, row}, names)
	if err != nil || fmt.Sprint(pairs.Records()) != "[[x y models] [x1 x2 2] [x1 y13 2]]" {
		t.Errorf("%v, error %v", pairs.Records(), err)
	}
	for _, bad := range []Spec{{Genes: "012"}, {Genes: "g09"}, {Genes: "g00", Interactions: "0"}, {Genes: "g00", Interactions: "0-1^x"}, {Genes: "g00", Interactions: "1-0"}} {
		if _, err := bad.Spec(); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

// Characteristics of an application against those of the others, by hand.
func TestInferDifferences(t *testing.T) {
	p := new(Profiles)
	for i, a := range []string{"p", "p", "q", "q"} {
		p.Profiles = append(p.Profiles, Profile{Variant: a, Shard: i, Use: Train})
		p.Shards = append(p.Shards, Shard{Application: a, Variant: a, Shard: i, Characteristics: map[string]float64{"memory": []float64{1, 3, 5, 7}[i]}})
	}
	df, err := frame.Where(Differences(p), "characteristic", "memory")
	if err != nil {
		t.Fatal(err)
	}
	d, err := frame.Floats(df, "difference_sd")
	if sd := math.Sqrt(20. / 3); err != nil || len(d) != 2 || math.Abs(d[0]+4/sd) > 1e-12 || math.Abs(d[1]-4/sd) > 1e-12 {
		t.Errorf("%v, error %v", d, err)
	}
}

// Findings come back from their files, and baselines from R.
func TestInferFindingsAreRecorded(t *testing.T) {
	p := inventedProfiles()
	found := runStudy(t, p)
	dir := t.TempDir()
	if err := found.Record(dir, "invented"); err != nil {
		t.Fatal(err)
	}
	got, err := LoadInferFindings(dir)
	found.Model = nil
	if err != nil || !reflect.DeepEqual(got, found) {
		t.Errorf("read back as something else, error %v", err)
	}
}

func TestInferBaselines(t *testing.T) {
	oracle.Need(t, "Rscript")
	script := filepath.Join(t.TempDir(), "mean.R")
	// A method that predicts the constant of least relative residuals, as the
	// baseline does.
	text := `a <- commandArgs(TRUE); for (i in 1:as.integer(a[2])) { d <- read.csv(file.path(a[1], paste0("train-", i, ".csv")))
		e <- read.csv(file.path(a[1], paste0("test-", i, ".csv")))
		write.csv(data.frame(the_mean = rep(sum(1/d$cpi)/sum(1/d$cpi^2), nrow(e))), file.path(a[1], paste0("predicted-", i, ".csv")), row.names = FALSE) }`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err := smallStudy().Baselines(context.Background(), inventedProfiles(), script, true)
	if err != nil {
		t.Fatal(err)
	}
	by := make(map[string]Baseline)
	for _, r := range rows {
		by[r.Method+" "+r.Scenario+" "+r.LeftOut] = r
	}
	if len(by) != len(rows) || len(rows) != (2+4)*4 {
		t.Fatalf("%d rows: %+v", len(rows), rows)
	}
	for _, task := range []string{"interpolation ", "new software q"} {
		mean, again := by["mean "+task], by["the mean "+task]
		if math.Abs(mean.Median-again.Median) > 1e-9 || mean.Rows != again.Rows {
			t.Errorf("%s: %+v here, %+v by R", task, mean, again)
		}
		if s := by["stepwise "+task]; s.Median > mean.Median {
			t.Errorf("%s: stepwise selection is worse than the mean: %+v, %+v", task, s, mean)
		}
	}
}

// Tables that no campaign records are refused, by file and row.
func TestInferProfilesAreChecked(t *testing.T) {
	for name, c := range map[string]struct {
		alter func(p *Profiles)
		want  []string
	}{
		"more ways miss more":      {func(p *Profiles) { p.Misses[4].Four = p.Misses[4].Two + 1 }, []string{"misses.csv", "row 5", "more ways"}},
		"eight ways miss more":     {func(p *Profiles) { p.Misses[0].Eight = p.Misses[0].Four + 1 }, []string{"misses.csv", "row 1", "more ways"}},
		"two ways miss more":       {func(p *Profiles) { p.Misses[1].Two = p.Misses[1].One + 1 }, []string{"misses.csv", "row 2", "more ways"}},
		"caches twice":             {func(p *Profiles) { p.Misses = slices.Insert(p.Misses, 3, p.Misses[1]) }, []string{"misses.csv", "row 4", "row 2 already"}},
		"a shard twice":            {func(p *Profiles) { p.Shards = append(p.Shards[:2:2], p.Shards[1:]...) }, []string{"shards.csv", "row 3", "row 2 already"}},
		"a shard of nothing":       {func(p *Profiles) { p.Shards[2].Instructions = 0 }, []string{"shards.csv", "row 3", "no instructions"}},
		"a profile of no cycles":   {func(p *Profiles) { p.Profiles[6].Cycles = 0 }, []string{"profiles.csv", "row 7", "0 cycles"}},
		"a profile of no shard":    {func(p *Profiles) { p.Profiles[6].Shard = 9 }, []string{"profiles.csv", "row 7", "shard 9"}},
		"a negative shard":         {func(p *Profiles) { p.Profiles[6].Shard = -1 }, []string{"profiles.csv", "row 7", `"shard"`, `"-1"`}},
		"a fraction of a way":      {func(p *Profiles) { p.Hardware[1].Parameters["l1_ways"] = 2.5 }, []string{"architectures.csv", "row 2", `"l1_ways"`, `"2.5"`}},
		"an unknown size":          {func(p *Profiles) { p.Hardware[1].Parameters["l2_kib"] = math.NaN() }, []string{"architectures.csv", "row 2", `"l2_kib"`, `""`}},
		"more than floats resolve": {func(p *Profiles) { p.Shards[0].From = 1<<53 + 1 }, []string{"shards.csv", "row 1", `"from_instructions"`, `"9007199254740993"`}},
	} {
		p := inventedProfiles()
		c.alter(p)
		dir := t.TempDir()
		if err := p.Record(dir, "invented"); err != nil {
			t.Fatal(err)
		}
		_, err := LoadInferProfiles(dir)
		for _, want := range append(c.want, dir, "anew") {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want one that names %q", name, err, want)
			}
		}
	}
}

// Whole numbers, and nothing else, are read as such; the first that is not is
// told.
func TestInferReaderCounts(t *testing.T) {
	for text, want := range map[string]string{
		"0\n7\n9007199254740992": "",
		"1\n-1\n3":               `row 2, column "n": "-1"`,
		"1\n2\n0.5":              `row 3, column "n": "0.5"`,
		"NaN\n2\n3":              `row 1, column "n": ""`,
		"1\n2\nInf":              `row 3, column "n": "+Inf"`,
		"1\nmany\n3":             `row 2, column "n": "many"`,
		"1\n9007199254740993\n3": `row 2, column "n": "9007199254740993"`,
		"1\n1e300\n3":            `row 2, column "n": "1e+300"`,
	} {
		df, err := frame.ReadCSV(strings.NewReader("n\n" + text + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		r := reader{df: df}
		got := r.counts("n")
		switch {
		case len(got) != 3:
			t.Errorf("%q: %v", text, got)
		case want == "" && (r.err != nil || !slices.Equal(got, []uint64{0, 7, 1 << 53})):
			t.Errorf("%q: %v, error %v", text, got, r.err)
		case want != "" && (r.err == nil || !strings.Contains(r.err.Error(), want)):
			t.Errorf("%q: error %v, want one that names %s", text, r.err, want)
		}
	}
	r := reader{df: frame.Of([]Prediction{{Shard: -1}, {Shard: -2}})}
	if got := wholes[int](&r, "shard", -1); got[0] != -1 || r.err == nil || !strings.Contains(r.err.Error(), "row 2") {
		t.Errorf("%v, error %v", got, r.err)
	}
}

// A spec is of the variables that it was recorded of, in their order.
func TestInferSpecKnowsItsVariables(t *testing.T) {
	want := infer.Spec{Genes: []infer.Gene{4, 0, 1}, Interactions: []infer.Interaction{{I: 0, J: 2, PowerI: 1, PowerJ: 1}}}
	names := []string{"control", "taken", "ports"}
	row := inferSpec(1, infer.Candidate{Spec: want}, names...)
	if got, err := row.SpecOf(names); err != nil || !got.Equal(want) {
		t.Errorf("%+v, error %v", got, err)
	}
	for _, others := range [][]string{{"taken", "control", "ports"}, {"control", "taken"}, nil} {
		if _, err := row.SpecOf(others); err == nil || !strings.Contains(err.Error(), "control taken ports") {
			t.Errorf("%v: error %v", others, err)
		}
		if _, err := Transformations([]Spec{row}, others); err == nil {
			t.Errorf("%v: a table of transformations, and no error", others)
		}
		if _, err := Interactions([]Spec{row}, others); err == nil {
			t.Errorf("%v: a table of interactions, and no error", others)
		}
	}
	row.Variables = "" // an older recording
	if got, err := row.SpecOf([]string{"a", "b", "c"}); err != nil || !got.Equal(want) {
		t.Errorf("%+v, error %v", got, err)
	}
	if _, err := row.SpecOf(names[:2]); err == nil {
		t.Error("three genes of two variables, and no error")
	}
	var f Findings
	r := reader{df: frame.Of([]Spec{row}).Drop("variables")}
	if f.readSpecs(&r); r.err != nil || !slices.Equal(f.Specs, []Spec{row}) {
		t.Errorf("without the column: %+v, error %v", f.Specs, r.err)
	}
	for _, set := range []Set{Paper, LimitSet} {
		for _, name := range Variables(set) {
			if len(strings.Fields(name)) != 1 {
				t.Errorf("%s: the name %q is not one word", set, name)
			}
		}
	}
}
