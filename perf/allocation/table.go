package allocation

import (
	"cmp"
	"slices"
	"strings"

	"presage/perf/objfile"
	"presage/perf/trace"
)

// Prefix begins the names of allocation sites.
const Prefix = "alloc "

// Stack is the name of the first thread's stack.
const Stack = "stack"

// Object is something that memory is for.
type Object struct {
	Name string // of a variable, or Prefix and a site, or Stack

	// Size is that of a variable, or the most bytes that were allocated at the site at
	// a time; 0 for the stack.
	Size uint64 `json:",omitempty"`

	// Of sites: the allocators called there, how often they gave memory, and how many
	// bytes in all, and what was never freed.
	Allocators string `json:",omitempty"`
	Count      uint64 `json:",omitempty"`
	Bytes      uint64 `json:",omitempty"`
	Live       uint64 `json:",omitempty"` // bytes, at the end
}

// Site reports whether the object is an allocation site.
func (o *Object) Site() bool { return o.Allocators != "" }

// Table finds the object that an address belongs to, while a run changes what memory is
// for. Objects are numbered from 0 in the order in which they come.
type Table struct {
	file      *objfile.File
	variables []objfile.Variable // by ascending address; nil until asked for

	objects []Object
	byName  map[string]int32
	sites   map[siteKey]int32
	live    map[uint64]living
	newest  uint64 // the address allocated last

	mapped []span // what mmap gave and is mapped still, by ascending address
	fixed  []span // variables and the stack, by ascending address
	heap   heap
}

// siteKey is what a site is known by. Equal callers may have several keys.
type siteKey struct {
	callers *trace.PC
	n       int
	by      trace.PC
}

// living is memory that was allocated and is not freed.
type living struct {
	object int32
	bytes  uint64
}

// span is a range of addresses that belongs to an object.
type span struct {
	lo, hi uint64
	object int32
}

// None is the number of no object.
const None = -1

// New returns the table of a program that has not started.
func New(f *objfile.File) *Table {
	return &Table{
		file: f, byName: make(map[string]int32), sites: make(map[siteKey]int32), live: make(map[uint64]living),
		heap: heap{chunks: make(map[uint64]*chunk)},
	}
}

// Objects returns the objects so far, by number.
func (t *Table) Objects() []Object { return t.objects }

// Names returns the names of the objects so far, by number.
func (t *Table) Names() []string {
	names := make([]string, len(t.objects))
	for i := range t.objects {
		names[i] = t.objects[i].Name
	}
	return names
}

// Apply takes changes, in the order in which they come. It reports whether some memory
// belongs to another object now.
func (t *Table) Apply(changes []trace.Change) (moved bool) {
	for i := range changes {
		c := &changes[i]
		switch c.Kind {
		case trace.Allocated:
			moved = t.allocated(c) || moved
		case trace.Freed:
			t.freed(c.Addr)
		case trace.Unmapped:
			t.freed(c.Addr)
			t.unmapped(c.Addr, c.Addr+c.Size)
			moved = t.heap.set(c.Addr, c.Addr+c.Size, None) || moved
		case trace.Loaded:
			moved = t.loaded(c) || moved
		case trace.Stacked:
			t.fix(c.Addr, c.Addr+c.Size, t.number(Object{Name: Stack}))
			moved = true
		}
	}
	return moved
}

// number returns the number of the object of a name; a new one if there is none.
func (t *Table) number(o Object) int32 {
	n, ok := t.byName[o.Name]
	if !ok {
		n = int32(len(t.objects))
		t.byName[o.Name] = n
		t.objects = append(t.objects, o)
	}
	return n
}

func (t *Table) allocated(c *trace.Change) bool {
	n := t.site(c)
	o := &t.objects[n]
	if !c.More {
		t.freed(c.Addr) // given back in a way that the plan does not know
		o.Count++
	}
	switch {
	case c.Role == trace.Mmap || c.Role == trace.Mremap:
		t.unmapped(c.Addr, c.Addr+c.Size) // mapped anew
		i, _ := slices.BinarySearchFunc(t.mapped, c.Addr, func(m span, lo uint64) int { return cmp.Compare(m.lo, lo) })
		t.mapped = slices.Insert(t.mapped, i, span{c.Addr, c.Addr + c.Size, n})
	case c.More:
		l := t.live[t.newest]
		l.bytes += c.Size
		t.live[t.newest] = l
	default:
		t.live[c.Addr] = living{n, c.Size}
		t.newest = c.Addr
	}
	o.Bytes += c.Size
	o.Live += c.Size
	o.Size = max(o.Size, o.Live)
	return t.heap.set(c.Addr, c.Addr+c.Size, n)
}

