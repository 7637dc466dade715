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
const replayVersion = 49

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
	TrainedOnly bool // Options.TrainedSizesOnly
	HeldOut     bool `json:",omitempty"` // of the run at N, which is replayed by the others
}

// replayedPoint is a replay at one point, or why there is none. The store holds it.
type replayedPoint struct {
	Why     string // there is none; empty: there is one
	Final   bool   // Why will not change; false in what was stored before that was told apart
	Unknown bool   // there is none at any size, as the program's loops could not be learned; not stored

	Start bool // of the real run: there was an executable of the size
	// Recycles: memory is given back and given out again, where a model of malloc says.
	Recycles bool
	Result   *cache.Result
	Groups   []standing // by trace.GroupID, as Result has them
	Doubts   [][]string // by trace.GroupID: why accesses of it are in doubt
	All      standing
	Before   uint64 // of replay.Certificate
	Amid     uint64
	Left     uint64   // LeftOut of it
	LeftOf   []uint64 // by trace.GroupID: Left of its references
	Held     []uint64 // by trace.GroupID: see replay.RefCertificate
	More     moreSizes
	Begun    *beginning `json:",omitempty"` // of the real run
	// Distances are those of a run that was held out.
	Distances []distances `json:",omitempty"`
	// Reasons say why accesses of All are in doubt.
	Reasons []string

	warnings []string // about the store
}

// standing is how many accesses there are, how many of them are not certified, how many
// of these likely, and how many were those of the real run: see replay.RefCertificate.
type standing struct{ Accesses, Doubtful, Likely, Real uint64 }

func (s standing) certified() bool { return s.Accesses > 0 && s.Doubtful == 0 }

// likely reports whether all accesses are certified or likely.
func (s standing) likely() bool { return s.Accesses > 0 && s.Doubtful == s.Likely }

func (s *standing) add(o standing) {
	s.Accesses += o.Accesses
	s.Doubtful += o.Doubtful
	s.Likely += o.Likely
	s.Real += o.Real
}

// pointOf returns what is kept of a replay; of lists the references of each group.
func pointOf(result *cache.Result, certificate *replay.Certificate, of [][]trace.RefID) *replayedPoint {
	all := certificate.All()
	p := &replayedPoint{
		Result: result, Groups: make([]standing, len(of)), Doubts: make([][]string, len(of)), All: standing{all.Accesses, all.Doubtful, all.Likely, all.Real},
		Before: certificate.Before, Amid: certificate.Amid, Left: certificate.LeftOut, LeftOf: make([]uint64, len(of)), Held: make([]uint64, len(of)), Reasons: all.Reasons,
	}
	for g, refs := range of {
		s := certificate.Of(refs...)
		for _, ref := range refs {
			p.LeftOf[g] += certificate.Refs[ref].LeftOut
			p.Held[g] += certificate.Refs[ref].Held
		}
		p.Groups[g], p.Doubts[g] = standing{s.Accesses, s.Doubtful, s.Likely, s.Real}, s.Reasons
	}
	return p
}

// inputs returns what a replay at size n depends on, with the executable that was
// compiled for it, nil for none.
func (c *Corrector) inputs(n int64, exe *subject.Program) (*replayInputs, error) {
	in := &replayInputs{Learned: learnedVersion, From: c.program.depend, N: n, Config: c.config, MaxAccesses: c.opt.MaxAccesses, Follow: c.opt.Follow, TrainedOnly: c.opt.TrainedSizesOnly}
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
	c.mu.Lock()
	r := c.known[key]
	c.mu.Unlock()
	if r != nil {
		return r, nil
	}
	r, err := c.kept(ctx, point)
	if err == nil {
		c.mu.Lock()
		c.known[key] = r
		c.mu.Unlock()
	}
	return r, err
}

// kept returns the replay at a point from the store, or replays and keeps it.
func (c *Corrector) kept(ctx context.Context, point subject.Point) (*replayedPoint, error) {
	n, ok := whole(point[c.program.sweep.name])
	if !ok {
		return &replayedPoint{Why: errSizes.Error(), Final: true}, nil
	}
	exe, err := c.executable(n)
	if err != nil {
		return nil, err
	}
	inputs, err := c.inputs(n, exe)
	if err != nil {
		return nil, err
	}
	key, err := store.NewKey(replayKind, replayVersion, inputs)
	if err != nil {
		return nil, err
	}
	said := "" // of what is learned, which another Corrector may be learning now
	compute := func() (*replayedPoint, error) {
		if err := c.program.load(ctx, c.report); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, &passingError{&unlearnedError{err}}
		}
		r, err := c.replay(ctx, n, exe)
		said = c.program.said()
		return r, err
	}
	memo, err := store.Memo(c.program.store, key, compute)
	if err == nil && memo.Value.Why != "" && !memo.Value.Final { // it may have passed
		memo = store.Memoized[*replayedPoint]{}
		if memo.Value, err = compute(); err == nil {
			memo.Warning = warningOf(c.program.store.Save(key, memo.Value))
		}
	}
	if passing := new(passingError); errors.As(err, &passing) {
		return &replayedPoint{Why: passing.Error(), Final: replay.Final(err), Unknown: errors.As(err, new(*unlearnedError))}, nil
	}
	if err != nil {
		return nil, err
	}
	r := memo.Value
	r.warnings = notEmpty(said, memo.Warning)
	return r, nil
}

// noReplay returns that there is no replay for a reason that will not change; another
// reason is an error, so that it is not stored.
func noReplay(why error) (*replayedPoint, error) {
	if !replay.Final(why) {
		return nil, &passingError{why}
	}
	return &replayedPoint{Why: why.Error(), Final: true}, nil
}

// passingError says why there is no replay now. Only the Corrector that met it keeps it,
// so that all levels of a point are predicted alike.
type passingError struct{ error }

func (e *passingError) Unwrap() error { return e.error }

// unlearnedError says why a program's loops could not be learned. It is not stored
// with replays: what is known of the runs is.
type unlearnedError struct{ error }

func (e *unlearnedError) Unwrap() error { return e.error }

// warningOf returns what is said if a replay could not be stored.
func warningOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error() + "; the replay was not kept"
}

func notEmpty(list ...string) []string {
	return slices.DeleteFunc(list, func(s string) bool { return s == "" })
}
