package sampling

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"presage/perf/bbv"
	"presage/perf/internal/num"
	"presage/perf/metasim"
	"presage/perf/phase"
	"presage/perf/progress"
	"presage/perf/simpoint"
	"presage/perf/study/record"
	"presage/perf/subject"
)

// RankParameter is the parameter of problems that numbers the ranks of a parallel run,
// for templates of arguments.
const RankParameter = "rank"

// AllRanks stands in RankRow.Rank for all ranks together.
const AllRanks = "all"

// RankRow is the signature of one rank of a parallel run at one level: what it does to
// memory, by a sample and by the full simulation, and what tracing it costs (2005,
// Table 1); or that of all ranks, whose counts and times add up and whose ratios are
// weighted by accesses. Shares and ratios are from 0 to 1.
type RankRow struct {
	Program      string        `frame:"program"`
	Point        subject.Point `frame:",each"` // without the rank
	Machine      string        `frame:"machine"`
	Ranks        int           `frame:"ranks"`
	Rank         string        `frame:"rank"` // from 0, or AllRanks
	Instructions uint64        `frame:"instructions"`
	Accesses     uint64        `frame:"accesses"`
	Sampling     string        `frame:"sampling"`
	Points       int           `frame:"points"`          // stretches that were simulated
	Simulated    float64       `frame:"simulated_share"` // of the instructions
	Level        string        `frame:"level"`
	Hit          float64       `frame:"sim_hit_ratio"`      // see phase.HitRow
	Full         float64       `frame:"sim_full_hit_ratio"` // of the full simulation
	Diff         float64       `frame:"hit_ratio_diff"`
	Err          float64       `frame:"rel_err"`                  // of misses
	ByHistory    float64       `frame:"sim_hit_ratio_by_history"` // with what of the histories is like the points (metasim.ByHistory)
	ErrWith      float64       `frame:"rel_err_by_history"`       // of misses, likewise
	// Processor times: of the program itself, counting its blocks' executions only,
	// simulating the sample, and simulating all.
	Untraced    float64 `frame:"meas_untraced_processor_sec"`
	Vectors     float64 `frame:"meas_vectors_processor_sec"`
	Sampled     float64 `frame:"meas_sampled_processor_sec"`
	Whole       float64 `frame:"meas_full_processor_sec"`
	PerUntraced float64 `frame:"per_untraced"`      // of the sample
	FullPer     float64 `frame:"full_per_untraced"` // of the full simulation
}

// RankBlockRow is a basic block of a rank at one level, as phase.BlockRow.
type RankBlockRow struct {
	Program    string             `frame:"program"`
	Ranks      int                `frame:"ranks"`
	Rank       int                `frame:"rank"`
	Level      string             `frame:"level"`
	PC         string             `frame:"pc"`
	Routine    string             `frame:"routine"`
	Executions uint64             `frame:"executions"`
	Accesses   uint64             `frame:"accesses"`
	Share      float64            `frame:"share"` // of the accesses of the rank
	Rates      map[string]float64 `frame:",each"`
}

// RankFindings are the signatures of the ranks of a parallel run.
type RankFindings struct {
	Rows     []RankRow      // by rank, sampling and level; all ranks last
	Blocks   []RankBlockRow // that make all but the last hundredth of the accesses
	Warnings []string
	origin   string
}

// The samples of ranks: points of the rank's own, and those of the first rank, which
// the paper takes for all of them (2005, section 6).
const (
	guidedOwn   = "simpoint"
	guidedFirst = "simpoint of rank 0"
)

