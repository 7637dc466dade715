package perf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/cache"
	"presage/perf/frame"
	"presage/perf/machine"
	"presage/perf/metasim"
	"presage/perf/simpoint"
	"presage/perf/store"
)

// Sampling says which parts of a run are simulated. The zero value is guided by
// SimPoint with its defaults, on the intervals of the phases at hand.
type Sampling struct {
	Name string // in tables; "": made from the rest

	Full    bool    // the whole run
	Percent float64 // above 0: so much of the run, in regular periods (2005, section 2)
	Periods int     // of these; 0: metasim.DefaultPeriods

	// Otherwise SimPoint chooses, as SimPoint says, unless Points are given.
	SimPoint simpoint.Options
	Points   []simpoint.Point

	// Warmup says what caches hold when a stretch begins; by default they are
	// warmed up with metasim.DefaultWarmLength instructions.
	Warmup     metasim.Warmup
	WarmLength uint64
}

// title returns the name that stands in tables.
func (s *Sampling) title() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Full:
		return "full"
	case s.Percent > 0:
		return fmt.Sprintf("periodic %g%%", s.Percent)
	}
	return "simpoint"
}

// warmth is the name of the warm-up in tables.
func (s *Sampling) warmth() string {
	if s.Full {
		return ""
	}
	return s.Warmup.String()
}

// sample returns the stretches.
func (s *Sampling) sample(ctx context.Context, p *Phases) (metasim.Sample, *simpoint.Result, error) {
	switch {
	case s.Full && s.Percent != 0:
		return metasim.Sample{}, nil, errors.New("perf: sampling: all of the run or a percentage, not both")
	case s.Full:
		return metasim.Full(), nil, nil
	case s.Percent != 0:
		m, err := metasim.Periodic(p.Instructions, s.Percent, s.Periods)
		return m, nil, err
	case s.Points != nil:
		m, err := metasim.Guided(p.Vectors, s.Points)
		return m, nil, err
	}
	r, err := simpoint.Pick(ctx, p.Vectors, s.SimPoint)
	if err != nil {
		return metasim.Sample{}, nil, err
	}
	m, err := metasim.Guided(p.Vectors, r.Points)
	return m, r, err
}

// CacheSample is what the simulation of a machine's caches on a sample of a run
// gave.
type CacheSample struct {
	Phases   *Phases
	Machine  *machine.Machine
	Sampling Sampling
	Points   int     // stretches that were simulated
	Mismatch float64 // of SimPoint's choice (simpoint.Result.Mismatch); NaN for others

	Rates *metasim.Rates // of blocks
	// ByAccess are rates in which a stretch counts by how often the block accesses
	// memory in it, in place of equation (4).
	ByAccess *metasim.Rates

	Simulated, Warmed uint64 // instructions: counted, and before that to warm up
	Executed          uint64 // by the engine: runs end with their last stretch
	Cost              RunCost
	Warnings          []string
}

// storedSample is what the store holds of a simulated sample.
type storedSample struct {
	Levels            []string
	Stretches         []metasim.StretchResult
	Simulated, Warmed uint64
	Executed          uint64
	Cost              RunCost
	Warnings          []string
}

// SampleCaches simulates the caches of m on samples of the run whose phases are
// given: a run for each. Results are kept in the store.
func SampleCaches(ctx context.Context, p *Phases, m *machine.Machine, samplings []Sampling) ([]*CacheSample, error) {
	if err := p.runnable(); err != nil {
		return nil, err
	}
	var all []*CacheSample
	for _, s := range samplings {
		c, err := sampleCaches(ctx, p, m, s)
		if err != nil {
			return nil, fmt.Errorf("perf: %s, %s: %w", p.Name, s.title(), err)
		}
		all = append(all, c)
	}
	return all, nil
}

func (p *Phases) runnable() error {
	if p.Program == nil {
		return fmt.Errorf("perf: %s: the phases were read from a file, and which program they are of is not known; use BlockVectors", p.Name)
	}
	return nil
}

