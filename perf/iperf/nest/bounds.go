package nest

import (
	"presage/perf/cfg"
	"presage/perf/isa"
)

// This file finds how often loops go round, from the condition that they are
// left on.

// trips is how many iterations a loop completes before the one that it is left
// in: of / by, rounded as the flags say.
type trips struct {
	of     sum
	by     int64 // above 0
	up     bool  // rounded up; otherwise down, or without remainder
	plus   int64 // added
	inside int   // the block that ends in the condition
}

// whole returns the trip count as a sum, if it is one.
func (t trips) whole() (sum, bool) {
	s := t.of
	if t.by != 1 {
		out := sum{constant: s.constant / t.by, of: make(map[symbol]int64)}
		if s.constant%t.by != 0 {
			return sum{}, false
		}
		for sym, c := range s.of {
			if c%t.by != 0 {
				return sum{}, false
			}
			out.of[sym] = c / t.by
		}
		s = out
	}
	return s.plus(constant(t.plus), 1)
}

// onlyExit returns the block with the one branch that a loop is left by; exits
// to where the routine does not return from (bounds checks that fail) are apart.
func onlyExit(r *cfg.Routine, loop int, cold []bool) (block int, ok bool) {
	l := &r.Loops[loop]
	block = -1
	for _, e := range l.Exit {
		if cold[r.Edges[e].To] {
			continue
		}
		if block >= 0 {
			return -1, false
		}
		block = r.Edges[e].From
	}
	if block < 0 || l.Irreducible || r.Blocks[block].Loop != loop || r.Blocks[block].Last().Class != isa.Branch {
		return -1, false
	}
	for _, e := range l.Back {
		if !dominates(r, block, r.Edges[e].From) {
			return -1, false
		}
	}
	return block, true
}

func dominates(r *cfg.Routine, b, c int) bool {
	for ; c >= 0; c = r.Blocks[c].Dominator {
		if c == b {
			return true
		}
	}
	return false
}

// coldBlocks finds the blocks that the routine does not return from; none if it
// never returns.
func coldBlocks(r *cfg.Routine) []bool {
	warm := make([]bool, len(r.Blocks))
	var work []int
	for b := range r.Blocks {
		switch r.Blocks[b].Exit {
		case cfg.Returns, cfg.TailJump, cfg.Unknown:
			warm[b] = true
			work = append(work, b)
		}
	}
	if len(work) == 0 {
		return make([]bool, len(warm))
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, e := range r.Blocks[b].Preds {
			if from := r.Edges[e].From; !warm[from] && r.Edges[e].Kind != cfg.Restarts {
				warm[from] = true
				work = append(work, from)
			}
		}
	}
	cold := make([]bool, len(warm))
	for b := range warm {
		cold[b] = !warm[b]
	}
	return cold
}

// tripCount returns how often a loop goes round. It is entered by finite
// recursion: loops inside, whose variables the condition may be made of.
func (v *values) tripCount(loop int, cold []bool) (trips, bool) {
	b, ok := onlyExit(v.r, loop, cold)
	if !ok {
		return trips{}, false
	}
	i := len(v.r.Blocks[b].Insts) - 1
	branch := &v.r.Blocks[b].Insts[i]
	x, y := v.operand(b, i, branch.Value.A, 0), v.operand(b, i, branch.Value.B, branch.Value.Imm)
	if !x.ok || !y.ok {
		return trips{}, false
	}
	apart, ok := x.sum.plus(y.sum, -1)
	if !ok {
		return trips{}, false
	}
	if apart, ok = v.leave(apart, loop, cold); !ok {
		return trips{}, false
	}
	by, ok := v.changed(apart, loop)
	if !ok || !by.isConstant() || by.constant == 0 {
		return trips{}, false
	}
	begin, ok := v.begin(apart, loop)
	if !ok {
		return trips{}, false
	}
	stays := false
	for _, e := range v.r.Blocks[b].Succs {
		if to := v.r.Edges[e].To; v.r.Edges[e].Kind == cfg.Taken && v.r.Contains(loop, to) {
			stays = true
		}
	}
	t, ok := solve(branch.Value.Op, stays, begin, by.constant)
	t.inside = b
	return t, ok
}

