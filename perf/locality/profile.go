package locality

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"presage/perf/anatomy"
	"presage/perf/reuse"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// Count counts the program as the function Count does, in a run like the one that
// was profiled; a nil store is the default one. It fails if files that the program
// reads have changed since.
func (r *Run) Count(ctx context.Context, st *store.Store) (*anatomy.Counts, error) {
	was := r.Recorded.Inputs
	opt := subject.RunOptions{Env: was.Env, Stdin: was.Stdin, Folders: was.Folders, MaxInstructions: was.MaxInstructions, Store: st}
	in, err := r.Program.InputsOf(was.Args, opt)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(in.Files, was.Files) {
		return nil, fmt.Errorf("perf: %s: files that the program reads have changed since it was profiled; profile again", r.Point)
	}
	return anatomy.CountInputs(r.Program, ctx, r.Point, in, opt)
}

// DefaultBlockBytes are the block sizes that Profile collects by default: the
// usual cache lines (2005, section 3) and the reach of a TLB entry of the
// machines that the papers study (2005, section 6).
var DefaultBlockBytes = []uint64{32, 64, 128, 16 << 10, 32 << 10}

// ProfileOptions say what Profile collects. The zero value is the documented
// default throughout.
type ProfileOptions struct {
	subject.RunOptions
	// BlockBytes are the memory block sizes for which reuse distances are
	// collected, powers of two; nil: DefaultBlockBytes. Machine.BlockBytes tells
	// which a machine needs.
	BlockBytes []uint64
	// Stack also records the traffic of the calling convention and of register
	// allocation: registers that are saved, spilled and restored, arguments on
	// the stack. As in the papers (2005, section 2) it is left out otherwise,
	// and only counted.
	Stack bool
	// SampleOneIn, a power of two, is to look at the reuses of one memory block
	// in so many, chosen by a hash: faster, and an estimate with an error that
	// MissEstimates tells and warnings sum up. 0 and 1 are to look at all, which
	// is exact, and the default.
	SampleOneIn uint64
	// SampleSeed chooses another sample.
	SampleSeed uint64
}

// Runs are the profiles of one program at several points: of one executable,
// or of several that were compiled for a point each.
type Runs struct {
	Name     string   // of the program, in tables
	Runs     []Run    // in the order of the points asked for
	Warnings []string // what is doubtful about them

	shared *SharedGroups // the groups that the runs have in common
}

// Run is the profile of one run.
type Run struct {
	Program      *subject.Program // that was run
	Point        subject.Point
	Args         []string
	Instructions uint64 // executed by the program, its threads together
	Accesses     uint64 // recorded executions of memory references
	Stack        uint64 // executions that were not recorded, being traffic of the stack
	Stdout       string // the end of what the program printed

	// Reuse holds the histograms for each block size, by ascending size.
	Reuse []*reuse.Result

	Recorded Recorded
	warnings []string
}

// Recorded is everything that a run's histograms depend on.
type Recorded struct {
	Inputs subject.Inputs
	Plan   string // digest of what was recorded
	Stack  bool   // ProfileOptions.Stack

	// Of ProfileOptions; 0 where all blocks were looked at.
	SampleOneIn uint64 `json:",omitempty"`
	SampleSeed  uint64 `json:",omitempty"`
}

// newRun puts together what the store holds of a run.
func newRun(prog *subject.Program, point subject.Point, rec Recorded, sizes []uint64, found map[uint64]*storedReuse) Run {
	run := Run{Program: prog, Point: point, Recorded: rec}
	for _, size := range sizes {
		run.Reuse = append(run.Reuse, found[size].Result)
	}
	facts := found[sizes[0]].Facts
	run.Args, run.Instructions, run.Accesses, run.Stdout = facts.Args, facts.Instructions, facts.Accesses, facts.Stdout
	run.Stack, run.warnings = found[sizes[0]].Stack, facts.Warnings
	return run
}

// BlockBytes returns the block sizes that the runs have in common.
func (r *Runs) BlockBytes() []uint64 {
	var sizes []uint64
	if len(r.Runs) > 0 {
		for _, res := range r.Runs[0].Reuse {
			sizes = append(sizes, res.BlockBytes)
		}
	}
	return sizes
}

// ReuseVersion is part of the key of a stored histogram, beside the engine and
// the plan: raise it when the meaning of reuse.Result changes.
const ReuseVersion = 1

// storedReuse is what the store holds for one run and block size.
type storedReuse struct {
	Facts  subject.RunFacts
	Stack  uint64 // accesses that were left out
	Result *reuse.Result
}

// Profile runs prog at each point and collects, for every memory reference, the
// exact reuse-distance histogram at several block sizes, in one run a point.
// Results are kept in the store, each as soon as its run has ended: a sweep that
// is interrupted goes on where it stopped.
func Profile(ctx context.Context, prog *subject.Program, points []subject.Point, opt ProfileOptions) (*Runs, error) {
	todo := make([]subject.BinaryPoint, len(points))
	for i, p := range points {
		todo[i] = subject.BinaryPoint{Point: p, Program: prog}
	}
	return profileAll(ctx, prog.Name, todo, opt)
}

