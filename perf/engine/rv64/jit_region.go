//go:build linux && amd64

package rv64

import (
	"slices"

	"presage/perf/engine/rv64/amd64asm"
)

const (
	// Bounds of a region, in blocks and ops, and of a region without a loop.
	maxRegionBlocks = 48
	maxRegionOps    = 1000
	maxChainBlocks  = 8
	// known is the number of interpreted executions after which a block may
	// join another block's region.
	known = 2
)

// region is the unit of translation: blocks entered at the head and connected by
// direct transfers, so that they can share an assignment of guest registers to
// host registers. If the head is in a loop, the region is that loop with its inner
// loops; otherwise it is a short chain of blocks.
type region struct {
	blocks []*block // the head first, in the order of the code
	index  map[*block]int
	depth  []int // number of loops of the region around each block
}

// successors returns the targets of a block's direct transfers.
func (b *block) successors() []uint64 {
	switch last := b.ops[len(b.ops)-1].code; {
	case last == opNext || last == opCountNext:
		return []uint64{b.fallPC}
	case last == opJ || last == opJal:
		return []uint64{b.takenPC}
	case last >= opBeq && last <= opAddiBgeu:
		return []uint64{b.fallPC, b.takenPC}
	}
	return nil
}

// form chooses the region headed by head.
func (j *jit) form(head *block) *region {
	found := []*block{head}
	index := map[*block]int{head: 0}
	ops := len(head.ops)
	for i := 0; i < len(found); i++ {
		for _, pc := range found[i].successors() {
			b := j.m.code.blocks[pc]
			if b == nil || b.entry == 0 && b.heat < known {
				continue
			}
			if _, seen := index[b]; seen || len(found) == maxRegionBlocks || ops+len(b.ops) > maxRegionOps {
				continue
			}
			index[b] = len(found)
			found = append(found, b)
			ops += len(b.ops)
		}
	}
	edges := make([][]int, len(found)) // predecessors
	for i, b := range found {
		for _, pc := range b.successors() {
			if k, ok := index[j.m.code.blocks[pc]]; ok {
				edges[k] = append(edges[k], i)
			}
		}
	}
	inLoop := make([]bool, len(found))
	if len(edges[0]) > 0 {
		reach(edges, 0, inLoop)
	}
	var keep []*block
	for i, b := range found {
		if i == 0 || inLoop[i] || len(edges[0]) == 0 && len(keep) < maxChainBlocks && b.entry == 0 {
			keep = append(keep, b)
		}
	}
	r := &region{blocks: j.order(keep)}
	r.index = make(map[*block]int)
	for i, b := range r.blocks {
		r.index[b] = i
	}
	r.loops(j)
	return r
}

// reach marks the nodes reachable from node along edges.
func reach(edges [][]int, node int, marked []bool) {
	if marked[node] {
		return
	}
	marked[node] = true
	for _, p := range edges[node] {
		reach(edges, p, marked)
	}
}

// order lays out the blocks: each is followed by the most frequently executed of
// its successors that have not been placed yet.
func (j *jit) order(blocks []*block) []*block {
	left := make(map[*block]bool)
	for _, b := range blocks {
		left[b] = true
	}
	var out []*block
	for _, start := range blocks {
		for b := start; b != nil && left[b]; {
			delete(left, b)
			out = append(out, b)
			var next *block
			for _, pc := range b.successors() {
				if s := j.m.code.blocks[pc]; s != nil && left[s] && (next == nil || s.heat > next.heat) {
					next = s
				}
			}
			b = next
		}
	}
	return out
}

