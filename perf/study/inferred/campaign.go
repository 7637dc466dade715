package inferred

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"presage/perf/campaign"
	"presage/perf/infer"
	"presage/perf/progress"
	"presage/perf/shard"
	"presage/perf/store"
	"presage/perf/subject"
)

// Seed is the seed of campaigns, and of the shards and architectures that
// predictions are asked for, unless another is given.
const Seed = 2027

// Campaign simulates random triples of variant, shard and architecture. The zero
// value is the recorded campaign, but for Subjects and Programs.
type Campaign struct {
	Subjects []Subject // see LoadSubjects
	Programs string    // folder of the programs

	// Length of a shard in instructions (0: shard.DefaultLength), how many are
	// drawn of each variant (0: 4), and for how many instructions before each the
	// caches and predictors are filled (0: 8 lengths).
	Length uint64
	Shards int
	Warm   uint64

	// Architectures of the pool that variants draw theirs from (0: 200), and
	// those kept for the validation of new hardware (0: 40), with as many again
	// for the use Choose.
	Pool, Fresh int

	// Train, Check and New are how many architectures a variant is simulated
	// on: of the pool, to fit models to (0: 120); others of the pool, to check
	// interpolation (0: 4); of the fresh ones, to check new hardware (0: 4). Of
	// each of the last two, as many again are for the use Choose.
	Train, Check, New int

	Seed     uint64        // 0: Seed
	Store    *store.Store  // nil: the default one
	Progress progress.Func // called before each variant
	// Campaign has variants done by other processes; nil: by this one. The results are
	// the same.
	Campaign *campaign.Runner
}

// Reduced returns the campaign at a size that takes a few minutes: one input of
// each application, two shards, few architectures.
func (c Campaign) Reduced() Campaign {
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
// The architectures of Choose are drawn like those of Check and New, but are
// others. People chose the form of the models by them, so they do not judge.
const (
	Train  = "train"  // models are fitted to it
	Choose = "choose" // neither fitted to nor judged by
	Update = "update" // of an unseen application: models are updated with it
	Check  = "check"  // interpolation: an architecture that other variants were simulated on
	New    = "new"    // an architecture that nothing was fitted to
)

func (c Campaign) withDefaults() (Campaign, error) {
	set := func(v *int, otherwise int) {
		if *v == 0 {
			*v = otherwise
		}
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

// Run simulates the campaign. The store keeps each run of a program, so an
// interrupted campaign resumes.
func (c Campaign) Run(ctx context.Context) (*Profiles, error) {
	if len(c.Subjects) == 0 {
		return nil, errors.New("perf: infer: a campaign without subjects")
	}
	for _, s := range c.Subjects {
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("perf: infer: %s: %w", s.Variant(), err)
		}
	}
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	out := new(Profiles)
	architectures := c.architectures()
	for i, a := range architectures {
		h := hardware(i, a)
		h.Fresh = i >= c.Pool
		out.Hardware = append(out.Hardware, h)
	}
	all, err := campaign.Map(ctx, c.Campaign, c.Store, c.Progress, c.tasks(ctx, architectures))
	if err != nil {
		return nil, err
	}
	for _, of := range all {
		out.Shards = append(out.Shards, of.Shards...)
		out.Misses = append(out.Misses, of.Misses...)
		out.Profiles = append(out.Profiles, of.Profiles...)
		out.Warnings = append(out.Warnings, of.Warnings...)
	}
	return out, nil
}

// tasks returns what surveys and simulates the subjects.
func (c *Campaign) tasks(ctx context.Context, architectures []infer.Architecture) []campaign.Task[*Profiles] {
	tasks := make([]campaign.Task[*Profiles], len(c.Subjects))
	for i := range tasks {
		var held *program // from Job to Collect: a program's analysis is large
		built := func() (*program, error) {
			if v := held; v != nil {
				held = nil
				return v, nil
			}
			return c.build(ctx, &c.Subjects[i])
		}
		named := func(err error) error {
			if err != nil {
				err = fmt.Errorf("%s: %w", c.Subjects[i].Variant(), err)
			}
			return err
		}
		tasks[i] = campaign.Task[*Profiles]{
			Job: func() (campaign.Job, error) {
				v, err := built()
				if err != nil {
					return campaign.Job{}, named(err)
				}
				held = v
				return v.job()
			},
			Collect: func(ctx context.Context) (*Profiles, error) {
				v, err := built()
				if err == nil {
					err = v.all(ctx, architectures, func(jobs int) {
						if c.Campaign == nil {
							c.Progress.Report(progress.Report{Task: fmt.Sprintf("%s, %d architectures", v.variant, jobs), Done: i, Total: len(c.Subjects)})
						}
					})
				}
				if err != nil {
					return nil, named(err)
				}
				return v.out, nil
			},
		}
	}
	return tasks
}

// build compiles a subject.
func (c *Campaign) build(ctx context.Context, of *Subject) (*program, error) {
	prog, err := of.Build(ctx, c.Programs, c.Store)
	if err != nil {
		return nil, err
	}
	in, err := prog.InputsOf(of.Args, subject.RunOptions{Store: c.Store})
	if err != nil {
		return nil, err
	}
	return &program{campaign: c, of: *of, variant: of.Variant(), prog: prog, in: in, out: new(Profiles)}, nil
}

// all surveys and simulates the program. It tells how many architectures there are
// before it begins what takes long.
func (v *program) all(ctx context.Context, architectures []infer.Architecture, begins func(jobs int)) error {
	rng := random(v.campaign.Seed, v.variant)
	if err := v.prepare(ctx, rng, subject.RunOptions{Store: v.campaign.Store}); err != nil {
		return err
	}
	jobs := v.campaign.draw(rng, &v.of)
	begins(len(jobs))
	if err := v.look(ctx); err != nil {
		return err
	}
	return v.simulate(ctx, architectures, jobs)
}

// architectures returns those of the pool, and the fresh ones after them.
func (c *Campaign) architectures() []infer.Architecture {
	return infer.SampleArchitectures(rand.New(rand.NewPCG(c.Seed, 0)), c.Pool+2*c.Fresh)
}

// updates is the most architectures that a variant of unseen software is
// simulated on to update models with. An update takes up to 40 profiles.
const updates = 40

// random returns a generator for a seed and a name.
func random(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// draw chooses the architectures of a variant: those to fit models to, those to choose
// the models' form by, and those for validation. A variant that no model is fitted to
// has fewer of the first, and only one of the other kinds.
func (c *Campaign) draw(rng *rand.Rand, of *Subject) (list []job) {
	all := make([]int, c.Shards)
	for k := range all {
		all[k] = k
	}
	train, use := c.Train, Train
	if of.Role != ToTrain {
		train, use = min(train, updates), Update
	}
	pool := rng.Perm(c.Pool)
	for i, number := range pool[:train] {
		list = append(list, job{number, use, all[i%c.Shards : i%c.Shards+1]})
	}
	add := func(numbers []int, above int, use string) {
		for _, number := range numbers {
			list = append(list, job{above + number, use, all})
		}
	}
	pool = pool[c.Train:]
	fresh, others := rng.Perm(c.Fresh)[:c.New], rng.Perm(c.Fresh)[:c.New]
	if of.Role != ToJudge {
		add(pool[:c.Check], 0, Choose)
		add(fresh, c.Pool, Choose)
	}
	if of.Role != ToChoose {
		add(pool[c.Check:2*c.Check], 0, Check)
		add(others, c.Pool+c.Fresh, New)
	}
	return list
}
