package metasim

import (
	"cmp"
	"fmt"
	"slices"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/trace"
)

// Code lists the basic blocks of a program by ascending address. They do not
// overlap: where routines share code, a block ends where another begins.
type Code struct {
	Blocks []Block
	refs   []trace.Ref
	block  []int // index of each group's block; blocks without references have no group
}

// Block is a basic block.
type Block struct {
	PC           trace.PC
	Instructions uint32
	Refs         uint32 // memory references
	Routine      string // the first routine that contains it
}

// CodeOf returns the blocks and memory references of a program's control-flow
// graphs.
func CodeOf(p *cfg.Program) (*Code, error) {
	type block struct {
		insts   []isa.Inst
		routine string
	}
	var all []block
	for _, r := range p.Routines {
		for b := range r.Blocks {
			all = append(all, block{r.Blocks[b].Insts, r.Name})
		}
	}
	slices.SortStableFunc(all, func(a, b block) int { return cmp.Compare(a.insts[0].PC, b.insts[0].PC) })
	all = slices.CompactFunc(all, func(a, b block) bool { return a.insts[0].PC == b.insts[0].PC })
	c := new(Code)
	for i, b := range all {
		out := Block{PC: trace.PC(b.insts[0].PC), Routine: b.routine}
		for j := range b.insts {
			in := &b.insts[j]
			if i+1 < len(all) && in.PC >= all[i+1].insts[0].PC {
				break
			}
			out.Instructions++
			for k, m := range in.Mems() {
				if out.Refs++; out.Refs == 1 {
					c.block = append(c.block, i)
				}
				c.refs = append(c.refs, trace.Ref{
					PC: trace.PC(in.PC), Operand: uint8(k), Size: trace.FirstPiece(m.Size), Kind: kindOf(m.Kind), Float: m.Float, Group: trace.GroupID(len(c.block) - 1),
				})
			}
		}
		c.Blocks = append(c.Blocks, out)
	}
	if len(c.Blocks) == 0 {
		return nil, fmt.Errorf("metasim: the program has no code")
	}
	plan := c.accesses()
	if err := plan.Check(); err != nil {
		return nil, fmt.Errorf("metasim: %w", err)
	}
	return c, nil
}

func kindOf(k isa.MemKind) trace.Kind {
	switch k {
	case isa.MemStore:
		return trace.Store
	case isa.MemReadModifyWrite:
		return trace.ReadModifyWrite
	}
	return trace.Load
}

// executions returns the plan that records block executions.
func (c *Code) executions() *trace.Plan {
	p := &trace.Plan{Blocks: make([]trace.Block, len(c.Blocks))}
	for i, b := range c.Blocks {
		p.Blocks[i] = trace.Block{PC: b.PC, Instructions: b.Instructions}
	}
	return p
}

// accesses returns the plan that records all memory references, one group per
// block.
func (c *Code) accesses() *trace.Plan { return &trace.Plan{Refs: c.refs} }
