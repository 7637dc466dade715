package sched

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"presage/perf/isa"
	"presage/perf/machine"
)

// ErrNoCore says that a machine's core is not described.
var ErrNoCore = errors.New("the core is not described")

// core is a machine.Core in the form that the schedulers use.
type core struct {
	inOrder              bool
	fetch, issue, retire int // unlimited if not known
	width                int // the least of them, which bounds the throughput in any order
	window               int // 0: not limited
	loads, stores        int // queues, 0: not limited
	intRegs, floatRegs   int // in all, 0: not limited

	queues  []int                // entries
	queueOf [isa.Vector + 1]int8 // by class, -1 for none
	names   []string             // of kinds of units
	counts  []uint8              // by kind
	timings [isa.Vector + 1]timing
	sets    []uint64 // of kinds that instructions choose from
	groups  []uint64 // unions of sets
}

// timing is the cost of an instruction of a class. Schedules use whole cycles,
// rounding fractions up; bounds keep the fractions.
type timing struct {
	described bool
	latency   int
	uses      []use
}

// use occupies a unit of one of a set of kinds.
type use struct {
	kinds  uint64 // bits
	set    int    // index in core.sets
	cycles int
	exact  float64
}

// unlimited stands for a width that is not known.
const unlimited = math.MaxInt32

// maxKinds is how many kinds of units a core can have.
const maxKinds = 64

func newCore(m *machine.Core) (*core, error) {
	if len(m.Classes) == 0 {
		return nil, fmt.Errorf("sched: %w: a schedule needs its units, and the latencies of classes of instructions", ErrNoCore)
	}
	c := &core{
		inOrder: m.InOrder, window: m.Window, loads: m.LoadQueue, stores: m.StoreQueue,
		fetch: orUnlimited(m.FetchWidth), issue: orUnlimited(m.IssueWidth), retire: orUnlimited(m.RetireWidth),
	}
	if c.issue == unlimited {
		c.issue = c.fetch
	}
	c.width = min(c.fetch, c.issue, c.retire)
	c.intRegs, c.floatRegs = m.IntRegisters, m.FloatRegisters
	if len(m.Units) > maxKinds {
		return nil, fmt.Errorf("sched: %d kinds of units: at most %d can be scheduled", len(m.Units), maxKinds)
	}
	for _, u := range m.Units {
		if u.Count < 1 || u.Count > math.MaxUint8 {
			return nil, fmt.Errorf("sched: %d units %s: want 1 to %d", u.Count, u.Name, math.MaxUint8)
		}
		c.names, c.counts = append(c.names, u.Name), append(c.counts, uint8(u.Count))
	}
	for _, class := range isa.Classes() {
		c.queueOf[class] = -1
		if t, ok := m.Classes[class]; ok {
			if err := c.describe(class, t); err != nil {
				return nil, err
			}
		}
	}
	for i, q := range m.Queues {
		c.queues = append(c.queues, q.Entries)
		for _, class := range q.Classes {
			c.queueOf[class] = int8(i)
		}
	}
	c.findGroups()
	return c, nil
}

func orUnlimited(width int) int {
	if width <= 0 {
		return unlimited
	}
	return width
}

// renames returns the number of a core's physical registers beyond the
// architectural state, which takes one register for each name.
func renames(registers int, names []string) int { return max(registers-len(names), 0) }

func (c *core) describe(class isa.Class, t machine.Timing) error {
	out := timing{described: true, latency: int(math.Ceil(float64(t.Latency)))}
	if !(t.Latency >= 0) || t.Latency > 1<<20 {
		return fmt.Errorf("sched: %v has a latency of %g cycles", class, float64(t.Latency))
	}
	if len(t.Uses) > maxUses {
		return fmt.Errorf("sched: %v occupies %d units: at most %d at once can be scheduled", class, len(t.Uses), maxUses)
	}
	for _, u := range t.Uses {
		if !(u.Cycles >= 0) || u.Cycles > 1<<20 {
			return fmt.Errorf("sched: %v occupies a unit for %g cycles", class, float64(u.Cycles))
		}
		v := use{cycles: int(math.Ceil(float64(u.Cycles))), exact: float64(u.Cycles)}
		for _, name := range u.AnyOf {
			k := slices.Index(c.names, name)
			if k < 0 {
				return fmt.Errorf("sched: %v uses the unit %s, which the core does not have", class, name)
			}
			v.kinds |= 1 << k
		}
		if v.kinds == 0 {
			return fmt.Errorf("sched: %v occupies a unit without a name", class)
		}
		if v.cycles > 0 {
			out.uses = append(out.uses, v)
		}
	}
	c.timings[class] = out
	return nil
}

// of returns the timing of a class. Instructions of a class that is not described
// begin in any cycle and take one.
func (c *core) of(class isa.Class) *timing {
	if t := &c.timings[class]; t.described {
		return t
	}
	return &undescribed
}

var undescribed = timing{latency: 1}

// maxGroups bounds the number of unions of sets of units considered. Beyond it the
// units' bound may be looser, but remains a bound.
const maxGroups = 512

// findGroups finds the sets of kinds that can be a bottleneck together: the
// sets that instructions choose from, and unions of those that share a kind.
func (c *core) findGroups() {
	for i := range c.timings {
		for k := range c.timings[i].uses {
			u := &c.timings[i].uses[k]
			if u.set = slices.Index(c.sets, u.kinds); u.set < 0 {
				u.set = len(c.sets)
				c.sets = append(c.sets, u.kinds)
			}
		}
	}
	c.groups = slices.Clone(c.sets)
	slices.SortStableFunc(c.groups, func(a, b uint64) int { return bits.OnesCount64(a) - bits.OnesCount64(b) })
	for i := 0; i < len(c.groups); i++ {
		for _, set := range c.sets {
			union := c.groups[i] | set
			if c.groups[i]&set != 0 && len(c.groups) < maxGroups && !slices.Contains(c.groups, union) {
				c.groups = append(c.groups, union)
			}
		}
	}
}

// group names a set of kinds of units: "A|B".
func (c *core) group(set uint64) string {
	text := ""
	for ; set != 0; set &= set - 1 {
		if text != "" {
			text += "|"
		}
		text += c.names[bits.TrailingZeros64(set)]
	}
	return text
}
