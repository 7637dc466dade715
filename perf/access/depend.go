package access

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"presage/perf/isa"
	"presage/perf/trace"
)

// Dependences is the dependence graph of a path through a routine (2004 paper,
// section 2.1; 2005 paper, section 2.2, end). Its nodes are micro-operations.
// Registers are assumed to be renamed, so that only their flow dependences remain.
type Dependences struct {
	Target *isa.Target
	Nodes  []Node // of the path, in order
	Edges  []Dependence

	// Pairs of memory references, at least one of them a store, by what their
	// formulas prove: never the same location (Independent), the same location
	// in some iteration (Dependent), or neither (Unknown).
	Independent, Dependent, Unknown int
}

// Node is a micro-operation of an instruction on a path.
type Node struct {
	*isa.Inst
	Micro isa.Micro
	At    int // number of the instruction on the path
}

// Nodes returns the micro-operations of the instructions of a path, in order.
func Nodes(insts []*isa.Inst) []Node {
	nodes := make([]Node, 0, len(insts))
	var micros [isa.MaxMicros]isa.Micro
	for i, in := range insts {
		for _, m := range in.Micros(micros[:0]) {
			nodes = append(nodes, Node{in, m, i})
		}
	}
	return nodes
}

// Dependence says that node To of an iteration has to wait for From, Distance
// iterations before.
type Dependence struct {
	From, To int // indices in Nodes
	Distance int // iterations of the loop; 0: the same one, and From comes before To
	Kind     DependenceKind

	// Assumed says that the formulas prove nothing, and that the worst case is
	// assumed.
	Assumed bool
}

// DependenceKind says whether a dependence is through a register or memory, and
// of which type.
type DependenceKind uint8

// The kinds of dependences.
const (
	RegisterFlow DependenceKind = iota // From defines a register that To uses
	MemoryFlow                         // From stores, To loads
	MemoryAnti                         // From loads, To stores
	MemoryOutput                       // both store
)

var dependenceNames = [...]string{"register", "memory flow", "memory anti", "memory output"}

func (k DependenceKind) String() string { return dependenceNames[k] }

// DependenceOptions say what to assume about undecided pairs.
type DependenceOptions struct {
	// Pessimistic assumes that references whose formulas prove nothing are
	// dependent, in the same iteration and in neighbouring ones. The default is
	// to assume that they are independent.
	Pessimistic bool
}

// Dependences returns the dependence graph of a path: blocks of a routine that
// are executed one after the other. If loop is not negative, the path is an
// iteration of that loop, and is followed by itself. A call clobbers the
// registers that its convention does not preserve; its effect on memory is
// ignored. Dependences panics if the path is empty.
func (a *Analysis) Dependences(routine, loop int, path []int, opt DependenceOptions) *Dependences {
	if len(path) == 0 {
		panic("access: dependences of an empty path")
	}
	r := a.Program.Routines[routine]
	var insts []*isa.Inst
	for _, b := range path {
		for i := range r.Blocks[b].Insts {
			insts = append(insts, &r.Blocks[b].Insts[i])
		}
	}
	f := dependenceFinder{loop: loop, opt: opt, out: &Dependences{Target: a.Program.File.Target, Nodes: Nodes(insts)}}
	f.registers(conventionOf(a.Program))
	f.within()
	f.refs = a.referencesOf(f.out.Nodes)
	f.memory()
	slices.SortFunc(f.out.Edges, func(a, b Dependence) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Kind, b.Kind))
	})
	f.out.Edges = slices.Compact(f.out.Edges)
	return f.out
}

// nodeRef is the memory access of a node; the Reference is nil if there is none.
type nodeRef struct {
	*Reference
	kind trace.Kind
}

// referencesOf returns the references of nodes.
func (a *Analysis) referencesOf(nodes []Node) []nodeRef {
	refs := make([]nodeRef, len(nodes))
	for i := range nodes {
		in := &nodes[i]
		m, kind := in.Access(in.Micro)
		if m == nil {
			continue
		}
		n, ok := slices.BinarySearchFunc(a.All, trace.PC(in.PC), func(r Reference, pc trace.PC) int { return cmp.Compare(r.PC, pc) })
		if !ok {
			panic(fmt.Sprintf("access: no reference at pc %#x", in.PC))
		}
		refs[i] = nodeRef{&a.All[n+int(in.Micro.Mem)], kinds[kind]}
	}
	return refs
}

