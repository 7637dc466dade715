package sampling

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"presage/perf/bbv"
	"presage/perf/frame"
	"presage/perf/machine"
	"presage/perf/metasim"
	"presage/perf/phase"
	"presage/perf/simpoint"
	"presage/perf/subject"

	"github.com/go-gota/gota/dataframe"
)

// Study says what MetaSim finds out about one run of a program, after "How
// SimPoint Can Improve MetaSim Tracer" (2005).
type Study struct {
	subject.RunOptions
	Machine *machine.Machine // whose caches are simulated
	// Intervals are the lengths of SimPoint's intervals that are compared, in
	// instructions, each a multiple of those before, DefaultInterval among them;
	// nil: 2e5, 1e6, 1e7. Those that would make more than maxIntervals are left out.
	Intervals []uint64
	// Ks are numbers of points that are compared at the default interval; nil: 1,
	// 2, 4, 8 (the paper's), 12, 16, 24, 32, 50, 100.
	Ks []int
	// Percents are the shares of periodic samples; nil: 10 and 1, as in the paper.
	Percents []float64
	// Repeats is how often the untraced run and the default sample are run in turn,
	// for their times (see Overhead); 0: 3.
	Repeats int
	// Seeds is how many seeds the default clustering is compared over; 0: 4.
	Seeds int
	// Step, if not nil, is called when a part of the study begins.
	Step func(what string)
}

// Findings are the tables of a study.
type Findings struct {
	// Hits is the table of HitRates: full simulation; SimPoint with its defaults
	// (sampling "simpoint") and periodic samples, each with several warm-ups; and
	// SimPoint with several numbers of points ("simpoint k=8") and lengths of
	// intervals, warmed up as by default.
	Hits dataframe.DataFrame
	// Blocks is the table of BlockHitRates at the first level of full simulation,
	// SimPoint with its defaults and with 8 points, and periodic samples, without
	// the blocks that make the last 0.01% of the accesses.
	Blocks dataframe.DataFrame
	// Runs has a row for each run that was timed:
	//
	//  - run: untraced, vectors, clustering, full, or the sampling
	//  - simulated_share, executed_share: of the run's instructions, from 0 to 1
	//  - meas_time_sec, meas_processor_sec: by the clock, and of all threads
	//  - per_untraced, per_full: ratios of the processor time to that of the
	//    untraced run and of the full simulation
	Runs dataframe.DataFrame
	// Clusters has a row for each clustering:
	//
	//  - interval_instructions, intervals; k_asked: 0: chosen by its score; k
	//  - mismatch: see HitRates
	//  - seeds: over so many, agreement is the mean adjusted Rand index of each two
	//    clusterings, agreement_least the smallest, k_least and k_most the range of
	//    k; missing where one seed was tried
	Clusters dataframe.DataFrame
}

const maxIntervals = 150_000

func (s *Study) fill() error {
	if s.Machine == nil {
		return errors.New("perf: metasim: no machine")
	}
	if len(s.Intervals) == 0 {
		s.Intervals = []uint64{200_000, bbv.DefaultInterval, 10_000_000}
	}
	if len(s.Ks) == 0 {
		s.Ks = []int{1, 2, 4, 8, 12, 16, 24, 32, 50, 100}
	}
	if len(s.Percents) == 0 {
		s.Percents = []float64{10, 1}
	}
	if s.Repeats == 0 {
		s.Repeats = 3
	}
	if s.Seeds == 0 {
		s.Seeds = 4
	}
	if !slices.Contains(s.Intervals, bbv.DefaultInterval) {
		return fmt.Errorf("perf: metasim: intervals of %d instructions: the default, %d, is not among them", s.Intervals, bbv.DefaultInterval)
	}
	for i, n := range s.Intervals {
		if n == 0 || i > 0 && n%s.Intervals[i-1] != 0 {
			return fmt.Errorf("perf: metasim: intervals of %d instructions: each has to be a multiple of the one before", s.Intervals)
		}
	}
	return nil
}

