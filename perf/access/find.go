// Package access describes the memory references of a program: from the
// control-flow graphs of an executable it derives the load, store and atomic
// instructions, each with a formula for the first location accessed and a stride
// formula for every loop level, and the plan for an engine to record them.
//
// After Marin and Mellor-Crummey, "Scalable Cross-Architecture Predictions of
// Memory Hierarchy Response for Scientific Applications" (2005), section 2, and
// section 2.1 of their 2004 paper. In the matrix multiply of Figure 1 there,
//
//	for (i…) for (j…) for (k = 0; k+1 < N; k += 2)
//	        s += A[i*N+k] * B[k*N+j];  s += A[i*N+k+1] * B[(k+1)*N+j];
//
// with A, B and N in the registers a0, a1 and a3, it finds
//
//	              first location   stride in k   in j   in i
//	A[i*N+k]      a0               16            0      8*a3
//	A[i*N+k+1]    a0 + 8           16            0      8*a3
//	B[k*N+j]      a1               16*a3         8      0
//	B[(k+1)*N+j]  a1 + 8*a3        16*a3         8      0
//
// The analysis is optimistic, like the papers: it assumes that stores through
// pointers do not change a variable whose address has another form, that calls
// change neither static variables nor stack cells whose address was not taken,
// and that 32-bit operations and extensions do not overflow. It is more careful
// than the papers in two respects: calls may change cells reached through a
// pointer; and a division is regular only for steps that are multiples of the
// divisor. A Checker measures in a run how far the assumptions hold, and a
// StrideObserver what the strides are that have no formula.
//
// References are found by a linear sweep over the executable sections, routine
// by routine, so that data between routines cannot hide the instructions after
// it; data inside a routine can. References outside the control-flow graphs have
// no formulas.
//
// Not modelled: memory accesses of vector instructions. The Warnings count these
// and everything else that could not be decoded.
package access

