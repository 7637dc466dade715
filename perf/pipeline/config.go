package pipeline

import (
	"presage/perf/isa"
	"presage/perf/trace"
)

// Config is a processor with its memory as the simulator sees it. Times are in
// cycles. A width, a size or an interval of 0 is no limit, except where it says
// otherwise; Check says what must be given.
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

	// TakenPerCycle is how many taken branches a cycle's fetch goes beyond, plus
	// one: with 1, what a taken branch leads to is fetched in the next cycle.
	TakenPerCycle int

	// Window is how many instructions may have been dispatched and not retired:
	// the reorder buffer. It must be given.
	Window int

	// Queues are where instructions wait until they begin to execute. A class
	// that is in none does not wait in a queue of limited size.
	Queues []Queue

	// LoadQueue holds loads from dispatch until they retire, StoreQueue stores
	// until they are in the cache. 0: as many as Window.
	LoadQueue, StoreQueue int

	// Registers of each kind, those that hold the architectural state among
	// them.
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

// Timing is what an instruction of a class costs.
type Timing struct {
	// Latency is the time from an instruction's beginning to that of one that
	// needs its result; of a load, when it hits in the level of cache that it
	// asks first. Of a branch, until it is known where it goes.
	Latency int

	// Uses are all needed in the cycle in which the instruction begins.
	Uses []Use

	// Serializes: the instruction is dispatched when all before it have
	// retired, and those after it are dispatched when it has.
	Serializes bool
}

// Use occupies one unit, of any of the kinds named, for some cycles: the repeat
// rate, 1 for a pipelined unit.
type Use struct {
	AnyOf  []string
	Cycles int
}

// Predictor is how the directions of conditional branches are predicted.
type Predictor uint8

const (
	// Perfect prediction is always right, of every transfer of control.
	Perfect Predictor = iota
	// Static prediction: taken exactly if the branch leads backward.
	Static
	// Bimodal prediction: a table of 2-bit counters indexed by address.
	Bimodal
	// Gshare is Bimodal with the index's low bits combined (exclusive or) with
	// the latest directions of all branches.
	Gshare
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
	}
	return "unknown predictor"
}

// Branch is how transfers of control are predicted, and what that costs.
type Branch struct {
	Predictor   Predictor
	Entries     int // counters of the table, a power of two
	HistoryBits int // directions that Gshare combines, at most 32

	// Penalty is the time from when a wrongly predicted branch completes to
	// when an instruction of the right path can begin at the earliest.
	Penalty int

	// TakenBubble is how many cycles nothing is fetched after a taken branch
	// that was rightly predicted, beside what TakenPerCycle costs.
	TakenBubble int

	// ReturnStack is how many return addresses are remembered, the latest ones;
	// Targets how many indirect jumps and calls have their last target
	// remembered, by address modulo the number. 0: predicted rightly.
	ReturnStack, Targets int
}

// ICache is the cache that instructions are fetched through. The zero ICache
// always hits.
type ICache struct {
	Blocks, BlockBytes uint64
	Ways               int // 0: fully associative

	// Next is the index in Memory.Levels of the level that misses go to, which
	// may be its length, for memory. The fetch waits for that level's latency.
	Next int

	// NextLine fetches, with each block that misses, the one after it too.
	NextLine bool
}

// Memory is the way of data. Without Levels every access takes the latency of
// its class.
type Memory struct {
	Levels []Level // from the processor to memory
	TLBs   []TLB   // a TLB after the first sees what misses in the one before

	// Latency is that of a load that comes from memory while nothing else
	// waits. Interval is how long memory is busy with a block that it reads,
	// so that of a stream of misses one is served every Interval cycles;
	// WriteInterval the same for a block written back.
	Latency                 int
	Interval, WriteInterval int

	// Ports is how many accesses the first level takes a cycle: loads as they
	// begin and stores as they are written. StoresPerCycle limits the latter.
	Ports, StoresPerCycle int

	// ForwardLatency is the latency of a load that gets its value from a store
	// in the store queue, instead of its class's.
	ForwardLatency int

	// Conservative makes a load wait until the addresses of all stores before
	// it are known. Else it waits for those whose value it needs: dependences
	// through memory are predicted perfectly.
	Conservative bool

	Prefetch Prefetch
}

// Level is a cache, with LRU replacement.
type Level struct {
	Name       string
	Blocks     uint64 // capacity
	BlockBytes uint64 // a power of two, at least that of the level above
	Ways       int    // 0: fully associative

	// Latency is that of a load that hits here: what it takes in all, more than
	// that of the level above. How much more is added to the load's latency.
	Latency int

	MSHRs    int // misses of this level that may be under way at once
	Interval int // how long the level is busy with a block for the level above

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

	// Trap: a miss is handled by software. What comes after the access is
	// fetched when the penalty is over.
	Trap bool
}

// Prefetch brings blocks in before they are asked for. The zero Prefetch does
// nothing.
type Prefetch struct {
	// Degree is how many blocks ahead are fetched; 0: no prefetching.
	Degree int
	// Level is the index in Memory.Levels of the level whose misses, and first
	// uses of prefetched blocks, make the prefetcher fetch, and that it fills.
	Level int
	// Streams is how many sequences of blocks, upward or downward, are followed
	// at once, each from its second block on; 0: the next blocks are fetched
	// whatever came before.
	Streams int
}

// Options say what is simulated of a run. The zero Options are all of it.
type Options struct {
	// Windows are the stretches that are counted, ascending and disjoint; none:
	// everything. They begin and end with the first block that begins at or
	// after their bounds. A run recorded in windows takes none here.
	Windows []Window

	// Warmup is how many instructions before each window are simulated and not
	// counted.
	Warmup uint64

	// WarmCaches lets what lies between windows pass through caches, TLBs and
	// branch predictors, which costs much less time than its simulation. Else
	// they stay as they are.
	WarmCaches bool

	// Interval is the length, in instructions, of the pieces of each window
	// that are reported one by one; 0: none. A piece ends with the first block
	// that completes it.
	Interval uint64
}

// Window is a stretch of a run, from one count of executed instructions, as
// trace.Batch.Start counts them, up to another.
type Window = trace.Window
