package rv64

import (
	"fmt"

	"presage/perf/engine"
	"presage/perf/objfile"
)

var _ engine.Placer = Engine{}

// Layout implements engine.Placer.
func (e Engine) Layout(f *objfile.File, r engine.Request) (engine.Layout, error) {
	opt := options{Request: r, mode: e.Mode}
	if err := opt.fill(); err != nil {
		return engine.Layout{}, err
	}
	if err := e.Accepts(f); err != nil {
		return engine.Layout{}, err
	}
	end := uint64(0)
	for i := range f.Segments {
		if s := &f.Segments[i]; s.MemSize > 0 {
			end = max(end, s.Addr+Bias(f)+s.MemSize)
		}
	}
	l := layoutOf(opt.Memory, opt.Stack, end)
	if end >= l.Mappings.Hi {
		return engine.Layout{}, fmt.Errorf("rv64: the executable needs addresses up to %#x, but the address space ends at %#x: raise Memory: %w", end, opt.Memory, engine.ErrMemoryLimit)
	}
	l.Bias = Bias(f)
	return l, nil
}

// layoutOf returns the layout of an address space of memory bytes whose image ends
// at end. The ranges of the heap and of mappings make sense if end is below that
// of the mappings.
func layoutOf(memory, stack, end uint64) engine.Layout {
	stackTop := memory - topGap - 2*pageBytes // below the trampoline and a gap
	var l engine.Layout
	l.Stack = engine.Range{Lo: stackTop - stack, Hi: stackTop}
	l.Mappings.Hi = l.Stack.Lo - stackGap
	l.Heap.Lo = pageUp(end)
	l.Heap.Hi = l.Heap.Lo + min(brkRoom, pageDown((l.Mappings.Hi-l.Heap.Lo)/2))
	l.Mappings.Lo = l.Heap.Hi
	return l
}
