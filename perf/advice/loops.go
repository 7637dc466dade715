package advice

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"presage/perf/locality"
	"presage/perf/patterns"
	"presage/perf/predict"
)

// fact is what is known of a pattern at one level.
type fact struct {
	patterns.Pattern
	accesses, misses, low, high float64
	used                        float64 // of what its misses fetched; NaN: not known
	conflict                    float64 // of the misses
	ahead                       patterns.Prefetched
	pace                        float64 // cycles between accesses
}

// spatial reports whether the reuses are of other elements of a block, as far as known.
func (f *fact) spatial() bool { return f.used <= 0.5 }

// irrelevant is the share of the blocks that are new to a loop below which an object
// does not matter to what the loop is.
const irrelevant = 0.05

// lossless is the share of a gain up to which the reuses of inner loops do not matter.
const lossless = 0.1

// nests are the facts of a level, to be asked about loops.
type nests struct {
	facts     []fact
	capacity  uint64          // of the level, in bytes
	cache     predict.Cache   // likewise
	libraries map[string]bool // scopes that are library code, which stays as it is
}

// within reports whether a scope is a loop or in it, by name.
func within(scope, loop string) bool {
	return scope == loop || strings.HasPrefix(scope, loop+"/")
}

// under reports whether a fact is of accesses in a loop: by name, or, of routines that
// it calls, because it carries reuses of their scopes.
func (n *nests) under(loop string) func(*fact) bool {
	called := make(map[string]bool)
	for i := range n.facts {
		if n.facts[i].Carrier == loop {
			called[n.facts[i].Scope] = true
		}
	}
	return func(f *fact) bool { return within(f.Scope, loop) || called[f.Scope] }
}

// inner reports whether a loop is in another, or in a routine called from it.
func inner(loop, outer string) bool {
	return loop != "" && loop != outer && (within(loop, outer) || routineOf(loop) != routineOf(outer))
}

func routineOf(scope string) string { return patterns.Nest(scope)[0] }

// isLoop reports whether a scope is a loop.
func isLoop(scope string) bool { return len(patterns.Nest(scope)) > 1 }

// top returns the outermost loop of a scope below a carrier; below its routine if the
// carrier is none of its own.
func top(scope, carrier string) string {
	nest, depth := patterns.Nest(scope), 1
	if carrier != "" && within(scope, carrier) && scope != carrier {
		depth = len(patterns.Nest(carrier))
	}
	return strings.Join(nest[:min(len(nest), depth+1)], "/")
}

// kept is the reuses of a scope, by its own loops in a carrier, that hit, and would not if
// the carrier were the innermost loop. An object whose neighbours the carrier brings is not
// walked along by the inner loops: what they reuse of it is the same elements, as the sides
// of a stencil, which the loop outside then carries, a row apart.
func (n *nests) kept(scope, carrier string) float64 {
	across := make(map[string]bool)
	for i := range n.facts {
		if f := &n.facts[i]; f.Scope == scope && f.Carrier == carrier && f.Crosses && f.misses > 0 && f.spatial() {
			across[f.Object] = true
		}
	}
	sum := 0.0
	for i := range n.facts {
		f := &n.facts[i]
		if f.Scope == scope && f.Crosses && inner(f.Carrier, carrier) && f.Object != locality.StackObject && !across[f.Object] {
			sum += f.accesses - f.misses
		}
	}
	return sum
}

// only reports whether a loop has no other loops directly in it than the one that a scope
// is in, so that the two can change places.
func (n *nests) only(scope, loop string) bool {
	in := top(scope, loop)
	for i := range n.facts {
		if f := &n.facts[i]; f.accesses > 0 && within(f.Scope, loop) && f.Scope != loop && top(f.Scope, loop) != in {
			return false
		}
	}
	return true
}

// same reports whether each iteration of a loop accesses the same data: all objects
// of which much is new to the loop at first are accessed again in later iterations.
func (n *nests) same(loop string) bool {
	isUnder := n.under(loop)
	fresh, again := make(map[string]float64), make(map[string]float64)
	all := 0.0
	for i := range n.facts {
		f := &n.facts[i]
		switch {
		case !isUnder(f) || f.Object == patterns.OtherPatterns: // of which carriers are not known
		case f.Carrier == loop && f.Crosses:
			again[f.Object] += f.accesses
		case f.Carrier != loop && !inner(f.Carrier, loop):
			fresh[f.Object] += f.accesses
			all += f.accesses
		}
	}
	for object, n := range fresh {
		if n > irrelevant*all && again[object] < n/2 {
			return false
		}
	}
	return all > 0
}