// MetaSim makes a study of one run of prog. All that takes long is kept in the
// store: a study that was interrupted goes on where it was.
func Investigate(ctx context.Context, prog *subject.Program, point subject.Point, s Study) (*Findings, error) {
	if err := s.fill(); err != nil {
		return nil, err
	}
	r := &metaSimRun{s: &s, ctx: ctx}
	if err := r.collect(prog, point); err != nil {
		return nil, err
	}
	for _, part := range []func() error{r.full, r.guided, r.periodic, r.sweep, r.stability} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	return r.findings()
}

// metaSimRun is a study that is being made.
type metaSimRun struct {
	s   *Study
	ctx context.Context

	phases   *phase.Phases   // of the shortest intervals
	lengths  []*phase.Phases // by Intervals, those that are not left out
	standard *phase.Phases   // of the default interval

	untraced phase.RunCost
	samples  []*phase.CacheSample // in the order of the table
	blocks   []*phase.CacheSample // those in the table of blocks
	costs    []metaSimCost
	clusters []clusterRow
}

type metaSimCost struct {
	Run                 string
	Points              int
	Warmup              string
	Simulated, Executed float64
	Cost                phase.RunCost
}

type clusterRow struct {
	Program   string             `frame:"program"`
	Point     map[string]float64 `frame:",each"`
	Interval  uint64             `frame:"interval_instructions"`
	Intervals int                `frame:"intervals"`
	Asked     int                `frame:"k_asked"`
	K         int                `frame:"k"`
	Mismatch  float64            `frame:"mismatch"`
	Seeds     int                `frame:"seeds"`
	Agreement float64            `frame:"agreement"`
	Least     float64            `frame:"agreement_least"`
	KMin      float64            `frame:"k_least"`
	KMax      float64            `frame:"k_most"`
}

func (r *metaSimRun) step(format string, args ...any) {
	if r.s.Step != nil {
		r.s.Step(fmt.Sprintf(format, args...))
	}
}

// collect gets the vectors at all lengths of intervals.
func (r *metaSimRun) collect(prog *subject.Program, point subject.Point) error {
	in, err := prog.Inputs(point, r.s.RunOptions)
	if err != nil {
		return err
	}
	st, err := subject.StoreOrDefault(r.s.Store)
	if err != nil {
		return err
	}
	r.step("untraced run")
	n, err := phase.Length(r.ctx, prog, in, st)
	if err != nil {
		return err
	}
	kept := slices.DeleteFunc(slices.Clone(r.s.Intervals), func(every uint64) bool {
		return every < bbv.DefaultInterval && n/every > maxIntervals
	})
	opt := phase.PhaseOptions{RunOptions: r.s.RunOptions, Interval: kept[0]}
	r.step("vectors of intervals of %d instructions", kept[0])
	if r.phases, err = phase.BlockVectors(r.ctx, prog, point, opt); err != nil {
		return err
	}
	for _, n := range kept {
		p := r.phases
		if n > kept[0] {
			if p, err = r.phases.Coarser(int(n / kept[0])); err != nil {
				return err
			}
		}
		r.lengths = append(r.lengths, p)
		if n == bbv.DefaultInterval {
			r.standard = p
		}
	}
	r.costs = append(r.costs, metaSimCost{Run: "vectors", Executed: 1, Cost: r.phases.Cost})
	return nil
}

// simulate adds the simulation of a sample, whose time counts.
func (r *metaSimRun) simulate(p *phase.Phases, s phase.Sampling) (*phase.CacheSample, error) {
	r.step("%s, warm-up %q", s.Title(), s.Warmth())
	list, err := phase.SampleCaches(r.ctx, p, r.s.Machine, []phase.Sampling{s})
	if err != nil {
		return nil, err
	}
	c := list[0]
	r.samples = append(r.samples, c)
	n := float64(p.Instructions)
	r.costs = append(r.costs, metaSimCost{s.Title(), c.Points, s.Warmth(), float64(c.Simulated) / n, float64(c.Executed) / n, c.Cost})
	return c, nil
}

func (r *metaSimRun) full() error {
	c, err := r.simulate(r.standard, phase.Sampling{Full: true})
	r.blocks = append(r.blocks, c)
	return err
}

