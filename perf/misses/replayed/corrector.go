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

// replayedPoint is a replay at one point, or why there is none.
type replayedPoint struct {
	result      *cache.Result
	certificate *replay.Certificate
	of          [][]trace.RefID // by trace.GroupID
	why         string
}

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
	out := &misses.Correction{Groups: make([]misses.GroupCorrection, len(c.groups))}
	if r.why != "" {
		out.Warnings = []string{"not replayed: " + r.why}
		return out, nil
	}
	counts, ok := levelOf(r.result, of.Level.Name)
	if !ok {
		return nil, fmt.Errorf("perf: the machine has no level %q", of.Level.Name)
	}
	total, doubtful := 0.0, 0.0
	before := float64(r.certificate.Before)
	method, exact := Method, before*float64(of.Level.Ways) <= maxSlack*float64(counts.Total.Misses)
	if !exact {
		method = MethodNear
	}
	disturb := r.disturbance(counts)
	if float64(r.certificate.Amid) > maxBefore*float64(r.certificate.All().Accesses) && disturb > maxDisturbance {
		return &misses.Correction{Groups: out.Groups, Warnings: []string{"not replayed: " + strings.Join(r.certificate.All().Reasons, "; ")}}, nil
	}
	for i, groups := range c.groups {
		var refs []trace.RefID
		var n cache.Counts
		for _, g := range groups {
			if int(g) >= len(counts.Groups) { // none is left in the executable
				continue
			}
			refs = append(refs, r.of[g]...)
			n.Accesses += counts.Groups[g].Accesses
			n.Misses += counts.Groups[g].Misses
			n.Cold += counts.Groups[g].Cold
		}
		s := r.certificate.Of(refs...)
		total += float64(s.Accesses)
		doubtful += float64(s.Doubtful)
		if s.Accesses == 0 || s.Doubtful > 0 {
			continue
		}
		out.Groups[i] = misses.GroupCorrection{
			Method: method,
			Misses: predict.Misses{Accesses: float64(n.Accesses), Cold: float64(n.Cold), Reuse: float64(n.Misses - n.Cold)},
			Exact:  exact,
		}
	}
	if doubtful > noticeable*total {
		out.Warnings = []string{fmt.Sprintf("%s of the accesses are not certified, and not replayed: %s",
			num.Percent(doubtful/total), strings.Join(r.certificate.All().Reasons, "; "))}
	}
	return out, nil
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
	for g, refs := range r.of {
		if len(refs) == 0 {
			continue
		}
		s := r.certificate.Of(refs...)
		if n := float64(counts.Groups[g].Misses); s.Certified() {
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

// at returns the replay at a point.
func (c *Corrector) at(ctx context.Context, point subject.Point) (*replayedPoint, error) {
	key := point.String()
	if r, ok := c.known[key]; ok {
		return r, nil
	}
	n, ok := whole(point[c.program.sweep.name])
	if !ok {
		return &replayedPoint{why: errSizes.Error()}, nil
	}
	r, err := c.replay(ctx, n)
	if err == nil {
		c.known[key] = r
	}
	return r, err
}

// replay simulates the machine on the start of the real run at size n and on the
// replay of the rest.
func (c *Corrector) replay(ctx context.Context, n int64) (*replayedPoint, error) {
	t, err := c.program.at(n, c.executable(n))
	if err != nil {
		return &replayedPoint{why: err.Error()}, nil
	}
	in, err := t.model.At(ctx, n)
	if err != nil {
		return nil, err
	}
	if expected := in.Accesses(); expected > float64(c.opt.MaxAccesses) {
		return &replayedPoint{why: fmt.Sprintf("about %.2g accesses, more than the limit of %.2g", expected, float64(c.opt.MaxAccesses))}, nil
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
			return &replayedPoint{why: err.Error()}, nil
		}
	}
	rest, err := in.Replay(ctx, sink, replay.Options{MaxAccesses: 2 * c.opt.MaxAccesses})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return &replayedPoint{why: err.Error()}, nil
	}
	return &replayedPoint{result: sim.Result(), certificate: in.Certify(start, rest), of: t.of}, nil
}

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
	inputs := c.program.sweep.inputs(n)
	if t.own {
		var err error
		last := c.program.sweep.runs[len(c.program.sweep.runs)-1]
		if inputs, err = t.prog.InputsOf(inputs.Args, optionsOf(last)); err != nil {
			return nil, err
		}
	}
	_, err := t.prog.Run(enough, subject.Request{
		Inputs: inputs, Plan: t.code.Plan, Collectors: collectors(f), MayFail: true,
	})
	if err != nil && (ctx.Err() != nil || !errors.Is(err, context.Canceled)) {
		return nil, err
	}
	return f, nil
}

func collectors(c ...trace.Collector) []trace.Collector { return c }
