package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/machine/catalog"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/reuse"
	"presage/perf/subject"
	"presage/perf/trace"
)

// Options configures New. The zero value is the default.
type Options struct {
	// Machines are in the menu; nil: those of catalog.Names whose block sizes were
	// profiled, at least of one level.
	Machines []*machine.Machine
	// Fit is how models are fitted to begin with; its BlockBytes are not regarded.
	Fit misses.FitOptions
	// Source is a folder in which source files are looked for that are not where the
	// program's debug information has them; empty: none.
	Source string
}

// Session holds profiles, and what was computed from them. Several pages may use it.
type Session struct {
	runs     *locality.Runs
	opt      Options
	machines []*machine.Machine
	points   []string // of the runs
	blocks   []uint64

	models    *cache[modelKey, *misses.Model]
	curves    *cache[curveKey, *predicted]
	collected *cache[collectedKey, []reuse.Histogram]
	views     *cache[string, *View]
}

// The numbers of results that are kept.
const (
	keptModels = 24
	keptCurves = 24
	keptViews  = 64
)

// New returns a session for exploring runs. It returns an error if there are too few
// to fit a model to, they are not Conserved, or no machine has a level with their blocks.
func New(runs *locality.Runs, opt Options) (*Session, error) {
	if n := len(runs.Runs); n < locality.MinSizes {
		return nil, fmt.Errorf("explore: %d runs: a model takes %d sizes at least; profile further sizes", n, locality.MinSizes)
	}
	if err := runs.Conserved(); err != nil { // before a page is served
		return nil, fmt.Errorf("explore: %w", err)
	}
	s := &Session{
		runs: runs, opt: opt, blocks: runs.BlockBytes(),
		models:    newCache[modelKey, *misses.Model](keptModels),
		curves:    newCache[curveKey, *predicted](keptCurves),
		collected: newCache[collectedKey, []reuse.Histogram](keptCurves),
		views:     newCache[string, *View](keptViews),
	}
	for i := range runs.Runs {
		s.points = append(s.points, runs.Runs[i].Point.String())
	}
	all := opt.Machines
	if all == nil {
		names, err := catalog.Names()
		if err != nil {
			return nil, fmt.Errorf("explore: %w", err)
		}
		for _, name := range names {
			m, err := catalog.Find(name)
			if err != nil {
				return nil, fmt.Errorf("explore: %w", err)
			}
			all = append(all, m)
		}
	}
	for _, m := range all {
		if len(s.levels(m)) > 0 {
			s.machines = append(s.machines, m)
		}
	}
	if len(s.machines) == 0 {
		return nil, fmt.Errorf("explore: no machine has a cache or TLB with blocks of %v bytes, which were profiled; profile with the block sizes of a machine", s.blocks)
	}
	slices.SortStableFunc(s.machines, func(a, b *machine.Machine) int { return len(s.levels(b)) - len(s.levels(a)) })
	return s, nil
}

// MachineNames returns the names of the machines in the menu.
func (s *Session) MachineNames() []string {
	var names []string
	for _, m := range s.machines {
		names = append(names, m.Name)
	}
	return names
}

// levels returns the caches and TLBs of a machine whose blocks were profiled, and
// that predictions know.
func (s *Session) levels(m *machine.Machine) []predict.Level {
	return slices.DeleteFunc(predict.Levels(m), func(l predict.Level) bool {
		return l.BypassFloat || !slices.Contains(s.blocks, l.BlockBytes)
	})
}

// machine returns a machine of the menu.
func (s *Session) machine(name string) *machine.Machine {
	for _, m := range s.machines {
		if m.Name == name {
			return m
		}
	}
	return s.machines[0]
}

// params returns the parameters, those that vary first.
func (s *Session) params() []string {
	var varying, fixed []string
	for _, name := range s.runs.Runs[0].Point.Names() {
		if lo, hi := s.span(name); lo < hi {
			varying = append(varying, name)
		} else {
			fixed = append(fixed, name)
		}
	}
	return append(varying, fixed...)
}

// span returns the least and the greatest value of a parameter in the runs.
func (s *Session) span(param string) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i := range s.runs.Runs {
		v := s.runs.Runs[i].Point[param]
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}

// at returns the last run's point with another value of the state's parameter.
func (s *Session) at(st *State, value float64) subject.Point {
	p := maps.Clone(s.runs.Runs[len(s.runs.Runs)-1].Point)
	p[st.Param] = value
	return p
}

// modelKey is what a model depends on; block is 0 for all block sizes.
type modelKey struct {
	basis, shape, without string
	block                 uint64
}

