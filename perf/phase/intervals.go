package phase

import (
	"context"
	"fmt"
	"os"

	"presage/perf/bbv"
	"presage/perf/campaign"
	"presage/perf/engine"
	"presage/perf/metasim"
	"presage/perf/store"
	"presage/perf/subject"
)

// Intervals are the intervals of a run, and the code that each of them executes.
// They are not modified once made, and may be shared.
type Intervals struct {
	Name         string           // of the program, or of the file that they were read from
	Program      *subject.Program // nil if they were read from a file
	Point        subject.Point
	Args         []string
	Interval     uint64        // instructions of an interval; the last one may be shorter
	Instructions uint64        // of the run
	Code         *metasim.Code // basic blocks, by ascending address
	Executions   []uint64      // of each of Code.Blocks, in the whole run
	Vectors      *bbv.Vectors  // of the intervals, over Code.Blocks
	Cost         RunCost       // of collecting them
	Warnings     []string

	in       subject.Inputs
	stored   *store.Store
	campaign *campaign.Runner
}

// Options say how a run is divided into intervals. The zero value is the default
// throughout.
type Options struct {
	subject.RunOptions
	Interval uint64 // instructions; 0: a million, as in the 2005 paper on SimPoint
}

// storedVectors is what the store holds of a run's vectors.
type storedVectors struct {
	Vectors      *bbv.Vectors
	Executions   []uint64
	Instructions uint64
	Cost         RunCost
	Warnings     []string
}

// storeVersion is part of the key of stored vectors: raise it when the meaning of
// storedVectors, or the blocks of a program, change. sampleVersion is that of simulations
// and of their times.
const (
	storeVersion  = 3
	sampleVersion = 5
)

// BlockVectors runs prog once at the point, and counts the instructions that each
// interval executes in each basic block. Results are kept in the store.
func BlockVectors(ctx context.Context, prog *subject.Program, point subject.Point, opt Options) (*Intervals, error) {
	if opt.Interval == 0 {
		opt.Interval = bbv.DefaultInterval
	}
	loaded, err := prog.At(ctx, point, opt.RunOptions)
	if err != nil {
		return nil, err
	}
	prog, in := loaded.Program, loaded.Inputs
	st, err := store.OrDefault(opt.Store)
	if err != nil {
		return nil, err
	}
	code, err := metasim.CodeOf(prog.Structure().Graph)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", prog.Name, err)
	}
	opt.Store = st
	inputs := vectorInputs{in, opt.Interval}
	if err := opt.Campaign.Need(ctx, st, opt.Progress, func() (campaign.Job, error) { return inputs.job(prog, point, st) }); err != nil {
		return nil, err
	}
	memo, err := inputs.collect(ctx, prog, code, subject.Step{Options: &opt.RunOptions, Point: point, Total: 1})
	if err != nil {
		return nil, err
	}
	found := memo.Value
	opt.Progress.Finish(1)
	p := &Intervals{
		Name: prog.Name, Program: prog, Point: point, Args: in.Args, Interval: opt.Interval, Instructions: found.Instructions,
		Code: code, Executions: found.Executions, Vectors: found.Vectors, Cost: found.Cost, Warnings: found.Warnings,
		in: in, stored: st, campaign: opt.Campaign,
	}
	if memo.Warning != "" {
		p.Warnings = append(p.Warnings, memo.Warning)
	}
	return p, nil
}

// vectorInputs is what storedVectors depend on.
type vectorInputs struct {
	Inputs   subject.Inputs
	Interval uint64
}

const vectorsKind = "phases"

// collect returns the vectors, from the store if they are there.
func (v *vectorInputs) collect(ctx context.Context, prog *subject.Program, code *metasim.Code, step subject.Step) (store.Memoized[*storedVectors], error) {
	return subject.Memo(step, vectorsKind, storeVersion, *v, func(running func(uint64)) (*storedVectors, error) {
		return collect(ctx, (&blockRunner{prog, v.Inputs}).run, code, metasim.CollectOptions{Interval: v.Interval, Progress: running})
	})
}

func collect(ctx context.Context, run engine.Runner, code *metasim.Code, opt metasim.CollectOptions) (*storedVectors, error) {
	var prof *metasim.Profile
	cost, err := Timed(func() (err error) {
		prof, err = metasim.Collect(ctx, run, code, opt)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	return &storedVectors{prof.Vectors, prof.Executions, prof.Instructions, cost, errorTexts(prof.Warnings)}, nil
}

func errorTexts(list []error) (out []string) {
	for _, err := range list {
		out = append(out, err.Error())
	}
	return out
}

// accesses returns the number of memory references executed in the run.
func (p *Intervals) accesses() (sum uint64) {
	for b, n := range p.Executions {
		sum += n * uint64(p.Code.Blocks[b].Refs)
	}
	return sum
}

// Coarser returns the same run in intervals that are factor times as long.
func (p *Intervals) Coarser(factor int) (*Intervals, error) {
	v, err := p.Vectors.Coarser(factor)
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	q := *p
	q.Vectors, q.Interval = v, p.Interval*uint64(factor)
	return &q, nil
}

// ReadVectors reads basic-block vectors in the .bb format of SimPoint 3.2, which
// valgrind's exp-bbv writes too. Points can be chosen from them, but nothing can
// be simulated: the program is not known.
func ReadVectors(path string) (*Intervals, error) {
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
	return &Intervals{Name: path, Interval: v.Lengths[0], Instructions: v.Total(), Vectors: v}, nil
}

// runnable returns an error if the program of the intervals is not known.
func (p *Intervals) runnable() error {
	if p.Program == nil {
		return fmt.Errorf("perf: %s: the phases were read from a file, and which program they are of is not known; use BlockVectors", p.Name)
	}
	return nil
}

// DefaultSimilarity is the number of intervals that Similarity compares at most by
// default.
const DefaultSimilarity = 250

// SimilarityOptions say what Similarity compares.
type SimilarityOptions struct {
	Limit int // intervals compared, evenly spaced, if there are more; 0: DefaultSimilarity
}

// SimilarityRow compares two intervals.
type SimilarityRow struct {
	X          uint64  `frame:"x_instructions"` // executed before the one
	Y          uint64  `frame:"y_instructions"` // executed before the other
	Difference float64 `frame:"difference"`     // half the sum of absolute differences between the blocks' shares of instructions: 0 if both execute the same mix of code, 1 if no block is in both
}

// Similarity returns a row for each ordered pair of the intervals compared.
func (p *Intervals) Similarity(opt SimilarityOptions) ([]SimilarityRow, error) {
	if opt.Limit == 0 {
		opt.Limit = DefaultSimilarity
	}
	if opt.Limit < 2 {
		return nil, fmt.Errorf("perf: similarity of %d intervals: want two at least", opt.Limit)
	}
	n := p.Vectors.Len()
	shown := min(n, opt.Limit)
	rows := make([]SimilarityRow, 0, shown*shown)
	at := func(i int) int { return int(int64(i) * int64(n) / int64(shown)) }
	for x := range shown {
		for y := range shown {
			rows = append(rows, SimilarityRow{p.Vectors.Starts[at(x)], p.Vectors.Starts[at(y)], p.Vectors.Difference(at(x), at(y))})
		}
	}
	return rows, nil
}
