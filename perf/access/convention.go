package access

import (
	"strings"

	"presage/perf/cfg"
	"presage/perf/isa"
)

// The integer registers' names and duties in the RISC-V ELF psABI, "Integer
// Register Convention".
var registerNames = [...]string{
	"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
	"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
}

const (
	registers = 32 // integer ones

	ra isa.Reg = 1
	sp isa.Reg = 2
	gp isa.Reg = 3
	tp isa.Reg = 4
	s0 isa.Reg = 8 // also the frame pointer
	a0 isa.Reg = 10
)

func registerName(r isa.Reg) string {
	if int(r) < len(registerNames) {
		return registerNames[r]
	}
	return r.String()
}

// regSet is a set of integer registers.
type regSet uint32

func setOf(list ...isa.Reg) regSet {
	var s regSet
	for _, r := range list {
		s |= 1 << r
	}
	return s
}

func (s regSet) has(r isa.Reg) bool { return r < registers && s>>r&1 != 0 }

// Registers that a call leaves as they were.
var (
	// The psABI: sp, gp, tp, s0 to s11.
	preservedC = setOf(sp, gp, tp, s0, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27)

	// Go's ABIInternal, section "riscv64 architecture": the stack pointer, and
	// g in x27; tp is not used, and gp is a register like others.
	preservedGo = setOf(sp, tp, 27)
)

// goHelpers are the routines of Go's runtime that compiled code calls with
// conventions of their own, by the beginning of their names, and what they
// change (cmd/compile/internal/ssa/_gen/RISCV64Ops.go, LoweredWB).
var goHelpers = []struct {
	prefix  string
	changes regSet
}{
	{"runtime.gcWriteBarrier", setOf(ra, 24, 31)},
}

// convention is the calling convention of a program.
type convention struct {
	program *cfg.Program
	golang  bool
	global  globalPointer
}

// globalPointer is what start-up code sets gp to, for variables to be addressed
// from: a constant, put there by two instructions in a row.
type globalPointer struct {
	value     int64
	known     bool
	ambiguous bool
}

// note looks at an instruction and the one before it in memory. What is set to
// no constant is a dynamic linker's business.
func (g *globalPointer) note(before, in *isa.Inst) {
	v := in.Value
	if d := in.Defs(); len(d) == 0 || d[0] != gp || v.Op != isa.Add || v.A != gp || v.B != isa.NoReg || v.Word {
		return
	}
	upper, ok := before.Value.Constant()
	if d := before.Defs(); !ok || len(d) == 0 || d[0] != gp {
		return
	}
	g.ambiguous = g.ambiguous || g.known && g.value != upper+v.Imm
	g.value, g.known = upper+v.Imm, !g.ambiguous
}

func conventionOf(p *cfg.Program) convention {
	c := convention{program: p}
	for _, r := range p.Routines {
		if strings.HasPrefix(r.Name, "runtime.morestack") {
			c.golang = true
			break
		}
	}
	return c
}

// changes returns the registers that a call or system call may change.
func (c convention) changes(in *isa.Inst) regSet {
	if in.Class == isa.SystemCall {
		return setOf(a0) // Linux preserves the others
	}
	if !c.golang {
		return ^preservedC
	}
	if in.HasTarget {
		if to := c.program.RoutineAt(in.Target); to != nil {
			for _, h := range goHelpers {
				if strings.HasPrefix(to.Name, h.prefix) {
					return h.changes
				}
			}
		}
	}
	return ^preservedGo
}

// arguments returns the registers that arguments are passed in.
func (c convention) arguments() []isa.Reg {
	if c.golang {
		return []isa.Reg{10, 11, 12, 13, 14, 15, 16, 17, 8, 9, 18, 19, 20, 21, 22, 23}
	}
	return []isa.Reg{10, 11, 12, 13, 14, 15, 16, 17}
}

// saved reports whether a routine that changes r has to restore it.
func (c convention) saved(r isa.Reg) bool {
	if c.golang {
		return r == ra
	}
	return r == ra || r != sp && r != gp && r != tp && preservedC.has(r)
}
