package perf

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"presage/perf/engine/rv64"
	"presage/perf/infer"
	"presage/perf/isa"
	"presage/perf/pipeline"
	"presage/perf/shard"
	"presage/perf/store"
	"presage/perf/trace"
)

// InferCampaign says what is simulated for the study of inferred models: random
// triples of variant, shard and architecture. The zero value is the campaign
// that is recorded, but for Programs.
type InferCampaign struct {
	Subjects []InferSubject // nil: InferSubjects()
	Programs string         // folder of the programs

	// Length of a shard in instructions (0: shard.DefaultLength), how many of
	// each variant are drawn (0: 4), and for how long before each the caches
	// and predictors are kept up (0: 2 lengths).
	Length uint64
	Shards int
	Warm   uint64

	// Architectures of the pool that variants draw theirs from (0: 200), and
	// those kept for the validation of new hardware (0: 40).
	Pool, Fresh int

	// Train, Check and New are how many architectures a variant is simulated
	// on: of the pool, to fit models to (0: 120); others of the pool, to check
	// interpolation (0: 4); of the fresh ones, to check new hardware (0: 4).
	Train, Check, New int

	Seed     uint64       // 0: 2012
	Store    *store.Store // nil: the default one
	Progress func(InferProgress)
}

// InferProgress tells how far a campaign is.
type InferProgress struct {
	Variant       string
	Done, Total   int // variants
	Architectures int // of the one at hand
}

// Reduced returns the campaign at a size that takes a few minutes: one input of
// each application, two shards, few architectures.
func (c InferCampaign) Reduced() InferCampaign {
	if c.Subjects == nil {
		c.Subjects = InferSubjects()
	}
	seen := make(map[string]string)
	var few []InferSubject
	for _, s := range c.Subjects {
		if first, known := seen[s.Application]; !known || first == s.Input {
			seen[s.Application] = s.Input
			few = append(few, s)
		}
	}
	c.Subjects, c.Shards, c.Pool, c.Fresh, c.Train, c.Check, c.New = few, 2, 60, 10, 24, 4, 2
	return c
}

// Uses of an architecture for a variant.
const (
	InferTrain = "train" // models are fitted to it
	InferCheck = "check" // interpolation: an architecture that other variants were simulated on
	InferNew   = "new"   // an architecture that nothing was fitted to
)

// InferShard is a row of the table of shards: what a variant does in one.
type InferShard struct {
	Application     string             `frame:"application"`
	Variant         string             `frame:"variant"`
	Shard           int                `frame:"shard"`
	From            uint64             `frame:"from_instructions"`
	Instructions    uint64             `frame:"instructions"`
	Characteristics map[string]float64 `frame:",each"`
	DataBlocks      uint64             `frame:"data_blocks"`
	CodeBlocks      uint64             `frame:"code_blocks"`
	DataReuses      uint64             `frame:"data_reuses"`
}

// InferHardware is a row of the table of architectures.
type InferHardware struct {
	Architecture int                `frame:"architecture"`
	Fresh        bool               `frame:"fresh"`
	Parameters   map[string]float64 `frame:",each"`
}

// InferProfile is a row of the table of profiles: a shard on an architecture.
type InferProfile struct {
	Variant      string `frame:"variant"`
	Shard        int    `frame:"shard"`
	Architecture int    `frame:"architecture"`
	Use          string `frame:"use"` // InferTrain, InferCheck or InferNew
	Instructions uint64 `frame:"sim_instructions"`
	Cycles       uint64 `frame:"sim_cycles"`
}

// InferProfiles are the results of a campaign.
type InferProfiles struct {
	Shards   []InferShard
	Hardware []InferHardware
	Profiles []InferProfile
	Warnings []string
}

// inferVersion is part of the key of stored simulations.
const inferVersion = 1

func (c InferCampaign) withDefaults() (InferCampaign, error) {
	set := func(v *int, otherwise int) {
		if *v == 0 {
			*v = otherwise
		}
	}
	if c.Subjects == nil {
		c.Subjects = InferSubjects()
	}
	if c.Length == 0 {
		c.Length = shard.DefaultLength
	}
	if c.Warm == 0 {
		c.Warm = 2 * c.Length
	}
	if c.Seed == 0 {
		c.Seed = 2012
	}
	set(&c.Shards, 4)
	set(&c.Pool, 200)
	set(&c.Fresh, 40)
	set(&c.Train, 120)
	set(&c.Check, 4)
	set(&c.New, 4)
	if c.Train+c.Check > c.Pool || c.New > c.Fresh || min(c.Train, c.Check, c.New, c.Shards) < 1 {
		return c, fmt.Errorf("perf: infer: %d and %d architectures cannot be drawn from a pool of %d, nor %d from %d new ones", c.Train, c.Check, c.Pool, c.New, c.Fresh)
	}
	st, err := storeOrDefault(c.Store)
	c.Store = st
	return c, err
}

