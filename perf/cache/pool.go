package cache

import "math/bits"

// none is no node.
const none = ^uint32(0)

// pool holds up to size tags, found by hash, in order of insertion.
//
// Invariant: nodes before used are in the list, or in the free list after a
// remove; nodes from used on were never needed. A slot of the hash is node+1,
// or 0; a tag is in the first free slot from its home on.
type pool struct {
	nodes []node
	size  uint32
	held  uint32
	used  uint32
	free  uint32 // first node of the free list
	slots []uint32
	shift uint // 64 - log2 of the number of slots
}

// node is an element of the circular list; node size is its root: next is the
// latest insertion, prev the oldest.
type node struct {
	tag        tag
	prev, next uint32
}

func newPool(size uint32) *pool {
	log := bits.Len32(size) + 2 // sparse, so that searches end at the first slot
	p := &pool{
		nodes: make([]node, uint64(size)+1),
		size:  size,
		free:  none,
		slots: make([]uint32, 1<<log),
		shift: uint(64 - log),
	}
	p.nodes[size] = node{0, size, size}
	return p
}

func (p *pool) full() bool { return p.held == p.size }

// tail returns the oldest node.
func (p *pool) tail() uint32 { return p.nodes[p.size].prev }

func (p *pool) home(t tag) uint32 {
	return uint32(uint64(t>>1) * 0x9e3779b97f4a7c15 >> p.shift)
}

// find returns the node with tag t, dirty or not, or none.
func (p *pool) find(t tag) uint32 {
	mask := uint32(len(p.slots) - 1)
	for i := p.home(t); ; i = (i + 1) & mask {
		s := p.slots[i]
		if s == 0 {
			return none
		}
		if (p.nodes[s-1].tag^t)&^dirty == 0 {
			return s - 1
		}
	}
}

// insert adds t, which must be absent, as the latest. The pool must not be
// full.
func (p *pool) insert(t tag) {
	at := p.free
	if at != none {
		p.free = p.nodes[at].next
	} else {
		at = p.used
		p.used++
	}
	p.held++
	root := &p.nodes[p.size]
	p.nodes[at] = node{t, p.size, root.next}
	p.nodes[root.next].prev = at
	root.next = at

	mask := uint32(len(p.slots) - 1)
	i := p.home(t)
	for p.slots[i] != 0 {
		i = (i + 1) & mask
	}
	p.slots[i] = at + 1
}

// remove removes a node and returns its tag.
func (p *pool) remove(at uint32) tag {
	n := &p.nodes[at]
	t := n.tag
	p.nodes[n.prev].next, p.nodes[n.next].prev = n.next, n.prev
	p.unhash(t, at)
	n.next = p.free
	p.free = at
	p.held--
	return t
}

// unhash removes node at from the hash and moves later tags of the same run
// back, so that no search stops short of them.
func (p *pool) unhash(t tag, at uint32) {
	mask := uint32(len(p.slots) - 1)
	i := p.home(t)
	for p.slots[i] != at+1 {
		i = (i + 1) & mask
	}
	for j := (i + 1) & mask; p.slots[j] != 0; j = (j + 1) & mask {
		home := p.home(p.nodes[p.slots[j]-1].tag)
		if (j-home)&mask >= (j-i)&mask {
			p.slots[i] = p.slots[j]
			i = j
		}
	}
	p.slots[i] = 0
}