func profileAll(ctx context.Context, name string, points []subject.BinaryPoint, opt ProfileOptions) (*Runs, error) {
	sizes := slices.Clone(opt.BlockBytes)
	if len(sizes) == 0 {
		sizes = slices.Clone(DefaultBlockBytes)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	if sizes[0] == 0 {
		return nil, errors.New("perf: a block size of 0 bytes: want powers of two")
	}
	for i, p := range points {
		if slices.ContainsFunc(points[:i], func(q subject.BinaryPoint) bool { return maps.Equal(p.Point, q.Point) }) {
			return nil, fmt.Errorf("perf: point %q is asked for twice", p.Point)
		}
	}
	st, err := subject.StoreOrDefault(opt.Store)
	if err != nil {
		return nil, err
	}
	runs := &Runs{Name: name}
	for i, p := range points {
		report := opt.Reporter(p.Point, i, len(points))
		run, warnings, err := profileOne(ctx, p.Program, p.Point, sizes, opt, st, report)
		if err != nil {
			return nil, err
		}
		runs.Runs = append(runs.Runs, run)
		runs.Warnings = append(runs.Warnings, warnings...)
	}
	opt.Finished(len(points))
	return runs, runs.share()
}

func profileOne(ctx context.Context, prog *subject.Program, point subject.Point, sizes []uint64, opt ProfileOptions, st *store.Store, report func(uint64, bool)) (Run, []string, error) {
	in, err := prog.Inputs(point, opt.RunOptions)
	if err != nil {
		return Run{}, nil, err
	}
	plan, err := prog.PlanFor(opt.Stack)
	if err != nil {
		return Run{}, nil, err
	}
	rec := Recorded{Inputs: in, Plan: plan.Digest(), Stack: opt.Stack}
	if opt.SampleOneIn > 1 {
		rec.SampleOneIn, rec.SampleSeed = opt.SampleOneIn, opt.SampleSeed
	}
	found := make(map[uint64]*storedReuse)
	var missing []uint64
	var warnings []string
	for _, size := range sizes {
		stored, warning, err := loadReuse(st, rec, size)
		if err != nil {
			return Run{}, nil, err
		}
		if warning != "" {
			warnings = append(warnings, warning+"; the run was repeated")
		}
		if stored == nil {
			missing = append(missing, size)
			continue
		}
		found[size] = stored
	}
	report(0, len(missing) == 0)
	if len(missing) > 0 {
		fresh, err := collectReuse(ctx, prog, rec, missing, plan, func(n uint64) { report(n, false) })
		if err != nil {
			return Run{}, nil, err
		}
		if !opt.Stack {
			if err := countStack(prog, ctx, point, opt.RunOptions, fresh); err != nil {
				return Run{}, nil, err
			}
		}
		for _, s := range fresh {
			found[s.Result.BlockBytes] = s
			warnings = append(warnings, saveReuse(st, rec, s)...)
		}
	}
	run := newRun(prog, point, rec, sizes, found)
	return run, slices.Concat(warnings, run.warnings, run.sampled()), nil
}

// collectReuse runs the program once for all the block sizes.
func collectReuse(ctx context.Context, prog *subject.Program, rec Recorded, sizes []uint64, plan *trace.Plan, progress func(uint64)) ([]*storedReuse, error) {
	collectors := make([]*reuse.Collector, len(sizes))
	all := make([]trace.Collector, len(sizes))
	for i, size := range sizes {
		c, err := reuse.New(plan, reuse.Options{BlockBytes: size, SampleOneIn: rec.SampleOneIn, SampleSeed: rec.SampleSeed})
		if err != nil {
			return nil, err
		}
		collectors[i], all[i] = c, c
	}
	facts, err := prog.Execute(ctx, rec.Inputs, plan, progress, all...)
	if err != nil {
		return nil, err
	}
	stored := make([]*storedReuse, len(sizes))
	for i, c := range collectors {
		stored[i] = &storedReuse{Facts: facts, Result: c.Result()}
	}
	return stored, nil
}

// countStack adds to the profiles of a run how many accesses were left out.
func countStack(p *subject.Program, ctx context.Context, point subject.Point, opt subject.RunOptions, fresh []*storedReuse) error {
	opt.Progress = nil
	counts, err := anatomy.Count(ctx, p, point, opt)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, s := range fresh {
		if err != nil {
			s.Facts.Warnings = append(s.Facts.Warnings, fmt.Sprintf("accesses to the stack were left out and could not be counted: %v", err))
		} else {
			s.Stack = counts.Stack()
		}
	}
	return nil
}

func reuseKey(rec Recorded, blockBytes uint64) (store.Key, error) {
	return store.NewKey("reuse", ReuseVersion, struct {
		Recorded   Recorded
		BlockBytes uint64
	}{rec, blockBytes})
}

// loadReuse returns nil if the store has no usable entry.
// The string tells of one that is damaged.
func loadReuse(st *store.Store, rec Recorded, blockBytes uint64) (*storedReuse, string, error) {
	key, err := reuseKey(rec, blockBytes)
	if err != nil {
		return nil, "", err
	}
	var s storedReuse
	var corrupt *store.CorruptError
	switch err := st.Load(key, &s); {
	case err == nil:
		return &s, "", nil
	case errors.Is(err, store.ErrMissing):
		return nil, "", nil
	case errors.As(err, &corrupt):
		return nil, err.Error(), nil
	default:
		return nil, "", err
	}
}

func saveReuse(st *store.Store, rec Recorded, s *storedReuse) []string {
	key, err := reuseKey(rec, s.Result.BlockBytes)
	if err == nil {
		err = st.Save(key, s)
	}
	if err != nil {
		return []string{fmt.Sprintf("%v; the profile was not kept", err)}
	}
	return nil
}
