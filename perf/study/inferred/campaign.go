package inferred

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"presage/perf/infer"
	"presage/perf/shard"
	"presage/perf/store"
	"presage/perf/subject"
)

// Campaign says what is simulated for the study of inferred models: random
// triples of variant, shard and architecture. The zero value is the campaign
// that is recorded, but for Programs.
type Campaign struct {
	Subjects []Subject // nil: InferSubjects()
	Programs string    // folder of the programs

	// Length of a shard in instructions (0: shard.DefaultLength), how many of
	// each variant are drawn (0: 4), and for how long before each the caches
	// and predictors are filled (0: 8 lengths).
	Length uint64
	Shards int
	Warm   uint64

	// Architectures of the pool that variants draw theirs from (0: 200), and
	// those kept for the validation of new hardware (0: 40), with as many again
	// for InferChoose.
	Pool, Fresh int

	// Train, Check and New are how many architectures a variant is simulated
	// on: of the pool, to fit models to (0: 120); others of the pool, to check
	// interpolation (0: 4); of the fresh ones, to check new hardware (0: 4). Of
	// each of the last two, as many again are for InferChoose.
	Train, Check, New int

	Seed     uint64       // 0: InferSeed
	Store    *store.Store // nil: the default one
	Progress func(Progress)
}

// Progress tells how far a campaign is.
type Progress struct {
	Variant       string
	Done, Total   int // variants
	Architectures int // of the one at hand
}

// Reduced returns the campaign at a size that takes a few minutes: one input of
// each application, two shards, few architectures.
func (c Campaign) Reduced() Campaign {
	if c.Subjects == nil {
		c.Subjects = Subjects()
	}
	seen := make(map[string]string)
	var few []Subject
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
//
// Those of InferChoose are as those of InferCheck and InferNew, but others. The
// form of the models was chosen by them, by people, and so they do not judge.
const (
	Train  = "train"  // models are fitted to it
	Choose = "choose" // neither fitted to nor judged by
	Update = "update" // of an unseen application: models are updated with it
	Check  = "check"  // interpolation: an architecture that other variants were simulated on
	New    = "new"    // an architecture that nothing was fitted to
)

// Shard is a row of the table of shards: what a variant does in one.
type Shard struct {
	Application     string             `frame:"application"`
	Variant         string             `frame:"variant"`
	Shard           int                `frame:"shard"`
	From            uint64             `frame:"from_instructions"`
	Instructions    uint64             `frame:"instructions"`
	Characteristics map[string]float64 `frame:",each"`
	Limits          map[string]float64 `frame:",each"` // those that the paper does not have
	DataBlocks      uint64             `frame:"data_blocks"`
	CodeBlocks      uint64             `frame:"code_blocks"`
	DataReuses      uint64             `frame:"data_reuses"`
}

// Hardware is a row of the table of architectures.
type Hardware struct {
	Architecture int                `frame:"architecture"`
	Fresh        bool               `frame:"fresh"`
	Parameters   map[string]float64 `frame:",each"`
}

// Misses is a row of the table of misses: those of a shard in caches with
// some number of sets, in blocks of 64 bytes.
type Misses struct {
	Variant string `frame:"variant"`
	Shard   int    `frame:"shard"`
	Stream  string `frame:"stream"` // data, code or both: see shard.Stream
	Sets    uint64 `frame:"sets"`
	One     uint64 `frame:"misses_1_way"`
	Two     uint64 `frame:"misses_2_ways"`
	Four    uint64 `frame:"misses_4_ways"`
	Eight   uint64 `frame:"misses_8_ways"`
}

// Profile is a row of the table of profiles: a shard on an architecture.
type Profile struct {
	Variant      string `frame:"variant"`
	Shard        int    `frame:"shard"`
	Architecture int    `frame:"architecture"`
	Use          string `frame:"use"` // see InferTrain and the others
	Instructions uint64 `frame:"sim_instructions"`
	Cycles       uint64 `frame:"sim_cycles"`
}

// Profiles are the results of a campaign.
type Profiles struct {
	Shards   []Shard
	Misses   []Misses
	Hardware []Hardware
	Profiles []Profile
	Warnings []string
}

func (c Campaign) withDefaults() (Campaign, error) {
	set := func(v *int, otherwise int) {
		if *v == 0 {
			*v = otherwise
		}
	}
	if c.Subjects == nil {
		c.Subjects = Subjects()
	}
	if c.Length == 0 {
		c.Length = shard.DefaultLength
	}
	if c.Warm == 0 {
		c.Warm = 8 * c.Length
	}
	if c.Seed == 0 {
		c.Seed = Seed
	}
	set(&c.Shards, 4)
	set(&c.Pool, 200)
	set(&c.Fresh, 40)
	set(&c.Train, 120)
	set(&c.Check, 4)
	set(&c.New, 4)
	if c.Train+2*c.Check > c.Pool || c.New > c.Fresh || min(c.Train, c.Check, c.New, c.Shards) < 1 {
		return c, fmt.Errorf("perf: infer: %d and %d architectures cannot be drawn from a pool of %d, nor %d from %d new ones", c.Train, 2*c.Check, c.Pool, c.New, c.Fresh)
	}
	st, err := store.OrDefault(c.Store)
	c.Store = st
	return c, err
}

// Run simulates the campaign. Each run of a program is kept in the store: a
// campaign that was interrupted goes on where it was.
func (c Campaign) Run(ctx context.Context) (*Profiles, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	out := new(Profiles)
	architectures := infer.SampleArchitectures(rand.New(rand.NewPCG(c.Seed, 0)), c.Pool+2*c.Fresh)
	names := infer.HardwareSpace()
	for i, a := range architectures {
		h := Hardware{Architecture: i, Fresh: i >= c.Pool, Parameters: make(map[string]float64)}
		for j, p := range names {
			h.Parameters[p.Name] = a[j]
		}
		out.Hardware = append(out.Hardware, h)
	}
	for i := range c.Subjects {
		if err := c.variant(ctx, i, architectures, out); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Subjects[i].Variant(), err)
		}
	}
	return out, nil
}

