package synth

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/pipeline"
	"presage/perf/sched"
	"presage/perf/trace"
)

// Program is the executed part of a program's code as walks go through it. It is safe
// for concurrent use.
type Program struct {
	// Refs are the memory references of the code, by pc and operand: what Model.Access
	// is of.
	Refs []trace.Ref

	graph  *cfg.Program
	code   [][]isa.Inst
	plan   *trace.Plan
	blocks []block
	ids    [][]trace.BlockID // by routine and block of it; notExecuted for others
	at     map[uint64]place  // by the pc that a block begins at
	calls  []call
}

// block is a basic block.
type block struct {
	instructions int
	refs         []trace.RefID // in the order of their accesses
}

// place is a block of a routine.
type place struct{ routine, block int }

// call is a call that returns.
type call struct {
	from     place
	callee   place // routine -1 if it is not known
	returnTo place
}

// notExecuted is the id of blocks that walks do not come to.
const notExecuted = trace.BlockID(math.MaxUint32)

// New returns the code of a program's graphs that is executed at some frequencies.
func New(g *cfg.Program, f *sched.Frequencies) (*Program, error) {
	if len(f.Routines) != len(g.Routines) {
		return nil, fmt.Errorf("synth: frequencies of %d routines for a program of %d", len(f.Routines), len(g.Routines))
	}
	p := &Program{graph: g, at: make(map[uint64]place)}
	var starts []place
	for r, routine := range g.Routines {
		p.ids = append(p.ids, make([]trace.BlockID, len(routine.Blocks)))
		for b := range routine.Blocks {
			p.ids[r][b] = notExecuted
			if f.Routines[r].Blocks[b] == 0 {
				continue
			}
			if _, known := p.at[routine.Blocks[b].PC()]; !known { // routines may share code
				p.at[routine.Blocks[b].PC()] = place{r, b}
				starts = append(starts, place{r, b})
			}
		}
	}
	slices.SortFunc(starts, func(a, b place) int { return cmp.Compare(p.blockAt(a).PC(), p.blockAt(b).PC()) })
	of := make(map[uint64]trace.BlockID, len(starts))
	for i, s := range starts {
		p.code = append(p.code, p.blockAt(s).Insts)
		of[p.blockAt(s).PC()] = trace.BlockID(i)
	}
	var err error
	if p.plan, err = pipeline.Plan(p.code); err != nil {
		return nil, fmt.Errorf("synth: %w", err)
	}
	p.Refs = p.plan.Refs
	first := make(map[trace.PC]trace.RefID)
	for i := len(p.Refs) - 1; i >= 0; i-- {
		first[p.Refs[i].PC] = trace.RefID(i)
	}
	for _, insts := range p.code {
		p.blocks = append(p.blocks, blockOf(insts, first))
	}
	for r, routine := range g.Routines {
		for b := range routine.Blocks {
			if id, ok := of[routine.Blocks[b].PC()]; ok {
				p.ids[r][b] = id
			}
		}
	}
	p.findCalls()
	return p, nil
}

// Covers reports whether the code holds all that is executed at some frequencies of the
// program that it was made of.
func (p *Program) Covers(f *sched.Frequencies) bool {
	for r, ids := range p.ids {
		for b, id := range ids {
			if id == notExecuted && f.Routines[r].Blocks[b] > 0 {
				return false
			}
		}
	}
	return true
}

func (p *Program) blockAt(at place) *cfg.Block { return &p.graph.Routines[at.routine].Blocks[at.block] }

// blockOf lists the accesses of a block: each operand once, when a micro-operation of
// its instruction first accesses it.
func blockOf(insts []isa.Inst, first map[trace.PC]trace.RefID) block {
	out := block{instructions: len(insts)}
	var micros [isa.MaxMicros]isa.Micro
	for i := range insts {
		asked := uint(0)
		for _, m := range insts[i].Micros(micros[:0]) {
			if m.Mem >= 0 && asked>>m.Mem&1 == 0 {
				asked |= 1 << m.Mem
				out.refs = append(out.refs, first[trace.PC(insts[i].PC)]+trace.RefID(m.Mem))
			}
		}
	}
	return out
}

// findCalls lists the calls that return.
func (p *Program) findCalls() {
	for r, routine := range p.graph.Routines {
		for b := range routine.Blocks {
			last := routine.Blocks[b].Last()
			back := returnSite(routine, b)
			if last.Class != isa.Call || back < 0 || p.ids[r][b] == notExecuted {
				continue
			}
			c := call{place{r, b}, place{-1, 0}, place{r, back}}
			if callee, ok := p.at[last.Target]; last.HasTarget && ok {
				c.callee = callee
			}
			p.calls = append(p.calls, c)
		}
	}
}

// returnSite returns the block that a call returns to, -1 if there is none.
func returnSite(r *cfg.Routine, b int) int {
	for _, e := range r.Blocks[b].Succs {
		if r.Edges[e].Kind == cfg.CallReturn {
			return r.Edges[e].To
		}
	}
	return -1
}