func sampleCaches(ctx context.Context, p *Phases, m *machine.Machine, s Sampling) (*CacheSample, error) {
	sample, picked, err := s.sample(ctx, p)
	if err != nil {
		return nil, err
	}
	sim, err := simulateSample(ctx, p, m.Hierarchy(), sample, metasim.SimulateOptions{Warmup: s.Warmup, WarmLength: s.WarmLength})
	if err != nil {
		return nil, err
	}
	c := &CacheSample{
		Phases: p, Machine: m, Sampling: s, Points: len(sim.Stretches), Mismatch: math.NaN(),
		Simulated: sim.Simulated, Warmed: sim.Warmed, Executed: sim.Executed, Cost: sim.Cost, Warnings: sim.Warnings,
	}
	if picked != nil {
		c.Mismatch = picked.Mismatch
		c.Warnings = append(c.Warnings, errorTexts(picked.Warnings)...)
	}
	c.rate(sim.simulation(sample))
	return c, nil
}

// rate makes the rates of blocks.
func (c *CacheSample) rate(sim *metasim.Simulation) {
	c.Rates = metasim.RatesOf(c.Phases.Code, sim)
	other := *sim
	other.Sample.Combine = metasim.ByAccess
	c.ByAccess = metasim.RatesOf(c.Phases.Code, &other)
}

func (s *storedSample) simulation(sample metasim.Sample) *metasim.Simulation {
	return &metasim.Simulation{Sample: sample, Levels: s.Levels, Stretches: s.Stretches, Simulated: s.Simulated, Warmed: s.Warmed, Executed: s.Executed}
}

// simulateSample finds the simulation of a sample in the store, or runs it.
func simulateSample(ctx context.Context, p *Phases, h cache.Config, sample metasim.Sample, how metasim.SimulateOptions) (*storedSample, error) {
	key, err := store.NewKey("metasim", phasesVersion, struct {
		Inputs     inputs
		Hierarchy  cache.Config
		Sample     metasim.Sample
		Warmup     metasim.Warmup
		WarmLength uint64
	}{p.in, h, sample, how.Warmup, how.WarmLength})
	if err != nil {
		return nil, err
	}
	out, warning, err := store.Memo(p.stored, key, func() (*storedSample, error) {
		var sims []*metasim.Simulation
		cost, err := costOf(func() (err error) {
			sims, err = metasim.Simulate(ctx, &blockRunner{p.Program, p.in}, p.Code, sample, []cache.Config{h}, how)
			return err
		})
		if err != nil {
			return nil, err
		}
		s := sims[0]
		return &storedSample{s.Levels, s.Stretches, s.Simulated, s.Warmed, s.Executed, cost, errorTexts(s.Warnings)}, nil
	})
	if err == nil && warning != nil {
		out.Warnings = append(out.Warnings, warning.Error())
	}
	return out, err
}

// costOf measures a call.
func costOf(do func() error) (RunCost, error) {
	runtime.GC() // what others left behind is not to be cleared away on its account
	before, begin := processorSeconds(), time.Now()
	err := do()
	return RunCost{Seconds: time.Since(begin).Seconds(), ProcessorSeconds: processorSeconds() - before}, err
}

// Overhead runs the program without recording anything, and with the simulation of
// a sample, in turn and so many times each, and returns what each took: the medians
// by processor time. In turn, because what else a machine does changes how fast it
// is from one minute to the next. Results are kept in the store.
func (p *Phases) Overhead(ctx context.Context, m *machine.Machine, s Sampling, repeats int) (untraced, sampled RunCost, err error) {
	if err := p.runnable(); err != nil {
		return untraced, sampled, err
	}
	if repeats < 1 {
		return untraced, sampled, fmt.Errorf("perf: overhead over %d runs: want one at least", repeats)
	}
	sample, _, err := s.sample(ctx, p)
	if err != nil {
		return untraced, sampled, err
	}
	how := metasim.SimulateOptions{Warmup: s.Warmup, WarmLength: s.WarmLength}
	key, err := store.NewKey("overhead", phasesVersion, struct {
		Inputs     inputs
		Hierarchy  cache.Config
		Sample     metasim.Sample
		Warmup     metasim.Warmup
		WarmLength uint64
		Repeats    int
	}{p.in, m.Hierarchy(), sample, how.Warmup, how.WarmLength, repeats})
	if err != nil {
		return untraced, sampled, err
	}
	run := &blockRunner{p.Program, p.in}
	both, _, err := store.Memo(p.stored, key, func() (both [2][]RunCost, err error) {
		for range repeats {
			for i, do := range []func() error{
				func() error { _, err := run.Run(ctx, metasim.Request{}); return err },
				func() error {
					_, err := metasim.Simulate(ctx, run, p.Code, sample, []cache.Config{m.Hierarchy()}, how)
					return err
				},
			} {
				cost, err := costOf(do)
				if err != nil {
					return both, err
				}
				both[i] = append(both[i], cost)
			}
		}
		return both, nil
	})
	if err != nil {
		return untraced, sampled, fmt.Errorf("perf: %w", err)
	}
	return medianCost(both[0]), medianCost(both[1]), nil
}

