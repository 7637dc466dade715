package access

import (
	"slices"

	"presage/perf/isa"
	"presage/perf/trace"
)

// Checker compares the stride formulas with the addresses of a run. It tracks the
// loops of every activation of every routine through the executed blocks. For
// each reference and each loop that contains it, it compares the addresses of the
// first executions in consecutive iterations, with all loops in between in their
// first iteration.
//
// A constant stride must equal the difference. For a symbolic stride the
// difference must stay the same throughout one execution of the loop, and be in
// proportion for formulas that are multiples of each other; the first difference
// determines the value of the symbols, and is not counted.
//
// The run must use the Checker's own Plan, and the Checker must see every batch.
type Checker struct {
	analysis *Analysis
	records  func(*Reference) bool // of which references; nil: of all
	plan     trace.Plan
	blocks   []checkedBlock // by trace.BlockID
	refs     []checkedRef   // by trace.RefID
	loops    [][]loopTable  // by routine and loop
	threads  map[int32]*checkedThread

	unaligned uint64
}

// checkedBlock is a block of the plan.
type checkedBlock struct {
	routine, block int
	first          trace.RefID // of its references
	refs           int
	fixed          int   // of refs, those with one access per execution
	chain          []int // loops that hold it, from the outermost in
	header         bool  // of the innermost
}

// checkedRef is a reference of the plan.
type checkedRef struct {
	index      int // in Analysis.All
	executions uint64
	levels     []level // from the innermost loop out
}

type level struct {
	loop            int
	slot            int // in the loop's records
	check           bool
	number          int64 // of a stride without symbols
	class           int   // of a stride with symbols: its multiples; -1 if there are none
	scale           ratio // how many times the class's
	agree, disagree uint64
	steps           *frequent // of a StrideObserver, where there is no formula; nil otherwise
}

// loopTable is what is the same for all executions of a loop.
type loopTable struct {
	records int            // references in it
	classes map[string]int // of symbolic strides
	free    []*execution
}

// NewChecker returns a Checker for the program of an analysis.
func NewChecker(a *Analysis) *Checker { return newFollower(a, nil) }

// newFollower returns a Checker that, with a function, follows only the references for
// which it returns true, and counts their steps where they have no formula.
func newFollower(a *Analysis, records func(*Reference) bool) *Checker {
	c := &Checker{analysis: a, records: records, threads: make(map[int32]*checkedThread)}
	at := a.byPC()
	c.loops = make([][]loopTable, len(a.Program.Routines))
	for n, r := range a.Program.Routines {
		c.loops[n] = make([]loopTable, len(r.Loops))
		for b := range r.Blocks {
			c.addBlock(n, b, at)
		}
	}
	return c
}

// Plan returns what the run must record: all blocks of the control-flow graphs,
// and all references in them.
func (c *Checker) Plan() *trace.Plan { return &c.plan }

func (c *Checker) addBlock(routine, b int, at map[trace.PC]int) {
	r := c.analysis.Program.Routines[routine]
	block := checkedBlock{routine: routine, block: b, first: trace.RefID(len(c.refs))}
	for i := range r.Blocks[b].Insts {
		in := &r.Blocks[b].Insts[i]
		if index, ok := at[trace.PC(in.PC)]; ok {
			c.addRefs(&block, in, index)
		}
	}
	for l := r.Blocks[b].Loop; l >= 0; l = r.Loops[l].Parent {
		block.chain = append(block.chain, l)
	}
	slices.Reverse(block.chain)
	if l := r.Blocks[b].Loop; l >= 0 {
		block.header = r.Loops[l].Header == b
	}
	c.blocks = append(c.blocks, block)
	c.plan.Blocks = append(c.plan.Blocks, trace.Block{
		PC: trace.PC(r.Blocks[b].PC()), Instructions: uint32(len(r.Blocks[b].Insts)), Refs: uint32(block.fixed), Varies: block.fixed < block.refs,
	})
}

// addRefs adds the references of an instruction, the first of which has an index in
// Analysis.All.
func (c *Checker) addRefs(block *checkedBlock, in *isa.Inst, index int) {
	for k, m := range in.Mems() {
		if c.records != nil && !c.records(&c.analysis.All[index+k]) {
			continue
		}
		c.addRef(block.routine, index+k)
		block.refs++
		if !m.Varies {
			block.fixed++
		}
	}
}

func (c *Checker) addRef(routine, index int) {
	ref := &c.analysis.All[index]
	checked := checkedRef{index: index}
	for _, s := range ref.Strides {
		t := &c.loops[routine][s.Loop]
		l := level{loop: s.Loop, slot: t.records, check: s.Regular(), class: -1}
		t.records++
		if n, ok := s.Formula.Constant(); ok {
			l.number = n
		} else if l.check {
			l.class, l.scale = t.classOf(s.Formula)
		}
		if c.records != nil && !l.check {
			l.steps = new(frequent)
		}
		checked.levels = append(checked.levels, l)
	}
	c.plan.Refs = append(c.plan.Refs, trace.Ref{PC: ref.PC, Operand: uint8(ref.Operand), Size: trace.FirstPiece(ref.Size), Kind: ref.Kind, Float: ref.Float, Group: trace.GroupID(len(c.refs))})
	c.refs = append(c.refs, checked)
}

// classOf returns the class of formulas that are multiples of each other to which
// f belongs, and f as a multiple of the smallest one with integer coefficients.
func (t *loopTable) classOf(f Formula) (class int, scale ratio) {
	terms := f.Terms()
	den, num := int64(1), int64(0)
	for _, x := range terms {
		den = den / gcd(den, x.Den) * x.Den
	}
	for _, x := range terms {
		num = gcd(num, x.Num*(den/x.Den))
	}
	if terms[0].Num < 0 {
		num = -num
	}
	scale = newRatio(num, den)
	unit := make([]Term, len(terms))
	for i, x := range terms {
		r := newRatio(x.Num*(den/x.Den), num)
		unit[i] = Term{x.Symbol, r.num, r.den}
	}
	if t.classes == nil {
		t.classes = make(map[string]int)
	}
	key := Formula{unit}.Key()
	class, ok := t.classes[key]
	if !ok {
		class = len(t.classes)
		t.classes[key] = class
	}
	return class, scale
}

// Observe implements trace.Collector.
func (c *Checker) Observe(b *trace.Batch) {
	t := c.threads[b.Thread]
	if t == nil {
		t = &checkedThread{c: c}
		c.threads[b.Thread] = t
	}
	accesses := b.Accesses
	for i, id := range b.Blocks {
		block := &c.blocks[id]
		t.enter(block)
		n := block.refs
		if len(b.Counts) > 0 {
			n = int(b.Counts[i])
		}
		if n == 0 {
			continue
		}
		// Control that entered in the middle of a block left accesses without a
		// block event.
		for len(accesses) > 0 && !block.beginsWith(accesses[0].Ref()) {
			accesses = accesses[1:]
			c.unaligned++
		}
		n = min(n, len(accesses))
		for _, x := range accesses[:n] {
			c.refs[x.Ref()].executions++
			t.access(&c.refs[x.Ref()], x.Addr())
		}
		accesses = accesses[n:]
	}
	c.unaligned += uint64(len(accesses))
}

// beginsWith reports whether a reference may be the first that an execution of the block
// makes: any of its references, if there are some that may be left out.
func (b *checkedBlock) beginsWith(ref trace.RefID) bool {
	if b.fixed == b.refs {
		return ref == b.first
	}
	return ref >= b.first && ref < b.first+trace.RefID(b.refs)
}

var _ trace.Collector = (*Checker)(nil)