// leave replaces the variables of loops inside a loop by what they are when those
// are left.
func (v *values) leave(s sum, loop int, cold []bool) (sum, bool) {
	s = v.settle(s)
	for sym, c := range s.of {
		if sym.loop < 0 || sym.loop == loop || !v.encloses(loop, sym.loop) {
			continue
		}
		t, ok := v.tripCount(sym.loop, cold)
		if !ok {
			return sum{}, false
		}
		k, ok := t.whole()
		step, start := v.step(sym), v.phis[sym].start
		if !ok || !step.ok || !step.sum.isConstant() || !start.ok {
			return sum{}, false
		}
		out, ok1 := s.plus(single(sym), -c)
		out, ok2 := out.plus(start.sum, c)
		out, ok3 := out.plus(k, c*step.sum.constant)
		if !ok1 || !ok2 || !ok3 {
			return sum{}, false
		}
		return v.leave(out, loop, cold)
	}
	return s, true
}

// encloses reports whether loop inner is inside outer.
func (v *values) encloses(outer, inner int) bool {
	for l := v.r.Loops[inner].Parent; l >= 0; l = v.r.Loops[l].Parent {
		if l == outer {
			return true
		}
	}
	return false
}

// changed returns by how much an iteration of a loop changes a sum.
func (v *values) changed(s sum, loop int) (sum, bool) {
	var all sum
	for sym, c := range s.of {
		if sym.loop != loop {
			continue
		}
		step := v.step(sym)
		if !step.ok {
			return sum{}, false
		}
		var ok bool
		if all, ok = all.plus(step.sum, c); !ok {
			return sum{}, false
		}
	}
	return v.settle(all), true
}

// begin replaces the variables of a loop and of those around it by what they are
// at first. It fails if a loop around changes the sum: the trip count then
// differs from one time that the loop is entered to the next.
func (v *values) begin(s sum, loop int) (sum, bool) {
	for l := loop; l >= 0; l = v.r.Loops[l].Parent {
		s = v.settle(s)
		if by, ok := v.changed(s, l); l != loop && (!ok || !by.equal(sum{})) {
			return sum{}, false
		}
		out := sum{constant: s.constant}
		for sym, c := range s.of {
			term := single(sym)
			if sym.loop == l {
				if !v.phis[sym].start.ok {
					return sum{}, false
				}
				term = v.phis[sym].start.sum
			}
			var ok bool
			if out, ok = out.plus(term, c); !ok {
				return sum{}, false
			}
		}
		s = out
	}
	s = v.settle(s)
	for sym := range s.of {
		if sym.loop >= 0 {
			return sum{}, false // of another nest, that ran before
		}
	}
	return s, true
}

var opposite = map[isa.Operator]isa.Operator{
	isa.Equal: isa.NotEqual, isa.NotEqual: isa.Equal, isa.Less: isa.GreaterEqual, isa.GreaterEqual: isa.Less,
	isa.LessUnsigned: isa.GreaterEqualUnsigned, isa.GreaterEqualUnsigned: isa.LessUnsigned,
}

// solve returns the first k from 0 at which d + k by does not meet the condition
// to stay, a comparison with 0, taking it that the condition holds at first.
func solve(op isa.Operator, stays bool, d sum, by int64) (trips, bool) {
	if !stays {
		op = opposite[op]
	}
	minus := func(s sum) sum {
		m, _ := sum{}.plus(s, -1)
		return m
	}
	switch {
	case op == isa.NotEqual && by < 0: // d = -k by
		return trips{of: d, by: -by}, true
	case op == isa.NotEqual:
		return trips{of: minus(d), by: by}, true
	case (op == isa.Less || op == isa.LessUnsigned) && by > 0: // ceil(-d/by)
		return trips{of: minus(d), by: by, up: true}, true
	case (op == isa.GreaterEqual || op == isa.GreaterEqualUnsigned) && by < 0: // floor(d/-by) + 1
		return trips{of: d, by: -by, plus: 1}, true
	}
	return trips{}, false
}
