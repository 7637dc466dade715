package replayed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"presage/perf/cache"
	"presage/perf/internal/num"
	"presage/perf/predict"
	"presage/perf/replay"
	"presage/perf/reuse"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

const (
	// trialStart is the share of a run that a trial takes from it, at most. The start of a
	// larger run is a smaller part of it.
	trialStart = 0.125
	// fewTried is the number of misses of a run from which on a cache says something.
	fewTried = 256
	// maxOff is the share of its misses that a trial may be off by, in every cache, to be
	// trusted at any level; and maxOffAnyway that up to which it is, though a fully
	// associative cache may be nearer.
	maxOff       = 0.1
	maxOffAnyway = 0.02
	// triedCaches is the number of fully associative caches that a trial is held against,
	// besides the machine's levels: of 1, 4, 16, … blocks.
	triedCaches = 12
)

// A trial finds out whether replays are right though some of their accesses are in doubt,
// as where data choose between two elements in one of twenty cases: the largest run is
// replayed by what the others teach, and its misses are known. They are compared in the
// machine's own levels, and in fully associative caches of all sizes: a level that holds
// all that a small run touches says nothing of where a larger one goes.
type trial struct {
	run    *replayedPoint     // as it was replayed
	size   int64              // of the run
	worst  float64            // largest share of a cache's misses that the replay is off by
	levels map[string]outcome // of those with misses enough
}

// outcome is a trial in a cache.
type outcome struct {
	misses float64 // of the run
	off    float64 // of the replay: the sum, over groups, of the differences of their misses
	net    float64 // the difference of all misses
	full   float64 // the same of a fully associative cache
}

// mostMoreInDoubt is how many times as large a share of the accesses as in the trial may be
// in doubt: more is another program, such as a loop that its bounds do not end.
const mostMoreInDoubt = 2

// trusted reports whether the accesses in doubt of a replay are to be trusted at a level.
func (t *trial) trusted(r *replayedPoint, level string) bool {
	if t == nil || len(t.levels) == 0 || t.worst > maxOff || t.untried(r, level) {
		return false
	}
	if r.doubtful() > mostMoreInDoubt*t.run.doubtful()+noticeable {
		return false
	}
	o, tried := t.levels[level]
	return !tried || o.off <= math.Max(o.full, maxOffAnyway*o.misses) || o.exchanged()
}

// exchanged reports whether groups have each other's misses, as one or the other is the first
// to use a page, and not too many.
func (o outcome) exchanged() bool {
	return math.Abs(o.net) <= maxOffAnyway*o.misses && o.off <= maxOff*o.misses
}

// moved returns how many misses are in excess, missing or another group's, each counted once.
func (o outcome) moved() float64 { return (o.off + math.Abs(o.net)) / 2 }

// untried reports whether a noticeable share of a replay is in doubt for reasons that the
// trial did not have, such as code that is another at the size: of these it says nothing. An
// allocator's work on what it has is another at each size, and does not count.
// Nor does it of accesses that were left out, if they are a larger share than of the trial.
// It is noticeable at a level if it is more than a trial may be off by there anyway.
func (t *trial) untried(r *replayedPoint, level string) bool {
	untried := math.Max(0, float64(r.Left)-t.run.leftOut()*float64(r.All.Accesses))
	for g, s := range r.Groups {
		if s.Doubtful > s.Likely && (g >= len(t.run.Doubts) || slices.ContainsFunc(r.Doubts[g], func(why string) bool {
			return !replay.Covers(t.run.Doubts[g], why)
		})) {
			untried += float64(s.Doubtful - s.Likely - r.heldOf(g))
		}
	}
	most := noticeable * float64(r.All.Accesses)
	if r.Result != nil {
		if l, ok := levelOf(r.Result, level); ok {
			most = math.Max(most, maxOffAnyway*float64(l.Total.Misses))
		}
	}
	return untried > most
}

// heldOf returns how many accesses in doubt of a group are an allocator's.
func (r *replayedPoint) heldOf(g int) uint64 {
	if g >= len(r.Held) {
		return 0
	}
	return min(r.Held[g], r.Groups[g].Doubtful-r.Groups[g].Likely)
}

// doubtful returns the share of a replay's accesses that are in doubt.
func (r *replayedPoint) doubtful() float64 {
	return float64(r.All.Doubtful-r.All.Likely) / math.Max(1, float64(r.All.Accesses))
}

// leftOut returns the share of a replay's accesses that were left out.
func (r *replayedPoint) leftOut() float64 {
	return float64(r.Left) / math.Max(1, float64(r.All.Accesses))
}

// add takes the outcome in a cache; it reports whether it says something.
func (t *trial) add(o outcome) bool {
	if o.misses < fewTried {
		return false
	}
	t.worst = math.Max(t.worst, o.moved()/o.misses)
	return true
}

// distances are the misses of a replay in fully associative caches of 1, 4, 16, … blocks,
// by the groups of its plan.
type distances struct {
	BlockBytes uint64
	Misses     [][triedCaches]uint64
}

func distancesOf(r *reuse.Result, blockBytes uint64) distances {
	d := distances{blockBytes, make([][triedCaches]uint64, len(r.Groups))}
	for g := range r.Groups {
		for k := range d.Misses[g] {
			d.Misses[g][k] = r.Groups[g].Misses(1 << (2 * k))
		}
	}
	return d
}

// try returns the trial, which takes place once; nil if there can be none.
func (c *Corrector) try(ctx context.Context) (*trial, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.tried {
		t, err := c.trial(ctx)
		if err != nil {
			return nil, err
		}
		c.tried, c.outcome = true, t
	}
	return c.outcome, nil
}

