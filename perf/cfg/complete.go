package cfg

import (
	"slices"
	"strings"

	"presage/perf/isa"
	"presage/perf/trace"
)

// Complete returns the program extended by what a run revealed: the targets of
// open indirect jumps, as edges of kind Observed; places other than block starts
// where control arrived, such as landing pads, as entries; calls that returned
// unexpectedly; and the code found through all of these. The place where a
// preempted goroutine resumes does not become an entry: its registers are
// unchanged. The Warnings count the additions. Jumps stay open, because another
// run may reveal more targets. Earlier completions of p are kept. p is not
// modified.
//
// The addresses of flow are those in the file, without a load bias.
func (p *Program) Complete(flow *trace.Flow) *Program {
	x := discover(p.File, p.decoder)
	shown := append(slices.Clone(p.shown), flow)
	for again := true; again; {
		again = false
		for _, f := range shown {
			for x.observe(f) {
				x.settle()
				again = true
			}
		}
	}
	c := x.program()
	c.shown = shown
	return c
}

// observe adds what a run revealed to the explored code, and reports whether
// anything was new.
func (x *explorer) observe(flow *trace.Flow) bool {
	before := x.observed.count
	for _, j := range flow.Jumps {
		if j.Count > 0 {
			x.observeJump(uint64(j.Edge.From), uint64(j.Edge.To))
		}
	}
	for _, a := range flow.Arrivals {
		if a.Count > 0 {
			x.observeArrival(uint64(a.PC))
		}
	}
	for _, b := range flow.Breaks {
		if b.Entered > 0 {
			x.observeEntry(uint64(b.PC))
		}
	}
	return x.observed.count > before
}

func (x *explorer) observeJump(from, to uint64) {
	d := x.at(from)
	if d == nil || x.at(to) == nil || preempts(d.Name) {
		return
	}
	in := d.inst(from)
	if in == nil || in.Class != isa.IndirectJump || in.HasTarget || d.leads(from, to) {
		return
	}
	x.observed.add(from, d.Name)
	if d.seen == nil {
		d.seen = make(map[Range]bool)
	}
	d.seen[Range{from, to}] = true
	x.leadTo(d, from, []uint64{to})
}

// preempts reports whether a routine of Go's runtime ends with a jump back to
// wherever a signal interrupted a goroutine. As entries, these places would make
// a loop irreducible, and its strides irregular, wherever a time slice ended.
func preempts(name string) bool { return strings.HasPrefix(name, "runtime.asyncPreempt") }

func (x *explorer) observeArrival(pc uint64) {
	d := x.at(pc)
	if d == nil || !x.target.Aligned(pc) || d.leaders[d.slot(pc)] {
		return
	}
	x.observed.add(pc, d.Name)
	if x.calledBefore(d, pc) {
		x.comeBack(d, pc)
		return
	}
	x.enter(pc)
}

// observeEntry handles a thread that arrived at pc by no known transfer: if pc is
// in the middle of known code, the thread only resumed there after an
// interruption.
func (x *explorer) observeEntry(pc uint64) {
	if d := x.at(pc); d != nil && d.inst(pc) == nil {
		x.observeArrival(pc)
	}
}

// inst returns the instruction that starts at pc, or nil if none is known to.
func (d *draft) inst(pc uint64) *isa.Inst {
	if (pc-d.Addr)&(1<<d.align-1) != 0 || d.index[d.slot(pc)] <= 0 {
		return nil
	}
	for i := range d.insts {
		if d.insts[i].PC == pc {
			return &d.insts[i]
		}
	}
	return nil
}

// calledBefore reports whether the instruction before pc is known, and a call.
func (x *explorer) calledBefore(d *draft, pc uint64) bool {
	for n := x.target.Align; n <= uint64(x.target.MaxLength) && n <= pc-d.Addr; n += x.target.Align {
		if in := d.inst(pc - n); in != nil {
			return in.Next() == pc && in.Class == isa.Call
		}
	}
	return false
}

// leads reports whether to is a known target of the indirect jump at from.
func (d *draft) leads(from, to uint64) bool {
	for _, pc := range d.tables[from] {
		if pc == to {
			return true
		}
	}
	return false
}