// freed notes that what was allocated at an address was given back.
func (t *Table) freed(addr uint64) {
	if l, ok := t.live[addr]; ok {
		t.objects[l.object].Live -= l.bytes
		delete(t.live, addr)
	}
}

// unmapped notes that what mmap gave from lo to below hi, wholly or in part, was given
// back.
func (t *Table) unmapped(lo, hi uint64) {
	if lo >= hi {
		return
	}
	i, _ := slices.BinarySearchFunc(t.mapped, lo, func(m span, lo uint64) int { return cmp.Compare(m.hi, lo+1) })
	var left []span
	end := i
	for ; end < len(t.mapped) && t.mapped[end].lo < hi; end++ {
		m := t.mapped[end]
		t.objects[m.object].Live -= min(m.hi, hi) - max(m.lo, lo)
		if m.lo < lo {
			left = append(left, span{m.lo, lo, m.object})
		}
		if m.hi > hi {
			left = append(left, span{hi, m.hi, m.object})
		}
	}
	t.mapped = slices.Replace(t.mapped, i, end, left...)
}

// site returns the number of the site of an allocation.
func (t *Table) site(c *trace.Change) int32 {
	key := siteKey{n: len(c.Callers), by: c.PC}
	if key.n > 0 {
		key.callers = &c.Callers[0]
	}
	n, ok := t.sites[key]
	if ok {
		return n
	}
	n = t.number(Object{Name: Prefix + siteOf(t.file, c.Callers)})
	t.sites[key] = n
	by := c.Role.String()
	if r := t.file.RoutineAt(uint64(c.PC)); r != nil && c.Role == trace.Malloc && strings.Contains(r.Name, "_Zn") {
		by = "operator new"
	}
	o := &t.objects[n]
	switch {
	case o.Allocators == "":
		o.Allocators = by
	case !slices.Contains(strings.Split(o.Allocators, ", "), by):
		o.Allocators += ", " + by
	}
	return n
}

// loaded gives the variables of a file their places. A file whose variables cannot be
// read has none: callers who want to know ask it themselves.
func (t *Table) loaded(c *trace.Change) bool {
	if t.variables == nil {
		t.variables, _ = t.file.Variables()
		slices.SortStableFunc(t.variables, func(a, b objfile.Variable) int { return cmp.Compare(a.Addr, b.Addr) })
	}
	from := uint64(c.PC)
	i, _ := slices.BinarySearchFunc(t.variables, from, func(v objfile.Variable, pc uint64) int { return cmp.Compare(v.Addr, pc) })
	some := false
	for ; i < len(t.variables); i++ {
		v := &t.variables[i]
		if v.End() > from+c.Size || v.End() > from+moduleBytes {
			break
		}
		n := t.number(Object{Name: v.Name})
		t.objects[n].Size += v.Size
		t.fix(v.Addr-from+c.Addr, v.End()-from+c.Addr, n)
		some = true
	}
	return some
}

// fix makes a range of addresses an object's for good.
func (t *Table) fix(lo, hi uint64, object int32) {
	if lo >= hi {
		return
	}
	i, _ := slices.BinarySearchFunc(t.fixed, lo, func(f span, lo uint64) int { return cmp.Compare(f.hi, lo+1) })
	end := i
	for end < len(t.fixed) && t.fixed[end].lo < hi {
		end++
	}
	t.fixed = slices.Replace(t.fixed, i, end, span{lo, hi, object})
}

// At returns the object at an address, None if there is none, and the addresses around
// it of which the same is known to hold.
func (t *Table) At(addr uint64) trace.Extent {
	x := t.heap.at(addr)
	if x.Object != None {
		return x
	}
	i, _ := slices.BinarySearchFunc(t.fixed, addr, func(f span, addr uint64) int { return cmp.Compare(f.hi, addr+1) })
	if i > 0 {
		x.Lo = max(x.Lo, t.fixed[i-1].hi)
	}
	switch {
	case i == len(t.fixed):
	case t.fixed[i].lo <= addr:
		f := &t.fixed[i]
		return trace.Extent{Object: f.object, Lo: max(x.Lo, f.lo), Hi: min(x.Hi, f.hi)}
	default:
		x.Hi = min(x.Hi, t.fixed[i].lo)
	}
	return x
}