import (
	"errors"
	"fmt"
	"path"

	"presage/perf/isa"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// Reference is a static memory reference: a memory operand of an instruction.
type Reference struct {
	PC      trace.PC
	Operand int   // of the instruction, in isa.Inst.Mems
	Size    uint8 // bytes accessed
	Kind    trace.Kind
	Float   bool   // the datum goes to or comes from a floating-point register
	Routine string // or the section, outside of routines
	File    string // of the source; empty where not known
	Line    int    // in the source; 0 where not known

	// InGraph says that a control-flow graph holds the reference; the rest is
	// zero if none does.
	InGraph      bool
	RoutineIndex int      // in cfg.Program.Routines
	Block        int      // in cfg.Routine.Blocks
	Loop         int      // the innermost, in cfg.Routine.Loops; -1 for none
	First        Formula  // of the first location accessed
	Strides      []Stride // one for each loop that holds the reference, from the innermost out
	Stack        StackUse

	// Base is equal for references of a routine whose addresses, within one
	// iteration of their common loops, differ by a constant.
	Base int
}

// String names the reference for people, as in
// "main.sweep (sweep.go:88) fp load of 8 B at 0x8a1c4".
func (r Reference) String() string {
	where, what := "", r.Kind.String()
	if r.File != "" {
		where = fmt.Sprintf(" (%s:%d)", path.Base(r.File), r.Line)
	}
	if r.Float {
		what = "fp " + what
	}
	return fmt.Sprintf("%s%s %s of %d B at %#x", r.Routine, where, what, r.Size, uint64(r.PC))
}

// References are the memory references of an executable.
type References struct {
	All          []Reference // by ascending PC, then Operand
	Instructions int         // that were decoded
	Warnings     []error     // what may be missing, and why

	global globalPointer
}

// Doubts that stand in Warnings, for errors.Is.
var (
	ErrUndecoded = errors.New("undecoded instructions")
	ErrVector    = errors.New("vector instructions")
)

// ErrTooMany means that a program has more references than a plan can hold.
var ErrTooMany = errors.New("too many memory references")

// Find finds the memory references of f.
func Find(f *objfile.File) *References {
	s := sweep{file: f, decoder: f.Target.NewDecoder()}
	s.out.global.reg = f.Target.GlobalPointer
	routines := f.Routines
	for _, sec := range f.Sections {
		if !sec.Execute {
			continue
		}
		end := sec.Addr + sec.Size
		at := sec.Addr
		for len(routines) > 0 && routines[0].Addr < end {
			r := routines[0]
			routines = routines[1:]
			s.run(sec.Name, at, r.Addr)
			s.run(r.Name, r.Addr, r.End())
			at = r.End()
		}
		s.run(sec.Name, at, end)
	}
	s.finish()
	return &s.out
}

// Plan returns the plan that records the references, each in a group of its
// own: reference i of All is trace.RefID(i) and trace.GroupID(i).
func (r *References) Plan() (*trace.Plan, error) {
	if err := checkCount(len(r.All)); err != nil {
		return nil, err
	}
	p := &trace.Plan{Refs: make([]trace.Ref, len(r.All))}
	for i := range r.All {
		p.Refs[i] = r.All[i].planned(trace.GroupID(i))
	}
	return p, nil
}

// checkCount returns an error if a plan cannot hold n references.
func checkCount(n int) error {
	if n > trace.MaxRefs {
		return fmt.Errorf("access: %w: %d; at most %d can be recorded", ErrTooMany, n, trace.MaxRefs)
	}
	return nil
}

// planned returns a plan's entry for the reference.
func (r *Reference) planned(group trace.GroupID) trace.Ref {
	return trace.Ref{PC: r.PC, Operand: uint8(r.Operand), Size: trace.FirstPiece(r.Size), Kind: r.Kind, Float: r.Float, Group: group}
}

// doubt counts the instructions of a kind that is not analysed, and keeps the
// first.
type doubt struct {
	count int
	pc    uint64
	place string
}

func (d *doubt) add(pc uint64, place string) {
	if d.count++; d.count == 1 {
		d.pc, d.place = pc, place
	}
}

// sweep is the state of Find.
type sweep struct {
	file              *objfile.File
	decoder           isa.Decoder
	out               References
	undecoded, vector doubt
}

// run decodes the instructions in [from, to) one after the other. If one cannot be
// decoded it skips the length that the decoder returns.
func (s *sweep) run(place string, from, to uint64) {
	if from >= to {
		return
	}
	code := s.file.Bytes(from, to-from)
	var before isa.Inst
	for off := 0; off < len(code); {
		pc := from + uint64(off)
		in, err := s.decoder.Decode(code[off:], pc)
		off += max(1, int(in.Len))
		switch {
		case err != nil:
			s.undecoded.add(pc, place)
			continue
		case in.Class == isa.Vector:
			s.vector.add(pc, place)
		}
		for k := range in.Mems() {
			s.out.All = append(s.out.All, s.reference(&in, k, place))
		}
		s.out.Instructions++
		s.out.global.note(&before, &in)
		before = in
	}
}

func (s *sweep) reference(in *isa.Inst, operand int, place string) Reference {
	m := &in.Mems()[operand]
	r := Reference{PC: trace.PC(in.PC), Operand: operand, Size: m.Size, Kind: kinds[m.Kind], Float: m.Float, Routine: place}
	if l, ok := s.file.LineAt(in.PC); ok {
		r.File, r.Line = l.File, l.Line
	}
	return r
}

var kinds = [...]trace.Kind{
	isa.MemLoad:            trace.Load,
	isa.MemStore:           trace.Store,
	isa.MemReadModifyWrite: trace.ReadModifyWrite,
}

func (s *sweep) finish() {
	warn := func(d doubt, kind error, what string) {
		if d.count > 0 {
			s.out.Warnings = append(s.out.Warnings, fmt.Errorf("%d %w, the first at pc %#x in %s: %s", d.count, kind, d.pc, d.place, what))
		}
	}
	warn(s.undecoded, ErrUndecoded, "data among the code, or instructions beyond "+s.file.Target.Extensions+"; their memory references are not recorded")
	warn(s.vector, ErrVector, "their memory references are not recorded")
	if err := s.file.LinesErr(); err != nil {
		s.out.Warnings = append(s.out.Warnings, fmt.Errorf("source lines are incomplete: %w", err))
	}
}
