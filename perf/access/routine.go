package access

import (
	"math/bits"

	"presage/perf/cfg"
	"presage/perf/isa"
)

// routineAnalysis finds the formulas of a routine.
type routineAnalysis struct {
	convention
	r            *cfg.Routine
	slots        *slots
	statics      *statics
	changedCells map[location]bool

	symbols    []symbol
	known      map[symbolKey]symbolID
	operations map[string]symbolID
	same       map[symbolID]linear // phis that turned out not to be loop variables
	results    map[point]linear
	starts     map[blockPlace]linear
	at         point // being computed, to name operations after
	buffer     []byte

	headers  []int32      // by block: the loop it is the header of, or -1
	lastDefs [][]int32    // by block and register: index of the last instruction that may change it, or -1
	anywhere isa.RegSet   // changed in the routine
	inLoops  []isa.RegSet // by loop: changed in it
	isEntry  []bool       // by block: a secondary entry

	settlings    map[symbolID]settling
	left         map[symbolLoop]linear
	begun        map[beginKey]linear
	unifieds     map[symbolID]linear
	phisUnderWay int
	pending      []symbolID          // phis that may turn out not to be loop variables
	loaded       map[string]symbolID // by address: the first load from there
	bases        map[string]int

	changes  map[symbolLoop]change
	changing map[symbolLoop]bool
	firsts   map[symbolID]linear
	trips    map[int]tripCount
	stores   map[int]map[string]bool // by loop: addresses stored to
	cold     []bool                  // by block: the routine does not return from there
}

// analysisRounds bounds how often a routine is analysed again because stores turn
// out to be to tracked cells.
const analysisRounds = 3

// analyseRoutine returns the analysis of a routine in which all stores to cells
// are known as such.
func analyseRoutine(c convention, r *cfg.Routine, s *slots, globals *statics) *routineAnalysis {
	a := newRoutineAnalysis(c, r, s, globals)
	for round := 1; round < analysisRounds && a.findStores(); round++ {
		a = newRoutineAnalysis(c, r, s, globals)
	}
	return a
}

// findStores records the stores whose addresses turned out to be cells, and
// reports whether there were any.
func (a *routineAnalysis) findStores() (more bool) {
	for b := range a.r.Blocks {
		if a.slots.operands[b] == nil {
			continue
		}
		for i := range a.r.Blocks[b].Insts {
			for k, m := range a.r.Blocks[b].Insts[i].Mems() {
				if !m.Kind.Writes() || a.slots.operand(b, i, k).size > 0 {
					continue
				}
				if at, ok := a.cellAt(a.settled(a.address(b, i, k)), m.Size); ok {
					a.slots.add(b, i, k, at)
					more = true
				}
			}
		}
	}
	return more
}

func newRoutineAnalysis(c convention, r *cfg.Routine, s *slots, globals *statics) *routineAnalysis {
	a := &routineAnalysis{
		convention: c, r: r, slots: s, statics: globals, changedCells: make(map[location]bool),
		symbols: make([]symbol, 1), // no symbol is 0
		known:   make(map[symbolKey]symbolID), operations: make(map[string]symbolID), same: make(map[symbolID]linear),
		results: make(map[point]linear), starts: make(map[blockPlace]linear),
		headers: make([]int32, len(r.Blocks)), lastDefs: make([][]int32, len(r.Blocks)), isEntry: make([]bool, len(r.Blocks)),
		inLoops:   make([]isa.RegSet, len(r.Loops)),
		settlings: make(map[symbolID]settling), left: make(map[symbolLoop]linear), begun: make(map[beginKey]linear),
		unifieds: make(map[symbolID]linear), loaded: make(map[string]symbolID), bases: make(map[string]int),
		changes: make(map[symbolLoop]change), changing: make(map[symbolLoop]bool), firsts: make(map[symbolID]linear),
		trips: make(map[int]tripCount), stores: make(map[int]map[string]bool),
	}
	for b := range a.headers {
		a.headers[b] = -1
	}
	for l := range r.Loops {
		a.headers[r.Loops[l].Header] = int32(l)
	}
	for i, b := range r.Entries {
		a.isEntry[b] = i > 0
	}
	n := len(c.target.IntegerNames)
	flat := make([]int32, n*len(r.Blocks))
	for b := range r.Blocks {
		a.lastDefs[b], flat = flat[:n:n], flat[n:]
		a.noteDefs(b)
	}
	a.cold = r.Cold()
	return a
}

// noteDefs records the locations that block b changes.
func (a *routineAnalysis) noteDefs(b int) {
	last := a.lastDefs[b]
	for x := range last {
		last[x] = -1
	}
	var all isa.RegSet
	known := isa.RegSet(1)<<len(last) - 1
	for i := range a.r.Blocks[b].Insts {
		s := a.defs(&a.r.Blocks[b].Insts[i]) & known
		all |= s
		for ; s != 0; s &= s - 1 {
			last[bits.TrailingZeros64(uint64(s))] = int32(i)
		}
	}
	a.anywhere |= all
	for l := a.r.Blocks[b].Loop; l >= 0; l = a.r.Loops[l].Parent {
		a.inLoops[l] |= all
	}
}

// defs returns the integer registers that an instruction may change.
func (a *routineAnalysis) defs(in *isa.Inst) isa.RegSet {
	s := isa.SetOf(in.Defs()...)
	if in.Class == isa.Call || in.Class == isa.SystemCall {
		s |= a.convention.changes(in)
	}
	return s
}
