package replay

import (
	"fmt"
	"slices"
	"strconv"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/trace"
)

// Translate returns a run of another executable as if it had been one of c, for a
// program that was compiled anew for each size: blocks correspond by their routine's
// name and where they stand in its control flow, and references of a block by their order
// among those of their kind and size. Compilers choose other instructions for another
// size, put blocks in another order, and keep other registers in memory: references
// that only one executable has are left out, or never executed. Blocks of shared libraries
// correspond by where they stand in the file, which is the same. Translate returns an error
// if the control flow of a routine that was executed is another one here.
func (c *Code) Translate(run *Run, from *Code) (*Run, error) {
	t := newTranslator(c, from)
	out := *run
	out.Elsewhere = nil // of other executables, which have other references
	var err error
	if out.Objects, err = from.objects(); err != nil {
		return nil, err
	}
	out.Objects = placed(out.Objects, run.Loaded)
	out.Contexts, out.Places = slices.Clone(run.Contexts), slices.Clone(run.Places)
	for i := range out.Contexts {
		t.block(&out.Contexts[i].Call)
	}
	out.Places = t.leaveOut(out.Places)
	for i := range out.Places {
		p := &out.Places[i]
		was := p.Block
		if t.block(&p.Block); t.err != nil {
			break
		}
		p.Refs = t.refs(p.Refs, &from.blocks[was], &c.blocks[p.Block])
		p.Next = slices.Clone(p.Next)
		for k := range p.Next {
			t.block(&p.Next[k].Block)
		}
		p.Sums = nil
		p.Numbers = nil // they name places of the other executable
		p.Branch = slices.Clone(p.Branch)
		for k := range p.Branch {
			t.branch(&p.Branch[k])
		}
	}
	if t.err == nil {
		out.Places = t.putIn(out.Places)
	}
	if t.err != nil {
		return nil, refuse("%w", t.err)
	}
	return &out, nil
}

type translator struct {
	to, from *Code
	routines map[string][]int // of to, by name, ascending
	names    []string         // of the routines of from
	number   []int            // of each, among those of its name
	same     map[int]error    // by routine of from: whether it has the same shape
	err      error            // the first
}

func newTranslator(to, from *Code) *translator {
	return &translator{
		to: to, from: from, routines: namesakes(to.graph), names: names(from.graph), number: numbers(from.graph), same: make(map[int]error),
	}
}

// namesakes returns a program's routines by name: libraries have several static ones
// of one name. Those without a name are called after the one before them.
func namesakes(g *cfg.Program) map[string][]int {
	all := make(map[string][]int)
	for i, name := range names(g) {
		all[name] = append(all[name], i)
	}
	return all
}

// names returns what routines, which ascend by address, are called: the names of
// those without one hold the address, which is another in each executable.
func names(g *cfg.Program) []string {
	out := make([]string, len(g.Routines))
	before := ""
	for i, r := range g.Routines {
		if out[i] = r.Name; r.Name == "sub_"+strconv.FormatUint(r.Addr, 16) {
			out[i] = "after " + before
		} else {
			before = out[i]
		}
	}
	return out
}

// numbers returns, for each routine, which of its name it is.
func numbers(g *cfg.Program) []int {
	seen := make(map[string]int)
	out := make([]int, len(g.Routines))
	for i, name := range names(g) {
		out[i] = seen[name]
		seen[name]++
	}
	return out
}

// counterpart returns the routine of to that routine i of from is; -1 if there is none.
func (t *translator) counterpart(i int) int {
	if list := t.routines[t.names[i]]; t.number[i] < len(list) {
		return list[t.number[i]]
	}
	return -1
}

func (t *translator) branch(b *RunBranch) {
	b.Classes = slices.Clone(b.Classes)
	for i := range b.Classes {
		b.Classes[i].Shape = slices.Clone(b.Classes[i].Shape)
		for k := range b.Classes[i].Shape {
			t.block(&b.Classes[i].Shape[k])
		}
	}
}

// block replaces a block of from by that of to.
func (t *translator) block(id *trace.BlockID) {
	if *id == noBlock || t.err != nil {
		return
	}
	if m := t.from.library(*id); m != nil {
		*id = t.shared(*id, m)
		return
	}
	b := &t.from.blocks[*id]
	err, known := t.same[b.routine]
	if !known {
		err = t.compare(b.routine, t.counterpart(b.routine))
		t.same[b.routine] = err
	}
	if t.err = err; err != nil {
		return
	}
	r := t.counterpart(b.routine)
	k := t.to.shape(r).at[t.from.shape(b.routine).names[b.index]]
	*id = t.to.blockAt(t.to.graph.Routines[r].Blocks[k].PC())
}