type dependenceFinder struct {
	loop int
	opt  DependenceOptions
	out  *Dependences
	refs []nodeRef
}

// within adds the dependences between the micro-operations of an instruction.
func (f *dependenceFinder) within() {
	first := 0
	for i := range f.out.Nodes {
		n := &f.out.Nodes[i]
		if i > 0 && f.out.Nodes[i-1].At != n.At {
			first = i
		}
		for after := n.Micro.After; after != 0; after &= after - 1 {
			f.out.Edges = append(f.out.Edges, Dependence{From: first + bits.TrailingZeros8(after), To: i, Kind: RegisterFlow})
		}
	}
}

// registers adds the dependences of uses on definitions. A use without a previous
// definition in the path depends on the last definition in the previous iteration.
func (f *dependenceFinder) registers(c convention) {
	defined := make(map[isa.Reg]int)
	nodes := f.out.Nodes
	var buf []isa.Reg
	for _, carried := range []bool{false, true} {
		for from, to := 0, 0; from < len(nodes); from = to {
			// What an instruction reads is defined by others.
			for to = from; to < len(nodes) && nodes[to].At == nodes[from].At; to++ {
				f.uses(defined, from, to, carried)
			}
			for i := from; i < to; i++ {
				buf = f.defs(buf[:0], c, i)
				for _, d := range buf {
					if carried { // uses further on see this iteration's value
						delete(defined, d)
					} else {
						defined[d] = i
					}
				}
			}
		}
		if f.loop < 0 {
			return
		}
	}
}

// uses adds the dependences of node i on the definitions of the registers it uses;
// first is the first node of its instruction.
func (f *dependenceFinder) uses(defined map[isa.Reg]int, first, i int, carried bool) {
	n := &f.out.Nodes[i]
	for k, u := range n.Uses() {
		if n.Micro.Uses>>k&1 == 0 {
			continue
		}
		if from, ok := defined[u]; ok && (!carried || from >= first) {
			f.out.Edges = append(f.out.Edges, Dependence{From: from, To: i, Distance: b2i(carried), Kind: RegisterFlow})
		}
	}
}

// defs appends the registers that a node changes. The registers that a call
// clobbers are attributed to its last micro-operation.
func (f *dependenceFinder) defs(all []isa.Reg, c convention, i int) []isa.Reg {
	n := &f.out.Nodes[i]
	if n.Class != isa.Call {
		for k, d := range n.Defs() {
			if n.Micro.Defs>>k&1 != 0 {
				all = append(all, d)
			}
		}
		return all
	}
	if i+1 < len(f.out.Nodes) && f.out.Nodes[i+1].At == n.At {
		return all
	}
	changed := c.changes(n.Inst)
	for r := range isa.Reg(len(c.target.IntegerNames)) {
		if changed.Has(r) {
			all = append(all, r)
		}
	}
	for r := range isa.Reg(len(c.target.FloatNames)) {
		all = append(all, isa.F0+r)
	}
	return all
}

// memory adds the dependences between memory references.
func (f *dependenceFinder) memory() {
	for q := range f.refs {
		if f.refs[q].Reference == nil {
			continue
		}
		for p := 0; p <= q; p++ {
			if f.refs[p].Reference == nil || !f.refs[p].kind.Writes() && !f.refs[q].kind.Writes() {
				continue
			}
			f.pair(p, q)
		}
	}
}