func (st *State) modelOf(block uint64) modelKey {
	return modelKey{st.Basis, st.Shape, fmt.Sprint(st.Without), block}
}

// model returns the model of a state for one block size, as a draft, or all if it is 0:
// only the parts of the page that are opened show intervals.
func (s *Session) model(ctx context.Context, st *State, block uint64) (*misses.Model, error) {
	return s.models.get(st.modelOf(block), func() (*misses.Model, error) {
		runs, err := s.runs.Chosen(func(r *locality.Run) bool { return !slices.Contains(st.Without, r.Point.String()) })
		if err != nil {
			return nil, fmt.Errorf("no size is ticked: tick %d at least", locality.MinSizes)
		}
		if n := len(runs.Runs); n < locality.MinSizes {
			return nil, fmt.Errorf("%d sizes are ticked: a model takes %d at least, and five to be worth trusting", n, locality.MinSizes)
		}
		opt := s.opt.Fit
		opt.Basis, opt.Shape, opt.BlockBytes = st.Basis, st.Shape, nil
		if block != 0 {
			opt.BlockBytes, opt.Draft = []uint64{block}, true
		}
		return misses.Fit(ctx, runs, opt)
	})
}

// collectedKey names histograms of the runs.
type collectedKey struct {
	by    subject.Scope
	scope string
	block uint64
}

// histograms returns what the runs have of a scope, run by run.
func (s *Session) histograms(st *State) ([]reuse.Histogram, error) {
	return s.collected.get(collectedKey{st.By, st.Scope, st.Block}, func() ([]reuse.Histogram, error) {
		common, err := s.runs.Common()
		if err != nil {
			return nil, err
		}
		groups := make([][]trace.GroupID, len(s.runs.Runs))
		for g := range common.All() {
			if st.By != subject.ByProgram && common.ScopeOf(st.By, g) != st.Scope {
				continue
			}
			for i := range groups {
				groups[i] = append(groups[i], common.OfRun(i, g)...)
			}
		}
		all := make([]reuse.Histogram, len(groups))
		for i := range groups {
			res, err := s.runs.Runs[i].At(st.Block)
			if err != nil {
				return nil, err
			}
			all[i] = locality.SumHistograms(res, groups[i])
		}
		return all, nil
	})
}

// curveKey is what predicted histograms depend on.
type curveKey struct {
	model  modelKey
	by     subject.Scope
	method predict.Method
	param  string
	to     float64
}

// predicted are histograms of all scopes along a parameter.
type predicted struct {
	at     []float64
	scoped []*misses.ScopedHistograms
}

// cache keeps the results of the latest calls. A result is computed once, even if
// several ask for it at a time; errors are not kept.
type cache[K comparable, V any] struct {
	mu    sync.Mutex
	limit int
	known map[K]*entry[V]
	order []K // by last use
}

type entry[V any] struct {
	done  chan struct{}
	value V
	err   error
}

func newCache[K comparable, V any](limit int) *cache[K, V] {
	return &cache[K, V]{limit: limit, known: make(map[K]*entry[V])}
}

// get returns the value of a key, computing it if it is not known.
func (c *cache[K, V]) get(key K, compute func() (V, error)) (V, error) {
	for {
		c.mu.Lock()
		e, ok := c.known[key]
		if !ok {
			e = &entry[V]{done: make(chan struct{})}
			c.known[key] = e
		}
		c.use(key)
		c.mu.Unlock()
		if !ok {
			return c.fill(key, e, compute)
		}
		<-e.done
		if errors.Is(e.err, context.Canceled) {
			continue // whoever asked first has gone: ask again
		}
		return e.value, e.err
	}
}

func (c *cache[K, V]) fill(key K, e *entry[V], compute func() (V, error)) (V, error) {
	e.err = errors.New("explore: a computation ended early") // if it panics
	defer func() {
		if e.err != nil {
			c.mu.Lock()
			if c.known[key] == e {
				delete(c.known, key)
			}
			c.order = slices.DeleteFunc(c.order, func(k K) bool { return k == key })
			c.mu.Unlock()
		}
		close(e.done)
	}()
	e.value, e.err = compute()
	return e.value, e.err
}

// use moves a key to the end of the order, and forgets the first if there are too
// many.
func (c *cache[K, V]) use(key K) {
	c.order = append(slices.DeleteFunc(c.order, func(k K) bool { return k == key }), key)
	if len(c.order) > c.limit {
		delete(c.known, c.order[0])
		c.order = c.order[1:]
	}
}
