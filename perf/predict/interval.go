package predict

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"presage/perf/fit"
	"presage/perf/scaling"
)

// Interval is a range of misses.
type Interval struct{ Low, High float64 }

// Including returns i, extended to v if v is outside.
func (i Interval) Including(v float64) Interval {
	return Interval{math.Min(i.Low, v), math.Max(i.High, v)}
}

// IntervalOptions configures Intervals. The zero value is the default.
type IntervalOptions struct {
	// Level is the probability with which an interval should contain the
	// outcome; 0 for DefaultLevel. At most MaxLevel.
	Level float64
	// Seed of the random numbers; the same seed gives the same intervals.
	Seed uint64
}

// Limits of IntervalOptions.
const (
	DefaultLevel = 0.9
	MaxLevel     = 0.99
)

const (
	minPairs     = 100 // pairs of draws, at least
	tailPairs    = 10  // pairs of draws outside an interval
	groupsAtOnce = 32
)

// Intervals returns, for each cache and each scope, a range that contains the
// misses of the scope's groups at a size with the probability of the level.
// scopeOf is the index of each group's scope.
//
// The method is a parametric bootstrap: the histogram of every group is drawn a
// few hundred times from the functions compatible with the data (deviates), and
// the misses of each draw are counted. Bins are scaled to the drawn total of
// the group, so that one bin's gain is another's loss, and totals are better
// known than parts. A capacity within the range of a bin's distance makes the
// bin's misses all or nothing. An interval lies between two quantiles of the
// draws, with equal probability on both sides.
//
// It covers what the residuals of the functions reveal, the choice of their
// terms included. It does not cover errors without a trace in the residuals: a
// bin that stands for distances of several kinds, a regime that begins beyond
// the sizes of the model, functions held constant because they were seen too
// seldom, or, in set-associative caches, the placement of the program's data in
// the sets. So intervals contain fewer outcomes than they promise. For noise,
// at a level of 90%: 84% to 93% (TestCoverageOfNoisyHistograms; the terms alone
// explain that, see fit.Spread). For the exact misses of the kernels of package
// scaling (matrix multiply, plain and blocked, a stencil, a sweep, a triad),
// trained up to 40 or 42 and predicted at 60 and 80, in fully associative
// caches of 32 to 8192 blocks: 90% and 74% of the programs' misses for two sets
// of training sizes, 22% in the worst kernel, a sweep in blocks of four planes
// where the second set's sizes leave remainders; 90% and 81% of the groups'
// (TestCoverageOnKernels, which tuned nothing).
func Intervals(ctx context.Context, m *scaling.Model, size fit.Point, caches []Cache, scopeOf []int, opt IntervalOptions) ([][]Interval, error) {
	level := opt.Level
	if level == 0 {
		level = DefaultLevel
	}
	if !(level > 0 && level <= MaxLevel) {
		return nil, fmt.Errorf("predict: level %g of intervals is not above 0 and at most %g", level, MaxLevel)
	}
	if err := m.Check(size); err != nil {
		return nil, fmt.Errorf("predict: %w", err)
	}
	if len(scopeOf) != len(m.Groups) {
		panic(fmt.Sprintf("predict: scopes of %d groups for a model of %d", len(scopeOf), len(m.Groups)))
	}
	tables := make([]missTable, len(caches))
	for i, c := range caches {
		if err := c.Check(); err != nil {
			return nil, err
		}
		tables[i] = newMissTable(c)
	}
	d := deviatesOf(kind{pairs: max(minPairs, int(math.Ceil(tailPairs/(1-level)))), sizes: len(m.Sizes), seed: opt.Seed})
	sums := drawMisses(ctx, m, size, tables, scopeOf, d)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := make([][]Interval, len(caches))
	for c := range caches {
		for _, draws := range sums[c] {
			out[c] = append(out[c], quantiles(draws, level))
		}
	}
	return out, nil
}

// quantiles sorts draws and returns the range of the central part that level
// keeps.
func quantiles(draws []float64, level float64) Interval {
	slices.Sort(draws)
	outside := max(1, int((1-level)/2*float64(len(draws)+1)+1e-9))
	return Interval{draws[outside-1], draws[len(draws)-outside]}
}

// drawMisses returns the misses of each scope in each draw, by cache. Batches
// of groups are drawn in parallel and added in order, so the result does not
// depend on the number of processors.
func drawMisses(ctx context.Context, m *scaling.Model, size fit.Point, tables []missTable, scopeOf []int, d *deviates) [][][]float64 {
	scopes := 0
	for _, s := range scopeOf {
		scopes = max(scopes, s+1)
	}
	batches := (len(m.Groups) + groupsAtOnce - 1) / groupsAtOnce
	parts := make([]*tally, batches)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), batches) {
		wg.Go(func() {
			world := newWorld(d)
			for b := range next {
				parts[b] = newTally(len(tables), d.draws())
				for g := b * groupsAtOnce; g < min(len(m.Groups), (b+1)*groupsAtOnce); g++ {
					world.draw(&m.Groups[g], size)
					for c := range tables {
						world.addMisses(parts[b].of(c, scopeOf[g]), &tables[c])
					}
				}
			}
		})
	}
	for b := range batches {
		if ctx.Err() != nil {
			break
		}
		next <- b
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return nil
	}
	sums := make([][][]float64, len(tables))
	for c := range sums {
		sums[c] = make([][]float64, scopes)
		for s := range sums[c] {
			sums[c][s] = make([]float64, d.draws())
		}
		for _, p := range parts {
			p.addTo(sums[c], c)
		}
	}
	return sums
}

