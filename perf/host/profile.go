package host

import (
	"math"
	"time"

	"presage/perf/isa"
)

// Profile holds the measurements of a machine. Times are in nanoseconds of wall
// clock, for a single load or operation.
type Profile struct {
	Processor   string // as the operating system names it, else the architecture
	System      string // GOOS/GOARCH
	Processors  int    // that this process may use
	Virtual     bool   // a hypervisor is known to be there
	Began       time.Time
	Took        time.Duration
	PageBytes   uint64 // of ordinary pages
	HugePages   bool   // huge pages were asked for and granted
	LineBytes   uint64
	Cycle       Sample     // an addition that depends on the one before
	Geometry    []Geometry // what the system says
	Latencies   []Latency  // in ordinary pages, then in huge ones
	Levels      []Level
	MemoryNs    Sample // load latency of the largest working sets
	StreamNs    Sample // of the largest one, if its lines are read in ascending order
	Pages       []Paged
	TLBs        []Reach
	Walks       int // misses of TLBs that were served at a time, at most; 0: not more than one
	Bandwidths  []Bandwidth
	Parallel    []Parallel
	Outstanding float64 // misses to memory that were under way at once, at most
	Operations  []Operation
	Mixes       []Mix
	MixNs       Sample // of an instruction of a mix for many units
	Mispredict  Sample // of a branch, beyond what a right guess costs
	Loops       []Loop
	LoopReach   int // iterations of loops whose end was seen to be foreseen; 1: none, 0: not found
	LoopHi      int // of one whose end was seen not to be; 0: none so long was tried
	Patterns    []Pattern
	// PatternReach is the number of directions of the longest pattern that was seen to be
	// learned, 0: none; PatternHi that of one that was not, 0: none so long was tried.
	PatternReach, PatternHi int
	Windows                 []Window
	InOrder                 bool // no load was under way while the core waited for another
	WindowLo                int  // instructions that were seen to fit into the window; 0: not found
	WindowHi                int  // instructions that do not fit; 0: none that large was tried
	Warnings                []string
}

// GHz returns the observed clock frequency, assuming that a dependent addition
// takes a cycle.
func (p *Profile) GHz() float64 { return 1 / p.Cycle.Min }

// IssueWidth returns the instructions per cycle of a mix for many units, or 0
// if it was not measured.
func (p *Profile) IssueWidth() float64 {
	if p.MixNs.Min == 0 {
		return 0
	}
	return p.Cycle.Min / p.MixNs.Min
}

// Cycles converts ns to cycles.
func (p *Profile) Cycles(ns float64) float64 { return ns / p.Cycle.Min }

// Latency is a point of the curve of load latency.
type Latency struct {
	Huge  bool   // in huge pages
	Bytes uint64 // working set
	Load  Sample
}

// Level is a cache. Values that the system does not report are 0.
type Level struct {
	Name     string // L1D, L2, L3
	Geometry Geometry
	// DetectedLo and DetectedHi bound the capacity seen in the curve: the last
	// working set that fits and the first that does not. 0: no step.
	DetectedLo, DetectedHi uint64
	Load                   Sample // of a load that hits
}

// share returns what a working set has of the cache: what the system says or, if the
// curve leaves the cache well before that, the capacity that the curve shows.
func (l *Level) share() uint64 {
	g := &l.Geometry
	if l.DetectedHi == 0 || matchFactor*math.Sqrt(float64(l.DetectedLo)*float64(l.DetectedHi)) >= float64(g.Capacity) {
		return g.Capacity
	}
	unit := g.LineBytes * max(1, uint64(g.Ways))
	return max(1, roundest(l.DetectedLo, l.DetectedHi)/unit) * unit
}

// Paged is a point of the curve that reveals the TLBs: loads of lines in a page
// each, and in as few pages as hold them.
type Paged struct {
	Pages         int
	Sparse, Dense Sample
}

// Reach is a TLB: a step in the difference between Sparse and Dense.
type Reach struct {
	Lo, Hi  int     // pages: the most that are mapped, the fewest that are not
	Penalty float64 // ns that a miss costs, beyond one in the TLB before it
	// Rising means that the cost rises with the number of pages, as page tables
	// drop out of the caches, and Penalty is its median.
	Rising bool
}

// Bandwidth is the speed at which one core moves data.
type Bandwidth struct {
	Kind  string // read, by the widest instructions of this package; copy, of which each byte is read and written
	Bytes uint64 // working set
	Byte  Sample // ns
}

// BytesPerSec returns the highest rate observed.
func (b *Bandwidth) BytesPerSec() float64 { return 1e9 / b.Byte.Min }

// Parallel is the time of a load from memory with a number of them in flight.
type Parallel struct {
	Chains int
	Load   Sample
}

// Operation is the cost of instructions of a class. A time that was not
// measured is 0: loads, stores and branches have no chains.
type Operation struct {
	Class      isa.Class
	Latency    Sample // of each of a chain of dependent ones
	Reciprocal Sample // of each of many that do not depend on each other
}

// Mix shows whether two classes share units: a pair takes as long as both if
// they do, and as long as the slower one if not.
type Mix struct {
	A, B isa.Class
	Pair Sample
}

// Loop is the time of a loop with a fixed number of iterations.
type Loop struct {
	Iterations int
	Execution  Sample // of all of them
	// Ends is the part of it that as many iterations of an endless loop do not
	// take, which was measured in turn with it.
	Ends Sample
}

// Window is the time of a pair of independent loads from memory with a number
// of instructions between them, and of these instructions alone.
type Window struct {
	Instructions int
	Pair, Filler Sample
}
