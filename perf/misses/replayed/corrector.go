package replayed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"presage/perf/cache"
	"presage/perf/internal/num"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/progress"
	"presage/perf/replay"
	"presage/perf/subject"
	"presage/perf/trace"
)

// The methods of groups whose accesses are all certified.
const (
	// Method: the misses were counted in a replay.
	Method = "replay"
	// MethodNear: they were, too, but a few accesses before were in doubt, such as
	// those of the library's start where no executable of the size could be run.
	MethodNear = "near replay"
)

// DefaultMaxAccesses is the default of Options.MaxAccesses: up to half a minute of
// simulation.
const DefaultMaxAccesses = 1 << 28

// Options configure a Corrector.
type Options struct {
	// MaxAccesses is the number of accesses beyond which a size is not replayed,
	// since that takes about as long as to simulate it; 0: DefaultMaxAccesses.
	MaxAccesses uint64
	// Follow configures what is taken from the real run.
	Follow replay.FollowOptions
	// Executables are those of sizes that may be predicted, for a program that is
	// compiled anew for each size. Where there is none, the start of the real run is
	// not known, nor exactly where data lie.
	Executables []subject.BinaryPoint
	// Progress, if not nil, is called now and then, with the share of a replay that is
	// done.
	Progress progress.Func
}

// Corrector gives groups of references that are certified the misses that a replay
// counts.
type Corrector struct {
	program *Program
	config  cache.Config
	opt     Options
	groups  [][]trace.GroupID // by misses.Group: of the plan
	known   map[string]*replayedPoint
}

var _ misses.Corrector = (*Corrector)(nil)

// NewCorrector returns what corrects predictions of a model, fitted to the runs that
// the program was learned from, for a machine.
func NewCorrector(p *Program, model *misses.Model, m *machine.Machine, opt Options) *Corrector {
	if opt.MaxAccesses == 0 {
		opt.MaxAccesses = DefaultMaxAccesses
	}
	c := &Corrector{program: p, config: m.Hierarchy(), opt: opt, known: make(map[string]*replayedPoint)}
	for g := range model.Groups() {
		c.groups = append(c.groups, model.OfRun(p.run, misses.Group(g)))
	}
	return c
}

// Replays implements misses.Corrector.
func (c *Corrector) Replays() bool { return true }

// Correct implements misses.Corrector.
func (c *Corrector) Correct(ctx context.Context, of misses.Uncorrected) (*misses.Correction, error) {
	r, err := c.at(ctx, of.Point)
	if err != nil {
		return nil, err
	}
	out := &misses.Correction{Groups: make([]misses.GroupCorrection, len(c.groups)), Warnings: slices.Clone(r.warnings)}
	switch {
	case r.Unknown && of.Level.Sets == 1:
		return nil, nil
	case r.Why != "":
		out.Warnings = append(out.Warnings, "not replayed: "+r.Why)
		return out, nil
	}
	counts, ok := levelOf(r.Result, of.Level.Name)
	if !ok {
		return nil, fmt.Errorf("perf: the machine has no level %q", of.Level.Name)
	}
	if float64(r.Amid) > maxBefore*float64(r.All.Accesses) && r.disturbance(counts) > maxDisturbance {
		out.Warnings = append(out.Warnings, "not replayed: "+strings.Join(r.Reasons, "; "))
		return out, nil
	}
	method, exact := Method, float64(r.Before)*float64(of.Level.Ways) <= maxSlack*float64(counts.Total.Misses)
	if !exact {
		method = MethodNear
	}
	var all standing
	for i, groups := range c.groups {
		n, s := r.of(counts, groups)
		all.Accesses, all.Doubtful = all.Accesses+s.Accesses, all.Doubtful+s.Doubtful
		if !s.certified() {
			continue
		}
		out.Groups[i] = misses.GroupCorrection{
			Method: method,
			Misses: predict.Misses{Accesses: float64(n.Accesses), Cold: float64(n.Cold), Reuse: float64(n.Misses - n.Cold)},
			Exact:  exact,
		}
	}
	if doubtful, total := float64(all.Doubtful), float64(all.Accesses); doubtful > noticeable*total {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%s of the accesses are not certified, and not replayed: %s",
			num.Percent(doubtful/total), strings.Join(r.Reasons, "; ")))
	}
	return out, nil
}

// of returns the counts of groups of the plan at a level, and how certain they are.
func (r *replayedPoint) of(counts cache.LevelResult, groups []trace.GroupID) (n cache.Counts, s standing) {
	for _, g := range groups {
		if int(g) >= len(counts.Groups) { // none is left in the executable
			continue
		}
		s.Accesses += r.Groups[g].Accesses
		s.Doubtful += r.Groups[g].Doubtful
		n.Accesses += counts.Groups[g].Accesses
		n.Misses += counts.Groups[g].Misses
		n.Cold += counts.Groups[g].Cold
	}
	return n, s
}

