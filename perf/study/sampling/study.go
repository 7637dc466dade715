package sampling

import (
	"context"
	"fmt"
	"math"
	"slices"

	"presage/perf/bbv"
	"presage/perf/metasim"
	"presage/perf/phase"
	"presage/perf/progress"
	"presage/perf/simpoint"
	"presage/perf/subject"
)

// study is a study under way.
type study struct {
	Options
	report progress.Func
	parts  int // begun

	intervals []*phase.Intervals // of the run, by Options.Intervals, without those left out
	standard  *phase.Intervals   // of the default length

	untraced phase.RunCost
	samples  []*phase.CacheSample // in the order of the table
	blocks   []*phase.CacheSample // those in the table of blocks; the first is the full simulation
	costs    []cost
	clusters []ClusterRow
}

// cost is a run whose time counts.
type cost struct {
	sampleKey
	points              int
	simulated, executed float64 // shares of the run's instructions
	phase.RunCost
}

func (s *study) begin(format string, args ...any) {
	s.report.Report(progress.Report{Task: fmt.Sprintf(format, args...), Done: s.parts})
	s.parts++
}

// collect collects the vectors of intervals of all lengths.
func (s *study) collect(ctx context.Context, prog *subject.Program, point subject.Point) error {
	s.begin("untraced run")
	n, err := phase.RunLength(ctx, prog, point, s.RunOptions)
	if err != nil {
		return err
	}
	kept := slices.DeleteFunc(slices.Clone(s.Intervals), func(every uint64) bool {
		return every < bbv.DefaultInterval && n/every > maxIntervals
	})
	s.begin("vectors of intervals of %d instructions", kept[0])
	shortest, err := phase.BlockVectors(ctx, prog, point, phase.Options{RunOptions: s.RunOptions, Interval: kept[0]})
	if err != nil {
		return err
	}
	for _, n := range kept {
		p := shortest
		if n > kept[0] {
			if p, err = shortest.Coarser(int(n / kept[0])); err != nil {
				return err
			}
		}
		s.intervals = append(s.intervals, p)
		if n == bbv.DefaultInterval {
			s.standard = p
		}
	}
	s.costs = append(s.costs, cost{sampleKey: collectingVectors, executed: 1, RunCost: shortest.Cost})
	return nil
}

// simulate adds the simulation of a sample of the standard intervals, whose time
// counts.
func (s *study) simulate(ctx context.Context, how phase.Sampling) (*phase.CacheSample, error) {
	s.begin("%s, warm-up %q", how.Title(), how.WarmupTitle())
	list, err := phase.SampleCaches(ctx, s.standard, s.Machine, []phase.Sampling{how})
	if err != nil {
		return nil, err
	}
	c := list[0]
	s.samples = append(s.samples, c)
	n := float64(s.standard.Instructions)
	s.costs = append(s.costs, cost{keyOf(how), c.Points, float64(c.Simulated) / n, float64(c.Executed) / n, c.Cost})
	return c, nil
}

// ahead has those samples simulated together, if there is a campaign, that depend on no
// choice of intervals.
func (s *study) ahead(ctx context.Context) error {
	return s.standard.RunSamples(ctx, s.Machine, append(s.periodicSamples(), fullRun))
}

// periodicSamples are the periodic samples, each with two warm-ups.
func (s *study) periodicSamples() (list []phase.Sampling) {
	for _, percent := range s.Percents {
		for _, w := range []metasim.Warmup{metasim.WarmFixed, metasim.WarmKept} {
			list = append(list, phase.Sampling{Percent: percent, Warmup: w})
		}
	}
	return list
}

func (s *study) full(ctx context.Context) error {
	c, err := s.simulate(ctx, fullRun)
	s.blocks = append(s.blocks, c)
	return err
}

// guided simulates SimPoint's points: those of its defaults with every warm-up, and
// the paper's number of them.
func (s *study) guided(ctx context.Context) error {
	s.begin("clustering")
	var byScore *phase.Selection
	took, err := phase.Timed(func() (err error) {
		byScore, err = s.standard.Pick(ctx, clustering(0))
		return err
	})
	if err != nil {
		return err
	}
	s.costs = append(s.costs, cost{sampleKey: choosingPoints, RunCost: took})
	for _, w := range []metasim.Warmup{metasim.WarmFixed, metasim.WarmNone, metasim.WarmKept, metasim.WarmKeptFixed} {
		how := guidedByScore
		how.Points, how.Warmup = byScore.Points, w
		c, err := s.simulate(ctx, how)
		if err != nil {
			return err
		}
		c.Mismatch = byScore.Mismatch
		if w != metasim.WarmFixed {
			continue
		}
		s.blocks = append(s.blocks, c)
		if err := s.overhead(ctx, how); err != nil {
			return err
		}
	}
	paper, err := s.standard.Pick(ctx, clustering(paperPoints))
	if err != nil {
		return err
	}
	how := guidedByPaper
	how.Points = paper.Points
	c, err := s.simulate(ctx, how)
	if err != nil {
		return err
	}
	c.Mismatch = paper.Mismatch
	s.blocks = append(s.blocks, c)
	return nil
}

