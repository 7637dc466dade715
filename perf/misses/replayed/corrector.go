package replayed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"presage/perf/cache"
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
	// those of the library's start where no executable of the size could be run; or their
	// addresses follow from the code of the size's own executable, and how often they
	// are executed only from the runs.
	MethodNear = "near replay"
	// MethodTested: accesses in doubt were replayed, too, since the replay of the largest run
	// by what the others teach has the misses of that run, or nearly: see trial.
	MethodTested = "tested replay"
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
	// TrainedSizesOnly has loops learned at the sizes of the profiles alone. Otherwise a
	// program of one executable is run at more and mostly smaller sizes, for its loops, if
	// those of the profiles leave much in doubt that others may settle: up to 16 for each
	// size that is predicted, none above the largest of the profiles, and together of no
	// more instructions than the runs of these, by estimate; once, and again where one shows
	// what to look for in others. Where its memory grows in steps that are those of
	// doubling, it is profiled at up to 5 halves of halves of the size, too, and where the
	// largest run is not foretold well, between those of the profiles (see
	// Corrector.Substitutes). The rows' warnings say at which.
	TrainedSizesOnly bool
	// WithoutStart has what is not replayed stay as models say, whatever misses in the start
	// of the real run: to see what that adds.
	WithoutStart bool
	// Progress, if not nil, is called now and then, with the share of a replay that is
	// done.
	Progress progress.Func
}

// Corrector gives groups of references that are certified the misses that a replay
// counts. Several goroutines may use one.
type Corrector struct {
	program *Program
	model   *misses.Model // of the runs that the program was learned from
	of      *misses.Model // whose groups are corrected, if it is another: see Substitutes
	machine *machine.Machine
	config  cache.Config
	opt     Options
	groups  [][]trace.GroupID // by misses.Group: of the plan

	funnel atomic.Pointer[funnel] // of Prepare, while it is called
	mu     sync.Mutex             // of what follows
	known  map[string]*replayedPoint
	others map[string]*misses.Substitutes // by point
	// everywhere are those of all points; nil: not looked for.
	everywhere *misses.Substitutes
	tried      bool
	outcome    *trial // nil: there can be none
}

var _ misses.Corrector = (*Corrector)(nil)

// NewCorrector returns what corrects predictions of a model, fitted to the runs that
// the program was learned from, for a machine.
func NewCorrector(p *Program, model *misses.Model, m *machine.Machine, opt Options) *Corrector {
	if opt.MaxAccesses == 0 {
		opt.MaxAccesses = DefaultMaxAccesses
	}
	c := &Corrector{program: p, model: model, machine: m, config: m.Hierarchy(), opt: opt, known: make(map[string]*replayedPoint)}
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
	if said := r.More.said(c.program.sweep.name); said != "" {
		out.Warnings = append(out.Warnings, said)
	}
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
	var tried *trial
	disturbed := r.disturbed(counts, of.Level, c.waysOf(of.Level), c.mayMiss(r, of.Groups))
	hardly := float64(r.All.Doubtful) <= maxSlack*float64(r.All.Accesses)
	if r.Start && (disturbed || float64(r.All.Doubtful) > noticeable*float64(r.All.Accesses) || c.unsure(r, counts, hardly, of)) {
		if tried, err = c.try(ctx); err != nil {
			return nil, err
		}
	}
	trusted := tried.trusted(r, of.Level.Name)
	if disturbed && !trusted {
		out.Warnings = append(out.Warnings, "not replayed: "+strings.Join(r.Reasons, "; "))
		c.continued(r, of, out.Groups)
		return out, nil
	}
	exact := reached(r.Before, c.waysOf(of.Level)) <= maxSlack*float64(counts.Total.Misses)
	var all standing
	had := make([]float64, len(c.groups))
	pace := c.pace(r, counts, hardly, of)
	for i, groups := range c.groups {
		n, s := r.of(counts, groups)
		all.add(s)
		had[i] = float64(n.Cold)
		settled := len(groups) > 0 && s.settled(n.Misses, hardly, of, i)
		if settled || s.Accesses > 0 && trusted {
			out.Groups[i] = s.correction(n, exact)
		}
		if !settled && s.Accesses > 0 && trusted {
			out.Groups[i] = atPace(out.Groups[i], pace, tried.worst)
		}
	}
	// Where memory is given out again, models of first uses know little, and a replay that
	// leaves hardly anything out has them.
	if uses := r.firstUses(counts, had); !r.Recycles || !uses.whole {
		conserveCold(of, out.Groups, uses)
	}
	c.continued(r, of, out.Groups)
	if trusted {
		out.Warnings = append(out.Warnings, tried.said(all, c.program.sweep.name))
	} else {
		out.Warnings = append(out.Warnings, all.said(r.Reasons)...)
	}
	return out, nil
}