// guided simulates SimPoint's points, with its defaults and every warm-up, and the
// paper's number of them.
func (r *metaSimRun) guided() error {
	r.step("clustering")
	var points *phase.PhasePoints
	cost, err := phase.CostOf(func() (err error) {
		points, err = r.standard.Points(r.ctx, simpoint.Options{})
		return err
	})
	if err != nil {
		return err
	}
	r.costs = append(r.costs, metaSimCost{Run: "clustering", Cost: cost})
	for _, w := range []metasim.Warmup{metasim.WarmFixed, metasim.WarmNone, metasim.WarmKept, metasim.WarmKeptFixed} {
		s := phase.Sampling{Name: "simpoint", Points: points.Result.Points, Warmup: w}
		c, err := r.simulate(r.standard, s)
		if err != nil {
			return err
		}
		c.Mismatch = points.Mismatch
		if w != metasim.WarmFixed {
			continue
		}
		r.blocks = append(r.blocks, c)
		r.step("overhead over %d runs", r.s.Repeats)
		last := &r.costs[len(r.costs)-1]
		if r.untraced, last.Cost, err = r.standard.Overhead(r.ctx, r.s.Machine, s, r.s.Repeats); err != nil {
			return err
		}
		r.costs = append(r.costs, metaSimCost{Run: "untraced", Executed: 1, Cost: r.untraced})
	}
	if points, err = r.standard.Points(r.ctx, simpoint.Options{K: paperPoints}); err != nil {
		return err
	}
	c, err := r.simulate(r.standard, phase.Sampling{Name: "simpoint 8", Points: points.Result.Points})
	if err != nil {
		return err
	}
	c.Mismatch = points.Mismatch
	r.blocks = append(r.blocks, c)
	return nil
}

// paperPoints is the number of points that the paper takes always (section 4).
const paperPoints = 8

func (r *metaSimRun) periodic() error {
	for _, percent := range r.s.Percents {
		for _, w := range []metasim.Warmup{metasim.WarmFixed, metasim.WarmKept} {
			c, err := r.simulate(r.standard, phase.Sampling{Percent: percent, Warmup: w})
			if err != nil {
				return err
			}
			if w == metasim.WarmFixed {
				r.blocks = append(r.blocks, c)
			}
		}
	}
	return nil
}

// sweep varies the number of points and the length of intervals: all points of a
// length are simulated in one run.
func (r *metaSimRun) sweep() error {
	for _, p := range r.lengths {
		ks := []int{0, paperPoints}
		if p == r.standard {
			ks = append([]int{0}, r.s.Ks...)
		}
		r.step("clusterings of %d intervals", p.Vectors.Len())
		var chosen []*phase.PhasePoints
		var samples []metasim.Sample
		for _, k := range ks {
			if k > p.Vectors.Len() {
				continue
			}
			points, err := p.Points(r.ctx, simpoint.Options{K: k})
			if err != nil {
				return err
			}
			sample, err := metasim.Guided(p.Vectors, points.Result.Points)
			if err != nil {
				return err
			}
			chosen, samples = append(chosen, points), append(samples, sample)
			r.clusters = append(r.clusters, clusterRow{
				Program: p.Name, Point: p.Point, Interval: p.Interval, Intervals: p.Vectors.Len(), Asked: k, K: points.K, Mismatch: points.Mismatch,
				Seeds: 1, Agreement: math.NaN(), Least: math.NaN(), KMin: math.NaN(), KMax: math.NaN(),
			})
		}
		if err := r.selected(p, ks, chosen, samples); err != nil {
			return err
		}
	}
	return nil
}

