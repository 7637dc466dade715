package locality

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"presage/perf/anatomy"
	"presage/perf/campaign"
	"presage/perf/progress"
	"presage/perf/reuse"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// DefaultBlockBytes are the block sizes that Profile collects by default: the
// usual cache lines (2005, section 3), the usual page, and the reach of a TLB entry
// of the machines that the papers study (2005, section 6).
var DefaultBlockBytes = []uint64{32, 64, 128, 4 << 10, 16 << 10, 32 << 10}

// ProfileOptions configures Profile. The zero value is the documented default.
type ProfileOptions struct {
	subject.RunOptions
	// BlockBytes are the memory block sizes for which reuse distances are
	// collected, powers of two; nil: DefaultBlockBytes. Machine.BlockBytes tells
	// which a machine needs.
	BlockBytes []uint64
	// DataOnly leaves out the traffic of the calling convention and of register
	// allocation, as the papers do (2005, section 2): registers that are saved,
	// spilled and restored, arguments on the stack. It is then only counted, and
	// what is predicted lacks accesses that simulations have, which its warnings
	// say.
	DataOnly bool
	// SampleOneIn, a power of two, observes the reuses of one memory block in
	// SampleOneIn, chosen by a hash: faster, and an estimate, whose error
	// MissEstimates returns and warnings sum up. 0 and 1 observe all blocks, which
	// is exact, and the default.
	SampleOneIn uint64
	// SampleSeed chooses another sample.
	SampleSeed uint64
	// SampleEvenly makes SampleOneIn the rate of blocks of 64 bytes and less. Larger
	// blocks, of which there are fewer, are sampled at a rate that is higher by as
	// much as they are larger, and from 64·SampleOneIn bytes on all of them: of each
	// size, as many blocks are observed, and few pages do not become none.
	SampleEvenly bool
	// Carriers finds the loop that carries each reuse, the object that is accessed
	// and the scope that accessed it before, too, for Runs.Carriers and reuse
	// patterns. It takes all blocks, not a sample, and one to three times as long.
	Carriers bool
	// MustKeep ends the sweep with an error when a profile cannot be kept in the
	// store, before its run where that can be told: for sweeps whose result is the
	// store's folder. By default a warning says so, and the sweep goes on.
	MustKeep bool
}

// Profile runs prog at each point and collects, for every memory reference, the
// exact reuse-distance histogram at several block sizes, in one run a point.
// Results are kept in the store, each as soon as its run has ended: an interrupted
// sweep resumes where it stopped. prog is nil if the options have Binaries: see
// ProfileBinaries.
//
// The error wraps ErrConstant if a parameter makes no difference to the runs.
// Models take MinSizes points at least.
func Profile(ctx context.Context, prog *subject.Program, points []subject.Point, opt ProfileOptions) (*Runs, error) {
	sweep, err := opt.Sweep(prog, points)
	if err != nil {
		return nil, err
	}
	opt.RunOptions = sweep.Options
	return profileAll(ctx, sweep.Name, sweep.Points, opt)
}

