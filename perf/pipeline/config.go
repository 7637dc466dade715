package pipeline

import (
	"presage/perf/cache"
	"presage/perf/isa"
	"presage/perf/trace"
)

// Config describes a processor and its memory hierarchy. Times are in cycles. A
// width, size or interval of 0 means no limit, unless stated otherwise; Check
// enforces what must be given.
type Config struct {
	// InOrder makes instructions begin in program order: one that cannot begin
	// holds up those after it. Its result may still be awaited when they begin.
	InOrder bool

	// OrderedCompletion makes an instruction begin only when it will complete no
	// earlier than those before it, so that results are written in program
	// order. In order only.
	OrderedCompletion bool

	// Instructions a cycle that are fetched; decoded and renamed; that begin to
	// execute; and that retire.
	FetchWidth, DispatchWidth, IssueWidth, RetireWidth int

	// FetchBuffer is how many instructions may have been fetched and not yet
	// dispatched.
	FetchBuffer int

	// TakenPerCycle is one plus the number of taken branches that fetch can follow
	// within a cycle: with 1, the target of a taken branch is fetched in the next
	// cycle.
	TakenPerCycle int

	// Window is the size of the reorder buffer: how many instructions may have
	// been dispatched and not retired. It must be given.
	Window int

	// Queues hold instructions until they begin to execute. A class in none of
	// them is not limited by a queue.
	Queues []Queue

	// LoadQueue holds loads from dispatch until they retire, StoreQueue stores
	// until they are in the cache. 0: as many as Window.
	LoadQueue, StoreQueue int

	// Physical registers of each kind, including those that hold the
	// architectural state.
	IntRegisters, FloatRegisters int

	Units   []Unit
	Timings map[isa.Class]Timing
	Branch  Branch
	ICache  ICache
	Memory  Memory
}

// Queue is an issue queue (a scheduler, reservation stations) with the classes
// that wait in it.
type Queue struct {
	Name    string
	Entries int // at least 1
	Classes []isa.Class
}

// Unit is a kind of functional unit, or an issue port that several kinds share,
// and how many of it there are.
type Unit struct {
	Name  string
	Count int
}

// Timing is the cost of an instruction of a class.
type Timing struct {
	// Latency is the time from the beginning of an instruction to the earliest
	// beginning of one that needs its result; for a load, if it hits in the first
	// level of cache that it accesses; for a branch, until it is resolved.
	Latency int

	// Uses are all needed in the cycle in which the instruction begins.
	Uses []Use

	// Serializes says that the instruction is dispatched only when all older
	// ones have retired, and younger ones only when it has.
	Serializes bool
}

// Use occupies one unit, of any of the kinds named, for some cycles: the repeat
// rate, 1 for a pipelined unit.
type Use struct {
	AnyOf  []string
	Cycles int
}

// Predictor is the predictor of the directions of conditional branches.
type Predictor uint8

const (
	// Perfect prediction is always right, for every transfer of control.
	Perfect Predictor = iota
	// Static prediction: taken exactly if the branch leads backward.
	Static
	// Bimodal prediction: a table of 2-bit counters indexed by address.
	Bimodal
	// Gshare is Bimodal with the index's low bits combined (exclusive or) with
	// the latest directions of all branches.
	Gshare
	// TAGE prediction: tagged tables by geometric lengths of history (see tage).
	TAGE
)

func (p Predictor) String() string {
	switch p {
	case Perfect:
		return "perfect"
	case Static:
		return "static"
	case Bimodal:
		return "bimodal"
	case Gshare:
		return "gshare"
	case TAGE:
		return "tage"
	}
	return "unknown predictor"
}

// Branch describes the prediction of transfers of control, and its costs.
type Branch struct {
	Predictor   Predictor
	Entries     int // counters of the table, or of TAGE entries of each of twelve; a power of two
	HistoryBits int // directions that Gshare combines, at most 32; the most that TAGE does, at most 4096 (0: 640)

	// Penalty is the time from the completion of a mispredicted branch to the
	// earliest beginning of an instruction on the right path.
	Penalty int

	// TakenBubble is the number of cycles without fetch after a correctly
	// predicted taken branch, in addition to the effect of TakenPerCycle.
	TakenBubble int

	// ReturnStack is the number of entries of the return-address stack; Targets
	// the number of entries of the table of the last targets of indirect jumps and
	// calls, indexed by address modulo this number. 0: perfect prediction.
	ReturnStack, Targets int
}

