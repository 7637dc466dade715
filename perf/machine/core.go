package machine

import "presage/perf/isa"

// Core is a processor core as a scheduler sees it. The zero Core stands for one
// that is not described; a width, a size or a latency of 0 is not known.
type Core struct {
	InOrder bool // instructions begin to execute in program order

	// Instructions a cycle that are fetched and decoded, that begin to execute,
	// and that retire.
	FetchWidth, IssueWidth, RetireWidth int

	// Window is how many instructions may have been decoded and not retired: the
	// reorder buffer. Queues are where they wait for their operands; LoadQueue
	// and StoreQueue hold memory operations until they retire.
	Window                int
	Queues                []Queue
	LoadQueue, StoreQueue int

	// Registers that hold results, the architectural ones among them.
	IntRegisters, FloatRegisters int

	Units   []Unit
	Classes map[isa.Class]Timing
	// FallsBack are the classes that the description does not time, each with
	// the class whose timing stands for it in Classes. Illegal instructions, and
	// vector ones that are not described, have no timing at all.
	FallsBack map[isa.Class]isa.Class
	Branch    Branch

	Source []string
}

// Queue is an issue queue (a scheduler, reservation stations) with the classes
// of instructions that wait in it.
type Queue struct {
	Name    string
	Entries int
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
	// Latency is the time after which an instruction that depends on the result
	// may begin; of a load, when it hits in the first level of cache.
	Latency Cycles
	// Uses are all needed, in the cycle in which the instruction begins.
	Uses []Use
}

// Use occupies one unit, of any of the kinds named, for some cycles: the repeat
// rate, 1 for a pipelined unit.
type Use struct {
	AnyOf  []string
	Cycles Cycles
}

// Branch is how a core predicts branches, and what a wrong prediction costs.
type Branch struct {
	Predictor   string // "bimodal", "gshare", "static", or "perfect"
	Entries     int    // counters of its table
	HistoryBits int    // of a gshare predictor
	// LoopReach is up to how many iterations loops have their end foreseen, if
	// they have the same number each time; 1: the end of none is. It is what a
	// predictor was seen to do, however it does it, and goes before HistoryBits.
	LoopReach      int
	MispredictCost Cycles
}

// Exposure is the share of a latency that execution waits for, where other work
// hides the rest (2004 paper, section 3.2).
type Exposure struct {
	Level string // name of the cache that is missed; MemoryLevel for the last, TLBLevel for all TLBs
	Share float64

	Source []string
}