// tally is the misses of a batch of groups by cache and scope.
type tally struct {
	draws  int
	scopes []int
	misses [][][]float64 // by cache and place in scopes
}

func newTally(caches, draws int) *tally {
	return &tally{draws: draws, misses: make([][][]float64, caches)}
}

// of returns the sums of misses of a scope in a cache, by draw.
func (t *tally) of(cache, scope int) []float64 {
	i := slices.Index(t.scopes, scope)
	if i < 0 {
		i = len(t.scopes)
		t.scopes = append(t.scopes, scope)
	}
	for len(t.misses[cache]) <= i {
		t.misses[cache] = append(t.misses[cache], make([]float64, t.draws))
	}
	return t.misses[cache][i]
}

func (t *tally) addTo(sums [][]float64, cache int) {
	for i, draws := range t.misses[cache] {
		to := sums[t.scopes[i]]
		for k, v := range draws {
			to[k] += v
		}
	}
}

// world is the histogram of a group in every draw.
type world struct {
	sampler
	cold, reuses, share []float64  // share: what each bin's frequency is multiplied by
	bins, known         []worldBin // known: all bins with memory
}

type worldBin struct {
	count, distance []float64
	fixed           bool // the distance is the same in all draws
}

func newWorld(d *deviates) *world {
	n := d.draws()
	return &world{sampler: sampler{deviates: d}, cold: make([]float64, n), reuses: make([]float64, n), share: make([]float64, n)}
}

// draw sets w to the histogram of g at size p: scaling.GroupModel.Histogram with
// other functions in each draw.
func (w *world) draw(g *scaling.GroupModel, p fit.Point) {
	w.sampler.draw(w.cold, &g.Cold, p)
	w.sampler.draw(w.reuses, &g.Accesses, p)
	for k := range w.reuses {
		w.reuses[k] = max(0, w.reuses[k]-w.cold[k])
	}
	for len(w.known) < len(g.Bins) {
		w.known = append(w.known, worldBin{count: make([]float64, w.draws()), distance: make([]float64, w.draws())})
	}
	w.bins = w.known[:len(g.Bins)]
	clear(w.share)
	for i := range g.Bins {
		b := &w.bins[i]
		w.sampler.draw(b.count, &g.Bins[i].Frequency, p)
		b.fixed = !w.sampler.draw(b.distance, &g.Bins[i].Distance, p)
		for k, v := range b.count {
			w.share[k] += v
		}
	}
	for k, sum := range w.share {
		if sum > 0 {
			w.share[k] = w.reuses[k] / sum
		}
	}
}

// addMisses adds the misses of each draw to dst.
func (w *world) addMisses(dst []float64, t *missTable) {
	for k, v := range w.cold {
		dst[k] += v
	}
	for i := range w.bins {
		b := &w.bins[i]
		if b.fixed {
			p := t.cache.MissProbability(b.distance[0])
			if p == 0 {
				continue
			}
			for k, v := range b.count {
				dst[k] += p * v * w.share[k]
			}
			continue
		}
		for k, v := range b.count {
			dst[k] += t.probability(b.distance[k]) * v * w.share[k]
		}
	}
}

// missTable is Cache.MissProbability at equal steps, interpolated linearly:
// within 1e-3 of it, and much faster.
type missTable struct {
	cache  Cache
	step   float64
	values []float64 // at Ways−1, Ways−1+step, …; empty for one set
}

const tableSteps = 1024

func newMissTable(c Cache) missTable {
	t := missTable{cache: c}
	if c.Sets == 1 {
		return t
	}
	// If the number of blocks in a set, which is about Poisson, has this mean,
	// it is at least Ways with a probability of 1 - 1e-9.
	k := float64(c.Ways)
	t.step = float64(c.Sets) * (k + 8*math.Sqrt(k) + 24) / tableSteps
	for i := range tableSteps + 1 {
		t.values = append(t.values, c.MissProbability(k-1+float64(i)*t.step))
	}
	return t
}

func (t *missTable) probability(distance float64) float64 {
	if t.values == nil {
		return t.cache.MissProbability(distance)
	}
	x := (distance - float64(t.cache.Ways) + 1) / t.step
	switch {
	case x <= 0:
		return 0
	case x >= tableSteps:
		return 1
	}
	i := int(x)
	return t.values[i] + (x-float64(i))*(t.values[i+1]-t.values[i])
}

// IntervalsByGroup is Intervals for one cache, with a scope for each of the model's
// groups. It returns nil if opt.Level is negative: no intervals are asked for.
func IntervalsByGroup(ctx context.Context, m *scaling.Model, point fit.Point, cache Cache, opt IntervalOptions) ([]Interval, error) {
	if opt.Level < 0 {
		return nil, nil
	}
	each := make([]int, len(m.Groups))
	for g := range each {
		each[g] = g
	}
	all, err := Intervals(ctx, m, point, []Cache{cache}, each, opt)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}
