package machine

import "presage/perf/isa"

// Core is a processor core as a scheduler sees it. The zero Core is not
// described; a width, a size or a latency of 0 is not known.
type Core struct {
	InOrder bool // instructions begin to execute in program order

	// Instructions per cycle that are fetched and decoded, begin to execute,
	// and retire.
	FetchWidth, IssueWidth, RetireWidth int

	// Window is the number of instructions decoded but not retired: the reorder
	// buffer. Instructions wait for operands in Queues; LoadQueue and
	// StoreQueue hold memory operations until they retire.
	Window                int
	Queues                []Queue
	LoadQueue, StoreQueue int

	// Registers for results, including the architectural ones.
	IntRegisters, FloatRegisters int

	Units   []Unit
	Classes map[isa.Class]Timing
	// FallsBack maps each class without a timing in the description to the
	// class whose timing it uses in Classes. Illegal instructions, and vector
	// ones that are not described, have no timing at all.
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

// Unit is a kind of functional unit, or an issue port shared by several kinds,
// and their number.
type Unit struct {
	Name  string
	Count int
}

// Timing is the cost of an instruction of a class.
type Timing struct {
	// Latency is the time after which an instruction that depends on the result
	// may begin; of a load, when it hits in the first level of cache.
	Latency Cycles
	// Uses are all required in the cycle in which the instruction begins.
	Uses []Use
}

// Use occupies one unit, of any of the named kinds, for a number of cycles: the
// repeat rate, 1 for a pipelined unit.
type Use struct {
	AnyOf  []string
	Cycles Cycles
}

// Branch is the branch prediction of a core, and the cost of a misprediction.
type Branch struct {
	Predictor   string // "bimodal", "gshare", "tage", "static", or "perfect"
	Entries     int    // counters of its table; of a tage predictor entries of each of its tables
	HistoryBits int    // of a gshare predictor, or of the longest history of a tage predictor
	// LoopReach is the largest fixed number of iterations of a loop whose end
	// is predicted; 1: none is. It is an observed property of the predictor,
	// and takes precedence over HistoryBits.
	LoopReach int
	// PatternReach is the length of the longest pattern of directions, drawn at random,
	// that a tage predictor learns if a branch follows it again and again. It is an
	// observed property, too, and stands for Entries where these are not known.
	PatternReach   int
	MispredictCost Cycles
}

// Exposure is the exposed share of a latency, the rest being hidden by other
// work (2004 paper, section 3.2).
type Exposure struct {
	Level string // name of the cache that is missed; MemoryLevel for the last, TLBLevel for all TLBs
	Share float64

	Source []string
}
