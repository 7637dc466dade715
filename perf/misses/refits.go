package misses

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"presage/perf/fit"
	"presage/perf/locality"
	"presage/perf/reuse"
	"presage/perf/scaling"
	"presage/perf/store"
	"presage/perf/subject"
)

// modelVersion is part of the key of a stored model: raise it when fitting
// changes, or the layout of scaling.Model.
const modelVersion = 13

// matchVersion is part of the key of a model of several executables: raise it
// when access.Match changes.
const matchVersion = 2

// refits are the models that a Model was made of, and further ones of the same
// runs, which are fitted when they are asked for first.
type refits struct {
	parts   string // digest of the groups, see digestOfParts; empty before they are chosen
	runs    *locality.Runs
	sizes   []fit.Point
	options scaling.Options
	opt     FitOptions
	store   *store.Store

	// Who makes further runs, or fits a model, holds no more than what stands for them.
	simulating turns[simulatedKey]
	shrinking  turns[simulatedKey] // by the whole machine
	collecting turns[int]          // by run
	fitting    turns[refit]
	looping    turns[loopKey]

	lacking atomic.Bool // a further run could not be made, or the store not be used

	mu       sync.Mutex // of what follows
	warnings []string   // of the store
	known    map[refit]*scaling.Model
	heldOut  map[int]*scaling.Footprint // by the number of the largest sizes that are left out
	scopes   map[subject.Scope]subject.Partition

	classes map[furtherKey]map[locality.Class]reuse.Histogram
	notRun  error // why further runs cannot be made; nil: none failed
	byLoop  map[loopKey]*byLoop
	better  map[loopKey]bool // whether a model by loop foretells the largest size better

	atLargest   map[int]*reuse.Histogram // of the whole program at the largest size, by index of the block size
	simulations map[simulatedKey]simulatedRun
	collided    map[collidedKey]*collisions
	accesses    map[string][]float64 // of each group, at points that were asked for
	pagesUsed   *pageUse             // nil: not asked for
	sweeping    map[uint64][]bool    // by block size and group
}

// refit is what a model is fitted to.
type refit struct {
	block   int // index of the block size
	without int // the number of the largest sizes that are left out
}

