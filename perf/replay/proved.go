package replay

import (
	"slices"

	"presage/perf/access"
	"presage/perf/isa"
	"presage/perf/trace"
)

// proofs are what the code of an executable that was compiled for a size says about itself,
// by static analysis: addresses and branches that are affine functions of the indices of
// the loops around, with constants. Where these are the functions that are replayed, the
// start of the run has nothing to show.
type proofs struct {
	in         *Instance
	analysis   *access.Analysis
	refs       map[refKey]int // in analysis.All
	conditions map[int][]access.Condition
}

type refKey struct {
	pc      trace.PC
	operand uint8
}

func newProofs(in *Instance, a *access.Analysis) *proofs {
	p := &proofs{in: in, analysis: a, refs: make(map[refKey]int, len(a.All)), conditions: make(map[int][]access.Condition)}
	for i := range a.All {
		p.refs[refKey{a.All[i].PC, uint8(a.All[i].Operand)}] = i
	}
	return p
}

// linear is an affine function of the indices of the loops of a routine around a block,
// the outermost first.
type linear struct {
	first  int64
	slopes []int64
}

// linearOf returns the function with strides in the loops around a block; false unless all
// of it is constant.
func linearOf(first access.Formula, strides []access.Stride, b *block) (linear, bool) {
	f := linear{slopes: make([]int64, len(b.chain))}
	var ok bool
	if f.first, ok = first.Constant(); !ok || len(strides) != len(b.chain) {
		return f, false
	}
	for k, s := range strides {
		at := len(b.chain) - 1 - k
		if f.slopes[at], ok = s.Formula.Constant(); !ok || !s.Regular() || s.Loop != int(b.chain[at]) {
			return f, false
		}
	}
	return f, true
}

// addresses reports whether the addresses of all references of place i are those that its
// code says.
func (p *proofs) addresses(i int) bool {
	place, live := &p.in.prog.Places[i], &p.in.places[i]
	b := &p.in.code.blocks[place.Block]
	if p.in.code.elementwise(b.routine) {
		return false
	}
	for j := range live.refs {
		ref := p.in.code.Plan.Refs[p.in.code.refOf(place, j)]
		k, ok := p.refs[refKey{ref.PC, ref.Operand}]
		if !ok || live.refs[j].kind != simple {
			return false
		}
		r := &p.analysis.All[k]
		if !r.InGraph || r.RoutineIndex != b.routine {
			return false
		}
		says, ok := linearOf(r.First, r.Strides, b)
		if says.first = p.in.loadedAt(says.first); !ok || !says.is(live.refs[j].coef) {
			return false
		}
	}
	return true
}

// is reports whether a function with coefficients in eighths, of all indices, those of
// callers first, is the same.
func (f *linear) is(coef []int64) bool {
	callers := len(coef) - 1 - len(f.slopes)
	if callers < 0 || coef[0] != f.first*scale {
		return false
	}
	for k, c := range coef[1:] {
		if k < callers && c != 0 || k >= callers && c != f.slopes[k-callers]*scale {
			return false
		}
	}
	return true
}

// verdict is what code says about a branch that is replayed.
type verdict uint8

const (
	silent   verdict = iota // nothing
	confirms                // it goes there
	denies                  // it goes elsewhere
)

// branch returns what the code says about the branch at the end of place i.
func (p *proofs) branch(i int) verdict {
	place, live := &p.in.prog.Places[i], &p.in.places[i]
	b := &p.in.code.blocks[place.Block]
	if live.choice != bounds || len(live.branch.classes) != 1 || p.in.code.elementwise(b.routine) {
		return silent
	}
	o := &live.branch.classes[0]
	k := live.branch.pivot - (place.Depth - len(b.chain))
	if len(o.ways) != 2 || len(o.bounds[0].others) > 0 || k < 0 {
		return silent
	}
	op, says := p.condition(b)
	last := p.in.code.graph.Routines[b.routine].Blocks[b.index].Last()
	target := p.in.code.blockAt(last.Target)
	before, after := &live.next[o.ways[0]], &live.next[o.ways[1]] // up to the bound, and beyond
	if op == isa.Opaque || !last.HasTarget || before.block != target && after.block != target || anySlope(says.slopes[k+1:]) {
		return silent
	}
	if before.block != target {
		op = opposite[op]
	}
	leaves := int(after.step.keep) <= place.Depth-len(b.chain)+k
	bound, ok := says.lastStep(op, k, leaves)
	switch {
	case !ok:
		return silent
	case bound.is(o.bounds[0].coef):
		return confirms
	}
	return denies
}

// condition returns that of the branch at the end of a block, if it compares an affine
// function with 0; Opaque if it does not.
func (p *proofs) condition(b *block) (isa.Operator, linear) {
	if _, ok := p.conditions[b.routine]; !ok {
		p.conditions[b.routine] = p.analysis.Conditions(b.routine)
	}
	c := p.conditions[b.routine][b.index]
	says, ok := linearOf(c.First, c.Strides, b)
	if !ok {
		return isa.Opaque, says
	}
	return c.Taken, says
}

func anySlope(slopes []int64) bool {
	return slices.ContainsFunc(slopes, func(s int64) bool { return s != 0 })
}

// lastStep returns the step of the k-th loop, as a function of those before, up to which the
// function stands so to 0. Where it is not equal, that is the step before its zero, if the
// branch then leaves the loop; where it is equal, it is the first step, or it is not known:
// otherwise the condition changes twice.
func (f *linear) lastStep(op isa.Operator, k int, leaves bool) (linear, bool) {
	by := f.slopes[k]
	out := linear{slopes: make([]int64, k)}
	if by == 0 || f.first%by != 0 {
		return out, false
	}
	out.first = -f.first / by // the zero
	for m := range k {
		if f.slopes[m]%by != 0 {
			return out, false
		}
		out.slopes[m] = -f.slopes[m] / by
	}
	switch {
	case op == isa.NotEqual && leaves, op == isa.Less && by == 1:
		out.first--
		return out, true
	case op == isa.Equal && out.first == 0 && !anySlope(out.slopes), op == isa.GreaterEqual && by == -1:
		return out, true
	}
	return out, false
}

var opposite = map[isa.Operator]isa.Operator{
	isa.Equal: isa.NotEqual, isa.NotEqual: isa.Equal, isa.Less: isa.GreaterEqual, isa.GreaterEqual: isa.Less,
	isa.LessUnsigned: isa.GreaterEqualUnsigned, isa.GreaterEqualUnsigned: isa.LessUnsigned,
}

// since returns, by context, when a branch was first executed, in the context or in one
// that calls it since main, of which the code says what is given, and which the start of the
// run has not shown; 0 for never.
func (p *proofs) since(what verdict, shown map[trace.BlockID]bool, replayed *Outcome) []uint64 {
	first := make([]uint64, len(p.in.prog.Contexts))
	for i := range p.in.prog.Places {
		place, at := &p.in.prog.Places[i], replayed.first[i]
		if at == 0 || !place.Forks || shown[place.Block] || p.branch(i) != what {
			continue
		}
		if c := place.Context; first[c] == 0 || at < first[c] {
			first[c] = at
		}
	}
	for i := 1; i < len(first); i++ {
		if p.in.mains[int32(i)] {
			continue
		}
		if s := first[p.in.prog.Contexts[i].Parent]; s > 0 && (first[i] == 0 || s < first[i]) {
			first[i] = s
		}
	}
	return first
}
