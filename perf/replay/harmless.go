package replay

import (
	"slices"
	"strings"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/trace"
)

// mathRoutines are those of the C library that compilers call where an instruction
// does not do, as sqrt of a negative number, which sets errno. They change no other
// memory.
var mathRoutines = []string{
	"sqrt", "exp", "exp2", "log", "log2", "log10", "pow", "fmod", "remainder", "sin", "cos", "tan",
	"asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "cbrt", "hypot", "fmin", "fmax", "fabs",
	"floor", "ceil", "round", "trunc", "rint", "nearbyint",
}

// computesNumbers reports whether a routine is one of a mathematical library.
func computesNumbers(routine string) bool {
	name := strings.TrimLeft(ownName(routine), "_")
	name = strings.TrimSuffix(name, "_finite")
	return slices.Contains(mathRoutines, name) ||
		len(name) > 1 && (strings.HasSuffix(name, "f") || strings.HasSuffix(name, "l")) && slices.Contains(mathRoutines, name[:len(name)-1])
}

// harmless reports whether the way to block `to`, which no run went from a place, changes
// nothing that addresses and branches elsewhere depend on, floating-point numbers
// aside: until it comes to where runs have been it stores nothing but on the stack,
// calls routines of a mathematical library at most, and sets no integer register
// that is used afterwards, other than from the stack; and what it leaves out, of the
// way that all runs went, does not access memory and sets none either.
func (w *ways) harmless(place int32, to int) bool {
	p := &w.prog.Places[place]
	r := w.code.graph.Routines[w.code.blocks[p.Block].routine]
	var changed []isa.Reg
	var meets []int
	todo, seen := []int{to}, map[int]bool{to: true}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		b := &r.Blocks[at]
		id := w.code.blockAt(b.PC())
		if id == noBlock {
			return false
		}
		if _, been := w.at[placeKey{p.Context, id}]; been {
			meets = append(meets, at)
			continue
		}
		regs, ok := w.sets(b, id)
		if !ok {
			return false
		}
		changed = append(changed, regs...)
		for _, e := range b.Succs {
			if next := r.Edges[e].To; !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	if len(meets) != 1 || len(p.Next) != 1 || p.Next[0].To < 0 {
		return false
	}
	regs, ok := w.leavesOut(p, meets[0])
	return ok && !slices.ContainsFunc(append(changed, regs...), func(reg isa.Reg) bool { return live(r, meets[0], reg) })
}

// leavesOut returns the integer registers that are set on the only way that runs went
// from a place, up to a block that it leads to without a choice or an access to
// memory; false if it does not.
func (w *ways) leavesOut(p *Place, meet int) (changed []isa.Reg, ok bool) {
	r := w.code.graph.Routines[w.code.blocks[p.Block].routine]
	id := p.Next[0].Block
	for range len(r.Blocks) {
		b := &w.code.blocks[id]
		switch {
		case w.code.graph.Routines[b.routine] != r:
			return nil, false
		case b.index == meet:
			return changed, true
		case b.refs > 0 || b.exit != plain || b.forks:
			return nil, false
		}
		from := &r.Blocks[b.index]
		regs, ok := w.sets(from, id)
		if !ok || len(from.Succs) != 1 {
			return nil, false
		}
		changed = append(changed, regs...)
		id = w.code.blockAt(r.Blocks[r.Edges[from.Succs[0]].To].PC())
		if id == noBlock {
			return nil, false
		}
	}
	return nil, false
}

// sets returns the integer registers that a block sets, but those from the stack and those
// that its call changes; false if it does more than that.
func (w *ways) sets(b *cfg.Block, id trace.BlockID) (regs []isa.Reg, ok bool) {
	if b.Exit != cfg.Stays || w.code.blocks[id].exit == returns || len(b.Succs) == 0 {
		return nil, false
	}
	stack := w.code.graph.File.Target.StackPointer
	for i := range b.Insts {
		in := &b.Insts[i]
		onStack := true
		for _, m := range in.Mems() {
			onStack = onStack && m.Base == stack && m.Index == isa.NoReg
		}
		switch {
		case in.Class == isa.Call:
			target := w.code.graph.File.RoutineAt(in.Target)
			if !in.HasTarget || target == nil || !computesNumbers(target.Name) {
				return nil, false
			}
			continue
		case in.Stored() != nil && !onStack:
			return nil, false
		}
		for _, reg := range in.Defs() {
			if !reg.Float() && !(in.Accesses() && onStack) {
				regs = append(regs, reg)
			}
		}
	}
	return regs, true
}

// live reports whether a register's value at the start of a block may be used.
func live(r *cfg.Routine, block int, reg isa.Reg) bool {
	todo, seen := []int{block}, map[int]bool{block: true}
	for len(todo) > 0 {
		b := &r.Blocks[todo[0]]
		todo = todo[1:]
		dead := false
		for i := range b.Insts {
			in := &b.Insts[i]
			if slices.Contains(in.Uses(), reg) || in.Class == isa.Call || in.Class == isa.Return {
				return true // a call or return may use any
			}
			if dead = in.Defines(reg); dead {
				break
			}
		}
		if dead {
			continue
		}
		if b.Exit != cfg.Stays {
			return true
		}
		for _, e := range b.Succs {
			if next := r.Edges[e].To; !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return false
}
