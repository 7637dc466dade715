package timing

import (
	"context"
	"slices"

	"presage/perf/access"
	"presage/perf/misses"
	"presage/perf/subject"
	"presage/perf/trace"
)

// scopeMisses are the misses of a scope without those inside it, at each level
// that has a penalty: those that execution waits for, of these the ones in
// streams, and those of stores, which it does not wait for; and how many of those
// stores are executed.
type scopeMisses struct {
	waited, streams, stores []float64
	stored                  float64
}

// missed is the misses of each scope of a program, by index in its tree of
// scopes, with warnings.
type missed struct {
	byScope []scopeMisses
	doubts  []string

	model      *misses.Model
	byGroup    [][]float64 // by penalty and group of model
	blockBytes uint64      // of the first level with a penalty
}

// misses predicts the misses of each scope.
func (t *timer) misses(ctx context.Context, model *misses.Model, in *places, point subject.Point) (missed, error) {
	index := in.index()
	scopes := model.Scopes(subject.ByLoop)
	out := missed{byScope: make([]scopeMisses, len(in.paths)), model: model}
	for i := range out.byScope {
		n := len(t.penalties)
		out.byScope[i] = scopeMisses{waited: make([]float64, n), streams: make([]float64, n), stores: make([]float64, n)}
	}
	for i, n := range model.Accesses(point) {
		if g := misses.Group(i); stores(model, g) {
			out.byScope[index[scopes.Names[scopes.Of[g]]]].stored += n
		}
	}
	for k, p := range t.penalties {
		at, err := model.ByGroup(ctx, t.machine, p.Level, point, misses.PredictOptions{Method: t.opt.Method, Corrector: t.opt.Corrector})
		if err != nil {
			return missed{}, err
		}
		out.doubts = append(out.doubts, at.Warnings...)
		out.byGroup = append(out.byGroup, at.Misses)
		if k == 0 {
			out.blockBytes = at.BlockBytes
		}
		for i, n := range at.Misses {
			g := misses.Group(i)
			// What belongs to no scope known here is the program's own.
			to := &out.byScope[index[scopes.Names[scopes.Of[g]]]]
			if !p.TLB && !t.opt.FixedExposure && stores(model, g) {
				to.stores[k] += n
				continue
			}
			to.waited[k] += n
			if streams(model, g, at.BlockBytes) {
				to.streams[k] += n
			}
		}
	}
	slices.Sort(out.doubts)
	out.doubts = slices.Compact(out.doubts)
	return out, nil
}

// stores reports whether all references of a group are stores.
func stores(m *misses.Model, g misses.Group) bool {
	for _, r := range m.References(g) {
		if r.Kind != trace.Store {
			return false
		}
	}
	return true
}

// streams reports whether all references of a group walk through memory, from
// one block to the next: the innermost loop that changes the address changes it
// by a constant, a block at most.
func streams(m *misses.Model, g misses.Group, blockBytes uint64) bool {
	return walksOn(m.References(g), blockBytes)
}

// walksOn reports whether all references walk on by a block at most, or by what they access
// side by side, as in a loop that was unrolled.
func walksOn(refs []*access.Reference, blockBytes uint64) bool {
	for _, r := range refs {
		if !walks(r, max(int64(blockBytes), abreast(refs, r))) {
			return false
		}
	}
	return true
}

// abreast returns how many bytes several references access in an iteration, at constant
// distances from one of them; 0 for one alone.
func abreast(refs []*access.Reference, from *access.Reference) int64 {
	sizes := make(map[int64]int64)
	for _, r := range refs {
		if r.RoutineIndex != from.RoutineIndex || r.Loop != from.Loop || r.Base != from.Base {
			continue
		}
		if apart, ok := r.First.Minus(from.First); ok {
			if by, constant := apart.Constant(); constant {
				sizes[by] = max(sizes[by], int64(r.Size))
			}
		}
	}
	if len(sizes) == 1 {
		return 0
	}
	sum := int64(0)
	for _, n := range sizes {
		sum += n
	}
	return sum
}

func walks(r *access.Reference, bytes int64) bool {
	for _, stride := range r.Strides {
		by, constant := stride.Formula.Constant()
		switch {
		case !stride.Regular() || !constant:
			return false
		case by != 0:
			return max(by, -by) <= bytes
		}
	}
	return false // it stays where it is
}
