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
// way that all runs went, does not access memory and sets none either. Only the same
// floating-point numbers may be stored on both: compilers store the root of a number in each
// way, before they meet.
func (w *ways) harmless(place int32, to int) bool {
	p := &w.prog.Places[place]
	r := w.code.graph.Routines[w.code.blocks[p.Block].routine]
	var does effects
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
		if !w.sets(b, id, &does) || len(does.floats) > 0 && len(b.Succs) > 1 {
			return false
		}
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
	out, ok := w.leavesOut(p, meets[0])
	return ok && does.alike(out) && !slices.ContainsFunc(append(does.registers, out.registers...), func(reg isa.Reg) bool { return live(r, meets[0], reg) })
}

// effects are those of a way that matter elsewhere.
type effects struct {
	registers []isa.Reg // integer registers that are set, in their order
	floats    []isa.Mem // stores of floating-point numbers that are not on the stack
}

// alike reports whether two ways store the same numbers in the same order, by registers
// that neither changes.
func (e effects) alike(o effects) bool {
	return slices.Equal(e.floats, o.floats) && !slices.ContainsFunc(e.floats, func(m isa.Mem) bool {
		return slices.ContainsFunc(append(slices.Clip(e.registers), o.registers...), m.Reads)
	})
}

// leavesOut returns the effects of the only way that runs went from a place, up to a block
// that it leads to without a choice or another access to memory; false if it does not.
func (w *ways) leavesOut(p *Place, meet int) (out effects, ok bool) {
	r := w.code.graph.Routines[w.code.blocks[p.Block].routine]
	id := p.Next[0].Block
	for range len(r.Blocks) {
		b := &w.code.blocks[id]
		switch {
		case w.code.graph.Routines[b.routine] != r:
			return out, false
		case b.index == meet:
			return out, true
		case b.exit != plain || b.forks:
			return out, false
		}
		from := &r.Blocks[b.index]
		before := len(out.floats)
		if !w.sets(from, id, &out) || len(from.Succs) != 1 || len(out.floats)-before != b.refs {
			return out, false
		}
		id = w.code.blockAt(r.Blocks[r.Edges[from.Succs[0]].To].PC())
		if id == noBlock {
			return out, false
		}
	}
	return out, false
}

// sets adds the integer registers that a block sets, but those from the stack and those
// that its call changes, and the floating-point numbers that it stores; false if it does
// more than that.
func (w *ways) sets(b *cfg.Block, id trace.BlockID, does *effects) bool {
	if b.Exit != cfg.Stays || w.code.blocks[id].exit == returns || len(b.Succs) == 0 {
		return false
	}
	for i := range b.Insts {
		in := &b.Insts[i]
		if in.Class == isa.Call {
			target := w.code.graph.File.RoutineAt(in.Target)
			if !in.HasTarget || target == nil || !computesNumbers(target.Name) {
				return false
			}
			continue
		}
		if !does.take(in, w.code.graph.File.Target.StackPointer) {
			return false
		}
	}
	return true
}

// take adds what an instruction does that is no call; false if it stores an integer
// elsewhere than on the stack.
func (e *effects) take(in *isa.Inst, stack isa.Reg) bool {
	onStack := true
	for _, m := range in.Mems() {
		if m.Base == stack && m.Index == isa.NoReg {
			continue
		}
		onStack = false
		if m.Kind.Writes() && !m.Float {
			return false
		}
		if m.Kind.Writes() {
			e.floats = append(e.floats, m)
		}
	}
	for _, reg := range in.Defs() {
		if !reg.Float() && !(in.Accesses() && onStack) {
			e.registers = append(e.registers, reg)
		}
	}
	return true
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
