//go:build linux && amd64

package native

import (
	"cmp"
	"maps"
	"slices"

	"presage/perf/engine"
	"presage/perf/trace"
)

// found is an instruction that discovery has seen in a translated block.
type found struct {
	pc, next  trace.PC
	transfers bool
	refs      []trace.Ref
	fixed     uint32 // references with one access per execution
	module    *module
}

// describeAll keeps what discovery needs to know of a block's instructions.
func (m *machine) describeAll(insts []*inst) []found {
	list := make([]found, len(insts))
	for n, i := range insts {
		f := &list[n]
		f.module = m.maps.module(i.pc)
		f.pc = m.maps.planPC(i.pc)
		f.next = f.pc + trace.PC(len(i.raw))
		f.transfers = i.act.transfers()
		for k := range i.refs {
			r := &i.refs[k]
			f.refs = append(f.refs, trace.Ref{PC: f.pc, Operand: uint8(k), Size: r.size, Kind: r.kind, Float: r.float})
			switch r.form {
			case single, bitString, lookup:
				f.fixed++
			}
		}
	}
	return list
}

// code is the code that was executed.
type code struct {
	insts   map[trace.PC]*found
	leaders map[trace.PC]bool
	modules map[string]engine.Module
}

// executedCode collects the instructions of executed blocks. An instruction begins
// a basic block if control was transferred there, or if it does not follow the
// instruction before it in memory.
func executedCode(blocks []*block) *code {
	c := &code{insts: make(map[trace.PC]*found), leaders: make(map[trace.PC]bool), modules: make(map[string]engine.Module)}
	for _, b := range blocks {
		for k := range b.found {
			f := &b.found[k]
			c.insts[f.pc] = f
			if k == 0 && !b.flows {
				c.leaders[f.pc] = true
			}
			if mod := f.module; mod != nil {
				e := c.modules[mod.path]
				e.Path, e.Base = mod.path, mod.base
				e.Size = max(e.Size, mod.hi-mod.bias)
				c.modules[mod.path] = e
			}
		}
	}
	return c
}

// plan returns the plan of the code: every reference in a group of its own, and
// every block.
func (c *code) plan() *trace.Plan {
	p := new(trace.Plan)
	order := slices.Sorted(maps.Keys(c.insts))
	for n, pc := range order {
		f := c.insts[pc]
		if !f.transfers && (n+1 == len(order) || order[n+1] != f.next) {
			c.leaders[f.next] = true // code that overlaps
		}
	}
	begins := true
	for _, pc := range order {
		f := c.insts[pc]
		if begins || c.leaders[pc] {
			p.Blocks = append(p.Blocks, trace.Block{PC: pc})
		}
		b := &p.Blocks[len(p.Blocks)-1]
		b.Instructions++
		b.Refs += f.fixed
		b.Varies = b.Varies || int(f.fixed) < len(f.refs)
		for _, r := range f.refs {
			r.Group = trace.GroupID(len(p.Refs))
			p.Refs = append(p.Refs, r)
		}
		begins = f.transfers
	}
	return p
}

// discovery returns the code that the run executed.
func (m *machine) discovery(out *engine.Outcome) *engine.Discovery {
	if out == nil {
		return nil
	}
	c := executedCode(m.reader.executed)
	d := &engine.Discovery{Plan: c.plan(), Outcome: out}
	for _, mod := range c.modules {
		d.Modules = append(d.Modules, mod)
	}
	slices.SortFunc(d.Modules, func(a, b engine.Module) int { return cmp.Compare(a.Base, b.Base) })
	if len(d.Modules) == 1 && d.Modules[0].Base == 0 {
		d.Modules = nil
	}
	return d
}