const (
	// maxSlack is the largest share of a level's misses that accesses in doubt may
	// change for those of certified groups to count as exact.
	maxSlack = 0.005
	// maxBefore is the largest share of accesses in doubt, before certified ones, with
	// which the misses of these are of use; unless those in doubt have few misses:
	// each brings in a block, and so pushes out one that others may use again.
	maxBefore      = 0.02
	maxDisturbance = 0.1 // misses in doubt by certified ones
	// noticeable is the share of accesses from which on it is said that they are not
	// certified.
	noticeable = 0.001
)

// disturbance returns how many misses of accesses in doubt there are at a level for each
// of certified ones.
func (r *replayedPoint) disturbance(counts cache.LevelResult) float64 {
	sure, doubtful := 0.0, 0.0
	for g, s := range r.Groups {
		if s.Accesses == 0 {
			continue
		}
		if n := float64(counts.Groups[g].Misses); s.certified() {
			sure += n
		} else {
			doubtful += n
		}
	}
	if doubtful == 0 {
		return 0
	}
	return doubtful / sure
}

// levelOf returns the counts of a cache or TLB.
func levelOf(r *cache.Result, name string) (cache.LevelResult, bool) {
	for _, l := range slices.Concat(r.Levels, r.TLBs) {
		if l.Name == name {
			return l, true
		}
	}
	return cache.LevelResult{}, false
}

// replay simulates the machine on the start of the real run at size n and on the
// replay of the rest. exe is the executable compiled for it, if there is one.
func (c *Corrector) replay(ctx context.Context, n int64, exe *subject.Program) (*replayedPoint, error) {
	show := reporter{task: fmt.Sprintf("replaying %s=%d", c.program.sweep.name, n), to: c.opt.Progress}
	show.report(0)
	t, err := c.program.at(n, exe)
	if err != nil {
		return &replayedPoint{Why: err.Error()}, nil
	}
	in, err := t.model.At(ctx, n)
	if err != nil {
		return nil, err
	}
	expected := in.Accesses()
	if expected > float64(c.opt.MaxAccesses) {
		return &replayedPoint{Why: fmt.Sprintf("about %.2g accesses, more than the limit of %.2g", expected, float64(c.opt.MaxAccesses))}, nil
	}
	sim, err := cache.New(t.plan, c.config)
	if err != nil {
		return nil, err
	}
	sink := trace.NewDirect(sim)
	var start *replay.Follower // none where no executable is of this size
	if t.own || !c.program.sweep.apart {
		if start, err = c.follow(ctx, t, in, n, sink); err != nil {
			return nil, err
		}
		if err := start.End(); err != nil {
			return &replayedPoint{Why: err.Error()}, nil
		}
		show.before = float64(start.Real.Accesses)
	}
	show.total = expected
	rest, err := in.Replay(ctx, sink, replay.Options{MaxAccesses: 2 * c.opt.MaxAccesses, Progress: show.replayed})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return &replayedPoint{Why: err.Error()}, nil
	}
	return pointOf(sim.Result(), in.Certify(start, rest), t.of), nil
}

// reporter reports the progress of a replay.
type reporter struct {
	task          string
	to            progress.Func
	before, total float64 // accesses that were real, and that are expected in all
}

// replayed takes the number of accesses replayed so far.
func (r *reporter) replayed(accesses uint64) {
	r.report(min(1, (r.before+float64(accesses))/max(1, r.total)))
}

func (r *reporter) report(share float64) { r.to.Report(progress.Report{Task: r.task, Share: share}) }

// executable returns that which was compiled for size n; nil if it is not known.
func (c *Corrector) executable(n int64) *subject.Program {
	for _, e := range c.opt.Executables {
		if v, ok := e.Point[c.program.sweep.name]; ok && len(e.Point) == 1 && v == float64(n) {
			return e.Program
		}
	}
	return nil
}

// follow takes the start of the real run.
func (c *Corrector) follow(ctx context.Context, t *target, in *replay.Instance, n int64, sink trace.Sink) (*replay.Follower, error) {
	enough, stop := context.WithCancel(ctx)
	defer stop()
	f := in.Follow(sink, stop, c.opt.Follow)
	inputs, err := c.program.sweep.inputs(t.prog, n)
	if err != nil {
		return nil, err
	}
	_, err = t.prog.Run(enough, subject.Request{
		Inputs: inputs, Plan: t.code.Plan, Collectors: collectors(f), MayFail: true,
	})
	if err != nil && (ctx.Err() != nil || !errors.Is(err, context.Canceled)) {
		return nil, err
	}
	return f, nil
}

func collectors(c ...trace.Collector) []trace.Collector { return c }
