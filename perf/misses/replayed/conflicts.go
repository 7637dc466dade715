package replayed

import (
	"context"
	"fmt"
	"math"
	"strings"

	"presage/perf/cache"
	"presage/perf/internal/num"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/reuse"
	"presage/perf/trace"
)

// MethodConflicts is the method of groups whose misses are those of the models, with the
// conflicts of a replay that is too much in doubt to be counted itself.
const MethodConflicts = "conflicts replayed"

// fullMisses are the misses of a replay in a fully associative cache in place of a level,
// by the groups of its plan.
type fullMisses struct {
	Level  string
	Misses []uint64
}

// setLevels returns the levels that are not fully associative, and hold all data.
func (c *Corrector) setLevels() (list []predict.Level) {
	for _, l := range predict.Levels(c.machine) {
		if l.Sets > 1 && !l.BypassFloat {
			list = append(list, l)
		}
	}
	return list
}

// fullOf returns the misses of a replay in fully associative caches in place of the levels
// that have blocks of the size its reuses were found for.
func (c *Corrector) fullOf(found *reuse.Result, blockBytes uint64) (out []fullMisses) {
	for _, l := range c.setLevels() {
		if l.BlockBytes != blockBytes {
			continue
		}
		m := fullMisses{l.Name, make([]uint64, len(found.Groups))}
		for g := range found.Groups {
			m.Misses[g] = found.Groups[g].Misses(l.Blocks())
		}
		out = append(out, m)
	}
	return out
}

// full returns the misses of groups of a replay in a fully associative cache in place of a
// level; false if they are not known.
func (r *replayedPoint) full(level string, groups []trace.GroupID) (sum float64, ok bool) {
	for _, f := range r.Full {
		if f.Level != level {
			continue
		}
		for _, g := range groups {
			if int(g) < len(f.Misses) {
				sum += float64(f.Misses[g])
			}
		}
		return sum, true
	}
	return 0, false
}

// conflicts are what a replay says of a group in a level and in a fully associative cache
// in its place: the shares of its accesses that miss, of those that are not a block's first.
type conflicts struct{ level, full float64 }

// conflictsOf returns the conflicts of the i-th group in a replay; false if it does not
// have the group.
func (c *Corrector) conflictsOf(r *replayedPoint, counts cache.LevelResult, i int) (conflicts, bool) {
	n, _ := r.of(counts, c.groups[i])
	full, ok := r.full(counts.Name, c.groups[i])
	again := float64(n.Accesses) - float64(n.Cold)
	if !ok || again <= 0 {
		return conflicts{}, false
	}
	return conflicts{float64(n.Misses-n.Cold) / again, math.Max(0, full-float64(n.Cold)) / again}, true
}

// carry returns the misses of a level whose conflicts are as in a replay, from those of a
// fully associative cache: as large a share of the hits turns into misses, or of the misses
// into hits.
func (f conflicts) carry(m predict.Misses) predict.Misses {
	again := m.Accesses - m.Cold
	switch {
	case f.level > f.full:
		m.Reuse += math.Max(0, again-m.Reuse) * (f.level - f.full) / (1 - f.full)
	case f.full > 0:
		m.Reuse *= f.level / f.full
	}
	return m
}

// addConflicts gives the predictions of a level the conflicts of a replay that is in doubt,
// if a trial shows that they do no harm.
func (c *Corrector) addConflicts(ctx context.Context, of misses.Uncorrected, r *replayedPoint, out *misses.Correction) (*misses.Correction, error) {
	out.Warnings = append(out.Warnings, "not replayed: "+strings.Join(r.Reasons, "; "))
	if of.Level.Sets == 1 || of.Level.BypassFloat || !r.Start {
		return out, nil
	}
	tried, err := c.try(ctx)
	if err != nil {
		return nil, err
	}
	off, ok := tried.carries(of.Level.Name)
	if !ok {
		return out, nil
	}
	again, err := c.point(ctx, of.Point, true)
	if err != nil || again.Why != "" {
		return out, err
	}
	counts, ok := levelOf(again.Result, of.Level.Name)
	if !ok {
		return out, nil
	}
	for i := range c.groups {
		if f, ok := c.conflictsOf(again, counts, i); ok {
			out.Groups[i] = misses.GroupCorrection{Method: MethodConflicts, Misses: f.carry(of.Groups[i]), Off: off}
		}
	}
	out.Warnings = append(out.Warnings, fmt.Sprintf("conflicts are those of a replay in doubt: with them %s=%d, replayed by smaller runs, is within %s of its misses",
		c.program.sweep.name, tried.size, num.Percent(off)))
	return out, nil
}

// carries reports whether the conflicts of replays are to be taken at a level, and by what
// share the misses of the trial are off with them: they must not be worse there than
// those of a fully associative cache, nor at any other level if the trial's run has too few
// misses at this one.
func (t *trial) carries(level string) (off float64, ok bool) {
	if t == nil || len(t.conflicts) == 0 {
		return 0, false
	}
	if o, tried := t.conflicts[level]; tried {
		return o.off / o.misses, o.harmless()
	}
	for _, o := range t.conflicts {
		off = math.Max(off, o.off/o.misses)
		if !o.harmless() {
			return off, false
		}
	}
	return off, true
}

// harmless reports whether a trial is no worse than a fully associative cache.
func (o outcome) harmless() bool { return o.off <= math.Max(o.full, maxOffAnyway*o.misses) }

// conflictsAt compares the run with what a fully associative cache has of it and the
// conflicts of the replay, at a level of so many blocks.
func (c *Corrector) conflictsAt(r *replayedPoint, got, want cache.LevelResult, full *reuse.Result, blocks uint64) (o outcome) {
	for i, groups := range c.groups {
		var m predict.Misses
		is := 0.0
		for _, g := range groups {
			n := want.Groups[g]
			is += float64(n.Misses)
			m.Accesses += float64(n.Accesses)
			m.Cold += float64(n.Cold)
			m.Reuse += math.Max(0, float64(full.Groups[g].Misses(blocks))-float64(n.Cold))
		}
		o.misses += is
		o.full += math.Abs(m.Total() - is)
		if f, ok := c.conflictsOf(r, got, i); ok {
			m = f.carry(m)
		}
		o.off += math.Abs(m.Total() - is)
	}
	return o
}