// selected simulates the union of samples and tells them apart.
func (r *metaSimRun) selected(p *phase.Phases, ks []int, chosen []*phase.PhasePoints, samples []metasim.Sample) error {
	union, err := metasim.Union("union", samples...)
	if err != nil {
		return err
	}
	r.step("%d of %d intervals", len(union.Stretches), p.Vectors.Len())
	stored, err := phase.SimulateSample(r.ctx, p, r.s.Machine.Hierarchy(), union, metasim.SimulateOptions{})
	if err != nil {
		return fmt.Errorf("perf: %w", err)
	}
	sim := stored.Simulation(union)
	for i, sample := range samples {
		part, err := sim.Select(sample)
		if err != nil {
			return fmt.Errorf("perf: %w", err)
		}
		name := fmt.Sprintf("simpoint k=%d", ks[i])
		if ks[i] == 0 {
			name = "simpoint by score"
		}
		c := &phase.CacheSample{
			Phases: p, Machine: r.s.Machine, Sampling: phase.Sampling{Name: name, Points: chosen[i].Result.Points}, Points: len(sample.Stretches),
			Mismatch: chosen[i].Mismatch, Simulated: part.Simulated, Warmed: sample.Warming(metasim.SimulateOptions{}),
			Cost: phase.RunCost{Seconds: math.NaN(), ProcessorSeconds: math.NaN()}, Warnings: stored.Warnings,
		}
		c.Rate(part)
		r.samples = append(r.samples, c)
	}
	return nil
}

// stability compares the default clustering over seeds.
func (r *metaSimRun) stability() error {
	if r.s.Seeds < 2 {
		return nil
	}
	r.step("stability over %d seeds", r.s.Seeds)
	v := r.standard.Vectors
	for _, k := range []int{0, paperPoints} {
		if k > v.Len() {
			continue
		}
		rep, err := simpoint.Stability(r.ctx, v, simpoint.Options{K: k}, r.s.Seeds)
		if err != nil {
			return fmt.Errorf("perf: %w", err)
		}
		r.clusters = append(r.clusters, clusterRow{
			Program: r.standard.Name, Point: r.standard.Point, Interval: r.standard.Interval, Intervals: v.Len(), Asked: k, K: rep.Runs[0].K, Mismatch: rep.Runs[0].Mismatch,
			Seeds: r.s.Seeds, Agreement: rep.Agreement, Least: rep.LeastAgreement, KMin: float64(rep.KMin), KMax: float64(rep.KMax),
		})
	}
	return nil
}

// findings makes the tables.
func (r *metaSimRun) findings() (*Findings, error) {
	hits, err := phase.HitRates(r.samples...)
	if err != nil {
		return nil, err
	}
	blocks, err := phase.BlockHitRates(r.blocks[0].Rates.Levels[0], r.blocks...)
	if err != nil {
		return nil, err
	}
	const rest = 1e-4 // of the accesses: thousands of blocks that run once
	before, err := frame.Floats(blocks, "share_before")
	if err != nil {
		return nil, err
	}
	shown := 0
	for shown < len(before) && before[shown] < 1-rest {
		shown++
	}
	indices := make([]int, shown)
	for i := range indices {
		indices[i] = i
	}
	f := &Findings{Hits: hits, Blocks: blocks.Subset(indices), Runs: r.runs(), Clusters: frame.Of(r.clusters)}
	return f, errors.Join(f.Blocks.Error(), f.Runs.Error())
}

func (r *metaSimRun) runs() dataframe.DataFrame {
	type row struct {
		Program      string             `frame:"program"`
		Point        map[string]float64 `frame:",each"`
		Machine      string             `frame:"machine"`
		Instructions uint64             `frame:"instructions"`
		Run          string             `frame:"run"`
		Points       int                `frame:"points"`
		Warmup       string             `frame:"warmup"`
		Simulated    float64            `frame:"simulated_share"`
		Executed     float64            `frame:"executed_share"`
		Seconds      float64            `frame:"meas_time_sec"`
		Processor    float64            `frame:"meas_processor_sec"`
		PerUntraced  float64            `frame:"per_untraced"`
		PerFull      float64            `frame:"per_full"`
	}
	full := r.blocks[0].Cost.ProcessorSeconds
	var rows []row
	for _, c := range r.costs {
		cpu := c.Cost.ProcessorSeconds
		rows = append(rows, row{
			r.standard.Name, r.standard.Point, r.s.Machine.Name, r.standard.Instructions, c.Run, c.Points, c.Warmup, c.Simulated, c.Executed,
			c.Cost.Seconds, cpu, cpu / r.untraced.ProcessorSeconds, cpu / full,
		})
	}
	return frame.Of(rows)
}