func (c *Corrector) trial(ctx context.Context) (*trial, error) {
	r, err := c.heldOut(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if passing := new(passingError); errors.As(err, &passing) || err == nil && r.Why != "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	run, err := c.model.Simulated(ctx, c.program.run, c.machine, c.report)
	if err != nil || run == nil { // it cannot be repeated
		return nil, ctx.Err()
	}
	sizes := c.program.sweep.sizes
	t := &trial{run: r, size: sizes[len(sizes)-1], levels: make(map[string]outcome)}
	for _, l := range predict.Levels(c.machine) {
		got, ok := levelOf(r.Result, l.Name)
		want, known := levelOf(run, l.Name)
		full := c.model.Reuse(c.program.run, l.BlockBytes)
		if !ok || !known || full == nil || l.BypassFloat {
			continue
		}
		if o := c.atLevel(r, got, want, full, l.Blocks()); t.add(o) {
			t.levels[l.Name] = o
		}
	}
	for _, d := range r.Distances {
		if full := c.model.Reuse(c.program.run, d.BlockBytes); full != nil {
			run := distancesOf(full, d.BlockBytes)
			for k := range triedCaches {
				t.add(c.atDistance(&d, &run, k))
			}
		}
	}
	return t, nil
}

// atDistance compares a replay with the run, in the k-th of the fully associative caches.
func (c *Corrector) atDistance(got, want *distances, k int) (o outcome) {
	for _, groups := range c.groups {
		var n, is float64
		for _, g := range groups {
			if int(g) < len(got.Misses) {
				n += float64(got.Misses[g][k])
			}
			is += float64(want.Misses[g][k])
		}
		o.misses += is
		o.off += math.Abs(n - is)
		o.net += n - is
	}
	return o
}

// atLevel compares a replay with the run, at a level of so many blocks.
func (c *Corrector) atLevel(r *replayedPoint, got, want cache.LevelResult, full *reuse.Result, blocks uint64) (o outcome) {
	for _, groups := range c.groups {
		n, _ := r.of(got, groups)
		var is, would float64
		for _, g := range groups {
			is += float64(want.Groups[g].Misses)
			would += float64(full.Groups[g].Misses(blocks))
		}
		o.misses += is
		o.off += math.Abs(float64(n.Misses) - is)
		o.net += float64(n.Misses) - is
		o.full += math.Abs(would - is)
	}
	return o
}

// heldOut returns a replay of the largest run by what the others teach, from the store if
// it is there.
func (c *Corrector) heldOut(ctx context.Context) (*replayedPoint, error) {
	s := c.program.sweep
	last := len(s.sizes) - 1
	inputs, err := c.inputs(s.sizes[last], s.runs[last].Program)
	if err != nil {
		return nil, err
	}
	inputs.HeldOut = true
	key, err := store.NewKey(replayKind, replayVersion, inputs)
	if err != nil {
		return nil, err
	}
	memo, err := store.Memo(c.program.store, key, func() (*replayedPoint, error) {
		if err := c.program.load(ctx, c.report); err != nil {
			return nil, &passingError{err}
		}
		t, err := c.program.without(s.runs[last].Program)
		if err != nil {
			return noReplay(err)
		}
		in, err := t.model.At(ctx, s.sizes[last])
		if err != nil {
			return nil, err
		}
		start := c.opt.Follow
		start.MaxAccesses = max(1, uint64(trialStart*in.Accesses()))
		show := reporter{task: fmt.Sprintf("replaying %s=%d, which is known", s.name, s.sizes[last]), to: c.report}
		return c.replayRun(ctx, t, in, start, show)
	})
	return memo.Value, err
}

// replayRun is replayInstance with the distances of the reuses.
func (c *Corrector) replayRun(ctx context.Context, t *target, in *replay.Instance, start replay.FollowOptions, show reporter) (*replayedPoint, error) {
	var found []*reuse.Collector
	for _, bytes := range c.machine.BlockBytes() {
		d, err := reuse.New(t.plan, reuse.Options{BlockBytes: bytes})
		if err != nil {
			return nil, err
		}
		found = append(found, d)
	}
	r, err := c.replayInstance(ctx, t, in, start, show, collectorsOf(found)...)
	if err != nil || r.Why != "" {
		return r, err
	}
	for i, bytes := range c.machine.BlockBytes() {
		r.Distances = append(r.Distances, distancesOf(found[i].Result(), bytes))
	}
	return r, nil
}

func collectorsOf(list []*reuse.Collector) (out []trace.Collector) {
	for _, c := range list {
		out = append(out, c)
	}
	return out
}

// without returns what is replayed of the largest run, by the others.
func (p *Program) without(largest *subject.Program) (*target, error) {
	last := len(p.runs) - 1
	t, _, err := p.build(largest, p.codes[last], last)
	if err != nil {
		return nil, err
	}
	if t.own = p.sweep.apart; !t.own {
		return t, nil
	}
	return t, t.model.BuiltFor(p.sweep.sizes[last], largest.Structure().Access)
}

// said returns what a row is told whose replay was trusted.
func (t *trial) said(of standing, name string) string {
	return fmt.Sprintf("%s of the accesses are not certified, and are replayed: as is %s=%d by smaller runs, to within %s of its misses",
		num.Percent(float64(of.Doubtful)/float64(of.Accesses)), name, t.size, num.Percent(t.worst))
}
