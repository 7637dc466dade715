package reuse

import (
	"slices"

	"presage/perf/trace"
)

// naive is a straightforward LRU stack: the oracle.
type naive struct {
	plan       *trace.Plan
	blockBytes uint64
	stack      []uint64 // blocks, the one accessed last first
	cold       []uint64
	distances  [][]uint64 // by group, in order
	accesses   uint64
}

func newNaive(plan *trace.Plan, blockBytes uint64) *naive {
	n := plan.Groups()
	return &naive{plan: plan, blockBytes: blockBytes, cold: make([]uint64, n), distances: make([][]uint64, n)}
}

func (n *naive) observe(accesses []trace.Access) {
	for _, a := range accesses {
		group := n.plan.Refs[a.Ref()].Group
		for b := a.Addr() / n.blockBytes; b <= a.Last()/n.blockBytes; b++ {
			n.touch(b, group)
		}
	}
}

func (n *naive) touch(block uint64, group trace.GroupID) {
	n.accesses++
	d := slices.Index(n.stack, block)
	if d < 0 {
		n.cold[group]++
	} else {
		n.distances[group] = append(n.distances[group], uint64(d))
		n.stack = slices.Delete(n.stack, d, d+1)
	}
	n.stack = slices.Insert(n.stack, 0, block)
}

// planOf makes a plan with a reference, of 8 bytes, for each group given.
func planOf(groups ...trace.GroupID) *trace.Plan {
	p := new(trace.Plan)
	for i, g := range groups {
		p.Refs = append(p.Refs, trace.Ref{PC: trace.PC(0x1000 + 4*i), Size: 8, Group: g})
	}
	return p
}

// access makes an access of size bytes by reference ref.
func access(ref int, addr uint64, size uint8) trace.Access {
	return trace.Tag(trace.RefID(ref), size) + trace.Access(addr)
}
