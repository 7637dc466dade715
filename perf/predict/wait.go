package predict

import (
	"fmt"
	"math"

	"presage/perf/machine"
)

// Penalty is what a miss costs beyond a hit, in cycles, as a machine's
// description has it.
type Penalty struct {
	Level   string
	Latency float64 // of a miss, beyond that of a hit: to the next level, or memory
	Share   float64 // of the latency that is waited for, as the description says
	TLB     bool
}

// Penalties returns those of a machine's caches, from the processor to memory,
// then of its TLBs, and warns of those that are not known, whose misses cost
// nothing then. A first level that floating-point accesses bypass is left out:
// what is not in it costs them nothing.
func Penalties(m *machine.Machine) (list []Penalty, warnings []string) {
	share := func(level string) float64 {
		for _, e := range m.Exposures {
			if e.Level == level {
				return e.Share
			}
		}
		return 1
	}
	unknown := func(p Penalty, what string) {
		if p.Latency <= 0 {
			warnings = append(warnings, fmt.Sprintf("%s is not known: misses of %s cost nothing here", what, p.Level))
		}
	}
	for i := range m.Caches {
		c := &m.Caches[i]
		if c.BypassFloat {
			continue
		}
		// The share of the last cache's misses goes by the name of memory.
		p := Penalty{Level: c.Name, Share: share(c.Name)}
		next, what := float64(m.Memory.RestartLatency), "the latency of memory"
		if i+1 < len(m.Caches) {
			next, what = float64(m.Caches[i+1].Latency), "the latency of "+m.Caches[i+1].Name
		} else {
			p.Share = share(machine.MemoryLevel)
		}
		if next > 0 && c.Latency > 0 {
			p.Latency = math.Max(0, next-float64(c.Latency))
		}
		unknown(p, what)
		list = append(list, p)
	}
	for i := range m.TLBs {
		t := &m.TLBs[i]
		if t.BypassFloat {
			continue
		}
		p := Penalty{Level: t.Name, Share: share(machine.TLBLevel), Latency: float64(t.MissPenalty), TLB: true}
		unknown(p, "the cost of a miss")
		list = append(list, p)
	}
	return list, warnings
}

// Work is what a piece of code does: a loop without those inside it, or the rest
// of a routine.
type Work struct {
	Instructions, Cycles float64   // executed, and how long they take if all accesses hit
	Misses               []float64 // in the order of Penalties

	// Reach is how many instructions the core gets ahead of a load that it waits
	// for: its window, or, if it executes in order, the instructions between a
	// load and what first uses it.
	Reach float64
	// Chained says that each load needs the result of the one before, as in going
	// through a list: their misses come one after the other.
	Chained bool
}

// WaitFixed returns the cycles that are waited for misses of each level by the
// paper's formula (2004, section 3.2): misses x latency x the share of it that
// the machine's description says is exposed.
func (w *Work) WaitFixed(penalties []Penalty) []float64 {
	wait := make([]float64, len(penalties))
	for i, p := range penalties {
		wait[i] = w.Misses[i] * p.Latency * p.Share
	}
	return wait
}

// WaitOverlapped returns the cycles that are waited for misses of each level,
// from the parallelism that the code and the core have, which the paper left
// open (2004, section 3.2: "subtracting off how much of the memory hierarchy
// latency can be overlapped with instructions"). It is the model of intervals
// between misses, after Karkhanis and Smith, "A First-Order Superscalar
// Processor Model" (ISCA 2004):
//
//   - While a miss is waited for, the core goes on until it is Reach
//     instructions ahead; at the pace of the schedule that hides
//     Reach·Cycles/Instructions cycles of the latency.
//   - Misses that begin within the reach of one another are waited for together:
//     of those that go as far as a level, max(1, Reach·misses/Instructions) at a
//     time, at most outstanding, and one if they are chained.
//
// A miss counts for the last level that it misses in, with the latency from the
// first level on. Translations that miss are waited for one at a time.
func (w *Work) WaitOverlapped(penalties []Penalty, outstanding int) []float64 {
	wait := make([]float64, len(penalties))
	if w.Instructions <= 0 {
		return wait
	}
	hidden := w.Reach * w.Cycles / w.Instructions
	latency := 0.0
	for i, p := range penalties {
		if p.TLB {
			wait[i] = w.Misses[i] * math.Max(0, p.Latency-hidden)
			continue
		}
		latency += p.Latency
		last := w.Misses[i] // of these, those that miss in no further level
		if i+1 < len(penalties) && !penalties[i+1].TLB {
			last = math.Max(0, last-w.Misses[i+1])
		}
		together := 1.0
		if !w.Chained {
			together = math.Min(math.Max(1, w.Reach*w.Misses[i]/w.Instructions), math.Max(1, float64(outstanding)))
		}
		wait[i] = last * math.Max(0, latency-hidden) / together
	}
	return wait
}
