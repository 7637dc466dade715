package rv64

import "presage/perf/engine/rv64/softfloat"

// Control and status registers of user mode.
const (
	csrFflags  = 0x001
	csrFrm     = 0x002
	csrFcsr    = 0x003
	csrCycle   = 0xc00
	csrTime    = 0xc01
	csrInstret = 0xc02
)

// csr executes a Zicsr instruction and returns the op, or nil for a register that
// does not exist in user mode or is read-only there. The counters are functions
// of the instructions executed: one cycle each, and a 1 GHz clock that also
// advances while all threads sleep.
func (m *machine) csr(t *thread, b *block, o *op) *op {
	kind := csrKind(o.rs2)
	source := t.x[o.rs1&31]
	if kind >= csrWriteImm {
		source = uint64(o.rm)
		kind -= csrWriteImm
	}
	writes := kind == csrWrite || o.rm != 0
	var old uint64
	switch o.imm {
	case csrFflags:
		old = uint64(t.fflags)
	case csrFrm:
		old = uint64(t.frm)
	case csrFcsr:
		old = uint64(t.fflags) | uint64(t.frm)<<5
	case csrCycle, csrInstret, csrTime:
		if writes {
			return nil
		}
		old = m.executed() - uint64(b.n) + uint64(o.tag)
		if o.imm == csrTime {
			old += m.idle
		}
	default:
		return nil
	}
	if writes {
		v := source
		switch kind {
		case csrSet:
			v = old | source
		case csrClear:
			v = old &^ source
		}
		switch o.imm {
		case csrFflags:
			t.fflags = softfloat.Flags(v & 31)
		case csrFrm:
			t.frm = uint8(v & 7)
		case csrFcsr:
			t.setFCSR(v)
		}
		t.raise(0)
	}
	t.x[o.rd] = old
	return o
}

func (t *thread) setFCSR(v uint64) {
	t.fflags, t.frm = softfloat.Flags(v&31), uint8(v>>5&7)
	t.raise(0)
}
