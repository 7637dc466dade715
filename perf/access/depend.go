package access

import (
	"cmp"
	"fmt"
	"slices"

	"presage/perf/isa"
	"presage/perf/trace"
)

// Dependences is the dependence graph of a path through a routine: what has to
// wait for what (2004 paper, section 2.1; 2005 paper, section 2.2, end).
// Registers are renamed, so that of their dependences only those of a use on a
// definition remain.
type Dependences struct {
	Insts []*isa.Inst // of the path, in order
	Edges []Dependence

	// Pairs of memory references of which at least one is a store, by what
	// their formulas tell: never the same location, the same location in some
	// iteration, or neither (Unknown).
	Independent, Dependent, Unknown int
}

// Dependence says that instruction To of an iteration has to wait for From,
// Distance iterations before.
type Dependence struct {
	From, To int // indices in Insts
	Distance int // iterations of the loop; 0: the same one, and From comes before To
	Kind     DependenceKind

	// Assumed says that the formulas do not tell, and that the worst is taken
	// for granted.
	Assumed bool
}

// DependenceKind is what a dependence is about.
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

// DependenceOptions say how to take what is not known.
type DependenceOptions struct {
	// Pessimistic takes references whose formulas do not tell for dependent,
	// in the same iteration and in neighbouring ones. The default is to take
	// them for independent.
	Pessimistic bool
}

// Dependences returns the dependence graph of a path: blocks of a routine that
// are executed one after the other. If loop is not negative, the path is an
// iteration of that loop, and is followed by itself. A call changes the
// registers that the calling convention gives up; what it does to memory is not
// looked at. It panics if the path is empty.
func (a *Analysis) Dependences(routine, loop int, path []int, opt DependenceOptions) *Dependences {
	if len(path) == 0 {
		panic("access: dependences of an empty path")
	}
	r := a.Program.Routines[routine]
	f := dependenceFinder{loop: loop, opt: opt, out: new(Dependences)}
	for _, b := range path {
		for i := range r.Blocks[b].Insts {
			f.out.Insts = append(f.out.Insts, &r.Blocks[b].Insts[i])
		}
	}
	f.registers(conventionOf(a.Program))
	f.refs = a.referencesOf(f.out.Insts)
	f.memory()
	slices.SortFunc(f.out.Edges, func(a, b Dependence) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Kind, b.Kind))
	})
	f.out.Edges = slices.Compact(f.out.Edges)
	return f.out
}

// referencesOf returns the references that instructions are, nil for those that
// are none.
func (a *Analysis) referencesOf(insts []*isa.Inst) []*Reference {
	refs := make([]*Reference, len(insts))
	for i, in := range insts {
		if in.Mem.Kind == isa.NoMem {
			continue
		}
		n, ok := slices.BinarySearchFunc(a.All, trace.PC(in.PC), func(r Reference, pc trace.PC) int { return cmp.Compare(r.PC, pc) })
		if !ok {
			panic(fmt.Sprintf("access: no reference at pc %#x", in.PC))
		}
		refs[i] = &a.All[n]
	}
	return refs
}

type dependenceFinder struct {
	loop int
	opt  DependenceOptions
	out  *Dependences
	refs []*Reference
}

// registers adds the dependences of uses on definitions. A use that nothing
// before it in the path defines gets the last definition of the iteration
// before.
func (f *dependenceFinder) registers(c convention) {
	defined := make(map[isa.Reg]int)
	for _, carried := range []bool{false, true} {
		for i, in := range f.out.Insts {
			for _, u := range in.Uses() {
				if from, ok := defined[u]; ok && (!carried || from >= i) {
					f.out.Edges = append(f.out.Edges, Dependence{From: from, To: i, Distance: b2i(carried), Kind: RegisterFlow})
				}
			}
			if carried {
				// Uses further on see this iteration's value.
				for _, d := range f.defs(c, in) {
					delete(defined, d)
				}
				continue
			}
			for _, d := range f.defs(c, in) {
				defined[d] = i
			}
		}
		if f.loop < 0 {
			return
		}
	}
}

// defs returns the registers that an instruction changes.
func (f *dependenceFinder) defs(c convention, in *isa.Inst) []isa.Reg {
	if in.Class != isa.Call {
		return in.Defs()
	}
	var all []isa.Reg
	for r := range isa.F0 + 32 {
		if r.Float() || c.changes(in).has(r) {
			all = append(all, r)
		}
	}
	return all
}

// memory adds the dependences between memory references.
func (f *dependenceFinder) memory() {
	for q := range f.refs {
		if f.refs[q] == nil {
			continue
		}
		for p := 0; p <= q; p++ {
			if f.refs[p] == nil || !f.refs[p].Kind.Writes() && !f.refs[q].Kind.Writes() {
				continue
			}
			f.pair(p, q)
		}
	}
}

// pair looks at two references, p not after q in the path; they may be one.
func (f *dependenceFinder) pair(p, q int) {
	d := f.distances(f.refs[p], f.refs[q])
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
	switch a, b := f.refs[from].Kind, f.refs[to].Kind; {
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

// distances subtracts two references' formulas (2004 paper, section 2.1, cases
// 1 to 3). With the same stride s in the loop, and the same in every loop
// around it, the location of q d iterations later less that of p is
//
//	first(q) - first(p) + s·d
//
// in every iteration; they overlap where that is more than -size(q) and less
// than size(p).
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
		// Zero iterations apart is decided; further apart the difference is no
		// constant.
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
// processor has so many iterations under way.
const farthest = 1 << 20

func floor(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
