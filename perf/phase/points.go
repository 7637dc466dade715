package phase

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"presage/perf/bbv"
	"presage/perf/engine"
	"presage/perf/frame"
	"presage/perf/metasim"
	"presage/perf/simpoint"
	"presage/perf/store"
	"presage/perf/subject"

	"github.com/go-gota/gota/dataframe"
)

// Phases are the intervals of a run, and which code each of them executes. They
// are not modified once made, and may be shared.
type Phases struct {
	Name         string // of the program
	Program      *subject.Program
	Point        subject.Point
	Args         []string
	Interval     uint64        // instructions of an interval; the last one may be shorter
	Instructions uint64        // of the run
	Code         *metasim.Code // basic blocks, by ascending address
	Executions   []uint64      // of each of Code.Blocks, in the whole run
	Vectors      *bbv.Vectors  // of the intervals, over Code.Blocks
	Cost         RunCost       // of collecting them
	Warnings     []string

	in     subject.Inputs
	stored *store.Store
}

// RunCost is what a run took.
type RunCost struct {
	Seconds          float64 // by the clock
	ProcessorSeconds float64 // of all threads of the process; NaN where the system does not tell
}

// PhaseOptions say how a run is cut into intervals. The zero value is the default
// throughout.
type PhaseOptions struct {
	subject.RunOptions
	Interval uint64 // instructions; 0: a million, as in the 2005 paper on SimPoint
}

// storedPhases is what the store holds of a run's vectors.
type storedPhases struct {
	Vectors      *bbv.Vectors
	Executions   []uint64
	Instructions uint64
	Cost         RunCost
	Warnings     []string
}

// phasesVersion is part of the key of stored vectors and simulations: raise it
// when the meaning of storedPhases or storedSample, or the blocks of a program,
// change.
const phasesVersion = 1

// BlockVectors runs prog once at the point, and collects how many instructions
// each interval executes in each basic block. Results are kept in the store.
func BlockVectors(ctx context.Context, prog *subject.Program, point subject.Point, opt PhaseOptions) (*Phases, error) {
	if opt.Interval == 0 {
		opt.Interval = bbv.DefaultInterval
	}
	in, err := prog.Inputs(point, opt.RunOptions)
	if err != nil {
		return nil, err
	}
	st, err := subject.StoreOrDefault(opt.Store)
	if err != nil {
		return nil, err
	}
	code, err := metasim.CodeOf(prog.Structure().Graph)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", prog.Name, err)
	}
	key, err := store.NewKey("phases", phasesVersion, struct {
		Inputs   subject.Inputs
		Interval uint64
	}{in, opt.Interval})
	if err != nil {
		return nil, err
	}
	report := opt.Reporter(point, 0, 1)
	stored := true
	found, warning, err := store.Memo(st, key, func() (*storedPhases, error) {
		stored = false
		report(0, false)
		return collectPhases(ctx, (&blockRunner{prog, in}).run, code, metasim.CollectOptions{
			Interval: opt.Interval, Progress: func(n uint64) { report(n, false) },
		})
	})
	if err != nil {
		return nil, err
	}
	if stored {
		report(0, true)
	}
	opt.Finished(1)
	p := &Phases{
		Name: prog.Name, Program: prog, Point: point, Args: in.Args, Interval: opt.Interval, Instructions: found.Instructions,
		Code: code, Executions: found.Executions, Vectors: found.Vectors, Cost: found.Cost, Warnings: found.Warnings,
		in: in, stored: st,
	}
	if warning != nil {
		p.Warnings = append(p.Warnings, warning.Error())
	}
	return p, nil
}

