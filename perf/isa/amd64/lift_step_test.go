//go:build linux && amd64

package amd64

import (
	"syscall"

	"presage/perf/isa"
)

// lifted checks, for every step, what isa.Inst says that an instruction
// computes: the registers it defines, the addresses it accesses, and whether a
// branch is taken.
type lifted struct {
	lifter *Lifter

	// The last value that was given to the flags, and its operands then.
	flags      isa.Value
	a, b       int64
	known      bool
	results    int
	conditions int
}

// firstOperand returns the content of the first operand in memory.
func (s *stepper) firstOperand() []byte {
	if len(s.mems) == 0 || s.mems[0].Size > 8 {
		return nil
	}
	at, ok := s.address(&s.mems[0])
	if !ok {
		return nil
	}
	data := make([]byte, 8)
	if n, err := syscall.PtracePeekData(s.pid, uintptr(at), data[:s.mems[0].Size]); err != nil || n < int(s.mems[0].Size) {
		return nil
	}
	return data
}

func (l *lifted) check(s *stepper, code []byte, after *syscall.PtraceRegs) {
	in, err := l.lifter.Decode(code, s.before.Rip)
	if err != nil {
		s.fail("%v", err)
		return
	}
	was, is := general(&s.before), general(after)
	side := func(r isa.Reg) (int64, bool) {
		switch {
		case r == isa.NoReg:
			return 0, true
		case r < flagsReg:
			return int64(was[r]), true
		case r == fsBase:
			return int64(s.before.Fs_base), true
		case r == isa.Loaded && s.first != nil:
			var v uint64
			for i, b := range s.first {
				v |= uint64(b) << (8 * i)
			}
			return int64(v), true
		}
		return 0, false
	}
	for i := range s.mems {
		l.address(s, &in.Mems()[i], &s.mems[i], side)
	}
	if in.Class == isa.Branch {
		l.branch(s, &in, after.Rip != in.Next(), side)
	}
	for _, r := range in.Defs() {
		v := in.Result(r)
		a, ok1 := side(v.A)
		b, ok2 := side(v.B)
		if v.B == isa.NoReg {
			b = v.Imm
		}
		ok := v.Op != isa.Opaque && ok1 && ok2
		switch {
		case r == flagsReg:
			l.flags, l.a, l.b, l.known = v, a, b, ok
		case !ok || r > flagsReg || in.Class == isa.SystemCall || s.in.Rep != 0 && s.in.Kind() == String:
		case v.Eval(a, b) != int64(is[r]) && !(s.in.Kind() == Divide && !l.extended(s, was)):
			s.fail("%v is %#x, not %#x by %+v of %#x and %#x", Reg(r), is[r], v.Eval(a, b), v, a, b)
		default:
			l.results++
		}
	}
}

// extended reports whether rdx is the extension of rax, as for a division.
func (l *lifted) extended(s *stepper, was [16]uint64) bool {
	a, d := was[RAX], was[RDX]
	if s.in.OperandBytes() == 4 {
		a, d = uint64(int64(int32(a))), uint64(int64(int32(d)))
	}
	if s.in.Name() == "div" {
		return d == 0
	}
	return d == uint64(int64(a)>>63)
}

func (l *lifted) address(s *stepper, m *isa.Mem, want *Mem, side func(isa.Reg) (int64, bool)) {
	at, ok := s.address(want)
	base, ok1 := side(m.Base)
	index, ok2 := side(m.Index)
	if !ok || !ok1 || !ok2 || m.Base == anyReg {
		return
	}
	if got := uint64(base + index*int64(m.Scale) + m.Disp); got != at {
		s.fail("accesses %#x, not %#x", at, got)
	}
	if min(int(want.Size), 128) != int(m.Size) {
		s.fail("accesses %d bytes, not %d", want.Size, m.Size)
	}
}

// branch compares the condition of a branch with whether it was taken.
func (l *lifted) branch(s *stepper, in *isa.Inst, taken bool, side func(isa.Reg) (int64, bool)) {
	v := in.Value
	if v.Op == isa.Opaque {
		return
	}
	if v.A != flagsReg && v.B != flagsReg {
		if a, ok := side(v.A); ok && (v.Eval(a, 0) != 0) != taken {
			s.fail("taken: %t, by %+v of %#x", taken, v, a)
		}
		return
	}
	unsigned := v.Op == isa.LessUnsigned || v.Op == isa.GreaterEqualUnsigned
	if !l.known || unsigned && l.flags.Op != isa.Subtract {
		return
	}
	if name := s.in.Opcode & 15; (name == 8 || name == 9) && l.flags.Op == isa.Subtract {
		return // the sign of a difference that may have overflowed
	}
	x, y := l.flags.Eval(l.a, l.b), int64(0)
	if l.flags.ZeroHigh {
		x = int64(int32(x))
	}
	if l.flags.Op == isa.Subtract { // a difference that cannot overflow: compare the sides
		n := 64 - l.flags.Bits()
		if x, y = l.a<<n>>n, l.b<<n>>n; unsigned {
			x, y = int64(uint64(l.a)<<n>>n), int64(uint64(l.b)<<n>>n)
		}
	}
	if v.B == flagsReg {
		x, y = y, x
	}
	if got := (isa.Value{Op: v.Op, A: 0, B: 1}).Eval(x, y) != 0; got != taken {
		s.fail("taken: %t, by %v of %#x and %#x after %+v", taken, v.Op, x, y, l.flags)
	}
	l.conditions++
}
