package replay

import (
	"fmt"

	"presage/perf/objfile"
	"presage/perf/trace"
)

// library returns the shared library that a block belongs to; nil if that is the
// executable.
func (c *Code) library(id trace.BlockID) *objfile.Module {
	list, pc := c.graph.File.Modules, uint64(c.Plan.Blocks[id].PC)
	for i := len(list) - 1; i >= 0; i-- {
		if pc >= list[i].Base {
			return &list[i]
		}
	}
	return nil
}

// shared returns the block of to that is a given one of a shared library of from. The
// library is the same file for both, so that all of its blocks are, those that only pass
// on, too.
func (t *translator) shared(id trace.BlockID, in *objfile.Module) trace.BlockID {
	for i := range t.to.graph.File.Modules {
		m := &t.to.graph.File.Modules[i]
		if m.Name != in.Name || m.File.SHA256 != in.File.SHA256 {
			continue
		}
		same := t.to.blockAt(uint64(t.from.Plan.Blocks[id].PC) - in.Base + m.Base)
		if same != noBlock && t.from.blocks[id].refs == t.to.blocks[same].refs {
			return same
		}
	}
	t.err = fmt.Errorf("one executable has no %s, or another one", in.Name)
	return id
}