func profileAll(ctx context.Context, name string, points []subject.BinaryPoint, opt ProfileOptions) (*Runs, error) {
	sizes, err := opt.blockSizes()
	if err != nil {
		return nil, err
	}
	for i, p := range points {
		if slices.ContainsFunc(points[:i], func(q subject.BinaryPoint) bool { return maps.Equal(p.Point, q.Point) }) {
			return nil, fmt.Errorf("perf: point %q is asked for twice", p.Point)
		}
	}
	if opt.Carriers && opt.SampleOneIn > 1 {
		return nil, fmt.Errorf("perf: carriers of a sample of one block in %d: they take all blocks; leave out SampleOneIn, or Carriers", opt.SampleOneIn)
	}
	if opt.Store, err = store.OrDefault(opt.Store); err != nil {
		return nil, err
	}
	profilers, err := opt.profilers(ctx, points, sizes)
	if err != nil {
		return nil, err
	}
	tasks := make([]campaign.Task[Run], len(points))
	for i, one := range profilers {
		tasks[i] = campaign.Task[Run]{Job: one.job, Collect: one.profile}
	}
	runs := &Runs{Name: name}
	if runs.Runs, err = campaign.Map(ctx, opt.Campaign, opt.Store, opt.Progress, tasks); err != nil {
		return nil, err
	}
	for i, one := range profilers {
		if w := one.prog.AnalysisWarning(); w != "" && !slices.Contains(runs.Warnings, w) {
			runs.Warnings = append(runs.Warnings, w)
		}
		runs.Warnings = slices.Concat(runs.Warnings, one.warnings, runs.Runs[i].warnings, runs.Runs[i].sampled())
	}
	opt.Progress.Finish(len(points))
	if err := runs.share(); err != nil {
		return nil, err
	}
	if err := runs.Varies(); err != nil {
		return nil, err
	}
	return runs, nil
}

// profilers returns what profiles the runs at some points. The options' store is set.
func (opt *ProfileOptions) profilers(ctx context.Context, points []subject.BinaryPoint, sizes []uint64) ([]*profiler, error) {
	all := make([]*profiler, len(points))
	for i, p := range points {
		if opt.MustKeep {
			if _, err := p.Program.Keep(opt.Store); err != nil {
				return nil, err
			}
		}
		loaded, err := p.Program.At(ctx, p.Point, opt.RunOptions)
		if err != nil {
			return nil, err
		}
		rec, err := opt.recorded(loaded.Program, loaded.Inputs)
		if err != nil {
			return nil, err
		}
		all[i] = &profiler{prog: loaded.Program, point: p.Point, rec: rec, sizes: sizes, store: opt.Store, mustKeep: opt.MustKeep, report: func(n uint64, stored bool) {
			opt.Progress.Report(progress.Report{Task: p.Point.String(), Done: i, Total: len(points), Instructions: n, Stored: stored})
		}}
	}
	return all, nil
}

