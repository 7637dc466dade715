package machine

import (
	"fmt"
	"slices"
	"strings"

	"presage/perf/isa"
)

// requiredClasses must have timings: nothing else implies their cost.
var requiredClasses = []isa.Class{
	isa.ALU, isa.Multiply,
	isa.FPAdd, isa.FPMultiply, isa.FPDivide, isa.FPFused,
	isa.Load, isa.Store, isa.Branch,
}

// fallbacks lists the classes that use the timing of another if a description
// omits them. A core without an integer divider divides in floating point. The
// work of the operating system in a system call is not the core's, nor is that
// of other cores in an atomic access or a fence. Vector instructions have no
// fallback: a scheduler that meets one without a timing must say so.
var fallbacks = []struct{ class, as isa.Class }{
	{isa.Nop, isa.ALU},
	{isa.Shift, isa.ALU},
	{isa.Compare, isa.ALU},
	{isa.Divide, isa.FPDivide},
	{isa.FPSqrt, isa.FPDivide},
	{isa.FPConvert, isa.FPAdd},
	{isa.FPMove, isa.FPAdd},
	{isa.FPLoad, isa.Load},
	{isa.FPStore, isa.Store},
	{isa.Atomic, isa.Load},
	{isa.Jump, isa.Branch},
	{isa.IndirectJump, isa.Branch},
	{isa.Call, isa.Branch},
	{isa.Return, isa.Branch},
	{isa.SystemCall, isa.ALU},
	{isa.Breakpoint, isa.ALU},
	{isa.Fence, isa.ALU},
	{isa.CSR, isa.ALU},
}

// fallBack gives classes without a timing that of their fallback, in the same
// queues, and returns them.
func (c *Core) fallBack() map[isa.Class]isa.Class {
	as := make(map[isa.Class]isa.Class)
	for _, f := range fallbacks {
		if _, given := c.Classes[f.class]; given {
			continue
		}
		timing, ok := c.Classes[f.as]
		if !ok {
			continue // a required class: plausible names it
		}
		c.Classes[f.class], as[f.class] = timing, f.as
		if c.queue(f.class) >= 0 {
			continue
		}
		if i := c.queue(f.as); i >= 0 {
			c.Queues[i].Classes = append(c.Queues[i].Classes, f.class)
		}
	}
	return as
}

// queue returns the index of the queue of a class, or -1.
func (c *Core) queue(class isa.Class) int {
	return slices.IndexFunc(c.Queues, func(q Queue) bool { return slices.Contains(q.Classes, class) })
}

// architectural is the least number of registers of a kind that any target has. A
// core that runs a target with more needs more: the simulation says so.
const architectural = 16

// plausible checks the parts of a core for consistency.
func (r *reader) plausible(c *Core) {
	const path = "$.core"
	var missing []string
	for _, class := range requiredClasses {
		if _, ok := c.Classes[class]; !ok {
			missing = append(missing, class.String())
		}
	}
	if len(missing) > 0 {
		r.fail(path+".classes", "no timing for %s: add it under classes:", list(missing))
	}
	r.unitsUsed(c)
	units := 0
	for _, u := range c.Units {
		units += u.Count
	}
	if c.IssueWidth > units {
		r.fail(path+".width.issue", "%d instructions a cycle cannot begin on %d units", c.IssueWidth, units)
	}
	switch {
	case c.InOrder && c.Window != 0:
		r.fail(path+".window", "a core that executes in order has no window: leave it out")
	case c.InOrder && len(c.Queues) != 0:
		r.fail(path+".queues", "a core that executes in order has no queues: leave them out")
	case !c.InOrder && c.Window == 0:
		r.fail(path, "window is missing: how many instructions a core that executes out of order may have in flight")
	case !c.InOrder && c.Window < max(c.FetchWidth, c.IssueWidth, c.RetireWidth):
		r.fail(path+".window", "a window of %d is less than a cycle's instructions", c.Window)
	}
	for _, n := range []struct {
		path  string
		count int
	}{{".registers.int", c.IntRegisters}, {".registers.float", c.FloatRegisters}} {
		if !c.InOrder && n.count != 0 && n.count <= architectural {
			r.fail(path+n.path, "%d registers leave none to rename: x86-64 has %d alone; give those of the core with the renamed ones", n.count, architectural)
		}
	}
	for i, q := range c.Queues {
		for _, class := range q.Classes {
			if _, ok := c.Classes[class]; !ok {
				r.fail(fmt.Sprintf("%s.queues[%d].classes", path, i), "class %q waits in queue %q but has no timing: add it under classes:", class, q.Name)
			}
		}
		if q.Entries > c.Window {
			r.fail(fmt.Sprintf("%s.queues[%d].entries", path, i), "a queue of %d cannot fill: the window is %d", q.Entries, c.Window)
		}
	}
}