// of returns the counts of groups of the plan at a level, and how certain they are.
func (r *replayedPoint) of(counts cache.LevelResult, groups []trace.GroupID) (n cache.Counts, s standing) {
	for _, g := range groups {
		if int(g) >= len(counts.Groups) { // none is left in the executable
			continue
		}
		s.add(r.Groups[g])
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
	// maxDisturbance is the largest share of the misses of certified accesses that those in
	// doubt may change for the former to be of use at a level that is fully associative,
	// and maxDisturbedSets at others, where the alternative knows nothing of conflicts.
	maxDisturbance   = 0.1
	maxDisturbedSets = 1
	// noticeable is the share of accesses from which on it is said that they are not
	// certified.
	noticeable = 0.001
)

// disturbed reports whether accesses in doubt may change too many of the misses that
// certified ones have at a level: of each access in doubt that comes before, as many as a
// set has ways (see replay.Certificate), or of each such miss, which brings in a block and
// so pushes out one that others may use again, about one. So does what was left out, if it
// is a noticeable share of the accesses: left is how much of it may have missed.
func (r *replayedPoint) disturbed(counts cache.LevelResult, level predict.Level, ways, left float64) bool {
	sure, doubtful := 0.0, 0.0
	for g, s := range r.Groups {
		n := float64(counts.Groups[g].Misses)
		if s.likely() {
			sure += n
		} else if s.Accesses > 0 { // each access in doubt misses once at most
			most := math.Min(n, float64(s.Doubtful))
			doubtful, sure = doubtful+most, sure+n-most
		}
	}
	if float64(r.Left) > noticeable*float64(r.All.Accesses) {
		doubtful += left
	}
	limit := maxDisturbance
	if level.Sets > 1 {
		limit = maxDisturbedSets
	}
	return math.Min(doubtful, reached(r.Amid, ways)) > limit*sure
}

// mayMiss returns how many of the accesses that were left out of a replay may have missed:
// several times as large a share of them as models say of their groups, and all where
// these know nothing of them.
func (c *Corrector) mayMiss(r *replayedPoint, modelled []predict.Misses) float64 {
	const times = 4
	sum, known := 0.0, uint64(0)
	for i, groups := range c.groups {
		for _, g := range groups {
			if int(g) >= len(r.LeftOf) || r.LeftOf[g] == 0 {
				continue
			}
			share := 1.0
			if n := modelled[i].Accesses; n > 0 {
				share = math.Min(1, times*modelled[i].Total()/n)
			}
			sum += share * float64(r.LeftOf[g])
			known += r.LeftOf[g]
		}
	}
	return sum + float64(r.Left-min(r.Left, known))
}

// waysOf returns how many misses of others an access in doubt changes at most: as many as a
// set of the level has ways, if it and the caches above have LRU replacement, and no cache
// below takes blocks away. Otherwise there is no such bound.
func (c *Corrector) waysOf(level predict.Level) float64 {
	bound := func(r cache.Replacement) float64 {
		if r != cache.LRU {
			return math.Inf(1)
		}
		return float64(level.Ways)
	}
	for _, t := range c.config.TLBs {
		if t.Name == level.Name {
			return bound(t.Replacement)
		}
	}
	if slices.ContainsFunc(c.config.Levels, func(l cache.Level) bool { return l.Inclusive }) {
		return math.Inf(1)
	}
	most := 0.0
	for _, l := range c.config.Levels {
		if most = math.Max(most, bound(l.Replacement)); l.Name == level.Name {
			break
		}
	}
	return most
}

// reached returns how many misses so many accesses in doubt may change, each so many.
func reached(accesses uint64, ways float64) float64 {
	if accesses == 0 {
		return 0
	}
	return float64(accesses) * ways
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
	show := reporter{task: fmt.Sprintf("replaying %s=%d", c.program.sweep.name, n), to: c.report}
	show.report(0)
	t, in, more, err := c.instance(ctx, n, exe)
	if cannot := new(cannotError); errors.As(err, &cannot) {
		return noReplay(cannot.error)
	}
	if err != nil {
		return nil, err
	}
	r, err := c.replayInstance(ctx, t, in, c.opt.Follow, show)
	if r != nil {
		r.More = *more
	}
	return r, err
}

// cannotError says why nothing is replayed.
type cannotError struct{ error }

func (e *cannotError) Unwrap() error { return e.error }

// instance returns what is replayed at size n, and at which sizes beside those of the
// profiles it was learned; or a cannotError.
func (c *Corrector) instance(ctx context.Context, n int64, exe *subject.Program) (*target, *replay.Instance, *moreSizes, error) {
	t, err := c.program.at(n, exe)
	if err != nil {
		return nil, nil, nil, &cannotError{err}
	}
	in, err := t.model.At(ctx, n)
	if err != nil {
		return nil, nil, nil, err
	}
	if c.opt.TrainedSizesOnly || in.Accesses() > float64(c.opt.MaxAccesses) {
		return t, in, new(moreSizes), nil
	}
	return c.program.grown(ctx, n, t, in, c.report)
}

// replayInstance replays a program, after so much of the start of the real run as options
// say.
func (c *Corrector) replayInstance(ctx context.Context, t *target, in *replay.Instance, take replay.FollowOptions, show reporter, also ...trace.Collector) (*replayedPoint, error) {
	expected := in.Accesses()
	if expected > float64(c.opt.MaxAccesses) {
		return &replayedPoint{Final: true, Why: fmt.Sprintf("about %.2g accesses, more than the limit of %.2g", expected, float64(c.opt.MaxAccesses))}, nil
	}
	sim, err := cache.New(t.plan, c.config)
	if err != nil {
		return nil, err
	}
	begun, err := newBeginner(t.plan, c.config, sim)
	if err != nil {
		return nil, err
	}
	begun.on = len(also) == 0 // nothing is held against the start of a trial
	sink := trace.NewDirect(append(collectors(sim, begun), also...)...)
	var start *replay.Follower // none where no executable is of this size
	if t.own || !c.program.sweep.apart {
		if start, err = c.follow(ctx, t, in, sink, take); err != nil {
			return nil, err
		}
		if err := start.End(); err != nil {
			return noReplay(err)
		}
		show.before = float64(start.Real.Accesses)
	}
	show.total = expected
	first := begun.end()
	rest, err := in.Replay(ctx, sink, replay.Options{MaxAccesses: 2 * c.opt.MaxAccesses, Progress: show.replayed})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return noReplay(err)
	}
	r := pointOf(sim.Result(), in.Certify(start, rest), t.of)
	r.Start, r.Recycles, r.Begun = start != nil, in.Recycles(), first
	return r, nil
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

// executable returns that which was compiled for size n, with the shared libraries of the
// largest run; nil if it is not known.
func (c *Corrector) executable(n int64) (*subject.Program, error) {
	s := c.program.sweep
	for _, e := range c.opt.Executables {
		if v, ok := e.Point[s.name]; ok && len(e.Point) == 1 && v == float64(n) {
			return e.Program.Alone().With(s.runs[len(s.runs)-1].Program.File.Modules)
		}
	}
	return nil, nil
}

// follow takes the start of the real run. A run that fails before all of it was taken may
// do better another time.
func (c *Corrector) follow(ctx context.Context, t *target, in *replay.Instance, sink trace.Sink, take replay.FollowOptions) (*replay.Follower, error) {
	enough, stop := context.WithCancel(ctx)
	defer stop()
	f := in.Follow(sink, stop, take)
	inputs, err := c.program.sweep.inputs(t.prog, in.N)
	if err != nil {
		return nil, err
	}
	res, err := t.prog.Run(enough, subject.Request{
		Inputs: inputs, Plan: t.code.Recorded, Collectors: collectors(f), MayFail: true,
	})
	if err != nil && (ctx.Err() != nil || !errors.Is(err, context.Canceled)) {
		return nil, err
	}
	if err == nil && res.Failed != "" && f.End() != nil {
		return nil, &passingError{fmt.Errorf("%s ended with %s before its loops%s", inputs.Command(), res.Failed, res.Output)}
	}
	return f, nil
}

func collectors(c ...trace.Collector) []trace.Collector { return c }
