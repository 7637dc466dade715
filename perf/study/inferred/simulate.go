package inferred

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"presage/perf/anatomy"
	"presage/perf/infer"
	"presage/perf/isa"
	"presage/perf/pipeline"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/timing"
	"presage/perf/trace"
)

// Versions are part of the keys of stored results.
const (
	simulationVersion = 2
	surveyVersion     = 2
)

// program is a program with an input, and shards of its run.
type program struct {
	campaign *Campaign
	of       Subject // in PredictCPI with an application alone
	variant  string
	prog     *subject.Program
	in       subject.Inputs
	out      *Profiles

	code    [][]isa.Inst
	plan    *trace.Plan
	windows []pipeline.Window // the shards
	survey  *survey
}

// prepare runs the program once to count its blocks, and draws shards.
func (v *program) prepare(ctx context.Context, rng *rand.Rand, opt subject.RunOptions) error {
	counts, err := anatomy.CountInputs(ctx, v.prog, v.in, opt)
	if err != nil {
		return err
	}
	v.code = timing.Code(counts.Structure())
	if v.plan, err = pipeline.Plan(v.code); err != nil {
		return err
	}
	v.windows, err = drawShards(rng, counts.Instructions, v.campaign.Length, v.campaign.Shards)
	return err
}

// drawShards cuts a run into as many equal parts as shards are wanted, and draws
// one shard from each at random.
func drawShards(rng *rand.Rand, instructions, length uint64, shards int) ([]pipeline.Window, error) {
	whole := int(instructions / length)
	if whole < shards {
		return nil, fmt.Errorf("perf: infer: the run has %d instructions, fewer than %d shards of %d: choose a larger input, or fewer or shorter shards", instructions, shards, length)
	}
	var list []pipeline.Window
	for i := range shards {
		first, last := i*whole/shards, (i+1)*whole/shards
		k := uint64(first + rng.IntN(last-first))
		list = append(list, pipeline.Window{From: k * length, To: (k + 1) * length})
	}
	return list, nil
}

// job is an architecture that a variant is simulated on.
type job struct {
	number int // of the architecture
	use    string
	shards []int
}

// run is what simulations of a program depend on; its JSON, field names included,
// is part of keys of the store.
type run struct {
	Inputs       subject.Inputs
	Plan         string
	Windows      []pipeline.Window
	Warm, Length uint64
	Configs      []pipeline.Config
	Shards       [][]int
}

func (v *program) key(configs []pipeline.Config, shards [][]int) run {
	return run{v.in, v.plan.Digest(), v.windows, v.campaign.Warm, v.campaign.Length, configs, shards}
}

// simulated is the stored result of simulations, by job and then shard.
type simulated struct {
	Counts   [][]pipeline.Piece
	Warnings []string
}

// atOnce bounds how many simulators run side by side: some take several megabytes.
const atOnce = 200

