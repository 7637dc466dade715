package access

import (
	"presage/perf/cfg"
	"presage/perf/internal/wire"
	"presage/perf/isa"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// known are the errors that the Warnings of references wrap.
var known = []error{ErrUndecoded, ErrVector}

// Encode writes the references, without the graphs that they were found in.
func (a *Analysis) Encode(w *wire.Writer) {
	w.Len(a.Instructions)
	w.Byte(byte(a.global.reg))
	w.Int(a.global.value)
	w.Flags(a.global.known, a.global.ambiguous)
	cfg.EncodeWarnings(w, a.Warnings, known)
	strides := 0
	for i := range a.All {
		strides += len(a.All[i].Strides)
	}
	w.Len(len(a.All))
	w.Len(strides)
	e := encoder{Writer: w, formulas: make(map[string]uint64)}
	before := new(Reference)
	for i := range a.All {
		e.reference(&a.All[i], before)
		before = &a.All[i]
	}
}

// encoder writes references; a formula that recurs is written as the number of its
// first occurrence.
type encoder struct {
	*wire.Writer
	formulas map[string]uint64 // by what is written of them
}

// reference writes a reference by how it differs from the one before.
func (w *encoder) reference(r, before *Reference) {
	w.Uint(uint64(r.PC - before.PC))
	w.Flags(r.Float, r.InGraph, r.Kind == trace.Store, r.Kind == trace.ReadModifyWrite,
		r.Routine == before.Routine, r.File == before.File, r.RoutineIndex == before.RoutineIndex && r.Loop == before.Loop, r.Operand > 0)
	if r.Operand > 0 {
		w.Len(r.Operand)
	}
	w.Byte(r.Size)
	if r.Routine != before.Routine {
		w.String(r.Routine)
	}
	if r.File != before.File {
		w.String(r.File)
	}
	w.Int(int64(r.Line - before.Line))
	if r.RoutineIndex != before.RoutineIndex || r.Loop != before.Loop {
		w.Int(int64(r.RoutineIndex - before.RoutineIndex))
		w.Len(r.Loop + 1)
	}
	w.Int(int64(r.Block - before.Block))
	if !r.InGraph {
		return
	}
	w.Len(r.Base)
	w.Byte(byte(r.Stack))
	w.formula(r.First)
	w.Len(len(r.Strides))
	for _, s := range r.Strides {
		w.Len(s.Loop)
		w.Flags(s.Irregular, s.Indirect)
		w.formula(s.Formula)
	}
}

func (w *encoder) formula(f Formula) {
	var full wire.Writer
	f.encode(&full)
	key := string(full.Bytes())
	if n, ok := w.formulas[key]; ok {
		w.Uint(n)
		return
	}
	w.formulas[key] = uint64(len(w.formulas)) + 1
	w.Uint(0)
	f.encode(w.Writer)
}

func (f Formula) encode(w *wire.Writer) {
	w.Len(len(f.terms))
	for _, t := range f.terms {
		w.Byte(byte(t.Symbol.Kind))
		w.Int(t.Num)
		w.Int(t.Den)
		if t.Symbol.Kind == Unit {
			continue
		}
		w.Uint(t.Symbol.PC)
		w.Flags(t.Symbol.Memory)
		w.Byte(byte(t.Symbol.Reg))
		w.Int(t.Symbol.Offset)
		w.Byte(t.Symbol.Size)
	}
}

// decoder reads references. The strides of all of them lie in one slice.
type decoder struct {
	*wire.Reader
	target   *isa.Target
	strides  []Stride
	formulas []Formula // that were read, each once
}

// Decode reads what Encode wrote of f. The result has no Program, and answers no
// query about routines: see For.
func Decode(r *wire.Reader, f *objfile.File) *Analysis {
	a := &Analysis{cells: new(cells)}
	a.Instructions = r.Index(maxIndex)
	a.global = globalPointer{reg: isa.Reg(r.Byte()), value: r.Int()}
	flags := r.Flags()
	a.global.known, a.global.ambiguous = flags.Has(0), flags.Has(1)
	a.Warnings = cfg.DecodeWarnings(r, known)
	n := r.Len()
	d := decoder{Reader: r, target: f.Target, strides: make([]Stride, 0, r.Len())}
	a.All = make([]Reference, n)
	before := new(Reference)
	for i := range a.All {
		d.reference(&a.All[i], before)
		if r.Err() != nil {
			return &Analysis{cells: new(cells)}
		}
		before = &a.All[i]
	}
	return a
}

// maxIndex bounds numbers that nothing else does.
const maxIndex = 1 << 31

func (d *decoder) reference(r, before *Reference) {
	*r = Reference{
		PC: before.PC + trace.PC(d.Uint()), Routine: before.Routine, File: before.File,
		RoutineIndex: before.RoutineIndex, Loop: before.Loop,
	}
	flags := d.Flags()
	r.Float, r.InGraph = flags.Has(0), flags.Has(1)
	switch {
	case flags.Has(2):
		r.Kind = trace.Store
	case flags.Has(3):
		r.Kind = trace.ReadModifyWrite
	}
	if flags.Has(7) {
		r.Operand = d.Index(1 << 8)
	}
	r.Size = d.Byte()
	if !flags.Has(4) {
		r.Routine = d.String()
	}
	if !flags.Has(5) {
		r.File = d.String()
	}
	r.Line = d.near(before.Line)
	if !flags.Has(6) {
		r.RoutineIndex = d.near(before.RoutineIndex)
		r.Loop = d.Index(maxIndex) - 1
	}
	r.Block = d.near(before.Block)
	if !r.InGraph {
		return
	}
	r.Base = d.Index(maxIndex)
	r.Stack = StackUse(d.Index(len(stackUseNames)))
	r.First = d.formula()
	n := d.Len()
	if n == 0 {
		return
	}
	if n > cap(d.strides)-len(d.strides) {
		d.Fail()
		return
	}
	first := len(d.strides)
	for range n {
		s := Stride{Loop: d.Index(maxIndex)}
		flags := d.Flags()
		s.Irregular, s.Indirect = flags.Has(0), flags.Has(1)
		s.Formula = d.formula()
		d.strides = append(d.strides, s)
	}
	r.Strides = d.strides[first:len(d.strides):len(d.strides)]
}

// near reads a number that was written as its difference to another one.
func (d *decoder) near(before int) int {
	v := int64(before) + d.Int()
	if v < 0 || v >= maxIndex {
		d.Fail()
		return 0
	}
	return int(v)
}

func (d *decoder) formula() Formula {
	if n := d.Index(len(d.formulas) + 1); n > 0 {
		return d.formulas[n-1]
	}
	var f Formula
	if n := d.Len(); n > 0 {
		f.terms = make([]Term, n)
	}
	for i := range f.terms {
		t := Term{Symbol: Symbol{Kind: SymbolKind(d.Index(int(Exit) + 1))}, Num: d.Int(), Den: d.Int()}
		if t.Symbol.Kind != Unit {
			t.Symbol.target = d.target
			t.Symbol.PC = d.Uint()
			t.Symbol.Memory = d.Flags().Has(0)
			t.Symbol.Reg = isa.Reg(d.Byte())
			t.Symbol.Offset = d.Int()
			t.Symbol.Size = d.Byte()
		}
		f.terms[i] = t
	}
	d.formulas = append(d.formulas, f)
	return f
}

// For returns the analysis with the graphs that the references were found in.
func (a *Analysis) For(p *cfg.Program) *Analysis {
	return &Analysis{Program: p, References: a.References, cells: new(cells)}
}

// Encode writes the groups.
func (g *Groups) Encode(w *wire.Writer) {
	w.Len(len(g.Refs))
	w.Len(len(g.Of))
	for _, id := range g.Of {
		w.Uint(uint64(id))
	}
	w.Ints(g.Set)
}

// DecodeGroups reads what Encode wrote of the groups of refs references.
func DecodeGroups(r *wire.Reader, refs int) *Groups {
	n := r.Len()
	g := &Groups{Of: make([]trace.GroupID, r.Len()), Refs: make([][]int, n)}
	if len(g.Of) != refs {
		r.Fail()
	}
	size := make([]int, n)
	for i := range g.Of {
		id := r.Index(n)
		if r.Err() != nil {
			return new(Groups)
		}
		g.Of[i] = trace.GroupID(id)
		size[id]++
	}
	all := make([]int, len(g.Of))
	for id, n := range size {
		g.Refs[id], all = all[:0:n], all[n:]
	}
	for i, id := range g.Of {
		g.Refs[id] = append(g.Refs[id], i)
	}
	g.Set = r.Ints(n)
	if len(g.Set) != n {
		r.Fail()
		return new(Groups)
	}
	for id, set := range g.Set {
		if set > len(g.Sets) || size[id] == 0 {
			r.Fail()
			return new(Groups)
		}
		if set == len(g.Sets) {
			g.Sets = append(g.Sets, nil)
		}
		g.Sets[set] = append(g.Sets[set], id)
	}
	return g
}
