package inferred

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"presage/perf/anatomy"
	"presage/perf/campaign"
	"presage/perf/pipeline"
	"presage/perf/predict"
	"presage/perf/progress"
	"presage/perf/scaling"
	"presage/perf/shard"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/timing"
	"presage/perf/trace"
)

// Distance is how many accesses of a shard have a reuse distance or a longer one.
type Distance struct {
	Variant  string `frame:"variant"`
	Shard    int    `frame:"shard"`
	Stream   string `frame:"stream"`          // data, code or both: see shard.Stream
	Blocks   uint64 `frame:"distance_blocks"` // of 64 bytes
	Accesses uint64 `frame:"accesses"`        // with this distance or a longer one, or none
}

const distancesVersion = 1

// distancesKind is the kind of jobs that count a variant's reuse distances.
const distancesKind = "infer distances"

// distancesSpec describes what a job counts.
type distancesSpec struct {
	Run     subject.Remote
	Variant string
	Windows []pipeline.Window
	Warm    uint64
	Version int
}

// Distances counts the reuse distances of the shards of recorded profiles, of which the
// campaign must have the subjects and the length: each after the warm-up that its caches
// were simulated with. The store keeps what was counted.
func (c Campaign) Distances(ctx context.Context, p *Profiles) ([]Distance, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := c.sameLength(p); err != nil {
		return nil, err
	}
	windows := p.windows()
	for variant := range windows {
		if !slices.ContainsFunc(c.Subjects, func(s Subject) bool { return s.Variant() == variant }) {
			return nil, fmt.Errorf("perf: infer: the profiles have shards of %s, which is none of the subjects", variant)
		}
	}
	var tasks []campaign.Task[[]Distance]
	for i := range c.Subjects {
		of := &c.Subjects[i]
		if list := windows[of.Variant()]; len(list) > 0 {
			tasks = append(tasks, c.distancesTask(ctx, of, list))
		}
	}
	all, err := campaign.Map(ctx, c.Campaign, c.Store, c.Progress, tasks)
	if err != nil {
		return nil, err
	}
	rows := slices.Concat(all...)
	return rows, p.sameRuns(rows)
}

// lengthSlack is the share of its length by which a shard may be longer or shorter: it ends
// with a whole block.
const lengthSlack = 0.01

// sameLength returns an error unless the shards have the campaign's length, from which
// the warm-up before them follows.
func (c *Campaign) sameLength(p *Profiles) error {
	for _, s := range p.Shards {
		if off := math.Abs(float64(s.Instructions)/float64(c.Length) - 1); off > lengthSlack {
			return fmt.Errorf("perf: infer: shard %d of %s has %d instructions, those of the campaign have %d: give the length that it was recorded with", s.Shard, s.Variant, s.Instructions, c.Length)
		}
	}
	return nil
}

// sameRuns returns an error unless the distances have the accesses of the shards.
func (p *Profiles) sameRuns(rows []Distance) error {
	shards := p.shards()
	for _, d := range rows {
		s := shards[shardKey{d.Variant, d.Shard}]
		if want := s.DataReuses + s.DataBlocks; d.Stream == shard.Data.String() && d.Blocks == 0 && d.Accesses != want {
			return fmt.Errorf("perf: infer: shard %d of %s accesses data %d times, and did %d times when the campaign was recorded: it was of another program. Count them anew, of the programs as they were", d.Shard, d.Variant, d.Accesses, want)
		}
	}
	return nil
}

// windows returns the shards of each variant by their places in the run, in their order.
func (p *Profiles) windows() map[string][]pipeline.Window {
	all := make(map[string][]pipeline.Window)
	for _, s := range p.Shards {
		all[s.Variant] = append(all[s.Variant], pipeline.Window{From: s.From, To: s.From + s.Instructions})
	}
	return all
}