// simulate simulates jobs and appends their profiles, in as few runs as atOnce
// allows.
func (v *program) simulate(ctx context.Context, architectures []infer.Architecture, jobs []job) error {
	for len(jobs) > 0 {
		n, sims := 1, len(jobs[0].shards)
		for n < len(jobs) && sims+len(jobs[n].shards) <= atOnce {
			sims += len(jobs[n].shards)
			n++
		}
		if err := v.simulateSome(ctx, architectures, jobs[:n]); err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}

// simulateSome simulates jobs in one run.
func (v *program) simulateSome(ctx context.Context, architectures []infer.Architecture, jobs []job) error {
	var configs []pipeline.Config
	var shards [][]int
	for _, j := range jobs {
		config, err := Core(architectures[j.number])
		if err != nil {
			return err
		}
		configs, shards = append(configs, config), append(shards, j.shards)
	}
	key, err := store.NewKey("infer", simulationVersion, v.key(configs, shards))
	if err != nil {
		return err
	}
	memo, err := store.Memo(v.campaign.Store, key, func() (*simulated, error) {
		sims, err := v.simulators(configs, shards)
		if err != nil {
			return nil, err
		}
		if err := v.observe(ctx, sims.stretches...); err != nil {
			return nil, err
		}
		return sims.result()
	})
	if err != nil {
		return err
	}
	done := memo.Value
	v.warn(memo.Warning, done.Warnings)
	for i, j := range jobs {
		if err := v.sameShards(done.Counts[i], j.shards); err != nil {
			return err
		}
		for n, k := range j.shards {
			piece := done.Counts[i][n]
			v.out.Profiles = append(v.out.Profiles, Profile{v.variant, k, j.number, j.use, piece.Instructions, piece.Cycles})
		}
	}
	return nil
}

// warn adds warnings to those of the campaign, each once.
func (v *program) warn(of string, more []string) {
	if of != "" {
		more = append([]string{of}, more...)
	}
	for _, w := range more {
		if text := v.variant + ": " + w; !slices.Contains(v.out.Warnings, text) {
			v.out.Warnings = append(v.out.Warnings, text)
		}
	}
}

// sameShards returns an error unless a simulator saw the shards that were surveyed.
func (v *program) sameShards(pieces []pipeline.Piece, shards []int) error {
	if len(pieces) != len(shards) {
		return fmt.Errorf("perf: infer: %d shards were simulated of %d", len(pieces), len(shards))
	}
	for n, piece := range pieces {
		if s := v.survey.Shards[shards[n]]; piece.From != s.From || piece.Instructions != s.Instructions {
			return fmt.Errorf("perf: infer: shard %d: %d instructions from %d were simulated, %d from %d characterised", shards[n], piece.Instructions, piece.From, s.Instructions, s.From)
		}
	}
	return nil
}

// stretch passes on the batches of a run that start at instructions [from, to).
type stretch struct {
	from, to uint64
	inner    trace.Collector
}

func (s stretch) Observe(b *trace.Batch) {
	if b.Start >= s.from && b.Start < s.to {
		s.inner.Observe(b)
	}
}

// before returns a collector that passes on a shard and its warm-up alone, so that
// no result depends on which other shards are collected in the same run.
func (v *program) before(k int, inner trace.Collector) stretch {
	w := v.windows[k]
	return stretch{w.From - min(w.From, v.campaign.Warm), w.To, inner}
}

// simulators simulate shards of a program in one run: one for each config and
// shard.
type simulators struct {
	sims      [][]*pipeline.Simulator
	stretches []trace.Collector
}

// simulators returns the simulators of some shards on each config.
func (v *program) simulators(configs []pipeline.Config, shards [][]int) (*simulators, error) {
	out := new(simulators)
	for i, config := range configs {
		var sims []*pipeline.Simulator
		for _, k := range shards[i] {
			sim, err := pipeline.New(v.prog.File.Target, v.plan, v.code, config, pipeline.Options{
				Windows: v.windows[k : k+1], Warmup: v.campaign.Length / 20, WarmCaches: true,
			})
			if err != nil {
				return nil, err
			}
			sims, out.stretches = append(sims, sim), append(out.stretches, v.before(k, sim))
		}
		out.sims = append(out.sims, sims)
	}
	return out, nil
}

func (s *simulators) result() (*simulated, error) {
	out := new(simulated)
	for _, sims := range s.sims {
		var pieces []pipeline.Piece
		for _, sim := range sims {
			r := sim.Result()
			if len(r.Windows) != 1 {
				return nil, fmt.Errorf("perf: infer: %d shards were simulated of one", len(r.Windows))
			}
			pieces = append(pieces, r.Windows[0])
			out.Warnings = addWarnings(out.Warnings, r.Warnings)
		}
		out.Counts = append(out.Counts, pieces)
	}
	return out, nil
}

// addWarnings appends the warnings that all does not hold.
func addWarnings(all []string, more []error) []string {
	for _, w := range more {
		if !slices.Contains(all, w.Error()) {
			all = append(all, w.Error())
		}
	}
	return all
}

// observe runs the program once. Only the shards and their warm-up are traced.
func (v *program) observe(ctx context.Context, collectors ...trace.Collector) error {
	res, err := v.prog.Run(ctx, subject.Request{Inputs: v.in, Plan: v.plan, Windows: v.traced(), Collectors: collectors, MayFail: true})
	if err == nil && res.Failed != "" {
		err = fmt.Errorf("perf: %s ended with %s%s", v.in.Command(), res.Failed, res.Output)
	}
	return err
}

// traced returns the windows to record: the shards with their warm-up, merged
// where they overlap.
func (v *program) traced() (list []trace.Window) {
	for _, w := range v.windows {
		from := w.From - min(w.From, v.campaign.Warm)
		if n := len(list); n > 0 && from <= list[n-1].To {
			list[n-1].To = w.To
			continue
		}
		list = append(list, trace.Window{From: from, To: w.To})
	}
	return list
}