// pair adds the dependences between two references, p not after q in the path;
// they may be the same one.
func (f *dependenceFinder) pair(p, q int) {
	d := f.distances(f.refs[p].Reference, f.refs[q].Reference)
	switch {
	case !d.known:
		f.out.Unknown++
		if f.opt.Pessimistic {
			f.add(p, q, 0, true)
			f.add(q, p, 1, true)
		}
		return
	case len(d.ahead)+len(d.behind) == 0 && !d.same || p == q && len(d.ahead) == 0:
		f.out.Independent++
	default:
		f.out.Dependent++
	}
	if d.same {
		f.add(p, q, 0, false)
	}
	for _, n := range d.ahead {
		f.add(p, q, n, false)
	}
	for _, n := range d.behind {
		f.add(q, p, n, false)
	}
}

// add adds a dependence, unless it is of an instruction on itself in the same
// iteration, or carried by no loop.
func (f *dependenceFinder) add(from, to, distance int, assumed bool) {
	if from == to && distance == 0 || f.loop < 0 && distance > 0 {
		return
	}
	kind := MemoryOutput
	switch a, b := f.refs[from].kind, f.refs[to].kind; {
	case !b.Writes():
		kind = MemoryFlow
	case !a.Writes():
		kind = MemoryAnti
	}
	f.out.Edges = append(f.out.Edges, Dependence{From: from, To: to, Distance: distance, Kind: kind, Assumed: assumed})
}

// meeting says in which iterations two references p and q access the same
// location: in the same one, q ahead iterations after p, or behind before it.
type meeting struct {
	known         bool
	same          bool
	ahead, behind []int // the least such distance from 1, if there is one
}

// distances subtracts the formulas of two references (2004 paper, section 2.1,
// cases 1 to 3). If they have the same stride s in the loop, and the same strides
// in all loops around it, the location of q d iterations later minus that of p is
//
//	first(q) - first(p) + s·d
//
// in every iteration; they overlap if that is more than -size(q) and less than
// size(p).
func (f *dependenceFinder) distances(p, q *Reference) meeting {
	if !p.InGraph || !q.InGraph || p.Loop != q.Loop && f.loop >= 0 {
		return meeting{}
	}
	between, ok := q.First.Minus(p.First)
	if !ok {
		return meeting{}
	}
	stride, ok := f.sharedStride(p, q)
	gap, constant := between.Constant()
	if !ok || !constant {
		return meeting{}
	}
	m := meeting{known: true, same: overlap(gap, p, q)}
	if f.loop < 0 {
		return m
	}
	s, constant := stride.Constant()
	if !constant {
		// Distance 0 is decided; at others the difference is not constant.
		m.known = m.same || p == q
		return m
	}
	m.ahead = nearest(gap, s, p, q)
	m.behind = nearest(gap, -s, p, q)
	return m
}

// sharedStride returns the stride that two references have in the loop, if they
// have the same in it and in all loops around it.
func (f *dependenceFinder) sharedStride(p, q *Reference) (Formula, bool) {
	var own Formula
	inside := f.loop >= 0 // until the loop itself has been passed
	if len(p.Strides) != len(q.Strides) {
		return own, false
	}
	for i := range p.Strides {
		s, t := p.Strides[i], q.Strides[i]
		if s.Loop != t.Loop || !s.Regular() || !t.Regular() || !s.Formula.Equal(t.Formula) {
			return own, false
		}
		if s.Loop == f.loop {
			own, inside = s.Formula, false
		}
	}
	return own, !inside
}

// overlap reports whether q, gap bytes after p, shares a byte with it.
func overlap(gap int64, p, q *Reference) bool {
	return gap > -int64(q.Size) && gap < int64(p.Size)
}

// nearest returns the least d from 1 for which gap + s·d makes p and q overlap.
func nearest(gap, s int64, p, q *Reference) []int {
	if s == 0 {
		if overlap(gap, p, q) {
			return []int{1}
		}
		return nil
	}
	if s < 0 { // the same, mirrored
		gap, s, p, q = -gap, -s, q, p
	}
	// The least d with gap + s·d > -size(q).
	d := max(1, floor(-int64(q.Size)-gap, s)+1)
	if overlap(gap+s*d, p, q) && d <= farthest {
		return []int{int(d)}
	}
	return nil
}

// farthest is the greatest distance of a dependence that can matter: no
// processor has that many iterations in flight.
const farthest = 1 << 20

func floor(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
