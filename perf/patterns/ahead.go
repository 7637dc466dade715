package patterns

import (
	"context"

	"presage/perf/cache"
	"presage/perf/machine"
	"presage/perf/subject"
	"presage/perf/trace"
)

// Prefetched is what a machine's prefetchers leave of the misses of accesses at a level,
// and what they do about the others. Of a TLB, whose pages no prefetcher leaves, all are
// left.
type Prefetched struct {
	Left    float64 `json:",omitempty"` // blocks that are neither there nor on their way
	Late    float64 `json:",omitempty"` // blocks on their way
	Covered float64 `json:",omitempty"` // blocks that a prefetch had brought
	Wait    float64 `json:",omitempty"` // cycles until those of Late arrive, as in cache.Prefetches
}

// Plus returns the sum.
func (p Prefetched) Plus(o Prefetched) Prefetched {
	return Prefetched{p.Left + o.Left, p.Late + o.Late, p.Covered + o.Covered, p.Wait + o.Wait}
}

// Times returns p, f times.
func (p Prefetched) Times(f float64) Prefetched {
	return Prefetched{f * p.Left, f * p.Late, f * p.Covered, f * p.Wait}
}

// cycles returns counts of a simulation with waits in cycles.
func (r *simulated) cycles(p Prefetched) Prefetched {
	p.Wait = r.timing.Cycles(p.Wait)
	return p
}

// clockOf returns the clock of a hierarchy; nil if it has none.
func clockOf(c *cache.Config) *cache.Clock {
	if c == nil || c.Prefetching == nil {
		return nil
	}
	return c.Prefetching.Clock
}

// pace returns the cycles of an access of a group, whose references are in one loop.
func (r *simulated) pace(g trace.GroupID) float64 {
	if r.clock == nil {
		return 1
	}
	return r.clock.PerAccess[r.first[g]]
}

// columns returns what tables show.
func (p Prefetched) columns(prefix string) map[string]float64 {
	return map[string]float64{
		prefix + "_demand_misses": p.Left, prefix + "_late_misses": p.Late, prefix + "_covered_misses": p.Covered, prefix + "_late_cycles": p.Wait,
	}
}

// prefetched returns a machine's hierarchy with its prefetchers for a run, without TLBs,
// and what was assumed; nil if they are not asked for.
func (opt *SimulateOptions) prefetched(ctx context.Context, m *machine.Machine, loaded subject.Loaded) (*cache.Config, []string, error) {
	if !opt.Prefetching {
		return nil, nil, nil
	}
	c, err := opt.Config(ctx, m, loaded.Program, loaded.Inputs)
	if err != nil {
		return nil, nil, err
	}
	c.TLBs = nil
	return &c.Config, c.Assumed, nil
}

// ahead simulates a hierarchy with prefetchers, as it is and with fully associative
// caches.
type ahead struct {
	exact, full *cache.Simulator
}

func newAhead(plan *trace.Plan, config *cache.Config) (*ahead, error) {
	if config == nil {
		return nil, nil
	}
	exact, err := cache.New(plan, *config)
	if err != nil {
		return nil, err
	}
	full, err := cache.New(plan, config.FullyAssociative())
	return &ahead{exact, full}, err
}

// fetchedAhead counts what prefetchers do for an access.
func (c *collector) fetchedAhead(a trace.Access) {
	c.ahead.full.Access(a)
	of := func(level int, block uint64) *Prefetched {
		l := &c.levels[level]
		return &l.counts[c.sizes[l.size].class(a, block)].Ahead
	}
	for _, m := range c.ahead.exact.Access(a) {
		of(m.Level, m.Block).Left++
	}
	for _, u := range c.ahead.exact.Used() {
		n := of(u.Level, u.Block)
		n.Wait += u.Wait
		if u.Late {
			n.Late++
		} else {
			n.Covered++
		}
	}
}

// without sums what is left at each cache, if all are fully associative.
func (a *ahead) without() []Prefetched {
	return prefetchedBy(a.full)
}

// walkInstructions is the number of instructions for each access of a walk.
const walkInstructions = 4

// Walk returns what the prefetchers of a machine do for each miss of a walk through memory
// that goes on by 8 bytes, at each cache: what is left where misses follow each other in
// order, an access every so many cycles. It returns machine.ErrNoPrefetchers if the
// description has none.
func Walk(m *machine.Machine, pace float64) ([]Prefetched, error) {
	const bytes = 1 << 20
	s, err := walker(m, pace)
	if err != nil {
		return nil, err
	}
	walk(s, bytes, bytes)
	all := prefetchedBy(s)
	for i := range all {
		all[i] = all[i].Times(float64(m.Caches[i].BlockBytes) / bytes)
	}
	return all, nil
}

// WalkAgain returns the same for a cache alone, where stretches of memory of so many bytes
// are walked along one after the other, each from another place of a page, and again once
// all have been: together twice what the cache holds, so that the one below has them if it
// is larger.
func WalkAgain(m *machine.Machine, level int, pace float64, stretch uint64) (Prefetched, error) {
	s, err := walker(m, pace)
	if err != nil {
		return Prefetched{}, err
	}
	c := &m.Caches[level]
	blocks := max(1, stretch/c.BlockBytes)
	count := max(1, 2*c.Blocks/blocks)
	apart := (stretch/pageBytes + 2) * pageBytes
	once := func() Prefetched {
		for k := range count { // from all places of a page: 29 has no factor in common with their number
			walk(s, pageBytes+k*apart+k*29*c.BlockBytes%pageBytes, blocks*c.BlockBytes)
		}
		return prefetchedBy(s)[level]
	}
	first := once()
	return once().Plus(first.Times(-1)).Times(1 / float64(count*blocks)), nil
}

const (
	walkStep  = 8    // bytes from one access of a walk to the next
	pageBytes = 4096 // that no prefetcher leaves
)

// walker returns the caches of a machine with its prefetchers, for accesses that come every
// so many cycles.
func walker(m *machine.Machine, pace float64) (*cache.Simulator, error) {
	config, err := m.Prefetching(1)
	if err != nil {
		return nil, err
	}
	config.Prefetching.Clock = &cache.Clock{PerAccess: []float64{pace}, Window: 1}
	if !m.Core.InOrder {
		config.Prefetching.Clock.Window = max(1, m.Core.Window/walkInstructions)
	}
	return cache.New(&trace.Plan{Refs: []trace.Ref{{Size: walkStep, Kind: trace.Load}}}, config.Config)
}

// walk accesses so many bytes from an address on.
func walk(s *cache.Simulator, from, bytes uint64) {
	for at := from; at < from+bytes; at += walkStep {
		s.Access(trace.Tag(0, walkStep) + trace.Access(at))
	}
}

// prefetchedBy returns what was left, late and covered at each cache so far.
func prefetchedBy(s *cache.Simulator) []Prefetched {
	var all []Prefetched
	for _, l := range s.Result().Levels {
		all = append(all, Prefetched{float64(l.Total.Misses), float64(l.Prefetched.Late), float64(l.Prefetched.Covered), l.Prefetched.Wait})
	}
	return all
}
