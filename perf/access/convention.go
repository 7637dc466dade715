package access

import (
	"strings"

	"presage/perf/cfg"
	"presage/perf/isa"
)

// convention is the calling convention of a program.
type convention struct {
	program *cfg.Program
	target  *isa.Target
	abi     *isa.Convention
	golang  bool
	global  globalPointer
}

// globalPointer is the constant to which start-up code sets the global pointer,
// the base address of variables, with two consecutive instructions.
type globalPointer struct {
	reg       isa.Reg
	value     int64
	known     bool
	ambiguous bool
}

// note records the global pointer if in and the instruction before it in memory
// set it to a constant.
func (g *globalPointer) note(before, in *isa.Inst) {
	v := in.Result(g.reg)
	if !in.Defines(g.reg) || v.Op != isa.Add || v.A != g.reg || v.B != isa.NoReg || v.Word {
		return
	}
	upper, ok := before.Result(g.reg).Constant()
	if !ok || !before.Defines(g.reg) {
		return
	}
	g.ambiguous = g.ambiguous || g.known && g.value != upper+v.Imm
	g.value, g.known = upper+v.Imm, !g.ambiguous
}

func conventionOf(p *cfg.Program) convention {
	c := convention{program: p, target: p.File.Target, abi: &p.File.Target.C}
	for _, r := range p.Routines {
		if strings.HasPrefix(r.Name, "runtime.morestack") {
			c.golang, c.abi = true, &c.target.Go
			break
		}
	}
	return c
}

// changes returns the registers that a call or system call may change.
func (c convention) changes(in *isa.Inst) isa.RegSet {
	if in.Class == isa.SystemCall {
		return c.target.SystemCall
	}
	if in.HasTarget && len(c.abi.Helpers) > 0 {
		if to := c.program.RoutineAt(in.Target); to != nil {
			for _, h := range c.abi.Helpers {
				if strings.HasPrefix(to.Name, h.Prefix) {
					return h.Changes
				}
			}
		}
	}
	return ^c.abi.Preserved
}

// saved reports whether r is callee-saved.
func (c convention) saved(r isa.Reg) bool { return c.abi.CalleeSaved.Has(r) }

// followed reports whether the analysis tracks r.
func (c convention) followed(r isa.Reg) bool { return int(r) < len(c.target.IntegerNames) }
