package replay

import (
	"strings"

	"presage/perf/trace"
)

// links reports whether a block is the dynamic linker's. It knows nothing of sizes: what it
// does is the same at all of them, if it was in all runs.
func (c *Code) links(id trace.BlockID) bool {
	file, _, shared := strings.Cut(c.routine(id), "!")
	return shared && (strings.HasPrefix(file, "ld-") || strings.HasPrefix(file, "ld64") || strings.HasPrefix(file, "ld.so"))
}

// isStub reports whether a block belongs to the procedure linkage table.
func (c *Code) isStub(id trace.BlockID) bool { return strings.HasSuffix(c.routine(id), "@plt") }

// bound returns the place that control comes from to a block of another routine: from
// itself, unless that is where the dynamic linker goes on to a routine that it has just
// bound. Then it is the stub that asked for it and will jump to it the next time.
func (w *walker) bound(from placeKey, to trace.BlockID) placeKey {
	at := from
	if !w.code.links(from.block) || w.code.links(to) {
		return from
	}
	for c := from.context; c > 0 && w.contexts[c].Tail; c = w.contexts[c].Parent {
		if call := w.contexts[c].Call; w.code.isStub(call) {
			at = placeKey{w.contexts[c].Parent, w.code.entry(call)}
		}
	}
	return at
}

// entry returns the first block of the routine that a block is of.
func (c *Code) entry(id trace.BlockID) trace.BlockID {
	if first := c.blockAt(c.graph.Routines[c.blocks[id].routine].Addr); first != noBlock {
		return first
	}
	return id
}