func (c *Campaign) distancesTask(ctx context.Context, of *Subject, windows []pipeline.Window) campaign.Task[[]Distance] {
	named := func(err error) error {
		if err != nil {
			err = fmt.Errorf("%s: %w", of.Variant(), err)
		}
		return err
	}
	var key store.Key // known from Job, so that Collect need not build what was done
	return campaign.Task[[]Distance]{
		Job: func() (campaign.Job, error) {
			v, err := c.build(ctx, of)
			if err != nil {
				return campaign.Job{}, named(err)
			}
			if key, err = v.distancesKey(windows); err != nil {
				return campaign.Job{}, named(err)
			}
			r, err := v.prog.Remote(c.Store, v.in, nil)
			if err != nil {
				return campaign.Job{}, named(err)
			}
			return subject.RemoteJob(distancesKind, "reuse distances of "+v.variant, &v.in, distancesSpec{r, v.variant, windows, c.Warm, distancesVersion}, key)
		},
		Collect: func(ctx context.Context) ([]Distance, error) {
			if c.Campaign == nil {
				c.Progress.Report(progress.Report{Task: "reuse distances of " + of.Variant()})
			}
			var counted [][]shard.Distribution
			if key.Hash != "" && c.Store.Load(key, &counted) == nil {
				return distanceRows(of.Variant(), counted), nil
			}
			v, err := c.build(ctx, of)
			if err != nil {
				return nil, named(err)
			}
			list, err := v.distances(ctx, windows)
			return list, named(err)
		},
	}
}

// distancesWork does the jobs of distancesKind.
func distancesWork() campaign.Work {
	return campaign.NewWork(distancesKind, func(ctx context.Context, at campaign.Site, s distancesSpec) error {
		if s.Version != distancesVersion {
			return fmt.Errorf("perf: infer: %s: another version of presage made the job", s.Variant)
		}
		prog, err := s.Run.Open(at.Store)
		if err != nil {
			return err
		}
		v := program{campaign: &Campaign{Warm: s.Warm, Store: at.Store}, variant: s.Variant, prog: prog, in: s.Run.Inputs}
		_, err = v.distances(ctx, s.Windows)
		return err
	})
}

func (v *program) distancesKey(windows []pipeline.Window) (store.Key, error) {
	return store.NewKey("infer-distances", distancesVersion, struct {
		Inputs  subject.Inputs
		Windows []pipeline.Window
		Warm    uint64
	}{v.in, windows, v.campaign.Warm})
}

// distances returns the distances of the shards that lie in some windows.
func (v *program) distances(ctx context.Context, windows []pipeline.Window) ([]Distance, error) {
	key, err := v.distancesKey(windows)
	if err != nil {
		return nil, err
	}
	memo, err := store.Memo(v.campaign.Store, key, func() (*[][]shard.Distribution, error) {
		all, err := v.distributions(ctx, windows)
		return &all, err
	})
	if err != nil {
		return nil, err
	}
	return distanceRows(v.variant, *memo.Value), nil
}

func distanceRows(variant string, shards [][]shard.Distribution) (rows []Distance) {
	for k, streams := range shards {
		for _, d := range streams {
			for i, b := range shard.Bounds() {
				rows = append(rows, Distance{variant, k, d.Stream.String(), b, d.Beyond[i]})
			}
		}
	}
	return rows
}

// distributions runs the program once.
func (v *program) distributions(ctx context.Context, windows []pipeline.Window) (all [][]shard.Distribution, err error) {
	counts, err := anatomy.CountInputs(ctx, v.prog, v.in, subject.RunOptions{Store: v.campaign.Store})
	if err != nil {
		return nil, err
	}
	v.code, v.windows = timing.Code(counts.Structure()), windows
	if v.plan, err = pipeline.Plan(v.code); err != nil {
		return nil, err
	}
	var stacks []*shard.Stacks
	var collectors []trace.Collector
	for k, w := range windows {
		s, err := shard.NewStacks(v.plan, v.code, shard.Window(w))
		if err != nil {
			return nil, err
		}
		stacks, collectors = append(stacks, s), append(collectors, v.before(k, s))
	}
	if err := v.observe(ctx, collectors...); err != nil {
		return nil, err
	}
	for k, s := range stacks {
		found := s.Result()
		if found == nil {
			return nil, fmt.Errorf("perf: infer: the run of %s ended before shard %d, at instruction %d: the campaign was recorded of another program; give the folder of the programs as they were", v.variant, k, windows[k].From)
		}
		all = append(all, found)
	}
	return all, nil
}

