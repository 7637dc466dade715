package misses

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"presage/perf/cache"
)

// collided is the ratio of the misses of a run to those in a fully associative cache
// from which a row warns.
const collided = 1.25

// seenConflicts finds out, for a cache of sets, by how many times the misses of each
// run of the model were more, or fewer, than those in a fully associative cache.
//
// It simulates the machine in the runs, which takes each of them once more if the
// store has no such result; it does not if a Corrector knew all groups better. It knows
// nothing of levels that are no machine's, of runs that are samples or leave accesses
// out, and of programs that cannot be run again.
func (d *doubter) seenConflicts(ctx context.Context) error {
	if d.on.hardware == nil || d.level.Sets == 1 || d.corrected != nil && !slices.Contains(d.corrected, false) {
		return nil
	}
	for run := range d.refits.runs.Runs {
		sim, err := d.refits.simulated(ctx, run, d.on.hardware, d.on.progress)
		if errors.Is(err, errNotRun) {
			d.seen = nil
			d.warnings = append(d.warnings, "conflicts in the runs are not known: "+err.Error())
			return nil
		}
		if err != nil || sim == nil {
			d.seen = nil
			return err
		}
		d.seen = append(d.seen, d.conflictsIn(run, sim))
	}
	return nil
}

// asSeen returns what the misses would be if blocks collided as in each of the runs; none
// if the prediction has what they had of conflicts where the level was like that here.
func (d *doubter) asSeen() []other {
	if d.expected != nil {
		return nil
	}
	var out []other
	may := make([]float64, len(d.scopes.Names)) // collide, for all that is predicted
	for g := range d.histograms.groups {
		if of := d.group(g); !d.knowsConflicts(of) {
			m := d.missesWithoutConflicts(g, d.level, d.level.Blocks(), d.evenly)
			may[d.scopes.Of[of]] += m.Total()
		}
	}
	for _, ratios := range d.seen {
		o := other{misses: slices.Clone(d.base)}
		for i, ratio := range ratios {
			o.misses[i] += may[i] * (ratio - 1)
		}
		out = append(out, o)
	}
	return out
}

// knowsConflicts reports whether the misses of a group have its conflicts in them.
func (d *doubter) knowsConflicts(g Group) bool { return d.corrected != nil && d.corrected[g] }

// sawConflicts returns a warning for a scope whose blocks collided in a run.
func (d *doubter) sawConflicts(scope int) []string {
	most, at := 1.0, 0
	for run, ratios := range d.seen {
		if ratios[scope] > most {
			most, at = ratios[scope], run
		}
	}
	if most < collided {
		return nil
	}
	predicted := "as is predicted here"
	if d.expected != nil {
		predicted = "and conflicts are predicted here as runs had them"
	}
	return []string{fmt.Sprintf("conflicts: at %s the %s had %.2g times the misses that it has without conflicts, %s", d.Points[at], d.level.Name, most, predicted)}
}

// conflictsIn returns, for each scope, the ratio of the misses in a run that was
// simulated to those without conflicts, of groups whose conflicts are not known.
func (d *doubter) conflictsIn(run int, sim *storedCache) []float64 {
	levels := resultLevels(sim.Result)
	groups := levels[slices.IndexFunc(levels, func(l cache.LevelResult) bool { return l.Name == d.level.Name })].Groups
	runs := d.refits.runs
	b := slices.Index(runs.BlockBytes(), d.level.BlockBytes)
	full := runs.Runs[run].Reuse[b].Groups
	own, all := make([]float64, len(d.scopes.Names)), make([]float64, len(d.scopes.Names))
	for g := range d.misses {
		if d.knowsConflicts(Group(g)) {
			continue
		}
		for _, of := range d.OfRun(run, Group(g)) {
			own[d.scopes.Of[g]] += float64(groups[of].Misses)
			all[d.scopes.Of[g]] += withoutConflictsInRun(&full[of], d.level, d.evenly, g)
		}
	}
	ratios := make([]float64, len(own))
	for i := range ratios {
		ratios[i] = (own[i] + someMisses) / (all[i] + someMisses)
	}
	return ratios
}