func collectPhases(ctx context.Context, run engine.Runner, code *metasim.Code, opt metasim.CollectOptions) (*storedPhases, error) {
	out := new(storedPhases)
	var prof *metasim.Profile
	cost, err := CostOf(func() (err error) {
		prof, err = metasim.Collect(ctx, run, code, opt)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	out.Vectors, out.Executions, out.Instructions, out.Cost = prof.Vectors, prof.Executions, prof.Instructions, cost
	out.Warnings = errorTexts(prof.Warnings)
	return out, nil
}

func errorTexts(list []error) (out []string) {
	for _, err := range list {
		out = append(out, err.Error())
	}
	return out
}

// blockRunner runs a program for package metasim.
type blockRunner struct {
	prog *subject.Program
	in   subject.Inputs
}

// run is an engine.Runner, to which a program that fails is an error.
func (r *blockRunner) run(ctx context.Context, q engine.Request) (*engine.Outcome, error) {
	stdout, stderr := new(subject.Tail), new(subject.Tail)
	do, err := r.prog.Runner(r.in, stdout, stderr)
	if err != nil {
		return nil, err
	}
	out, err := do(ctx, q)
	if err == nil {
		err = out.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w%s", r.in.Command(), err, subject.Quote(stderr, stdout))
	}
	return out, nil
}

// Coarser returns the phases with intervals that are factor times as long.
func (p *Phases) Coarser(factor int) (*Phases, error) {
	v, err := p.Vectors.Coarser(factor)
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	q := *p
	q.Vectors, q.Interval = v, p.Interval*uint64(factor)
	return &q, nil
}

// ReadPhases reads basic-block vectors in the .bb format of SimPoint 3.2, as
// valgrind's exp-bbv writes them too. Points can be chosen from them, and
// nothing be simulated: the program is not known.
func ReadPhases(path string) (*Phases, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	defer f.Close() // only read
	v, err := bbv.Read(f, path)
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	if v.Len() == 0 {
		return nil, fmt.Errorf("perf: %s has no intervals", path)
	}
	return &Phases{Name: path, Interval: v.Lengths[0], Instructions: v.Total(), Vectors: v}, nil
}

// PhasePoints is a choice of intervals that stand for the whole run.
type PhasePoints struct {
	*Phases
	*simpoint.Result
}

// Points chooses intervals that stand for the whole run. The zero Options take as
// many as their score asks for, 30 at most.
func (p *Phases) Points(ctx context.Context, opt simpoint.Options) (*PhasePoints, error) {
	r, err := simpoint.Pick(ctx, p.Vectors, opt)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", p.Name, err)
	}
	return &PhasePoints{p, r}, nil
}

// Frame returns a row for each simulation point, by cluster:
//
//   - cluster, interval: from 0; start_instructions: executed before it
//   - interval_instructions: of this interval
//   - weight: share of the run that it stands for, from 0 to 1
//   - distance: from the centre of its cluster, in the projected space, where
//     vectors have a sum of 1
func (p *PhasePoints) Frame() dataframe.DataFrame {
	type row struct {
		Program  string  `frame:"program"`
		Cluster  int     `frame:"cluster"`
		Interval int     `frame:"interval"`
		Start    uint64  `frame:"start_instructions"`
		Length   uint64  `frame:"interval_instructions"`
		Weight   float64 `frame:"weight"`
		Distance float64 `frame:"distance"`
	}
	var rows []row
	for _, q := range p.Result.Points {
		rows = append(rows, row{p.Name, q.Cluster, q.Interval, p.Vectors.Starts[q.Interval], p.Vectors.Lengths[q.Interval], q.Weight, q.Distance})
	}
	return frame.Of(rows)
}

// Timeline returns a row for each interval, in the order of time:
//
//   - interval, start_instructions, interval_instructions, cluster, distance: as
//     in Frame
//   - point: it is a simulation point
func (p *PhasePoints) Timeline() dataframe.DataFrame {
	type row struct {
		Program  string  `frame:"program"`
		Interval int     `frame:"interval"`
		Start    uint64  `frame:"start_instructions"`
		Length   uint64  `frame:"interval_instructions"`
		Cluster  int     `frame:"cluster"`
		Distance float64 `frame:"distance"`
		Point    bool    `frame:"point"`
	}
	point := make(map[int]bool)
	for _, q := range p.Result.Points {
		point[q.Interval] = true
	}
	rows := make([]row, p.Vectors.Len())
	for i := range rows {
		rows[i] = row{p.Name, i, p.Vectors.Starts[i], p.Vectors.Lengths[i], p.Labels[i], p.Distances[i], point[i]}
	}
	return frame.Of(rows)
}

// Scores returns a row for each number of clusters that was tried:
//
//   - k: asked for; found: fewer if fewer intervals differ
//   - bic: the score, of which the smallest k with a good one is chosen
//   - variance: mean square of distances from the centres
//   - chosen: of those that found as many, the first
func (p *PhasePoints) Scores() dataframe.DataFrame {
	type row struct {
		K        int     `frame:"k"`
		Found    int     `frame:"found"`
		Score    float64 `frame:"bic"`
		Variance float64 `frame:"variance"`
		Chosen   bool    `frame:"chosen"`
	}
	chosen := slices.IndexFunc(p.Trials, func(t simpoint.Trial) bool { return t.Found == p.K })
	var rows []row
	for i, t := range p.Trials {
		rows = append(rows, row{t.K, t.Found, t.Score, t.Variance, i == chosen})
	}
	return frame.Of(rows)
}

// DefaultSimilarity is how many intervals Similarity compares at most where
// nothing else is asked for.
const DefaultSimilarity = 250

// Similarity returns a row for each two intervals that are compared, both ways
// round: all of them, or evenly spaced ones, limit at most (0:
// DefaultSimilarity).
//
//   - x_instructions, y_instructions: executed before the two intervals
//   - difference: half the sum of absolute differences between the shares of
//     instructions that blocks have in them; 0 if they execute the same mix of
//     code, 1 if none of the same
func (p *Phases) Similarity(limit int) (dataframe.DataFrame, error) {
	type row struct {
		X          uint64  `frame:"x_instructions"`
		Y          uint64  `frame:"y_instructions"`
		Difference float64 `frame:"difference"`
	}
	if limit == 0 {
		limit = DefaultSimilarity
	}
	if limit < 2 {
		return dataframe.DataFrame{}, fmt.Errorf("perf: similarity of %d intervals: want two at least", limit)
	}
	n := p.Vectors.Len()
	shown := min(n, limit)
	rows := make([]row, 0, shown*shown)
	at := func(i int) int { return int(int64(i) * int64(n) / int64(shown)) }
	for x := range shown {
		for y := range shown {
			rows = append(rows, row{p.Vectors.Starts[at(x)], p.Vectors.Starts[at(y)], p.Vectors.Difference(at(x), at(y))})
		}
	}
	return frame.Of(rows), nil
}

// WriteFiles writes the vectors, points, weights and labels in the formats of
// SimPoint 3.2: PREFIX.bb, PREFIX.simpoints, PREFIX.weights and PREFIX.labels.
func (p *PhasePoints) WriteFiles(prefix string) error {
	return errors.Join(
		store.WriteTo(prefix+".bb", func(w io.Writer) error { return bbv.Write(w, p.Vectors) }),
		store.WriteTo(prefix+".simpoints", func(w io.Writer) error { return simpoint.WritePoints(w, p.Result.Points) }),
		store.WriteTo(prefix+".weights", func(w io.Writer) error { return simpoint.WriteWeights(w, p.Result.Points) }),
		store.WriteTo(prefix+".labels", func(w io.Writer) error { return simpoint.WriteLabels(w, p.Result) }),
	)
}

// ReadPoints reads PREFIX.simpoints and PREFIX.weights, from this project or from
// SimPoint 3.2, for Sampling.Points.
func ReadPoints(prefix string) ([]simpoint.Point, error) {
	names := simpoint.Names{Points: prefix + ".simpoints", Weights: prefix + ".weights"}
	var readers [2]io.Reader
	for i, name := range []string{names.Points, names.Weights} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("perf: %w", err)
		}
		readers[i] = strings.NewReader(string(data))
	}
	points, err := simpoint.ReadPoints(readers[0], readers[1], names)
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	return points, nil
}