// medianCost returns the cost with the median of processor time, the lower of two.
func medianCost(costs []RunCost) RunCost {
	slices.SortFunc(costs, func(a, b RunCost) int { return cmp.Compare(a.ProcessorSeconds, b.ProcessorSeconds) })
	return costs[(len(costs)-1)/2]
}

// length returns how many instructions a run takes, as an untraced one tells. It is
// kept in the store.
func length(ctx context.Context, run *blockRunner, st *store.Store) (uint64, error) {
	key, err := store.NewKey("length", phasesVersion, run.in)
	if err != nil {
		return 0, err
	}
	n, _, err := store.Memo(st, key, func() (uint64, error) {
		out, err := run.Run(ctx, metasim.Request{})
		if err != nil {
			return 0, fmt.Errorf("perf: %w", err)
		}
		return out.Instructions, nil
	})
	return n, err
}

// hitRow is a row of the table of HitRates.
type hitRow struct {
	Program   string             `frame:"program"`
	Point     map[string]float64 `frame:",each"`
	Machine   string             `frame:"machine"`
	Sampling  string             `frame:"sampling"`
	Interval  float64            `frame:"interval_instructions"`
	Points    int                `frame:"points"`
	Warmup    string             `frame:"warmup"`
	Simulated float64            `frame:"simulated_share"`
	Warmed    float64            `frame:"warmup_share"`
	Mismatch  float64            `frame:"mismatch"`
	Level     string             `frame:"level"`
	Hit       float64            `frame:"sim_hit_ratio"`
	ByAccess  float64            `frame:"sim_hit_ratio_by_access"`
	Unseen    float64            `frame:"unseen_share"`
	Lo        float64            `frame:"sim_hit_ratio_least"`
	Hi        float64            `frame:"sim_hit_ratio_most"`
	Like      float64            `frame:"sim_hit_ratio_like_seen"`
	Full      float64            `frame:"sim_full_hit_ratio"`
	Diff      float64            `frame:"hit_ratio_diff"`
	DiffBy    float64            `frame:"hit_ratio_by_access_diff"`
}

// HitRates returns the program's cumulative hit ratios, a row for each sample and
// level of its machine:
//
//   - sampling, interval_instructions (missing but for SimPoint), points: stretches
//     that were simulated; warmup
//   - simulated_share, warmup_share: of the run's instructions, from 0 to 1
//   - mismatch: of the mix of code, from 0 to 1; of SimPoint only
//   - sim_hit_ratio: the mean of the blocks' hit ratios by equation (4), weighted
//     by their accesses in the full run; blocks that the sample does not show are
//     taken to hit always, as in the paper (2005, section 5.2)
//   - sim_hit_ratio_by_access: the same, stretches counting by a block's accesses
//     in them
//   - unseen_share: of the full run's accesses, by such blocks; if all of those
//     miss the ratio is sim_hit_ratio_least, if all hit sim_hit_ratio_most, and
//     if they hit as often as others sim_hit_ratio_like_seen
//   - sim_full_hit_ratio, and the differences from it, in the units of ratios:
//     missing if no full simulation of the program and machine is among samples
func HitRates(samples ...*CacheSample) (dataframe.DataFrame, error) {
	var rows []hitRow
	for _, c := range samples {
		rates, err := c.Rates.Program(c.Phases.Code, c.Phases.Executions)
		if err != nil {
			return dataframe.DataFrame{}, fmt.Errorf("perf: %w", err)
		}
		byAccess, err := c.ByAccess.Program(c.Phases.Code, c.Phases.Executions)
		if err != nil {
			return dataframe.DataFrame{}, fmt.Errorf("perf: %w", err)
		}
		n := float64(c.Phases.Instructions)
		full, err := fullRates(c, samples)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		for l, r := range rates {
			row := hitRow{
				Program: c.Phases.Name, Point: c.Phases.Point, Machine: c.Machine.Name,
				Sampling: c.Sampling.title(), Interval: c.interval(), Points: c.Points, Warmup: c.Sampling.warmth(),
				Simulated: float64(c.Simulated) / n, Warmed: float64(c.Warmed) / n, Mismatch: c.Mismatch,
				Level: r.Level, Hit: r.Hit, ByAccess: byAccess[l].Hit, Unseen: r.Unseen, Lo: r.Lo, Hi: r.Hi, Like: r.Like, Full: math.NaN(),
			}
			if full != nil {
				row.Full = full[l].Hit
			}
			row.Diff, row.DiffBy = row.Hit-row.Full, row.ByAccess-row.Full
			rows = append(rows, row)
		}
	}
	return frame.Of(rows), nil
}

