package pipeline

// Result is the result of a simulation, in the windows requested.
type Result struct {
	Counts

	// Windows are the counts of each of Options.Windows that began, Pieces
	// those of the pieces of Options.Interval instructions, in order.
	Windows, Pieces []Piece

	// BlockCycles and BlockExecutions are, by trace.BlockID, the cycles
	// attributed to the block by the retirement of its instructions, which sum to
	// Cycles, and how often it was executed.
	BlockCycles, BlockExecutions []uint64

	// BlockMispredicts are the Mispredicts by the block whose end was predicted wrongly.
	BlockMispredicts []uint64

	// Warnings say what makes the result doubtful: executed instructions
	// without a timing, references without an access.
	Warnings []error
}

// Piece is a stretch of the run.
type Piece struct {
	From uint64 // instructions that the program had executed before it
	Counts
}

// Counts are the event counts of a stretch of the run.
type Counts struct {
	Instructions uint64
	Cycles       uint64 // from the retirement of the instruction before the first to that of the last
	Stack        Stack
	Levels       []LevelCounts // of Config.Memory.Levels
	TLBs         []TLBCounts   // of Config.Memory.TLBs

	FetchMisses uint64 // in the instruction cache
	Branches    uint64 // conditional ones
	Transfers   uint64 // ends of blocks whose successor had to be predicted, the Branches among them
	Mispredicts uint64 // of Transfers
	Forwarded   uint64 // loads that got their value from the store queue
}

// CPI returns cycles per instruction, or 0 without instructions.
func (c *Counts) CPI() float64 {
	if c.Instructions == 0 {
		return 0
	}
	return float64(c.Cycles) / float64(c.Instructions)
}

// Stack is a CPI stack: it divides Cycles by what the oldest instruction not yet
// retired was waiting for. Its parts sum to Cycles.
type Stack struct {
	Base uint64 // cycles in which an instruction retired

	Branch     uint64 // the right path was not known
	ICache     uint64 // instructions were awaited
	Frontend   uint64 // fetch and dispatch widths, taken branches
	Latency    uint64 // execution, of what is no load
	Structural uint64 // units, queues, registers, ordering
	TLB        uint64

	// Levels are the cycles in which a load, or the store queue, waited for each
	// of Config.Memory.Levels and, in the last element, memory. They include
	// waits for a busy level or memory, or for an MSHR.
	Levels []uint64
}

// Total returns the sum of the parts.
func (s *Stack) Total() uint64 {
	n := s.Base + s.Branch + s.ICache + s.Frontend + s.Latency + s.Structural + s.TLB
	for _, l := range s.Levels {
		n += l
	}
	return n
}

// LevelCounts are the counts of a cache. Instruction fetches that reach it, and
// prefetches of levels above it, count as accesses; those of Memory.Prefetchers do not,
// and are counted at each level that they missed in.
type LevelCounts struct {
	Accesses, Misses uint64
	Delayed          uint64 // accesses, not misses, to a block that was still under way
	Writebacks       uint64 // dirty blocks evicted
	Prefetches       uint64 // blocks brought in before they were asked for
	PrefetchHits     uint64 // those that were asked for later
	PrefetchDrops    uint64 // prefetches given up for want of an MSHR

	// Late are those of PrefetchHits whose block was still under way, with
	// Memory.Prefetchers, and LateCycles how long these took from then on, each counted
	// at the lowest level that the prefetch missed in. As accesses wait at the same time,
	// it is the most that the program can have waited.
	Late, LateCycles uint64 `json:",omitempty"`
}

// TLBCounts are the counts of a TLB.
type TLBCounts struct{ Accesses, Misses uint64 }

func add(a, b uint64) uint64      { return a + b }
func subtract(a, b uint64) uint64 { return a - b }

func pairwise(a, b []uint64, f func(a, b uint64) uint64) []uint64 {
	out := make([]uint64, len(a))
	for i := range a {
		out[i] = f(a[i], b[i])
	}
	return out
}

// combine applies f to each count of c and o.
func (c Counts) combine(o *Counts, f func(a, b uint64) uint64) Counts {
	out := Counts{
		Instructions: f(c.Instructions, o.Instructions),
		Cycles:       f(c.Cycles, o.Cycles),
		FetchMisses:  f(c.FetchMisses, o.FetchMisses),
		Branches:     f(c.Branches, o.Branches),
		Transfers:    f(c.Transfers, o.Transfers),
		Mispredicts:  f(c.Mispredicts, o.Mispredicts),
		Forwarded:    f(c.Forwarded, o.Forwarded),
		Stack: Stack{
			Base:       f(c.Stack.Base, o.Stack.Base),
			Branch:     f(c.Stack.Branch, o.Stack.Branch),
			ICache:     f(c.Stack.ICache, o.Stack.ICache),
			Frontend:   f(c.Stack.Frontend, o.Stack.Frontend),
			Latency:    f(c.Stack.Latency, o.Stack.Latency),
			Structural: f(c.Stack.Structural, o.Stack.Structural),
			TLB:        f(c.Stack.TLB, o.Stack.TLB),
			Levels:     pairwise(c.Stack.Levels, o.Stack.Levels, f),
		},
	}
	for i, a := range c.Levels {
		b := o.Levels[i]
		out.Levels = append(out.Levels, LevelCounts{
			Accesses: f(a.Accesses, b.Accesses), Misses: f(a.Misses, b.Misses), Delayed: f(a.Delayed, b.Delayed),
			Writebacks: f(a.Writebacks, b.Writebacks), Prefetches: f(a.Prefetches, b.Prefetches),
			PrefetchHits: f(a.PrefetchHits, b.PrefetchHits), PrefetchDrops: f(a.PrefetchDrops, b.PrefetchDrops),
			Late: f(a.Late, b.Late), LateCycles: f(a.LateCycles, b.LateCycles),
		})
	}
	for i, a := range c.TLBs {
		out.TLBs = append(out.TLBs, TLBCounts{f(a.Accesses, o.TLBs[i].Accesses), f(a.Misses, o.TLBs[i].Misses)})
	}
	return out
}