// RunRanks simulates each of the ranks of a parallel run as a run of its own, with its
// number as RankParameter in the template of its arguments. What others would send it
// is the program's matter. Points are chosen by score, and simulated after a history
// that warms caches up. Results are kept in the store.
func (o Options) RunRanks(ctx context.Context, prog *subject.Program, point subject.Point, ranks int) (*RankFindings, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if _, taken := point[RankParameter]; taken || ranks < 1 {
		return nil, fmt.Errorf("perf: metasim: %d ranks at %v: want one or more, and no %s in the problem", ranks, point, RankParameter)
	}
	f := &RankFindings{origin: prog.Name + ", SHA-256 " + prog.File.SHA256}
	var first *simpoint.Result
	for rank := range ranks {
		at := subject.Point{RankParameter: float64(rank)}
		maps.Copy(at, point)
		o.Progress.Report(progress.Report{Task: fmt.Sprintf("rank %d of %d", rank, ranks), Done: rank, Total: ranks})
		one := o
		one.Progress = nil
		p, err := phase.BlockVectors(ctx, prog, at, phase.Options{RunOptions: one.RunOptions, Interval: bbv.DefaultInterval})
		if err != nil {
			return nil, err
		}
		chosen, err := p.Pick(ctx, clustering(0))
		if err != nil {
			return nil, err
		}
		if rank == 0 {
			first = chosen.Result
		}
		r := ranked{Options: one, intervals: p, ranks: ranks, rank: rank, point: point}
		if err := r.simulate(ctx, f, chosen.Result, first); err != nil {
			return nil, err
		}
	}
	o.Progress.Finish(ranks)
	f.Rows = append(f.Rows, together(f.Rows)...)
	return f, nil
}

// ranked is one rank under study.
type ranked struct {
	Options
	intervals   *phase.Intervals
	ranks, rank int
	point       subject.Point
}

// simulate adds the rank's rows, by its own points and by those of the first.
func (r *ranked) simulate(ctx context.Context, f *RankFindings, own, first *simpoint.Result) error {
	p := r.intervals
	points, moved := within(first.Points, p.Vectors.Len())
	labels := extended(first.Labels, p.Vectors.Len())
	if moved {
		f.Warnings = append(f.Warnings, fmt.Sprintf("rank %d: a point of rank 0 lies behind its end: its last interval is taken, and histories do not count", r.rank))
		labels = nil
	}
	samplings := []phase.Sampling{
		{Full: true},
		{Name: guidedOwn, Points: own.Points, Labels: own.Labels, Warmup: metasim.WarmHistory},
		{Name: guidedFirst, Points: points, Labels: labels, Warmup: metasim.WarmHistory},
	}
	samples, err := phase.SampleCaches(ctx, p, r.Machine, samplings)
	if err != nil {
		return err
	}
	hits, err := phase.HitRates(samples...)
	if err != nil {
		return err
	}
	cost := phase.Overhead{Untraced: phase.RunCost{ProcessorSeconds: math.NaN()}, Sampled: phase.RunCost{ProcessorSeconds: math.NaN()}}
	if r.Repeats > 0 {
		if cost, err = p.Overhead(ctx, phase.OverheadOptions{Machine: r.Machine, Sampling: samplings[1], Repeats: r.Repeats}); err != nil {
			return err
		}
	}
	accesses := uint64(0)
	for b, n := range p.Executions {
		accesses += n * uint64(p.Code.Blocks[b].Refs)
	}
	for _, h := range hits {
		if h.Sampling == fullRun.Title() {
			continue
		}
		row := RankRow{
			Program: p.Name, Point: r.point, Machine: h.Machine, Ranks: r.ranks, Rank: strconv.Itoa(r.rank),
			Instructions: p.Instructions, Accesses: accesses, Sampling: h.Sampling, Points: h.Points, Simulated: h.Simulated,
			Level: h.Level, Hit: h.Hit, Full: h.Full, ByHistory: h.ByAccess,
			Untraced: cost.Untraced.ProcessorSeconds, Vectors: p.Cost.ProcessorSeconds, Whole: samples[0].Cost.ProcessorSeconds,
			Sampled: cost.Sampled.ProcessorSeconds,
		}
		if h.Sampling != guidedOwn {
			row.Sampled = math.NaN() // as many points, and not timed
		}
		f.Rows = append(f.Rows, row.compared())
	}
	for _, c := range samples {
		f.Warnings = append(f.Warnings, c.Warnings...)
	}
	return r.blocks(f, samples)
}