// ICache is the instruction cache. The zero ICache always hits.
type ICache struct {
	Blocks, BlockBytes uint64
	Ways               int // 0: fully associative

	// Next is the index in Memory.Levels of the level that misses go to, which
	// may be its length, for memory. The fetch waits for that level's latency.
	Next int

	// NextLine fetches, with each block that misses, the one after it too.
	NextLine bool
}

// Memory is the memory hierarchy for data. Without Levels every access takes the
// latency of its class.
type Memory struct {
	Levels []Level // from the processor to memory
	TLBs   []TLB   // a TLB after the first sees what misses in the one before

	// Latency is that of a load from memory without contention. Interval is how
	// long memory is busy with reading a block, so that one of a stream of misses
	// is served every Interval cycles; WriteInterval is the same for a write-back.
	Latency                 int
	Interval, WriteInterval int

	// Ports is the number of accesses per cycle to the first level: loads when
	// they begin and stores when they are written. StoresPerCycle limits the
	// latter.
	Ports, StoresPerCycle int

	// ForwardLatency is the latency of a load that gets its value from a store
	// in the store queue, instead of its class's.
	ForwardLatency int

	// Conservative makes a load wait until the addresses of all older stores are
	// known. Otherwise it waits only for stores whose value it needs: memory
	// dependences are predicted perfectly.
	Conservative bool

	Prefetch Prefetch

	// Prefetchers are those of package cache, which each access of the program shows
	// what it asks for; instead of Prefetch. They fetch at the time of the access that
	// they answer, if the level that they fetch into has an MSHR free.
	Prefetchers []cache.Prefetcher `json:",omitempty"`
}

// Level is a cache, with LRU replacement.
type Level struct {
	Name       string
	Blocks     uint64 // capacity
	BlockBytes uint64 // a power of two, at least that of the level above
	Ways       int    // 0: fully associative

	// Latency is the total latency of a load that hits here, greater than that of
	// the level above. The difference is added to the load's latency.
	Latency int

	MSHRs    int // misses of this level that may be under way at once
	Interval int // how long the level is busy with a block for the level above

	// StreamInterval is Interval for blocks of a stream, where outcomes are given: what is
	// read in order. It counts where it is more than Interval.
	StreamInterval int `json:",omitempty"`

	WriteThrough    bool // stores go on to the next level at once
	NoWriteAllocate bool // a store that misses goes on without bringing the block in
	BypassFloat     bool // accesses to floating-point data pass by
}

// TLB is a translation buffer for data, with LRU replacement.
type TLB struct {
	Name        string
	Entries     uint64
	EntryBytes  uint64 // memory that an entry maps, a power of two
	Ways        int    // 0: fully associative
	MissPenalty int    // by which a miss here delays the access
	BypassFloat bool   // accesses to floating-point data pass by

	// Trap says that software handles a miss: the instructions after the access
	// are fetched when the penalty is over.
	Trap bool
}

// Prefetch brings blocks in before they are requested. The zero Prefetch does
// nothing.
type Prefetch struct {
	// Degree is how many blocks ahead are fetched; 0: no prefetching.
	Degree int
	// Level is the index in Memory.Levels of the level that the prefetcher fills,
	// and whose misses and first uses of prefetched blocks trigger it.
	Level int
	// Streams is how many sequences of blocks, upward or downward, are tracked at
	// once, each from its second block on; 0: the next blocks are fetched
	// regardless of history.
	Streams int
}

// Options say which parts of a run are simulated. The zero Options simulate all of
// it.
type Options struct {
	// Windows are the stretches to count, ascending and disjoint; none:
	// everything. They begin and end with the first block that begins at or after
	// their bounds. For a run recorded in windows leave it empty.
	Windows []Window

	// Warmup is how many instructions before each window are simulated and not
	// counted.
	Warmup uint64

	// WarmCaches updates caches, TLBs and branch predictors between windows
	// (functional warming), which takes much less time than timing simulation.
	// Otherwise they are left unchanged.
	WarmCaches bool

	// Interval is the length, in instructions, of the pieces of each window that
	// are reported separately; 0: none. A piece ends with the first block that
	// completes it.
	Interval uint64
}

// Window is a stretch of a run, from one count of executed instructions, as
// trace.Batch.Start counts them, up to another.
type Window = trace.Window
