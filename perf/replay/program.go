package replay

import "presage/perf/trace"

// Program is what runs at several sizes have in common: a state machine that
// generates the trace of a run at any size. It can be stored.
type Program struct {
	Sizes []int64 // that it was fitted to, ascending
	Heap  *Heap   // nil: all addresses are real

	Contexts []Context
	Places   []Place // the first is where the program starts
	Bases    []Base
	Series   []Series   // of all coefficients, each once
	Steps    []int64    // what may be sizes of tiles, ascending
	Writers  []PlaceRef // that store numbers of which addresses are computed
}

// Place is a basic block in a calling context.
type Place struct {
	Context int32
	Block   trace.BlockID
	Depth   int    // loops around it, the length of its iteration vectors
	Next    []Next // where control went on to
	Refs    []Ref
	Branch  *Branch  // chooses among several of Next; nil if there is one, or if it is irregular
	Numbers *Numbers // in place of Branch, if it is irregular: how the loop ends
	Chances []float64
	Stays   []float64 // by way: how often the next execution goes there, too
	Forks   bool      // the code has several ways on
	Counts  int32     // executions, in Series
	Most    int64     // the most of them in a run
	Least   int64     // and the fewest, in a run that came there
	Mixed   int       // runs in which control went on in several ways
}

// Next is a way on from a place.
type Next struct {
	Block trace.BlockID // noBlock for the program's end
	To    int32         // place; -1 for the program's end
	Keep  int8          // see step
	Push  int8
	More  bool
	Runs  int // that took it
}

// Ref is a reference of a place.
type Ref struct {
	Base      int32
	Irregular bool // Lo and Hi bound the addresses, or the first ones of Drift
	Drift     *Drift
	Form      Form
	Bend      int8 // 1, -1: the address is the greatest or least of Classes, whatever the Form
	Unsure    bool // which functions these are
	Classes   []Affine
	Jumps     [][]Jump  // by class, with Form.Wraps or Indirect
	Indirect  *Indirect // the functions of Classes are of the vectors at which a number was stored; nil: of the place's own
	Lo, Hi    int32     // relative to Base, in Series
}

// Affine lists the coefficients of an affine function, the constant first, as
// indices in Program.Series; they are in eighths. None if no run had the class.
type Affine []int32

// Branch is the fitted form of a branch.
type Branch struct {
	Split   Split
	Pivot   int8 // or alongSum
	Sum     Split
	Classes []Outcomes
}

// alongSum is a Branch.Pivot: outcomes depend on Branch.Sum in place of an index.
const alongSum = -2

// Outcomes are the ways on as the pivot grows, as indices in Place.Next, and the
// bounds up to which, inclusively, each but the last is taken.
type Outcomes struct {
	Shape  []int32
	Bounds []Bound
}

// Bound is the least, or greatest, of some affine functions.
type Bound struct {
	Greatest bool
	Pieces   []Affine
}

// BaseKind says what addresses are relative to.
type BaseKind uint8

// The kinds of bases.
const (
	Absolute BaseKind = iota // to address 0: what is loaded from the executable
	Stack                    // to the address of the first access outside of the image
	Data                     // to the lowest address of data that overlap: an allocation
	Global                   // the same, in the image, where each size has an executable of its own
)

// Base is what addresses of references are relative to.
type Base struct {
	Kind   BaseKind
	At     int32  // its address, in Series
	Object string // for Global: the variable that begins there; empty: data of no known one

	Anchors []Anchor // of Data, if any: what tells where it lies before it is accessed
}
