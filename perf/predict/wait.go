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

	// Stream is the latency that a miss of this level has beyond a hit in the
	// first, if the blocks before were read in order, and it goes no further: what
	// prefetching leaves. Without prefetching it is the sum of the latencies to
	// here. WaitFixed does not regard it.
	Stream float64
}

// Penalties returns those of a machine's caches, from the processor to memory,
// then of its TLBs, and warns of what is not known, and costs nothing then. A level
// that floating-point accesses bypass is left out, with a warning.
//
// What prefetching leaves of the latency of memory (machine.Memory.StreamLatency)
// is what it leaves of that of a cache at most: blocks come from there no later.
func Penalties(m *machine.Machine) (list []Penalty, warnings []string) {
	share := func(level string) float64 {
		for _, e := range m.Exposures {
			if e.Level == level {
				return e.Share
			}
		}
		return 1
	}
	// A level whose latency is not known is passed over: what misses above it
	// pays for the next that is known.
	known, first, sum := 0.0, 0.0, 0.0
	for i := range m.Caches {
		c := &m.Caches[i]
		if c.BypassFloat {
			warnings = append(warnings, fmt.Sprintf("integer accesses that miss %s cost nothing here: floating-point accesses pass by it", c.Name))
			continue
		}
		known = math.Max(known, float64(c.Latency))
		if len(list) == 0 {
			first = known
		}
		// The share of the last cache's misses goes by the name of memory.
		p := Penalty{Level: c.Name, Share: share(c.Name)}
		next, what := float64(m.Memory.RestartLatency), "memory"
		if i+1 < len(m.Caches) {
			next, what = float64(m.Caches[i+1].Latency), m.Caches[i+1].Name
		} else {
			p.Share = share(machine.MemoryLevel)
		}
		switch {
		case next == 0:
			warnings = append(warnings, fmt.Sprintf("the latency of %s is not known: what comes from it costs no more than the level before", what))
		case next < known:
			warnings = append(warnings, fmt.Sprintf("the latency of %s is below that of a level before it: what comes from it costs no more", what))
		default:
			p.Latency = next - known
		}
		sum += p.Latency
		p.Stream = sum
		if stream := float64(m.Memory.StreamLatency); stream > 0 {
			p.Stream = math.Min(sum, math.Max(0, stream-first))
		}
		list = append(list, p)
	}
	for i := range m.TLBs {
		t := &m.TLBs[i]
		if t.BypassFloat {
			warnings = append(warnings, fmt.Sprintf("integer accesses that miss %s cost nothing here: floating-point accesses pass by it", t.Name))
			continue
		}
		p := Penalty{Level: t.Name, Share: share(machine.TLBLevel), Latency: float64(t.MissPenalty), TLB: true}
		if p.Latency <= 0 {
			warnings = append(warnings, fmt.Sprintf("what a miss of %s costs is not known: nothing here", p.Level))
		}
		list = append(list, p)
	}
	return list, warnings
}

// Work is what a piece of code does: a loop without those inside it, or the rest
// of a routine.
type Work struct {
	Instructions, Cycles float64   // executed, and how long they take if all accesses hit
	Misses               []float64 // in the order of Penalties
	// Streams are, of Misses at each level, those of references that walk through
	// memory block by block, which hardware prefetches; nil for none.
	Streams []float64
	// Stores are misses, of those at each level, that are not waited for, but
	// occupy memory: of stores, which are written while execution goes on.
	Stores []float64

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
// first level on, or, in a stream, with what prefetching leaves of that: it then
// counts, to those waited for together too, for as much of another miss as it has
// of its exposed latency (derived here). Translations that miss are waited for one at a time and in full,
// of stores too: the instructions that a refill by software interrupts, or that a
// walk of page tables holds up, do not go on meanwhile.
//
// Whatever overlaps, memory serves one block every interval cycles: if that takes
// longer than the schedule with all that is waited for, the rest is waited for at
// the last cache.
func (w *Work) WaitOverlapped(penalties []Penalty, outstanding int, interval float64) []float64 {
	wait := make([]float64, len(penalties))
	if w.Instructions <= 0 {
		return wait
	}
	hidden := w.Reach * w.Cycles / w.Instructions
	latency := 0.0
	for i, p := range penalties {
		if p.TLB {
			wait[i] = w.Misses[i] * p.Latency
			continue
		}
		latency += p.Latency
		exposed := math.Max(0, latency-hidden)
		if exposed == 0 {
			continue
		}
		last := w.Misses[i] // of these, those that miss in no further level
		if i+1 < len(penalties) && !penalties[i+1].TLB {
			last = math.Max(0, last-w.Misses[i+1])
		}
		left := w.left(i, math.Max(0, p.Stream-hidden)/exposed)
		together := 1.0
		if !w.Chained {
			together = math.Min(math.Max(1, w.Reach*w.Misses[i]*left/w.Instructions), math.Max(1, float64(outstanding)))
		}
		wait[i] = last * left * exposed / together
	}
	w.bandwidth(penalties, wait, interval)
	return wait
}

// left returns what the misses of a level count for if those in streams count for
// a part of one each. Streams have the same share of those that go further.
func (w *Work) left(level int, part float64) float64 {
	if w.Streams == nil || w.Misses[level] == 0 {
		return 1
	}
	return 1 - w.Streams[level]/w.Misses[level]*(1-part)
}

// bandwidth adds to the wait for the last cache what memory takes beyond all else.
func (w *Work) bandwidth(penalties []Penalty, wait []float64, interval float64) {
	last, busy := -1, w.Cycles
	for i, p := range penalties {
		if !p.TLB {
			last = i
		}
		busy += wait[i]
	}
	if last < 0 {
		return
	}
	blocks := w.Misses[last]
	if len(w.Stores) > 0 {
		blocks += w.Stores[last]
	}
	wait[last] += math.Max(0, blocks*interval-busy)
}
