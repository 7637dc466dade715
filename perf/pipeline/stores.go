package pipeline

// stores indexes the stores that may not have reached the cache by the memory that
// they write. The nodes are a ring, in which completed stores are overwritten.
type stores struct {
	heads []uint64 // by granule, the number of the latest node, from 1
	nodes []storeNode
	count uint64 // of nodes made
}

// storeNode is a store's write to one granule.
type storeNode struct {
	prev        uint64 // the node before it under the same head
	first, last uint64 // bytes that the store writes
	data        int64  // when the value is known
	done        int64  // when it is in the cache
}

const (
	granuleBits = 3
	storeHeads  = 1 << 10
)

// newStores makes room for a number of stores of at most bytes bytes each.
func newStores(entries int, bytes uint64) stores {
	per := int(bytes>>granuleBits) + 2
	n := 16
	for n < entries*per {
		n *= 2
	}
	return stores{heads: make([]uint64, storeHeads), nodes: make([]storeNode, n)}
}

func (s *stores) node(number uint64) *storeNode { return &s.nodes[number&uint64(len(s.nodes)-1)] }

// add adds a store.
func (s *stores) add(first, last uint64, data, done int64) {
	for g := first >> granuleBits; g <= last>>granuleBits; g++ {
		s.count++
		head := &s.heads[g&(storeHeads-1)]
		*s.node(s.count) = storeNode{*head, first, last, data, done}
		*head = s.count
	}
}

// latest returns the youngest store that writes any of the bytes first to last
// and is in the cache later than t; nil if there is none. As stores are done
// in order, once one is found that is not later, no older one is.
func (s *stores) latest(first, last uint64, t int64) *storeNode {
	var found *storeNode
	newest := uint64(0)
	for g := first >> granuleBits; g <= last>>granuleBits; g++ {
		for n := s.heads[g&(storeHeads-1)]; n > newest && n+uint64(len(s.nodes)) > s.count; {
			node := s.node(n)
			if node.done <= t {
				break
			}
			if node.first <= last && first <= node.last {
				found, newest = node, n
				break
			}
			n = node.prev
		}
	}
	return found
}
