package subject

import (
	"fmt"

	"presage/perf/engine"
	"presage/perf/engine/engines"
)

// Layout returns where the program's default engine places its memory, or nil if that
// does not say. Neither it nor what engines tell depends on modes and processors.
func (p *Program) Layout() (*engine.Layout, error) {
	e, err := engines.For(p.File)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", p.Name, err)
	}
	placer, ok := e.(engine.Placer)
	if !ok {
		return nil, nil
	}
	layout, err := placer.Layout(p.File, engine.Request{})
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", p.Name, err)
	}
	return &layout, nil
}

// TellsAllocations reports whether the engine tells of calls of allocators, at the
// addresses that the program's accesses have, and of nothing else.
func (p *Program) TellsAllocations() (bool, error) {
	e, err := engines.For(p.File)
	if err != nil {
		return false, fmt.Errorf("perf: %s: %w", p.Name, err)
	}
	return e.Capabilities().Has(engine.CapAllocations), nil
}

// TellsMemory reports whether the engine tells what the program's memory is for, as it
// changes (trace.MemoryPlan).
func (p *Program) TellsMemory() (bool, error) {
	e, err := engines.For(p.File)
	if err != nil {
		return false, fmt.Errorf("perf: %s: %w", p.Name, err)
	}
	return e.Capabilities().Has(engine.CapChanges), nil
}
