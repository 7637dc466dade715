// Package roofline puts the scopes of a program under the ceilings of a machine
// (Williams, Waterman and Patterson, 2009): floating-point operations for each byte that
// a level of the memory gives, and what the core and that level allow. What goes in are
// models of a program and a Machine; what comes out are rows, at sizes that need never
// have been run.
//
// A byte counts at the level that gives it: at the first cache if an instruction loads or
// stores it, at the next one if it is in a block that the first missed, at memory if it
// is in a block that the last cache missed. What is written back is not counted.
package roofline

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"presage/perf/isa"
	"presage/perf/machine"
)

// Roof is the ceilings of a machine.
type Roof struct {
	// Flops is the largest number of floating-point operations in a cycle.
	Flops float64
	From  string // what it follows from
	// Levels are the caches and memory.
	Levels   []Ceiling
	Warnings []string // what is not known
}

// Ceiling is the bandwidth of a level.
type Ceiling struct {
	Level string       // machine.MemoryLevel for memory
	Rate  machine.Rate // that a core reads from it at most; 0: not known
	From  string       // what it follows from
}

// ErrNoUnits is returned by RoofOf for a machine of which no unit does floating-point
// operations: it has no ceiling for them.
var ErrNoUnits = errors.New("roofline: the core's description has no unit for floating-point additions or multiplications")

// ErrNoCore is returned by RoofOf for a machine whose core is not described.
var ErrNoCore = errors.New("roofline: the core is not described, so that its floating-point units are not known")

// wordBytes is the size of the numbers that machine descriptions time.
const wordBytes = 8

// RoofOf returns the ceilings of a machine.
//
// The operations of a cycle follow from the units of the core: two for each fused
// multiplication and addition, if it has these, or else the additions and multiplications
// that can begin together. A bandwidth is that of the description. Where it has none,
// that of the first cache is a word of 8 bytes for each load that can begin in a cycle;
// that of another level is bounded by the misses that can be outstanding, each a block of
// the level above for the time of the latency (Little's law). RoofOf returns ErrNoCore if
// the core is not described, and ErrNoUnits if it cannot do floating-point operations.
func RoofOf(m *machine.Machine) (*Roof, error) {
	if !m.Core.Described() {
		return nil, fmt.Errorf("%w: %s", ErrNoCore, m.Name)
	}
	r := new(Roof)
	if r.peak(&m.Core); !(r.Flops > 0) {
		return nil, fmt.Errorf("%w: %s", ErrNoUnits, m.Name)
	}
	for i := range m.Caches {
		c := &m.Caches[i]
		switch {
		case c.Bandwidth > 0:
			r.add(c.Name, c.Bandwidth, "the description")
		case i == 0:
			loads := max(m.Core.Throughput(isa.Load), m.Core.Throughput(isa.FPLoad))
			r.add(c.Name, machine.Rate(loads*wordBytes), fmt.Sprintf("%.3g loads of %d bytes a cycle", loads, wordBytes))
		default:
			r.outstanding(m, i, c.Name, c.Latency)
		}
	}
	last := len(m.Caches)
	if m.Memory.Bandwidth > 0 {
		r.add(machine.MemoryLevel, m.Memory.Bandwidth, "the description")
	} else {
		r.outstanding(m, last, machine.MemoryLevel, m.Memory.RestartLatency)
	}
	return r, nil
}

func (r *Roof) add(level string, rate machine.Rate, from string) {
	r.Levels = append(r.Levels, Ceiling{level, rate, from})
}

// outstanding adds the bound of a level that follows from its latency.
func (r *Roof) outstanding(m *machine.Machine, i int, level string, latency machine.Cycles) {
	n := m.Memory.OutstandingMisses
	if n == 0 || latency == 0 || i == 0 {
		r.add(level, 0, "")
		r.Warnings = append(r.Warnings, fmt.Sprintf("bandwidth of %s not known: the description has neither it nor both its latency and the number of outstanding misses", level))
		return
	}
	block := m.Caches[i-1].BlockBytes
	rate := machine.Rate(float64(n) * float64(block) / float64(latency))
	r.add(level, rate, fmt.Sprintf("%d blocks of %d bytes under way for %g cycles each", n, block, float64(latency)))
}

// peak sets the operations of a cycle.
func (r *Roof) peak(c *machine.Core) {
	add, multiply := c.Throughput(isa.FPAdd), c.Throughput(isa.FPMultiply)
	r.Flops, r.From = max(add, multiply), "additions or multiplications"
	if apart(c.Classes[isa.FPAdd], c.Classes[isa.FPMultiply]) {
		r.Flops, r.From = min(add+multiply, float64(c.Width())), "additions beside multiplications"
		if c.Width() == 0 {
			r.Flops = add + multiply
		}
	}
	if _, otherwise := c.FallsBack[isa.FPFused]; !otherwise {
		if fused := 2 * c.Throughput(isa.FPFused); fused >= r.Flops {
			r.Flops, r.From = fused, "fused multiplications and additions"
		}
	}
}

// apart reports whether two classes use different units.
func apart(a, b machine.Timing) bool {
	if len(a.Uses) == 0 || len(b.Uses) == 0 {
		return false
	}
	for _, u := range a.Uses {
		for _, v := range b.Uses {
			if slices.ContainsFunc(u.AnyOf, func(unit string) bool { return slices.Contains(v.AnyOf, unit) }) {
				return false
			}
		}
	}
	return true
}

// Allows returns the operations in a cycle that the core and a level allow at so many
// operations for each byte of the level: those of the core alone if the level's bandwidth
// is not known, or no byte is moved.
func (r *Roof) Allows(level int, intensity float64) float64 {
	rate := float64(r.Levels[level].Rate)
	if rate == 0 || math.IsNaN(intensity) {
		return r.Flops
	}
	return min(r.Flops, intensity*rate)
}