// variant surveys and simulates a subject.
func (c *Campaign) variant(ctx context.Context, number int, architectures []infer.Architecture, out *Profiles) error {
	of := &c.Subjects[number]
	prog, err := of.Build(ctx, c.Programs, c.Store)
	if err != nil {
		return err
	}
	opt := subject.RunOptions{Store: c.Store}
	in, err := prog.InputsOf(of.Args, opt)
	if err != nil {
		return err
	}
	v := program{campaign: c, application: of.Application, variant: of.Variant(), prog: prog, in: in, out: out}
	rng := random(c.Seed, v.variant)
	if err := v.prepare(ctx, rng, opt); err != nil {
		return err
	}
	jobs := c.draw(rng, of)
	if c.Progress != nil {
		c.Progress(Progress{v.variant, number, len(c.Subjects), len(jobs)})
	}
	if err := v.look(ctx); err != nil {
		return err
	}
	return v.simulate(ctx, architectures, jobs)
}

// updates is how many architectures an unseen variant has at most to update
// models with: enough of both of an application's for 40 profiles.
const updates = 40

// random returns random numbers that belong to a seed and a name.
func random(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// draw chooses the architectures of a variant: those to fit models to, those to
// choose their form by, and those that judge. An unseen variant needs fewer of the
// first, and has either of the others.
func (c *Campaign) draw(rng *rand.Rand, of *Subject) (list []inferJob) {
	all := make([]int, c.Shards)
	for k := range all {
		all[k] = k
	}
	train, use := c.Train, Train
	if of.Unseen {
		train, use = min(train, updates), Update
	}
	pool := rng.Perm(c.Pool)
	for i, number := range pool[:train] {
		list = append(list, inferJob{number, use, all[i%c.Shards : i%c.Shards+1]})
	}
	add := func(numbers []int, above int, use string) {
		for _, number := range numbers {
			list = append(list, inferJob{above + number, use, all})
		}
	}
	pool = pool[c.Train:]
	fresh, others := rng.Perm(c.Fresh)[:c.New], rng.Perm(c.Fresh)[:c.New]
	if !of.Unseen || of.Choose {
		add(pool[:c.Check], 0, Choose)
		add(fresh, c.Pool, Choose)
	}
	if !of.Choose {
		add(pool[c.Check:2*c.Check], 0, Check)
		add(others, c.Pool+c.Fresh, New)
	}
	return list
}