// fitted returns a model, from memory or the store if it is there. What
// the store warns of is in refits.warnings.
func (m *Model) fitted(ctx context.Context, what refit) (*scaling.Model, error) {
	r := m.refits
	blockBytes := r.runs.BlockBytes()[what.block]
	end, err := r.fitting.take(ctx, what)
	if err != nil {
		return nil, err
	}
	defer end()
	r.mu.Lock()
	before := r.known[what]
	r.mu.Unlock()
	if before != nil {
		return before, nil
	}
	kept := r.kept(what.without)
	key := func() (store.Key, error) { return r.key(what, kept) }
	options := r.options
	options.BlockBytes = blockBytes
	known, err := memo(r, key, func() (*scaling.Model, error) {
		sizes := make([]fit.Point, len(kept))
		for i, k := range kept {
			sizes[i] = r.sizes[k]
		}
		return scaling.Fit(ctx, sizes, m.measured(what.block, kept), options)
	})
	if err != nil {
		return nil, fmt.Errorf("perf: fit for blocks of %d bytes: %w", blockBytes, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warn(known.Warning)
	r.known[what] = known.Value
	return known.Value, nil
}

// fitBlocks fits the models of some block sizes, several at a time: one is written to
// the store while others are fitted.
func (m *Model) fitBlocks(ctx context.Context, chosen []uint64) error {
	all := m.refits.runs.BlockBytes()
	fitted, errs := make([]*scaling.Model, len(all)), make([]error, len(all))
	var wg sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for b, blockBytes := range all {
		if slices.Contains(chosen, blockBytes) {
			wg.Go(func() {
				room <- struct{}{}
				fitted[b], errs[b] = m.fitted(ctx, refit{block: b})
				<-room
			})
		}
	}
	wg.Wait()
	for b, blockBytes := range all {
		if errs[b] != nil {
			return errs[b]
		}
		if fitted[b] == nil {
			continue
		}
		m.byBlock[blockBytes] = fitted[b]
		for _, w := range fitted[b].Warnings {
			m.Warnings = append(m.Warnings, fmt.Sprintf("blocks of %d bytes: %v", blockBytes, w))
		}
	}
	said := m.refits.said()
	slices.Sort(said)
	m.Warnings = append(m.Warnings, said...)
	return nil
}

// memo is store.Memo, but of drafts, which are not kept.
func memo[T any](r *refits, key func() (store.Key, error), compute func() (T, error)) (store.Memoized[T], error) {
	if r.opt.Draft {
		v, err := compute()
		return store.Memoized[T]{Value: v}, err
	}
	k, err := key()
	if err != nil {
		return store.Memoized[T]{}, err
	}
	return store.Memo(r.store, k, compute)
}

// heldOutFootprint returns what the program touches by all sizes but the largest ones.
func (m *Model) heldOutFootprint(without int) (*scaling.Footprint, error) {
	r := m.refits
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.heldOut[without]; known != nil {
		return known, nil
	}
	fitted, err := m.fitFootprint(without)
	if err != nil {
		return nil, err
	}
	r.heldOut[without] = fitted
	return fitted, nil
}

// warn adds a warning of the store, if it is one; r.mu is held.
func (r *refits) warn(text string) {
	if text != "" {
		r.warnings = append(r.warnings, text)
		r.lacking.Store(true)
	}
}

// said returns and forgets the warnings of the store.
func (r *refits) said() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.warnings
	r.warnings = nil
	return all
}

// kept returns the indices of the runs without so many of the largest sizes.
func (r *refits) kept(without int) []int {
	order := make([]int, len(r.sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return scaling.CompareSizes(r.sizes[a], r.sizes[b]) })
	order = order[:len(order)-without]
	slices.Sort(order)
	return order
}

// fitInputs are what a model depends on.
type fitInputs struct {
	Runs        []locality.Recorded
	Points      []subject.Point
	BlockBytes  uint64
	Reuse       int
	Basis       string
	Shape       string
	Tolerance   float64
	MedianRatio bool
	Match       int `json:",omitempty"`
	Joined      int
	Of          int `json:",omitempty"` // runs that the groups were chosen by, if more
	// Parts is a digest of the groups, empty before they are chosen.
	Parts string `json:",omitempty"`
}

// inputs returns what a model of some runs depends on, for their smallest blocks.
func (r *refits) inputs(kept []int) fitInputs {
	in := fitInputs{
		BlockBytes: r.runs.BlockBytes()[0], Reuse: locality.ReuseVersion, Joined: joinVersion,
		Basis: r.opt.Basis, Shape: r.opt.Shape, Tolerance: r.opt.Tolerance, MedianRatio: r.opt.MedianRatio,
		Of: moreThan(len(r.sizes), len(kept)), Parts: r.parts,
	}
	for _, i := range kept {
		in.Runs, in.Points = append(in.Runs, r.runs.Runs[i].Recorded), append(in.Points, r.runs.Runs[i].Point)
	}
	if r.runs.Matched() {
		in.Match = matchVersion
	}
	return in
}

// key returns the key of the model of a block size.
func (r *refits) key(what refit, kept []int) (store.Key, error) {
	in := r.inputs(kept)
	in.BlockBytes = r.runs.BlockBytes()[what.block]
	return store.NewKey("model", modelVersion, in)
}

// moreThan returns n, or 0 if it is no more than m.
func moreThan(n, m int) int {
	if n > m {
		return n
	}
	return 0
}

// measured returns each group's histograms at some sizes, for the runs' b-th
// block size.
func (m *Model) measured(b int, kept []int) []scaling.Group {
	runs := m.refits.runs
	groups := make([]scaling.Group, len(m.parts))
	share(len(groups), func(g int) {
		hists, accesses := make([]reuse.Histogram, len(kept)), make([]float64, len(kept))
		for i, r := range kept {
			hists[i], accesses[i] = m.collectedBy(runs, g, r, b), m.accessesBy(runs, g, r, b)
		}
		groups[g] = scaling.Group{Name: m.first(Group(g)).String(), Hists: hists, Accesses: accesses}
	})
	return groups
}
