package misses

import (
	"context"
	"errors"
	"math"
	"slices"

	"presage/perf/cache"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/reuse"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// MethodCollisions is how misses of a cache of sets were predicted at a size beyond those
// that the model was fitted to: as in a fully associative cache, and with conflicts by
// chance as runs had them in caches of the same ways and fewer sets.
//
// Which blocks collide changes with the size, but so does how much of the data a cache
// holds. In a run that touches a quarter of what the program will, a cache with a quarter
// of the sets holds as large a part, and addresses that data choose fall into its sets as
// they do, four times as far apart, into those of the machine (derived here). Of each group
// of references such a cache says where between two models its misses are, that of a fully
// associative cache and the binomial formula, by which blocks are at random places. What the
// largest runs say of each other decides whether that is taken, or no conflicts are
// predicted.
//
// A cache of fewer sets may also have more misses than by the formula, as a loop goes
// through as many arrays at every size, which fill it sooner: that widens intervals, and is
// not predicted.
const MethodCollisions = "fully associative, conflicts as in runs"

// clearly is the part of the error without conflicts below which they are predicted.
const clearly = 0.7

// collisions are the misses of each group at a level, or in one like it in a run.
type collisions struct {
	real     []float64 // simulated
	full     []float64 // in a fully associative cache
	chance   []float64 // by the binomial formula
	accesses []float64
}

// lesson is what collisions say of other sizes, by group.
type lesson struct {
	share  []float64 // of the way from full to chance, from 0 to 1; missing where both are one
	excess []float64 // misses beyond either, of an access
}

// expectation is what is predicted of the conflicts at a level, by group.
type expectation struct {
	more   []float64   // misses than in a fully associative cache, or fewer if negative
	others [][]float64 // what more would be by single runs, without conflicts, and with the excess
}

// collide adds the conflicts that runs let expect to the misses that no Corrector knows
// better.
func (m *Model) collide(ctx context.Context, t *target, e *estimate, l predict.Level, point subject.Point) error {
	if !m.mayCollide(t, l, point, e.by) {
		return nil
	}
	open := make([]bool, m.Groups())
	for g := range open {
		open[g] = e.corrected == nil || !e.corrected[g]
	}
	at := e.unsimulated(m, l, point)
	if sumOf(at.chance, open) <= leastOpen*sumOf(at.chance, nil) {
		return nil
	}
	if err := m.simulateSmaller(ctx, t, e.by); err != nil {
		return err
	}
	var runs []*collisions
	for _, a := range m.alikeRuns(l, point) {
		c, err := m.collisionsIn(ctx, t, l, a)
		if errors.Is(err, errNotRun) || err == nil && c == nil {
			return nil // seenConflicts says so
		}
		if err != nil {
			return err
		}
		runs = append(runs, c)
	}
	e.expected = foretellCollisions(runs, at, open)
	if e.expected == nil {
		return nil
	}
	for g, more := range e.expected.more {
		if open[g] {
			e.misses[g].Reuse += more
			e.methods[g] = MethodCollisions
		}
	}
	return nil
}

// leastOpen is the share of the misses, by the binomial formula, of groups that a
// Corrector does not know from which their conflicts are looked for.
const leastOpen = 0.002

// mayCollide reports whether conflicts at a level are predicted by what runs had: of the
// caches of a machine, not of its TLBs.
func (m *Model) mayCollide(t *target, l predict.Level, point subject.Point, by predict.Method) bool {
	return t.hasCache(l.Name) && l.Sets > 1 && !l.BypassFloat && !scaling.OfPages(l.BlockBytes) &&
		!m.refits.opt.Draft && m.byBlock[l.BlockBytes] != nil && m.beyondRuns(point, by) != ""
}

// hasCache reports whether the machine, if there is one, has a cache of that name.
func (t *target) hasCache(name string) bool {
	return t.hardware != nil && slices.ContainsFunc(t.hardware.Caches, func(c machine.Cache) bool { return c.Name == name })
}

// unsimulated returns what models say of a level.
func (e *estimate) unsimulated(m *Model, l predict.Level, point subject.Point) *collisions {
	c := &collisions{full: make([]float64, m.Groups()), chance: make([]float64, m.Groups()), accesses: m.accesses(point)}
	for part := range e.groups {
		g := e.group(part)
		own := predict.OfHistogram(&e.groups[part].Histogram, l.Cache())
		c.chance[g] += own.Total()
	}
	for g := range e.full {
		c.full[g] = e.full[g].Total()
	}
	return c
}

// collisionsIn returns the collisions in a run, in a level like the machine's; nil if they
// cannot be known.
func (m *Model) collisionsIn(ctx context.Context, t *target, l predict.Level, a alike) (*collisions, error) {
	below := int(math.Floor(a.shift))
	sims, err := m.refits.simulatedSmaller(ctx, a.run, t.hardware, []int{below, below + 1}, t.progress)
	if sims == nil || err != nil {
		return nil, err
	}
	c := m.collisionsOf(a.run, sims[0], l, below)
	c.towards(m.collisionsOf(a.run, sims[1], l, below+1), a.shift-float64(below))
	return c, nil
}

// collisionsOf returns the collisions of a run in a level with 2^-shift times the sets.
func (m *Model) collisionsOf(run int, sim *storedCache, l predict.Level, shift int) *collisions {
	r := m.refits.runs
	l.Sets >>= shift
	hists := r.Runs[run].Reuse[slices.Index(r.BlockBytes(), l.BlockBytes)].Groups
	levels := resultLevels(sim.Result)
	counts := levels[slices.IndexFunc(levels, func(own cache.LevelResult) bool { return own.Name == l.Name })].Groups
	n := m.Groups()
	c := &collisions{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	probability := make(map[float64]float64) // by distance
	for g := range n {
		for _, of := range m.OfRun(run, Group(g)) {
			h := &hists[of]
			c.real[g] += float64(counts[of].Misses)
			c.full[g] += float64(h.Misses(l.Blocks()))
			c.chance[g] += chanceMisses(h, l.Cache(), probability)
			c.accesses[g] += float64(h.Accesses())
		}
	}
	return c
}

// chanceMisses returns the misses of a histogram by the binomial formula. What it needs of
// a distance is kept in probability.
func chanceMisses(h *reuse.Histogram, c predict.Cache, probability map[float64]float64) float64 {
	sum := float64(h.Cold)
	for _, bin := range h.Bins {
		p, ok := probability[bin.Mid()]
		if !ok {
			p = c.MissProbability(bin.Mid())
			probability[bin.Mid()] = p
		}
		sum += p * float64(bin.Count)
	}
	return sum
}

// towards moves c to o by a share of the way.
func (c *collisions) towards(o *collisions, share float64) {
	move := func(a, b []float64) {
		for i := range a {
			a[i] += share * (b[i] - a[i])
		}
	}
	move(c.real, o.real)
	move(c.full, o.full)
	move(c.chance, o.chance)
	move(c.accesses, o.accesses)
}

// lessonOf returns what collisions in a run say of others.
func lessonOf(c *collisions) lesson {
	l := lesson{make([]float64, len(c.real)), make([]float64, len(c.real))}
	for g, real := range c.real {
		full, chance := c.full[g], math.Max(c.full[g], c.chance[g])
		within := math.Min(math.Max(real, full), chance)
		l.share[g] = math.NaN()
		if way := chance - full; way > 0.5 {
			l.share[g] = (within - full) / way
		}
		if c.accesses[g] > 0 {
			l.excess[g] = (real - within) / c.accesses[g]
		}
	}
	return l
}

// meanOf returns the mean of lessons.
func meanOf(all []lesson) lesson {
	n := len(all[0].share)
	l := lesson{make([]float64, n), make([]float64, n)}
	for g := range n {
		known := 0.0
		for _, o := range all {
			if !math.IsNaN(o.share[g]) {
				l.share[g] += o.share[g]
				known++
			}
			l.excess[g] += o.excess[g] / float64(len(all))
		}
		l.share[g] /= math.Max(1, known)
	}
	return l
}

// more returns the misses beyond those in a fully associative cache that a lesson lets
// expect at another size: at most those of the binomial formula.
func (l lesson) more(at *collisions) []float64 {
	out := make([]float64, len(at.full))
	for g, full := range at.full {
		if !math.IsNaN(l.share[g]) {
			out[g] = l.share[g] * math.Max(0, at.chance[g]-full)
		}
	}
	return out
}

// withExcess returns what more returned with the excess of a lesson added.
func (l lesson) withExcess(at *collisions) []float64 {
	out := l.more(at)
	for g := range out {
		out[g] = math.Max(out[g]+l.excess[g]*at.accesses[g], -at.full[g])
	}
	return out
}

// foretellCollisions returns what runs let expect of the conflicts at a size; nil if what
// they say of each other is no better than to expect none, or there are too few.
func foretellCollisions(runs []*collisions, at *collisions, open []bool) *expectation {
	if len(runs) < likeRuns {
		return nil
	}
	lessons := make([]lesson, len(runs))
	for i, c := range runs {
		lessons[i] = lessonOf(c)
	}
	var without, with float64 // errors of what is foretold of each run
	for i, c := range runs {
		others := meanOf(slices.Delete(slices.Clone(lessons), i, i+1))
		real, full := sumOf(c.real, open), sumOf(c.full, open)
		without += math.Abs(math.Log((full + someMisses) / (real + someMisses)))
		with += math.Abs(math.Log((full + sumOf(others.more(c), open) + someMisses) / (real + someMisses)))
	}
	if !(with < clearly*without) {
		return nil
	}
	mean := meanOf(lessons)
	out := &expectation{more: mean.more(at), others: [][]float64{make([]float64, len(at.full)), mean.withExcess(at)}}
	for _, l := range lessons {
		out.others = append(out.others, l.more(at))
	}
	return out
}

// sumOf returns the sum of the values of some groups; nil: of all.
func sumOf(values []float64, of []bool) float64 {
	sum := 0.0
	for g, v := range values {
		if of == nil || of[g] {
			sum += v
		}
	}
	return sum
}
