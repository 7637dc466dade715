package replayed

import (
	"context"
	"errors"
	"slices"

	"presage/perf/cache"
	"presage/perf/replay"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// replayKind is the kind of stored replays.
const replayKind = "replay"

// replayVersion is part of the key of a stored replay: raise it when a replay generates
// other accesses, its certificate holds for others, or they are simulated otherwise.
const replayVersion = 1

// replayInputs is what a replayedPoint depends on.
type replayInputs struct {
	Learned     int // version of what is learned
	From        dependence
	N           int64
	Start       *subject.Inputs // of the run whose start is taken; nil without an executable of the size
	Analysis    analysis        // of its executable
	Config      cache.Config
	MaxAccesses uint64
	Follow      replay.FollowOptions
}

// replayedPoint is a replay at one point, or why there is none. The store holds it.
type replayedPoint struct {
	Why     string // there is none; empty: there is one
	Unknown bool   // there is none at any size, as the program's loops could not be learned; not kept

	Result *cache.Result
	Groups []standing // by trace.GroupID, as Result has them
	All    standing
	Before uint64 // of replay.Certificate
	Amid   uint64
	// Reasons say why accesses of All are in doubt.
	Reasons []string

	warnings []string // about the store
}

// standing is how many accesses there are, and how many of them are not certified.
type standing struct{ Accesses, Doubtful uint64 }

func (s standing) certified() bool { return s.Accesses > 0 && s.Doubtful == 0 }

// pointOf returns what is kept of a replay; of lists the references of each group.
func pointOf(result *cache.Result, certificate *replay.Certificate, of [][]trace.RefID) *replayedPoint {
	all := certificate.All()
	p := &replayedPoint{
		Result: result, Groups: make([]standing, len(of)), All: standing{all.Accesses, all.Doubtful},
		Before: certificate.Before, Amid: certificate.Amid, Reasons: all.Reasons,
	}
	for g, refs := range of {
		s := certificate.Of(refs...)
		p.Groups[g] = standing{s.Accesses, s.Doubtful}
	}
	return p
}

// inputs returns what a replay at size n depends on, with the executable that was
// compiled for it, nil for none.
func (c *Corrector) inputs(n int64, exe *subject.Program) (*replayInputs, error) {
	in := &replayInputs{Learned: learnedVersion, From: c.program.depend, N: n, Config: c.config, MaxAccesses: c.opt.MaxAccesses, Follow: c.opt.Follow}
	if !c.program.sweep.apart {
		exe = c.program.sweep.runs[0].Program
	}
	if exe == nil {
		return in, nil
	}
	var err error
	if in.Analysis, err = analysisOf(exe); err != nil {
		return nil, err
	}
	start, err := c.program.sweep.inputs(exe, n)
	in.Start = &start
	return in, err
}

// at returns the replay at a point, from the store if it is there.
func (c *Corrector) at(ctx context.Context, point subject.Point) (*replayedPoint, error) {
	key := point.String()
	if r, ok := c.known[key]; ok {
		return r, nil
	}
	r, err := c.kept(ctx, point)
	if err == nil {
		c.known[key] = r
	}
	return r, err
}

// kept returns the replay at a point from the store, or replays and keeps it.
func (c *Corrector) kept(ctx context.Context, point subject.Point) (*replayedPoint, error) {
	n, ok := whole(point[c.program.sweep.name])
	if !ok {
		return &replayedPoint{Why: errSizes.Error()}, nil
	}
	exe := c.executable(n)
	inputs, err := c.inputs(n, exe)
	if err != nil {
		return nil, err
	}
	key, err := store.NewKey(replayKind, replayVersion, inputs)
	if err != nil {
		return nil, err
	}
	said := "" // of what is learned, which another Corrector may be learning now
	memo, err := store.Memo(c.program.store, key, func() (*replayedPoint, error) {
		if err := c.program.load(ctx, c.opt.Progress); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, &unlearnedError{err}
		}
		said = c.program.warning
		return c.replay(ctx, n, exe)
	})
	var unlearned *unlearnedError
	if errors.As(err, &unlearned) {
		return &replayedPoint{Why: unlearned.Error(), Unknown: true}, nil
	}
	if err != nil {
		return nil, err
	}
	r := memo.Value
	r.warnings = notEmpty(said, memo.Warning)
	return r, nil
}

// unlearnedError says why a program's loops could not be learned. It is not kept:
// what is known of the runs is.
type unlearnedError struct{ error }

func (e *unlearnedError) Unwrap() error { return e.error }

func notEmpty(list ...string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}
