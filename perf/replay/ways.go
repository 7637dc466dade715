package replay

import (
	"sync"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/trace"
)

// ways knows where control went in any run, and where it could have gone.
type ways struct {
	code *Code
	prog *Program // of all runs
	at   map[placeKey]int32
}

func newWays(code *Code, all *Program) *ways {
	w := &ways{code: code, prog: all, at: make(map[placeKey]int32)}
	for i := range all.Places {
		w.at[placeKey{all.Places[i].Context, all.Places[i].Block}] = int32(i)
	}
	return w
}

// gap says whether control could go on from a place to where no run has been, so
// that nothing is known of what would happen then.
type gap struct {
	// modulus is 0 if it could not, and 1 if it could. Larger, it could at sizes other than
	// those, modulo its value, at which there were runs: the place chooses by the remainder
	// of something.
	modulus  int64
	decision *decision
}

// decision finds out, once, what decides where control goes.
type decision struct {
	once  sync.Once
	ways  *ways
	place int32
	by    decider

	onceAside sync.Once
	aside     *aside
}

// decider says what decides where control goes from a place.
type decider uint8

const (
	byData    decider = iota // or who knows
	bySize                   // so that the start of a run at a size shows where it goes
	byGreater                // whether something is larger than a constant, that was in all runs and grows with the size
)

// by returns what decides: see ways.decider.
func (g gap) by() decider {
	d := g.decision
	if d == nil {
		return byData
	}
	d.once.Do(func() { d.by = d.ways.decider(d.place) })
	return d.by
}

// aside returns the aside that the branch is; nil if it is none.
func (g gap) aside() *aside {
	d := g.decision
	if d == nil || g.modulus != 1 {
		return nil
	}
	d.onceAside.Do(func() { d.aside = d.ways.asideAt(d.place) })
	return d.aside
}

// at reports whether there is a gap at size n, after runs at sizes.
func (g gap) at(n int64, sizes []int64) bool {
	if g.modulus <= 1 {
		return g.modulus == 1
	}
	same := 0
	for _, s := range sizes {
		if (s-n)%g.modulus == 0 {
			same++
		}
	}
	return same <= spareSizes
}

// gaps returns the gap of each place. The way past a loop that every run
// entered does not count: see passesLoop.
func (w *ways) gaps() []gap {
	out := make([]gap, len(w.prog.Places))
	for i := range out {
		if w.untestedAt(int32(i)) {
			b := &w.code.blocks[w.prog.Places[i].Block]
			out[i] = gap{w.remainder(w.code.graph.Routines[b.routine], b.index), &decision{ways: w, place: int32(i)}}
		}
	}
	return out
}

// remainder returns the modulus of the remainder that the branch at the end of
// a block compares with a constant, or 1.
func (w *ways) remainder(r *cfg.Routine, block int) int64 {
	v := w.comparison(r, block)
	if v.Op != isa.Equal && v.Op != isa.NotEqual {
		return 1
	}
	for _, sides := range [][2]isa.Reg{{v.A, v.B}, {v.B, v.A}} {
		if !constantIn(r, block, sides[1]) {
			continue
		}
		defs, all := reaching(r, block, sides[0])
		modulus := int64(0)
		for _, in := range defs {
			d := in.Result(sides[0])
			if all = all && d.Op == isa.And && d.B == isa.NoReg && (d.Imm == 1 || d.Imm == 3 || d.Imm == 7); all {
				modulus = max(modulus, d.Imm+1)
			}
		}
		if all && modulus > 0 {
			return modulus
		}
	}
	return 1
}

func (w *ways) untestedAt(place int32) bool {
	p := &w.prog.Places[place]
	if !p.Forks || w.code.isStub(p.Block) { // a stub is bound to one routine
		return false
	}
	b := &w.code.blocks[p.Block]
	r := w.code.graph.Routines[b.routine]
	from := &r.Blocks[b.index]
	if last := from.Last(); len(from.Succs) == 0 && from.Exit == cfg.TailJump && last.HasTarget && last.Class == isa.Jump {
		return false // to one routine
	}
	if len(from.Succs) == 0 || from.Exit == cfg.Unknown || b.exit == calls {
		return true // where a computed jump or call could lead is not known
	}
	known := 0
	for _, e := range from.Succs {
		to := r.Edges[e].To
		switch {
		case p.way(w.code.blockAt(r.Blocks[to].PC())) >= 0:
			known++
		case !w.fails(place, to) && !w.passesLoop(place, to) && !w.passesLoops(place, to) && !w.defaults(place, to) && !w.harmless(place, to) && !w.again(place, to):
			return true
		}
	}
	return from.Exit == cfg.TailJump && len(p.Next) <= known
}

// upperBound reports whether the branch at the end of a block, of which only the way
// to the block at pc was taken, compares something with a constant in such a way that
// it is bounded from above: what grows with the size would take the other way.
func (w *ways) upperBound(r *cfg.Routine, block int, pc trace.PC) bool {
	in, v := r.Blocks[block].Last(), w.comparison(r, block)
	if r.Blocks[block].Part == cfg.Guard {
		return false // a larger size has no fewer elements
	}
	if in.Class != isa.Branch || v.Op < isa.Equal || v.Op > isa.GreaterEqualUnsigned {
		return true // who knows
	}
	holds := in.HasTarget && in.Target == uint64(pc)
	left, right := constantIn(r, block, v.A), v.B == isa.NoReg || constantIn(r, block, v.B)
	switch v.Op {
	case isa.Equal:
		return holds
	case isa.NotEqual:
		return !holds
	case isa.Less, isa.LessUnsigned: // x < c holds, or c < x does not
		return right && holds || left && !holds
	}
	return right && !holds || left && holds
}

// defaults reports whether block to, to which control never went on from a place,
// replaces a number of 0 or less that the program was given or has loaded, as
// compilers of Fortran do with strides and extents of arrays, and does nothing with
// memory: what never was 0, or negative, is not taken to become it.
func (w *ways) defaults(place int32, to int) bool {
	p := &w.prog.Places[place]
	b := &w.code.blocks[p.Block]
	r := w.code.graph.Routines[b.routine]
	in, v := r.Blocks[b.index].Last(), w.comparison(r, b.index)
	if in.Class != isa.Branch || !in.HasTarget || v.B != isa.NoReg || v.Imm != 0 || v.A == isa.NoReg {
		return false
	}
	taken := in.Target == r.Blocks[to].PC()
	zero := v.Op == isa.Equal && taken || v.Op == isa.NotEqual && !taken
	negative := v.Op == isa.Less && taken || v.Op == isa.GreaterEqual && !taken
	if !zero && !negative {
		return false
	}
	defs, all := reaching(r, b.index, v.A)
	for _, d := range defs {
		if d.Class != isa.Load {
			return false
		}
	}
	if zero && !all { // an argument: it may be a remainder
		return false
	}
	id := w.code.blockAt(r.Blocks[to].PC())
	if _, been := w.at[placeKey{p.Context, id}]; been && negative {
		return true
	}
	return id != noBlock && w.code.blocks[id].refs == 0 && w.code.blocks[id].exit == plain && len(r.Blocks[to].Succs) == 1
}
