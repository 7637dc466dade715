package replay

import (
	"iter"
	"slices"

	"presage/perf/cfg"
	"presage/perf/trace"
)

// execution is one of a block of Code.Plan, as a run recorded it.
type execution struct {
	block    trace.BlockID
	strays   int // accesses before its own that belong to no block
	accesses []trace.Access
}

// executions yields those of a batch, which was recorded by Code.Recorded: of an
// instruction with elements, one of its guard and one for each element. It returns how
// many accesses were left over.
func (c *Code) executions(b *trace.Batch, left *int) iter.Seq[execution] {
	return func(yield func(execution) bool) {
		rest := b.Accesses
		for i, id := range b.Blocks {
			own := rest
			if len(b.Counts) > 0 {
				own = rest[:min(int(b.Counts[i]), len(rest))]
			}
			if c.blocks[id].part == cfg.Guard {
				n := c.elements(id, own)
				if !yield(execution{block: id}) || !c.yieldElements(id+1, own[:n], yield) {
					return
				}
				rest = rest[n:]
				continue
			}
			e := execution{block: id, strays: c.strays(&c.blocks[id], rest)}
			n := min(c.blocks[id].refs, len(rest)-e.strays) // a fault may have ended the run
			e.accesses = rest[e.strays : e.strays+n]
			if !yield(e) {
				return
			}
			rest = rest[e.strays+n:]
		}
		*left = len(rest)
	}
}

// elements returns how many of the accesses are to elements of the instruction of which
// a block is the guard.
func (c *Code) elements(guard trace.BlockID, own []trace.Access) int {
	b := &c.blocks[guard+1]
	n := 0
	for b.refs > 0 && n < len(own) && own[n].Ref() == b.firstRef+trace.RefID(n%b.refs) {
		n++
	}
	return n - n%max(1, b.refs)
}

func (c *Code) yieldElements(id trace.BlockID, accesses []trace.Access, yield func(execution) bool) bool {
	for width := c.blocks[id].refs; len(accesses) > 0; accesses = accesses[width:] {
		if !yield(execution{block: id, accesses: accesses[:width]}) {
			return false
		}
	}
	return true
}

// strays returns how many accesses before those of an execution of a block belong to no
// block.
func (c *Code) strays(b *block, rest []trace.Access) int {
	n := 0
	for c.loose && b.refs > 0 && n < len(rest) && rest[n].Ref() != b.firstRef {
		n++
	}
	return n
}

// elementwise reports whether a routine has instructions with elements: its blocks and loops
// are then others than those of the program's graph.
func (c *Code) elementwise(routine int) bool {
	return slices.ContainsFunc(c.graph.Routines[routine].Blocks, func(b cfg.Block) bool { return b.Part == cfg.Guard })
}