// interval returns the length of SimPoint's intervals, and NaN for others.
func (c *CacheSample) interval() float64 {
	if c.Sampling.Full || c.Sampling.Percent != 0 {
		return math.NaN()
	}
	return float64(c.Phases.Interval)
}

// same reports whether two samples are of the same run and machine.
func (c *CacheSample) same(o *CacheSample) bool {
	return c.Machine.Name == o.Machine.Name && c.Phases.Name == o.Phases.Name && strings.Join(c.Phases.Args, "\x00") == strings.Join(o.Phases.Args, "\x00")
}

// fullRates returns the rates of the full simulation among samples; nil: none.
func fullRates(c *CacheSample, samples []*CacheSample) ([]metasim.ProgramRate, error) {
	for _, o := range samples {
		if o.Sampling.Full && c.same(o) {
			return o.Rates.Program(o.Phases.Code, o.Phases.Executions)
		}
	}
	return nil, nil
}

// BlockHitRates returns a row for each basic block that accesses memory in the
// full run, those with the most accesses first, at one level of the machine; the
// samples are of one run:
//
//   - pc, routine, executions; accesses: executions times memory references
//   - share: of the accesses of the run; share_before: of the blocks above
//   - for each sample, under its name with underscores: <name>_hit_ratio,
//     and <name>_seen_hit_ratio, which is missing where the sample does not show
//     the block, and sim_hit_ratio is 1 by the paper's rule
func BlockHitRates(level string, samples ...*CacheSample) (dataframe.DataFrame, error) {
	type row struct {
		Program    string             `frame:"program"`
		Level      string             `frame:"level"`
		PC         string             `frame:"pc"`
		Routine    string             `frame:"routine"`
		Executions uint64             `frame:"executions"`
		Accesses   uint64             `frame:"accesses"`
		Share      float64            `frame:"share"`
		Before     float64            `frame:"share_before"`
		Rates      map[string]float64 `frame:",each"`
	}
	if len(samples) == 0 {
		return dataframe.DataFrame{}, errors.New("perf: no samples")
	}
	p := samples[0].Phases
	var rows []row
	total := uint64(0)
	for b, n := range p.Executions {
		block := &p.Code.Blocks[b]
		if n == 0 || block.Refs == 0 {
			continue
		}
		r := row{p.Name, level, fmt.Sprintf("%#x", uint64(block.PC)), block.Routine, n, n * uint64(block.Refs), 0, 0, make(map[string]float64)}
		for _, c := range samples {
			if !c.same(samples[0]) {
				return dataframe.DataFrame{}, fmt.Errorf("perf: samples of %s and of %s in one table of blocks", samples[0].Phases.Name, c.Phases.Name)
			}
			l := levelOf(c.Rates.Levels, level)
			if l < 0 {
				return dataframe.DataFrame{}, fmt.Errorf("perf: no level %s; there are %s", level, strings.Join(c.Rates.Levels, ", "))
			}
			name := columnName(c.Sampling.title())
			r.Rates[name+"_hit_ratio"] = c.Rates.Hit[l][b]
			if c.Rates.Seen[b] {
				r.Rates[name+"_seen_hit_ratio"] = c.Rates.Hit[l][b]
			}
		}
		total += r.Accesses
		rows = append(rows, r)
	}
	sortByAccesses(rows, func(r *row) uint64 { return r.Accesses })
	before := uint64(0)
	for i := range rows {
		rows[i].Share, rows[i].Before = float64(rows[i].Accesses)/float64(total), float64(before)/float64(total)
		before += rows[i].Accesses
	}
	return frame.Of(rows), nil
}

func levelOf(levels []string, level string) int { return slices.Index(levels, level) }

// columnName makes a name of a sample into one of a column.
func columnName(title string) string {
	return strings.ReplaceAll(strings.ReplaceAll(title, "%", "_percent"), " ", "_")
}

func sortByAccesses[R any](rows []R, accesses func(*R) uint64) {
	slices.SortStableFunc(rows, func(a, b R) int { return cmp.Compare(accesses(&b), accesses(&a)) })
}