// within returns points with the weight of those behind the last of n intervals moved to
// it, and whether there were any.
func within(points []simpoint.Point, n int) (all []simpoint.Point, moved bool) {
	for _, q := range points {
		if q.Interval >= n {
			q.Interval, moved = n-1, true
		}
		if i := slices.IndexFunc(all, func(o simpoint.Point) bool { return o.Interval == q.Interval }); i >= 0 {
			all[i].Weight += q.Weight
			continue
		}
		all = append(all, q)
	}
	return all, moved
}

// extended returns the labels of n intervals: those beyond the last known one are as it.
func extended(labels []int, n int) []int {
	all := slices.Clone(labels[:min(n, len(labels))])
	for len(all) < n {
		all = append(all, labels[len(labels)-1])
	}
	return all
}

// blocks adds the rank's basic blocks at each level.
func (r *ranked) blocks(f *RankFindings, samples []*phase.CacheSample) error {
	const rest = 1e-2 // of the accesses: blocks that matter little
	for _, level := range samples[0].Rates.Levels {
		rows, err := phase.BlockHitRates(level, samples...)
		if err != nil {
			return err
		}
		for _, b := range rows {
			if b.Before >= 1-rest {
				break
			}
			f.Blocks = append(f.Blocks, RankBlockRow{
				Program: b.Program, Ranks: r.ranks, Rank: r.rank, Level: b.Level, PC: b.PC, Routine: b.Routine,
				Executions: b.Executions, Accesses: b.Accesses, Share: b.Share, Rates: b.Rates,
			})
		}
	}
	return nil
}

// compared returns the row with what follows from its hit ratios and times.
func (r RankRow) compared() RankRow {
	r.Diff, r.Err, r.ErrWith = r.Hit-r.Full, num.RelErr(1-r.Hit, 1-r.Full), num.RelErr(1-r.ByHistory, 1-r.Full)
	r.PerUntraced, r.FullPer = r.Sampled/r.Untraced, r.Whole/r.Untraced
	return r
}

// together returns a row of all ranks for each sampling and level, in the order of the
// first rank's.
func together(rows []RankRow) (all []RankRow) {
	type key struct{ sampling, level string }
	at := make(map[key]int)
	for _, r := range rows {
		k := key{r.Sampling, r.Level}
		i, known := at[k]
		if !known {
			i = len(all)
			at[k] = i
			all = append(all, RankRow{Program: r.Program, Point: r.Point, Machine: r.Machine, Ranks: r.Ranks, Rank: AllRanks, Sampling: r.Sampling, Level: r.Level})
		}
		a := &all[i]
		a.Instructions, a.Accesses, a.Points = a.Instructions+r.Instructions, a.Accesses+r.Accesses, a.Points+r.Points
		a.Simulated += r.Simulated * float64(r.Instructions)
		n := float64(r.Accesses)
		a.Hit, a.Full, a.ByHistory = a.Hit+r.Hit*n, a.Full+r.Full*n, a.ByHistory+r.ByHistory*n
		a.Untraced, a.Vectors, a.Sampled, a.Whole = a.Untraced+r.Untraced, a.Vectors+r.Vectors, a.Sampled+r.Sampled, a.Whole+r.Whole
	}
	for i := range all {
		a := &all[i]
		a.Simulated /= float64(a.Instructions)
		n := float64(a.Accesses)
		a.Hit, a.Full, a.ByHistory = a.Hit/n, a.Full/n, a.ByHistory/n
		*a = a.compared()
	}
	return all
}

// Files of RankFindings, after the prefix of their names.
const (
	ranksFile      = "-ranks.csv"
	rankBlocksFile = "-rankblocks.csv"
)

// Record records the tables in files whose names begin with prefix. command makes
// them again.
func (f *RankFindings) Record(prefix, command string) error {
	from := record.Source{Origin: "simulated by presage, times measured; " + f.origin, Command: command}
	return errors.Join(record.Write(prefix+ranksFile, f.Rows, from), record.Write(prefix+rankBlocksFile, f.Blocks, from))
}