// errNoDistances is what a study of the set Distances returns without them.
var errNoDistances = errors.New("perf: infer: the profiles have no reuse distances: record them by presage infer distances")

// distribution is a shard's histogram of a stream, and the misses that follow from it.
type distribution struct {
	histogram scaling.Histogram
	misses    map[predict.Cache]float64
}

// histograms returns the distributions of each shard by stream.
func (p *Profiles) histograms() map[shardKey]map[string]*distribution {
	all := make(map[shardKey]map[string]*distribution)
	for i, d := range p.Distances {
		key := shardKey{d.Variant, d.Shard}
		if all[key] == nil {
			all[key] = make(map[string]*distribution)
		}
		of := all[key][d.Stream]
		if of == nil {
			of = &distribution{misses: make(map[predict.Cache]float64)}
			all[key][d.Stream] = of
		}
		// From this distance to the next one of the stream; the last are as cold ones.
		if i+1 < len(p.Distances) && p.Distances[i+1].Blocks > d.Blocks {
			next := p.Distances[i+1]
			of.histogram.Bins = append(of.histogram.Bins, scaling.WeightedBin{Distance: float64(d.Blocks+next.Blocks-1) / 2, Count: float64(d.Accesses - next.Accesses)})
		} else {
			of.histogram.Cold = float64(d.Accesses)
		}
	}
	return all
}

// in returns the misses predicted in a cache under LRU: of 2005, section 5.2, as if
// blocks fell into sets at random.
func (d *distribution) in(c predict.Cache) float64 {
	n, known := d.misses[c]
	if !known {
		n = predict.OfHistogram(&d.histogram, c).Total()
		d.misses[c] = n
	}
	return n
}

// checkDistances returns an error unless each shard that has distances has those of all
// streams, from 0 upwards, and no fewer accesses at shorter ones.
func (p *Profiles) checkDistances() error {
	if len(p.Distances) == 0 {
		return nil
	}
	bounds, i := shard.Bounds(), 0
	for _, s := range p.Shards {
		for _, stream := range []shard.Stream{shard.Data, shard.Code, shard.Both} {
			for k, b := range bounds {
				if i >= len(p.Distances) {
					return fmt.Errorf("%s ends before shard %d of %s", distancesFile, s.Shard, s.Variant)
				}
				d := p.Distances[i]
				if d.Variant != s.Variant || d.Shard != s.Shard || d.Stream != stream.String() || d.Blocks != b {
					return fmt.Errorf("%s, row %d: %s of shard %d of %s at %d blocks: want %s of shard %d of %s at %d", distancesFile, i+1, d.Stream, d.Shard, d.Variant, d.Blocks, stream, s.Shard, s.Variant, b)
				}
				if k > 0 && d.Accesses > p.Distances[i-1].Accesses {
					return fmt.Errorf("%s, row %d: %d accesses at %d blocks and more, %d at %d and more", distancesFile, i+1, d.Accesses, b, p.Distances[i-1].Accesses, bounds[k-1])
				}
				i++
			}
		}
	}
	if i < len(p.Distances) {
		return fmt.Errorf("%s, row %d: shard %d of %s is not described", distancesFile, i+1, p.Distances[i].Shard, p.Distances[i].Variant)
	}
	return p.sameRuns(p.Distances)
}

// RecordDistances writes the distances of p into a folder.
func (p *Profiles) RecordDistances(dir, command string) error {
	return save(dir, distancesFile, p.Distances, "counted: reuse distances of shards, whatever the machine", command)
}