// overhead measures the untraced run, and, in turn with it, the sample that was
// simulated last, in place of the time that its simulation took.
func (s *study) overhead(ctx context.Context, how phase.Sampling) error {
	s.begin("overhead over %d runs", s.Repeats)
	both, err := s.standard.Overhead(ctx, phase.OverheadOptions{Machine: s.Machine, Sampling: how, Repeats: s.Repeats})
	if err != nil {
		return err
	}
	s.costs[len(s.costs)-1].RunCost, s.untraced = both.Sampled, both.Untraced
	s.costs = append(s.costs, cost{sampleKey: untracedRun, executed: 1, RunCost: both.Untraced})
	return nil
}

func (s *study) periodic(ctx context.Context) error {
	for _, how := range s.periodicSamples() {
		c, err := s.simulate(ctx, how)
		if err != nil {
			return err
		}
		if how.Warmup == metasim.WarmFixed {
			s.blocks = append(s.blocks, c)
		}
	}
	return nil
}

// sweep varies the number of points and the length of intervals. All points of a
// length are simulated in one run.
func (s *study) sweep(ctx context.Context) error {
	for _, p := range s.intervals {
		ks := []int{0, paperPoints}
		if p == s.standard {
			ks = append([]int{0}, s.Ks...)
		}
		s.begin("clusterings of %d intervals", p.Vectors.Len())
		var chosen []phase.NamedSelection
		simulated := make(map[int]bool) // intervals
		for _, k := range ks {
			if k > p.Vectors.Len() {
				continue
			}
			points, err := p.Pick(ctx, clustering(k))
			if err != nil {
				return err
			}
			for _, q := range points.Points {
				simulated[q.Interval] = true
			}
			chosen = append(chosen, phase.NamedSelection{Name: sweepName(k), Selection: points})
			s.clusters = append(s.clusters, ClusterRow{
				Program: p.Name, Point: p.Point, Interval: p.Interval, Intervals: p.Vectors.Len(), Asked: k, K: points.K, Mismatch: points.Mismatch,
				Seeds: 1, Agreement: math.NaN(), Least: math.NaN(), KMin: math.NaN(), KMax: math.NaN(),
			})
		}
		s.begin("%d of %d intervals", len(simulated), p.Vectors.Len())
		samples, err := phase.SampleTogether(ctx, p, s.Machine, chosen)
		if err != nil {
			return err
		}
		s.samples = append(s.samples, samples...)
	}
	return nil
}

// stability compares the default clustering over seeds.
func (s *study) stability(ctx context.Context) error {
	if s.Seeds < 2 {
		return nil
	}
	s.begin("stability over %d seeds", s.Seeds)
	p := s.standard
	for _, k := range []int{0, paperPoints} {
		if k > p.Vectors.Len() {
			continue
		}
		rep, err := simpoint.Stability(ctx, p.Vectors, clustering(k), s.Seeds)
		if err != nil {
			return fmt.Errorf("perf: %w", err)
		}
		s.clusters = append(s.clusters, ClusterRow{
			Program: p.Name, Point: p.Point, Interval: p.Interval, Intervals: p.Vectors.Len(), Asked: k, K: rep.Runs[0].K, Mismatch: rep.Runs[0].Mismatch,
			Seeds: s.Seeds, Agreement: rep.Agreement, Least: rep.LeastAgreement, KMin: float64(rep.KMin), KMax: float64(rep.KMax),
		})
	}
	return nil
}

// findings makes the tables.
func (s *study) findings(prog *subject.Program) (*Findings, error) {
	hits, err := phase.HitRates(s.samples...)
	if err != nil {
		return nil, err
	}
	blocks, err := phase.BlockHitRates(s.blocks[0].Rates.Levels[0], s.blocks...)
	if err != nil {
		return nil, err
	}
	const rest = 1e-4 // of the accesses: thousands of blocks that run once
	if i := slices.IndexFunc(blocks, func(r phase.BlockRow) bool { return r.Before >= 1-rest }); i >= 0 {
		blocks = blocks[:i]
	}
	warnings := slices.Clone(s.standard.Warnings)
	for _, c := range s.samples {
		warnings = append(warnings, c.Warnings...)
	}
	return &Findings{
		Name: prog.Name, Hits: hits, Blocks: blocks, Runs: s.runs(), Clusters: s.clusters, Warnings: warnings,
		origin: fmt.Sprintf("simulated by presage, times measured; %s, SHA-256 %s", prog.Name, prog.File.SHA256),
	}, nil
}

func (s *study) runs() (rows []RunRow) {
	full := s.blocks[0].Cost.ProcessorSeconds
	for _, c := range s.costs {
		rows = append(rows, RunRow{
			s.standard.Name, s.standard.Point, s.Machine.Name, s.standard.Instructions, c.title, c.points, c.warmup, c.simulated, c.executed,
			c.Seconds, c.ProcessorSeconds, c.ProcessorSeconds / s.untraced.ProcessorSeconds, c.ProcessorSeconds / full,
		})
	}
	return rows
}
