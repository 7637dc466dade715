package callpath

import "presage/perf/trace"

// Node is a call path: that of Parent, and a call from there.
type Node struct {
	Parent  int32    // index of the path before the call; -1: of the whole run
	Site    trace.PC // of the instruction that calls or jumps; 0: none is known
	Routine int32    // that is called, an index in the Graph's routines; -1: of the whole run
}

// none is the index of no node.
const none = -1

// maxNodes bounds the paths of a run. Beyond, paths begin anew at the routine called.
const maxNodes = 1 << 20

// tree is the paths of a run. Each comes after its parent.
type tree struct {
	nodes  []Node
	index  map[Node]int32
	most   int
	joined uint64 // calls beyond most paths
}

func newTree() tree {
	return tree{nodes: []Node{{none, 0, none}}, index: make(map[Node]int32), most: maxNodes}
}

// child returns the path of a call. A routine that is in the path already leads back to
// where it is.
func (t *tree) child(parent int32, site trace.PC, routine int32) int32 {
	key := Node{parent, site, routine}
	if n, ok := t.index[key]; ok {
		return n
	}
	n := t.fold(key)
	if n == none && len(t.nodes) >= t.most {
		t.joined++
		key = Node{0, 0, routine} // there are no more of these than routines
		if known, ok := t.index[key]; ok {
			return known
		}
	}
	if n == none {
		n = int32(len(t.nodes))
		t.nodes = append(t.nodes, key)
	}
	t.index[key] = n
	return n
}

// fold returns the path up to a routine in the parent's; none if it is not there.
func (t *tree) fold(key Node) int32 {
	for n := key.Parent; n > 0; n = t.nodes[n].Parent {
		if t.nodes[n].Routine == key.Routine {
			return n
		}
	}
	return none
}