// Run simulates the campaign. Each run of a program is kept in the store: a
// campaign that was interrupted goes on where it was.
func (c InferCampaign) Run(ctx context.Context) (*InferProfiles, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	out := new(InferProfiles)
	architectures := infer.SampleArchitectures(rand.New(rand.NewPCG(c.Seed, 0)), c.Pool+c.Fresh)
	names := infer.HardwareSpace()
	for i, a := range architectures {
		h := InferHardware{Architecture: i, Fresh: i >= c.Pool, Parameters: make(map[string]float64)}
		for j, p := range names {
			h.Parameters[p.Name] = a[j]
		}
		out.Hardware = append(out.Hardware, h)
	}
	for i, s := range c.Subjects {
		v := inferVariant{campaign: &c, subject: s, number: i, architectures: architectures, out: out}
		if err := v.run(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Variant(), err)
		}
	}
	return out, nil
}

// inferVariant is the part of a campaign that is about one variant.
type inferVariant struct {
	campaign      *InferCampaign
	subject       InferSubject
	number        int
	architectures []infer.Architecture
	out           *InferProfiles

	prog    *Program
	code    [][]isa.Inst
	plan    *trace.Plan
	windows []pipeline.Window // the shards
	jobs    []inferJob
}

func (v *inferVariant) run(ctx context.Context) error {
	c := v.campaign
	prog, err := v.subject.Build(c.Programs, c.Store)
	if err != nil {
		return err
	}
	v.prog = prog
	opt := RunOptions{Store: c.Store}
	in, err := prog.inputsOf(v.subject.Args, opt)
	if err != nil {
		return err
	}
	counts, err := prog.countInputs(ctx, nil, in, opt)
	if err != nil {
		return err
	}
	s := timeSimulation{structure: counts.structure}
	s.blocks()
	v.code = s.code
	if v.plan, err = pipeline.Plan(v.code); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(c.Seed, 1+uint64(v.number)))
	if v.windows, err = drawShards(rng, counts.Instructions, c.Length, c.Shards); err != nil {
		return err
	}
	v.draw(rng)
	if c.Progress != nil {
		c.Progress(InferProgress{v.subject.Variant(), v.number, len(c.Subjects), len(v.jobs)})
	}
	return v.simulate(ctx)
}

// drawShards draws one shard at random from each of so many equal parts of a
// run.
func drawShards(rng *rand.Rand, instructions, length uint64, shards int) ([]pipeline.Window, error) {
	whole := int(instructions / length)
	if whole < shards {
		return nil, fmt.Errorf("perf: infer: %d instructions are less than %d shards of %d", instructions, shards, length)
	}
	var list []pipeline.Window
	for i := range shards {
		first, last := i*whole/shards, (i+1)*whole/shards
		k := uint64(first + rng.IntN(last-first))
		list = append(list, pipeline.Window{From: k * length, To: (k + 1) * length})
	}
	return list, nil
}

// inferJob is an architecture that a variant is simulated on.
type inferJob struct {
	number int // of the architecture
	use    string
	shards []int
}

// draw chooses the architectures of a variant.
func (v *inferVariant) draw(rng *rand.Rand) {
	c := v.campaign
	pool, fresh := rng.Perm(c.Pool), rng.Perm(c.Fresh)
	all := make([]int, c.Shards)
	for k := range all {
		all[k] = k
	}
	for i, number := range pool[:c.Train] {
		v.jobs = append(v.jobs, inferJob{number, InferTrain, all[i%c.Shards : i%c.Shards+1]})
	}
	for _, number := range pool[c.Train : c.Train+c.Check] {
		v.jobs = append(v.jobs, inferJob{number, InferCheck, all})
	}
	for _, number := range fresh[:c.New] {
		v.jobs = append(v.jobs, inferJob{c.Pool + number, InferNew, all})
	}
}

// storedInfer is what the store holds of a variant: by job and then shard, and
// the shards' characteristics.
type storedInfer struct {
	Counts   [][]pipeline.Piece
	Shards   []shard.Shard
	Warnings []string
}

// simulate runs the variant under its architectures, and adds what it did.
func (v *inferVariant) simulate(ctx context.Context) error {
	var configs []pipeline.Config
	var shards [][]int
	for _, j := range v.jobs {
		config, err := InferCore(v.architectures[j.number])
		if err != nil {
			return err
		}
		configs, shards = append(configs, config), append(shards, j.shards)
	}
	key, err := store.NewKey("infer", inferVersion, struct {
		Engine              int
		Program, Name, Plan string
		Args                []string
		Windows             []pipeline.Window
		Warm, Length        uint64
		Configs             []pipeline.Config
		Shards              [][]int
	}{rv64.Version, v.prog.File.SHA256, v.prog.Name, v.plan.Digest(), v.subject.Args, v.windows, v.campaign.Warm, v.campaign.Length, configs, shards})
	if err != nil {
		return err
	}
	done, warning, err := store.Memo(v.campaign.Store, key, func() (*storedInfer, error) { return v.execute(ctx, configs) })
	if err != nil {
		return err
	}
	name := v.subject.Variant()
	if warning != nil {
		done.Warnings = append(done.Warnings, warning.Error())
	}
	for _, w := range done.Warnings {
		if text := name + ": " + w; !slices.Contains(v.out.Warnings, text) {
			v.out.Warnings = append(v.out.Warnings, text)
		}
	}
	for i, j := range v.jobs {
		for n, k := range j.shards {
			piece := done.Counts[i][n]
			v.out.Profiles = append(v.out.Profiles, InferProfile{name, k, j.number, j.use, piece.Instructions, piece.Cycles})
		}
	}
	v.addShards(done.Shards)
	return nil
}