// loops counts the natural loops around each block. It takes edges to a block
// earlier in the order for back edges: a heuristic that affects only register
// assignment.
func (r *region) loops(j *jit) {
	r.depth = make([]int, len(r.blocks))
	edges := make([][]int, len(r.blocks))
	back := make(map[int][]int)
	for i, b := range r.blocks {
		for _, pc := range b.successors() {
			k, ok := r.index[j.m.code.blocks[pc]]
			if !ok {
				continue
			}
			edges[k] = append(edges[k], i)
			if k <= i {
				back[k] = append(back[k], i)
			}
		}
	}
	for head, tails := range back {
		marked := make([]bool, len(r.blocks))
		marked[head] = true
		for _, t := range tails {
			reach(edges, t, marked)
		}
		for i, in := range marked {
			if in {
				r.depth[i]++
			}
		}
	}
}

// Host registers with a fixed purpose in translated code. RAX, RCX, RDX, XMM0
// and XMM1 are scratch.
const (
	hostThread = amd64asm.RDI // &thread.x[16]
	hostBudget = amd64asm.R15
	hostNeg    = amd64asm.RSI // the negated start of the window
	hostMemory = amd64asm.RBX // the host address of the guest's address 0
	hostRecord = amd64asm.R13 // the next access's record; only in a traced run
)

// pinnable returns the host registers available for pinning guest registers.
func (j *jit) pinnable() (integer, float []amd64asm.Reg) {
	integer = []amd64asm.Reg{amd64asm.R8, amd64asm.R9, amd64asm.R10, amd64asm.R11, amd64asm.R12, amd64asm.R14, amd64asm.RBP}
	if !j.traced {
		integer = append(integer, hostRecord)
	}
	for x := amd64asm.Reg(2); x < 16; x++ {
		float = append(float, x)
	}
	return integer, float
}

// unpinned marks a guest register that is not kept in a host register.
const unpinned = -1

// pin assigns host registers to the guest registers that the region uses most.
func (j *jit) pin(r *region) (pins [256]int8) {
	var weight [256]int
	for i, b := range r.blocks {
		w := 1
		for range min(r.depth[i], 5) {
			w *= 8
		}
		for k := range b.ops {
			b.ops[k].uses(func(reg uint8) { weight[reg] += w })
		}
	}
	for i := range pins {
		pins[i] = unpinned
	}
	integer, float := j.pinnable()
	assign := func(first, last int, hosts []amd64asm.Reg) {
		var regs []int
		for g := first; g < last; g++ {
			if weight[g] >= 2 {
				regs = append(regs, g)
			}
		}
		slices.SortStableFunc(regs, func(a, b int) int { return weight[b] - weight[a] })
		for i, g := range regs[:min(len(regs), len(hosts))] {
			pins[g] = int8(hosts[i])
		}
	}
	assign(1, 32, integer)
	assign(regFloat, regFloat+32, float)
	return pins
}

// uses calls f with each register that an op's translation accesses, to weight the
// registers for pinning.
func (o *op) uses(f func(reg uint8)) {
	c := o.code
	switch {
	case c == opConst || c == opJal:
		f(o.rd)
	case c == opCheck, c == opCount, c == opCsr, c >= opNext && c <= opJ, c >= opEcall, !translatable(o):
	case c <= opSrai || c >= opAddiw && c <= opSraiw || c == opSlliUw || c >= opClz && c <= opCpopw ||
		c >= opSextB && c <= opZextH || c == opRori || c == opRoriw || c == opOrcB || c == opRev8 ||
		c == opBclri || c == opBexti || c == opBinvi || c == opBseti || c == opJalr ||
		c == opFloat && floatKind(o.imm) > floatMaxS || c == opFsqrtD || c == opFsqrtS || c >= opFcvtDW && c <= opFmvWX || c >= opLb && c <= opFlwT:
		f(o.rd)
		f(o.rs1)
	case c >= opSb && c <= opSdT || c >= opBeq && c <= opBgeu:
		f(o.rs1)
		f(o.rs2)
	default:
		f(o.rd)
		f(o.rs1)
		f(o.rs2)
		if o.rs3 != 0 {
			f(o.rs3)
		}
		if c == opShlAddLd || c == opShlAddLdT {
			f(o.rm)
		}
	}
}