// blockSizes returns the block sizes to collect, ascending.
func (opt *ProfileOptions) blockSizes() ([]uint64, error) {
	sizes := slices.Clone(opt.BlockBytes)
	if len(sizes) == 0 {
		sizes = slices.Clone(DefaultBlockBytes)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	for _, size := range sizes {
		if size == 0 || size&(size-1) != 0 {
			return nil, fmt.Errorf("perf: a block size of %d bytes: want powers of two", size)
		}
	}
	return sizes, nil
}

// plan returns what is recorded of a program.
func (opt *ProfileOptions) plan(prog *subject.Program) (*trace.Plan, error) {
	return planOf(prog, !opt.DataOnly)
}

// planOf returns the plan of all references, or without those to the stack.
func planOf(prog *subject.Program, stack bool) (*trace.Plan, error) {
	if stack {
		return prog.Plan()
	}
	return prog.DataPlan()
}

// recorded returns what the histograms of a run of a program with the inputs in
// depend on.
func (opt *ProfileOptions) recorded(prog *subject.Program, in subject.Inputs) (Recorded, error) {
	plan, err := opt.plan(prog)
	if err != nil {
		return Recorded{}, err
	}
	rec := Recorded{Inputs: in, Plan: plan.Digest(), Stack: !opt.DataOnly}
	if opt.Carriers {
		rec.Carriers = carriersVersion
		if err := rec.follow(prog); err != nil {
			return Recorded{}, err
		}
	}
	if opt.SampleOneIn > 1 {
		rec.SampleOneIn, rec.SampleSeed, rec.SampleEvenly = opt.SampleOneIn, opt.SampleSeed, opt.SampleEvenly
	}
	return rec, nil
}

// profiler profiles one run.
type profiler struct {
	prog     *subject.Program
	point    subject.Point
	rec      Recorded
	sizes    []uint64
	store    *store.Store
	mustKeep bool
	report   func(instructions uint64, stored bool)
	warnings []string
}

// profile returns the run, collecting the histograms that the store lacks.
func (p *profiler) profile(ctx context.Context) (Run, error) {
	found := make(map[uint64]*storedReuse)
	var missing []uint64
	for _, size := range p.sizes {
		stored, err := loadReuse(p.store, p.rec, size)
		var corrupt *store.CorruptError
		switch {
		case err == nil:
			found[size] = stored
			continue
		case errors.As(err, &corrupt):
			p.warnings = append(p.warnings, err.Error()+"; the run was repeated")
		case !errors.Is(err, store.ErrMissing):
			return Run{}, err
		}
		missing = append(missing, size)
	}
	p.report(0, len(missing) == 0)
	if len(missing) == 0 {
		return newRun(p.prog, p.point, p.rec, p.sizes, found), nil
	}
	if p.mustKeep {
		if err := p.store.Try(roomOfProfile * int64(len(missing))); err != nil {
			return Run{}, p.notKept(err)
		}
	}
	fresh, err := p.collect(ctx, missing)
	if err != nil {
		return Run{}, err
	}
	for _, s := range fresh {
		found[s.Result.BlockBytes] = s
		switch err := saveReuse(p.store, p.rec, s); {
		case err != nil && p.mustKeep:
			return Run{}, p.notKept(err)
		case err != nil:
			p.warnings = append(p.warnings, fmt.Sprintf("%v; the profile was not kept", err))
		}
	}
	return newRun(p.prog, p.point, p.rec, p.sizes, found), nil
}

// roomOfProfile, in bytes, is more than the histograms of one block size take for
// most programs: some hundred kilobytes.
const roomOfProfile = 1 << 20

func (p *profiler) notKept(err error) error {
	return fmt.Errorf("perf: the profile of %s cannot be kept; those before it are, and the sweep resumes after them: %w", p.point, err)
}

// collect runs the program once for some block sizes.
func (p *profiler) collect(ctx context.Context, sizes []uint64) ([]*storedReuse, error) {
	plan, err := planOf(p.prog, p.rec.Stack)
	if err != nil {
		return nil, err
	}
	shared := reuse.Options{SampleOneIn: p.rec.SampleOneIn, SampleSeed: p.rec.SampleSeed}
	var by *Classification
	switch {
	case p.rec.Loops > 0:
		if plan, shared.Nest, err = withNest(p.prog, plan); err != nil {
			return nil, err
		}
	case p.rec.Carriers > 0:
		if by, err = classification(p.prog, plan); err != nil {
			return nil, err
		}
		plan, shared = by.Plan, by.Options
	}
	collectors := make([]*reuse.Collector, len(sizes))
	all := make([]trace.Collector, len(sizes))
	for i, size := range sizes {
		opt := shared
		opt.BlockBytes, opt.SampleOneIn = size, p.rec.oneIn(size)
		opt.Spread(len(sizes))
		if by != nil && by.Plan.Memory != nil {
			opt.NewMemory = func() reuse.Memory { return by.Memory() }
		}
		c, err := reuse.New(plan, opt)
		if err != nil {
			return nil, err
		}
		collectors[i], all[i] = c, c
	}
	res, err := p.prog.Run(ctx, subject.Request{
		Inputs: p.rec.Inputs, Plan: plan, Collectors: all, Progress: func(n uint64) { p.report(n, false) },
	})
	if err != nil {
		return nil, err
	}
	fresh := make([]*storedReuse, len(sizes))
	for i, c := range collectors {
		fresh[i] = &storedReuse{Facts: res.Facts, Result: c.Result()}
	}
	if p.rec.Stack {
		return fresh, nil
	}
	return fresh, p.countStack(ctx, fresh)
}

// countStack adds to the profiles of a run how many accesses were left out.
func (p *profiler) countStack(ctx context.Context, fresh []*storedReuse) error {
	counts, err := anatomy.CountInputs(ctx, p.prog, p.rec.Inputs, subject.RunOptions{Store: p.store})
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
