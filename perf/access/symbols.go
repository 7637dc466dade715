package access

import (
	"presage/perf/isa"
)

// location is where a value is kept: a register, or a memory cell whose address is
// known relative to the value of one register at the routine's entry.
type location struct {
	memory bool
	size   uint8   // bytes, of a cell
	reg    isa.Reg // the register; of a cell the one its address is relative to, isa.NoReg: absolute
	offset int64
}

func register(r isa.Reg) location { return location{reg: r} }

// overlaps reports whether two cells, relative to the same register, share a
// byte.
func (l location) overlaps(o location) bool {
	return l.reg == o.reg && l.offset < o.offset+int64(o.size) && o.offset < l.offset+int64(l.size)
}

// within reports whether cell l is the leading part of cell o, so that a load of l
// yields the value last stored to o.
func (l location) within(o location) bool {
	return l.reg == o.reg && l.offset == o.offset && l.size <= o.size
}

// kind is what a symbol of the analysis stands for.
type kind uint8

const (
	atEntry     kind = iota // a location's content when the routine begins
	aPhi                    // a location's content when the header of a loop that changes it begins
	aMerge                  // a location's content where paths meet that leave different values
	anOperation             // an operation on sums that gives no sum
	aLoad                   // what a load from an undetermined address gives
	aCall                   // what a call leaves in a location
	anUnknown               // any other result
	anExit                  // the content of another symbol once a loop is left
)

// symbol is an unknown value in a linear.
type symbol struct {
	kind  kind
	block int32 // aPhi: the header
	inst  int32 // index in the block
	place location

	value isa.Value // anOperation, and its operands:
	x, y  linear    // aLoad: x is the address

	loop  int      // aPhi, anExit
	of    symbolID // anExit
	start linear   // aPhi: the content when the loop is entered
	next  linear   // aPhi: the content when an iteration ends
	open  bool     // aPhi: start and next are not known yet, or there is no single next
	paths []linear // aMerge: what comes together; aPhi: what iterations end with
}

// symbolKey identifies symbols that are not operations.
type symbolKey struct {
	kind  kind
	block int32
	inst  int32
	place location
	of    symbolID
	loop  int
}

// point is an instruction of the routine, and the register of interest.
type point struct {
	block, inst int32
	reg         isa.Reg
}

type blockPlace struct {
	block int32
	place location
}

// settling caches a settled symbol, valid while the number of phis known not to
// be loop variables is the same.
type settling struct {
	known   int
	value   linear
	differs bool
}

type symbolLoop struct {
	symbol symbolID
	loop   int
}

type beginKey struct {
	symbolLoop
	own bool
}

func (a *routineAnalysis) newSymbol(s symbol) symbolID {
	a.symbols = append(a.symbols, s)
	return symbolID(len(a.symbols) - 1)
}

// symbolFor returns the symbol with a key, made on first use.
func (a *routineAnalysis) symbolFor(k symbolKey) symbolID {
	if s, ok := a.known[k]; ok {
		return s
	}
	s := a.newSymbol(symbol{kind: k.kind, block: k.block, inst: k.inst, place: k.place, of: k.of, loop: k.loop})
	a.known[k] = s
	return s
}
