package predict

import (
	"fmt"
	"math"

	"presage/perf/machine"
)

// Penalty is the cost of a miss beyond a hit, in cycles, from a machine's
// description.
type Penalty struct {
	Level   string
	Latency float64 // of a miss, beyond that of a hit: to the next level, or memory
	Share   float64 // of the latency that is exposed, from the description
	TLB     bool
	Walks   int // misses of a TLB served at a time while execution continues; 0: it waits for each

	// Stream is the latency of a miss of this level beyond a hit in the first,
	// for a block that follows others read in order and is found in the next
	// level: what prefetching leaves exposed. Without prefetching it is the sum
	// of the latencies to here. WaitFixed ignores it.
	Stream float64
}

// Penalties returns the penalties of a machine's caches, from the processor to
// memory, then of its TLBs. It warns about latencies that are not known, which
// count as 0. A level that floating-point accesses bypass is left out, with a
// warning.
//
// The exposed latency of memory under prefetching
// (machine.Memory.StreamLatency) also bounds that of the caches: blocks arrive
// from a cache no later.
func Penalties(m *machine.Machine) (list []Penalty, warnings []string) {
	share := func(level string) float64 {
		for _, e := range m.Exposures {
			if e.Level == level {
				return e.Share
			}
		}
		return 1
	}
	// Levels of unknown latency are skipped: misses above pay for the next
	// level that is known.
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
		// The share of the last cache's misses is listed under memory.
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
		p := Penalty{Level: t.Name, Share: share(machine.TLBLevel), Latency: float64(t.MissPenalty), TLB: true, Walks: t.Walks}
		if p.Latency <= 0 {
			warnings = append(warnings, fmt.Sprintf("what a miss of %s costs is not known: nothing here", p.Level))
		}
		list = append(list, p)
	}
	return list, warnings
}

// Work is the work of a piece of code: a loop without its inner loops, or the
// rest of a routine.
type Work struct {
	Instructions, Cycles float64   // executed, and how long they take if all accesses hit
	Misses               []float64 // in the order of Penalties
	// Streams counts, of the Misses at each level, those of references that
	// walk through memory block by block, which hardware prefetches; nil for
	// none.
	Streams []float64
	// Stores counts, of the Misses at each level, those of stores: execution
	// continues while they are written, but they occupy memory, and places in the
	// store queue.
	Stores []float64
	// Stored is the number of stores executed by the references of Stores, and
	// StoreQueue how many stores can wait to be written; 0 for no limit.
	Stored, StoreQueue float64

	// Reach is the number of instructions by which the core runs ahead of a
	// load that it waits for: its window, or, if it executes in order, the
	// instructions between a load and its first use.
	Reach float64
	// Chained means that each load needs the result of the one before, as in
	// following a list, so that their misses are serial.
	Chained bool
}

// WaitFixed returns the cycles of waiting for misses at each level by the
// paper's formula (2004, section 3.2): misses × latency × the exposed share
// from the machine's description.
func (w *Work) WaitFixed(penalties []Penalty) []float64 {
	wait := make([]float64, len(penalties))
	for i, p := range penalties {
		wait[i] = w.Misses[i] * p.Latency * p.Share
	}
	return wait
}