// unitsUsed checks that some class uses every unit.
func (r *reader) unitsUsed(c *Core) {
	used := make(map[string]bool)
	for _, t := range c.Classes {
		for _, u := range t.Uses {
			for _, name := range u.AnyOf {
				used[name] = true
			}
		}
	}
	for i, u := range c.Units {
		if !used[u.Name] {
			r.fail(fmt.Sprintf("$.core.units[%d].name", i), "no class of instructions uses unit %q: name it under classes: or remove it", u.Name)
		}
	}
}

// nearest checks that the latency of the first cache is that of a load that
// hits in it, if both are known.
func (r *reader) nearest(m *Machine) {
	if len(m.Core.Classes) == 0 || m.Caches[0].Latency == 0 {
		return
	}
	l1, load, float := m.Caches[0].Latency, m.Core.Classes[isa.Load].Latency, m.Core.Classes[isa.FPLoad].Latency
	if l1 != load && l1 != float {
		r.fail("$.caches[0].latency", "%g cycles are neither the latency of a load (%g) nor that of an fp load (%g) under core.classes", l1, load, float)
	}
}

// exposureText is an Exposure in a file.
type exposureText struct {
	Level  string   `yaml:"level"`
	Share  *float64 `yaml:"share"`
	Source []string `yaml:"source"`
}

// Levels of exposures that are not caches: memory behind the last cache, and
// all TLBs.
const (
	MemoryLevel = "memory"
	TLBLevel    = "TLB"
)

func (r *reader) exposures(d *description, m *Machine) []Exposure {
	var all []Exposure
	var levels []string
	for i, c := range m.Caches {
		if c.Name == MemoryLevel || c.Name == TLBLevel {
			r.fail(fmt.Sprintf("$.caches[%d].name", i), "%q is no name for a cache: exposures say something else by it", c.Name)
		}
		if i < len(m.Caches)-1 {
			levels = append(levels, c.Name)
		}
	}
	levels = append(levels, MemoryLevel)
	if len(m.TLBs) > 0 {
		levels = append(levels, TLBLevel)
	}
	for i, t := range d.Exposures {
		path := fmt.Sprintf("$.exposures[%d]", i)
		r.need(path+".level", t.Level)
		if !slices.Contains(levels, t.Level) {
			r.fail(path+".level", "no misses of %q can be waited for; there are %s (%s stands for misses of the last cache, %s for those of all TLBs)",
				t.Level, list(levels), MemoryLevel, TLBLevel)
		}
		if slices.ContainsFunc(all, func(e Exposure) bool { return e.Level == t.Level }) {
			r.fail(path+".level", "the share of %q is given twice", t.Level)
		}
		if t.Share == nil {
			r.fail(path, "share is missing: the part of the latency that is waited for, from 0 to 1")
			continue
		}
		if !(*t.Share >= 0 && *t.Share <= 1) {
			r.fail(path+".share", "a share of %g is impossible: want a number from 0 to 1", *t.Share)
		}
		r.sources(path, d, t.Source)
		all = append(all, Exposure{t.Level, *t.Share, t.Source})
	}
	return all
}

// list joins names for a message.
func list(names []string) string { return strings.Join(names, ", ") }
