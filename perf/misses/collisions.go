package misses

import (
	"context"
	"slices"

	"presage/perf/cache"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/reuse"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// MethodCollisions is how misses of a cache of sets were predicted at a size beyond those
// that the model was fitted to: as in a fully associative cache, and with the conflicts of
// runs.
//
// Which blocks collide changes with the size. Of each group of references, a run says where
// its misses are between two models, that without conflicts, of a fully associative cache or
// of sets filled evenly, and the binomial formula, by which blocks are at random places, and
// how many there are beyond either. That holds at other sizes in one of two ways (derived
// here). In a run that touches a quarter of what the program will, a cache with a quarter of
// the sets holds as large a part, and addresses that data choose fall into its sets as they
// do, four times as far apart, into those of the machine. But a loop that goes through as
// many arrays, or works on as many elements, at every size is to the machine's own cache
// what it was in the run. Which of the two it is, if either, the largest runs say of each
// other.
const MethodCollisions = "fully associative, conflicts as in runs"

// collisions are the misses of each group at a level, or in one like it in a run.
type collisions struct {
	real     []float64 // simulated
	full     []float64 // without conflicts: in a fully associative cache, or evenly
	chance   []float64 // by the binomial formula
	accesses []float64
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
	seen, err := m.collisionsSeen(ctx, t, l, point)
	if err != nil || seen == nil {
		return err
	}
	e.expected = seen.foretell(at, open)
	if e.expected == nil {
		return nil
	}
	for g := range open {
		if open[g] {
			more := max(e.expected.more[g], -e.misses[g].Reuse) // first accesses miss
			e.expected.more[g] = more
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
	for g := range e.misses {
		c.full[g] = e.misses[g].Total() // those that a Corrector knows are left out
	}
	return c
}

// collidedKey is a simulation and a level of it.
type collidedKey struct {
	sim   *storedCache
	level string
}

// collisionsOf returns the collisions of a run in a level with 2^-shift times the sets, which
// are counted once.
func (m *Model) collisionsOf(run int, sim *storedCache, l predict.Level, shift int) *collisions {
	r := m.refits
	key := collidedKey{sim, l.Name}
	r.mu.Lock()
	known := r.collided[key]
	r.mu.Unlock()
	if known == nil {
		l.Sets >>= shift
		known = m.countCollisions(run, sim, l)
		r.mu.Lock()
		r.collided[key] = known
		r.mu.Unlock()
	}
	return known
}

// countCollisions returns the collisions of a run in a level that was simulated.
func (m *Model) countCollisions(run int, sim *storedCache, l predict.Level) *collisions {
	r := m.refits.runs
	b := slices.Index(r.BlockBytes(), l.BlockBytes)
	hists := r.Runs[run].Reuse[b].Groups
	levels := resultLevels(sim.Result)
	counts := levels[slices.IndexFunc(levels, func(own cache.LevelResult) bool { return own.Name == l.Name })].Groups
	n := m.Groups()
	c := &collisions{make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)}
	sweeping := m.sweeping(l, "")
	probability := make(map[float64]float64) // by distance
	for g := range n {
		for _, of := range m.OfRun(run, Group(g)) {
			h := &hists[of]
			c.real[g] += float64(counts[of].Misses)
			c.full[g] += withoutConflictsInRun(h, l, sweeping, g)
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

// towards returns c, moved to o by a share of the way.
func (c *collisions) towards(o *collisions, share float64) *collisions {
	between := func(a, b []float64) []float64 {
		out := slices.Clone(a)
		for i := range out {
			out[i] += share * (b[i] - a[i])
		}
		return out
	}
	return &collisions{between(c.real, o.real), between(c.full, o.full), between(c.chance, o.chance), between(c.accesses, o.accesses)}
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