// WaitOverlapped returns the cycles of waiting for misses at each level, given
// the parallelism of the code and the core, which the paper left open (2004,
// section 3.2: "subtracting off how much of the memory hierarchy latency can be
// overlapped with instructions"). It is the model of intervals between misses,
// after Karkhanis and Smith, "A First-Order Superscalar Processor Model" (ISCA
// 2004):
//
//   - During a miss the core continues until it is Reach instructions ahead; at
//     the pace of the schedule that hides Reach·Cycles/Instructions cycles of
//     the latency.
//   - Misses that begin within the reach of one another overlap: of those that
//     go as far as a level, max(1, Reach·misses/Instructions) at a time, at
//     most outstanding, and one if they are chained.
//
// A miss counts at the last level that it misses in, with the latency from the
// first level on, or, in a stream, with the part of it that prefetching leaves
// exposed. Its weight, among misses that overlap too, is then that part of
// another miss (derived here). TLB misses are serial and fully exposed, those of
// stores too: the instructions that a software refill interrupts do not continue
// meanwhile. With hardware that serves Walks of them while execution continues, they
// are hidden and overlap like other misses, and take Latency/Walks of its time each
// at least (derived here).
//
// Whatever overlaps, memory serves one block every interval cycles, and stores are
// written in their order (see draining): if either takes longer than the schedule
// with all its waits, the difference is added to the wait for the last cache.
func (w *Work) WaitOverlapped(penalties []Penalty, outstanding int, interval float64) []float64 {
	wait := make([]float64, len(penalties))
	if w.Instructions <= 0 {
		return wait
	}
	hidden := w.Reach * w.Cycles / w.Instructions
	latency := 0.0
	for i, p := range penalties {
		if p.TLB {
			wait[i] = w.walks(i, &p, hidden)
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
	w.bandwidth(penalties, wait, max(interval*w.blocks(penalties), w.draining(penalties, outstanding)))
	return wait
}

// walks returns the cycles of waiting for the misses of a TLB.
func (w *Work) walks(level int, p *Penalty, hidden float64) float64 {
	misses := w.Misses[level]
	if p.Walks == 0 {
		return misses * p.Latency
	}
	together := 1.0
	if !w.Chained {
		together = math.Min(math.Max(1, w.Reach*misses/w.Instructions), float64(p.Walks))
	}
	busy := misses*p.Latency/float64(p.Walks) - w.Cycles
	return math.Max(misses*math.Max(0, p.Latency-hidden)/together, busy)
}

// left returns the weight of a level's misses if each of those in streams
// counts for a part of one. Streams have the same share of the misses that go
// further.
func (w *Work) left(level int, part float64) float64 {
	if w.Streams == nil || w.Misses[level] == 0 {
		return 1
	}
	return 1 - w.Streams[level]/w.Misses[level]*(1-part)
}

// bandwidth adds to the wait for the last cache the time by which memory, busy for
// some cycles, is slower than everything else.
func (w *Work) bandwidth(penalties []Penalty, wait []float64, cycles float64) {
	last := lastCache(penalties)
	if last < 0 {
		return
	}
	busy := w.Cycles
	for i := range penalties {
		busy += wait[i]
	}
	wait[last] += math.Max(0, cycles-busy)
}

// lastCache returns the index of the last cache, -1 if there is none.
func lastCache(penalties []Penalty) int {
	last := -1
	for i, p := range penalties {
		if !p.TLB {
			last = i
		}
	}
	return last
}

// blocks returns the blocks that come from memory.
func (w *Work) blocks(penalties []Penalty) float64 {
	last := lastCache(penalties)
	if last < 0 {
		return 0
	}
	blocks := w.Misses[last]
	if len(w.Stores) > 0 {
		blocks += w.Stores[last]
	}
	return blocks
}

// draining returns the cycles in which the store queue is emptied. Stores leave it in
// their order, each when its block has come; the blocks of those behind are under way
// meanwhile. So Stores/Stored of the StoreQueue places, at most outstanding, are for
// different blocks that come at a time (derived here). Without a limited queue it
// returns 0: the time that blocks occupy memory is counted elsewhere.
func (w *Work) draining(penalties []Penalty, outstanding int) float64 {
	if len(w.Stores) == 0 || w.Stored <= 0 || w.StoreQueue <= 0 {
		return 0
	}
	latency, sum := 0.0, 0.0
	for i, p := range penalties {
		if p.TLB {
			break
		}
		latency += p.Latency
		last := w.Stores[i] // of these, those that miss in no further level
		if i+1 < len(penalties) && !penalties[i+1].TLB {
			last = math.Max(0, last-w.Stores[i+1])
		}
		sum += last * latency
	}
	if sum == 0 {
		return 0
	}
	together := math.Min(w.StoreQueue*w.Stores[0]/w.Stored, math.Max(1, float64(outstanding)))
	return sum / math.Max(1, together)
}