// tile is the side of the largest square tile of 8-byte elements, a power of two, of
// which three fit the level.
func (n *nests) tile() float64 {
	side := uint64(math.Sqrt(float64(n.capacity) / 24))
	if side < 2 {
		return 2
	}
	return float64(uint64(1) << (bits.Len64(side) - 1))
}

// advise returns what a fact suggests, or false.
func (n *nests) advise(f *fact) (Row, bool) {
	if f.Cold() || f.Object == patterns.OtherPatterns || f.Object == locality.StackObject || f.misses <= 0 {
		return Row{}, false
	}
	if f.conflict > f.misses/2 { // a matter of places, not of distances
		return Row{}, false
	}
	row := Row{Gain: f.misses, Low: f.low, High: f.high, Object: f.Object}
	switch {
	case !f.Crosses:
		if !isLoop(f.Scope) {
			return row, false
		}
		row.Where, row.With = top(f.Scope, f.Carrier), top(f.Source, f.Carrier)
		if clears(routineOf(f.Source)) {
			row.Advice, row.With = Initialise, routineOf(f.Source)
			return row, !n.libraries[row.Where]
		}
		row.Advice = Fuse
		return row, isLoop(f.Source) && row.Where != row.With && !n.libraries[row.Where] && !n.libraries[row.With]
	case !inner(f.Scope, f.Carrier):
		return row, false
	}
	if kept := n.kept(f.Scope, f.Carrier); kept <= lossless*f.misses && within(f.Scope, f.Carrier) && n.only(f.Scope, f.Carrier) {
		row.Advice, row.Where, row.With = Interchange, f.Carrier, f.Scope
		row.Low = math.Max(0, row.Low-kept)
		return row, !n.libraries[f.Carrier]
	}
	if n.same(f.Carrier) {
		row.Advice, row.Where = TileSteps, f.Carrier
		return row, !n.libraries[f.Carrier]
	}
	row.Advice, row.Where = Tile, top(f.Carrier, "")
	t := n.tile()
	row.Low *= 1 - 2/t
	if !f.spatial() { // the reuse is of the same elements, not of others in their blocks
		row.Gain *= 1 - 1/t
	}
	row.Low = math.Min(row.Low, row.Gain)
	return row, !n.libraries[row.Where]
}

// clears reports whether a routine, as scopes name it, sets memory to one value: of C's
// library, also as LIBRARY!NAME, or of Go's.
func clears(routine string) bool {
	_, name, ok := strings.Cut(routine, "!")
	if !ok {
		name = routine
	}
	switch name = strings.TrimLeft(strings.TrimPrefix(name, "__libc_"), "_"); name {
	case "bzero", "explicit_bzero", "calloc", "wmemset":
		return true
	}
	return strings.HasPrefix(name, "memset") || strings.HasPrefix(name, "runtime.memclr")
}

// text says what to do.
func (r *Row) text(tile float64) string {
	switch r.Advice {
	case Fuse:
		return fmt.Sprintf("fuse %s with %s, which accesses %s before it", r.Where, r.With, r.Object)
	case Initialise:
		return fmt.Sprintf("%s sets %s before %s comes to it: let the loop set what it is the first to use", r.With, r.Object, r.Where)
	case Interchange:
		return fmt.Sprintf("make %s the innermost loop of its nest, or transpose %s", r.Where, r.Object)
	case TileSteps:
		block := "one block of the data"
		if r.rows > 0 {
			block = fmt.Sprintf("%.0f iterations of the loop inside", r.rows)
		}
		return fmt.Sprintf("%s accesses the same %s in each iteration: do all iterations of it for %s after the other", r.Where, r.Object, block)
	case Tile:
		return fmt.Sprintf("tile the loops of %s, by %.0f elements a side", r.Where, tile)
	}
	return ""
}