func (v *inferVariant) addShards(shards []shard.Shard) {
	names := shard.Characteristics()
	for k := range shards {
		s := &shards[k]
		row := InferShard{
			Application: v.subject.Application, Variant: v.subject.Variant(), Shard: k, From: s.From, Instructions: s.Instructions,
			Characteristics: make(map[string]float64), DataBlocks: s.DataBlocks, CodeBlocks: s.CodeBlocks, DataReuses: s.Data.Count,
		}
		for i, value := range s.Values() {
			row.Characteristics[names[i].Name] = value
		}
		v.out.Shards = append(v.out.Shards, row)
	}
}

// stretch hands on what a run does from one count of instructions to another.
type stretch struct {
	from, to uint64
	inner    trace.Collector
}

func (s stretch) Observe(b *trace.Batch) {
	if b.Start >= s.from && b.Start < s.to {
		s.inner.Observe(b)
	}
}

// execute runs the variant once. What lies between shards runs untraced, but
// for the stretch before each in which caches and predictors are kept up.
func (v *inferVariant) execute(ctx context.Context, configs []pipeline.Config) (*storedInfer, error) {
	c := v.campaign
	characteristics, err := shard.New(v.plan, v.code, c.Length)
	if err != nil {
		return nil, err
	}
	collectors := []trace.Collector{characteristics}
	var sims []*pipeline.Simulator
	for i, config := range configs {
		var windows []pipeline.Window
		for _, k := range v.jobs[i].shards {
			windows = append(windows, v.windows[k])
		}
		sim, err := pipeline.New(v.plan, v.code, config, pipeline.Options{Windows: windows, Warmup: c.Length / 20, WarmCaches: true})
		if err != nil {
			return nil, err
		}
		from, to := windows[0].From, windows[len(windows)-1].To
		sims, collectors = append(sims, sim), append(collectors, stretch{from - min(from, c.Warm), to, sim})
	}
	sink := trace.NewPipeline(collectors...)
	stdout := new(tail)
	res, err := rv64.Run(ctx, v.prog.File, rv64.Options{Args: v.subject.Args, Stdout: stdout, Stderr: stdout, Plan: v.plan, Sink: sink, Windows: v.traced()})
	closeErr := sink.Close()
	switch {
	case err != nil:
		return nil, fmt.Errorf("perf: %w%s", err, quote(stdout))
	case res.ExitCode != 0 || res.Signal != 0:
		return nil, fmt.Errorf("perf: the program ended with %s%s", ending(res), quote(stdout))
	case closeErr != nil:
		return nil, fmt.Errorf("perf: %w", closeErr)
	}
	return v.collect(characteristics, sims)
}

// traced returns the stretches to record: the shards with what comes before
// them, those that meet joined.
func (v *inferVariant) traced() (list []rv64.Window) {
	for _, w := range v.windows {
		from := w.From - min(w.From, v.campaign.Warm)
		if n := len(list); n > 0 && from <= list[n-1].To {
			list[n-1].To = w.To
			continue
		}
		list = append(list, rv64.Window{From: from, To: w.To})
	}
	return list
}

// collect takes the results, and checks that both kinds of collectors saw the
// same shards.
func (v *inferVariant) collect(characteristics *shard.Collector, sims []*pipeline.Simulator) (*storedInfer, error) {
	all, warnings := characteristics.Result()
	out := new(storedInfer)
	for _, w := range v.windows {
		i := slices.IndexFunc(all, func(s shard.Shard) bool { return s.From >= w.From && s.From < w.To })
		if i < 0 {
			return nil, fmt.Errorf("perf: infer: there is no shard at instruction %d", w.From)
		}
		out.Shards = append(out.Shards, all[i])
	}
	for i, sim := range sims {
		r, shards := sim.Result(), v.jobs[i].shards
		if len(r.Windows) != len(shards) {
			return nil, fmt.Errorf("perf: infer: %d shards were simulated of %d", len(r.Windows), len(shards))
		}
		for n, piece := range r.Windows {
			if s := out.Shards[shards[n]]; piece.From != s.From || piece.Instructions != s.Instructions {
				return nil, fmt.Errorf("perf: infer: shard %d: %d instructions from %d were simulated, %d from %d characterised", shards[n], piece.Instructions, piece.From, s.Instructions, s.From)
			}
		}
		out.Counts = append(out.Counts, r.Windows)
		warnings = append(warnings, r.Warnings...)
	}
	for _, w := range warnings {
		if !slices.Contains(out.Warnings, w.Error()) {
			out.Warnings = append(out.Warnings, w.Error())
		}
	}
	return out, nil
}