// compare returns an error unless a routine has the same shape in both executables.
func (t *translator) compare(ri, oi int) error {
	r := t.from.graph.Routines[ri]
	if oi < 0 {
		return fmt.Errorf("one executable has no routine %s", r.Name)
	}
	o := t.to.graph.Routines[oi]
	x, y := t.from.shape(ri), t.to.shape(oi)
	if len(x.at) != len(y.at) {
		return t.differs(ri, x, y)
	}
	for n, i := range x.at {
		k, ok := y.at[n]
		if !ok || !t.alike(r, o, i, k) || !slices.Equal(x.succs[i], y.succs[k]) ||
			!slices.Equal(x.around(r, i), y.around(o, k)) {
			return t.differs(ri, x, y)
		}
	}
	return nil
}

// differs says that a routine of from has another shape in to, and where.
func (t *translator) differs(ri int, x, y *shape) error {
	r := t.from.graph.Routines[ri]
	return fmt.Errorf("%s has other blocks or loops in one executable than in another%s", r.Name, t.from.unlike(ri, x, y))
}

// alike reports whether a block of two routines ends in the same way.
func (t *translator) alike(r, o *cfg.Routine, i, k int) bool {
	x, y := t.from.blockAt(r.Blocks[i].PC()), t.to.blockAt(o.Blocks[k].PC())
	if x == noBlock || y == noBlock {
		return false
	}
	a, b := &t.from.blocks[x], &t.to.blocks[y]
	return a.exit == b.exit && a.forks == b.forks && a.header == b.header && len(a.chain) == len(b.chain)
}

// refs returns the references of a place of block b, given those of a in the other
// executable.
func (t *translator) refs(list []RunRef, a, b *block) []RunRef {
	out := make([]RunRef, b.refs)
	for i := range out {
		out[i].Lo = ^uint64(0) // none: see RunRef
	}
	for _, pair := range t.align(a, b) {
		out[pair[1]] = list[pair[0]]
		out[pair[1]].Indirects = nil // they name places of the other executable
	}
	return out
}

// align returns a longest list of pairs of references of two blocks that are alike,
// both ascending. Registers that are kept in memory stand between other references in
// one executable and not in another, and are like each other alone.
func (t *translator) align(a, b *block) (pairs [][2]int) {
	spillsA, spillsB := t.from.spills(a), t.to.spills(b)
	alike := func(i, k int) bool {
		x, y := t.from.Plan.Refs[int(a.firstRef)+i], t.to.Plan.Refs[int(b.firstRef)+k]
		return x.Size == y.Size && x.Kind == y.Kind && x.Float == y.Float && spillsA[i] == spillsB[k]
	}
	most := make([][]int, a.refs+1) // of a[i:] and b[k:]
	for i := a.refs; i >= 0; i-- {
		most[i] = make([]int, b.refs+1)
		for k := b.refs - 1; k >= 0 && i < a.refs; k-- {
			if most[i][k] = max(most[i+1][k], most[i][k+1]); alike(i, k) {
				most[i][k] = max(most[i][k], 1+most[i+1][k+1])
			}
		}
	}
	for i, k := 0, 0; i < a.refs && k < b.refs; {
		switch {
		case alike(i, k) && most[i][k] == 1+most[i+1][k+1]:
			pairs = append(pairs, [2]int{i, k})
			i, k = i+1, k+1
		case most[i][k] == most[i+1][k]:
			i++
		default:
			k++
		}
	}
	return pairs
}

// spills returns which references of a block are at a constant distance from the stack
// pointer.
func (c *Code) spills(b *block) []bool {
	out := make([]bool, b.refs)
	sp := c.graph.File.Target.StackPointer
	insts := c.graph.Routines[b.routine].Blocks[b.index].Insts
	k := 0
	for i := range out {
		pc := uint64(c.Plan.Refs[int(b.firstRef)+i].PC)
		for k < len(insts) && insts[k].PC < pc {
			k++
		}
		out[i] = k < len(insts) && insts[k].PC == pc && slices.ContainsFunc(insts[k].Mems(), func(m isa.Mem) bool { return m.Base == sp && m.Index == isa.NoReg })
	}
	return out
}

// Match says which references of two executables of one program are the same.
type Match struct {
	Of      []int32 // by reference of one: that of the other; -1: it has none
	Covered []bool  // by reference of the other: its routine has the same blocks in both
}

// Match returns which references of from those of c are.
func (c *Code) Match(from *Code) Match {
	t := newTranslator(c, from)
	m := Match{Of: make([]int32, len(c.Plan.Refs)), Covered: make([]bool, len(from.Plan.Refs))}
	for i := range m.Of {
		m.Of[i] = -1
	}
	for id := range from.blocks {
		a := &from.blocks[id]
		to := trace.BlockID(id)
		if t.err = nil; a.refs == 0 {
			continue
		}
		if t.block(&to); t.err != nil {
			continue
		}
		b := &c.blocks[to]
		for k := range a.refs {
			m.Covered[int(a.firstRef)+k] = true
		}
		for _, pair := range t.align(a, b) {
			m.Of[int(b.firstRef)+pair[1]] = int32(a.firstRef) + int32(pair[0])
		}
	}
	return m
}
