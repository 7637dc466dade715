package access

import (
	"cmp"
	"slices"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/trace"
)

// Checker compares the stride formulas with what a run does. It follows the
// loops of every activation of every routine through the executed blocks, and
// for each reference compares the addresses of the first executions in
// consecutive iterations, with respect to each loop that holds it, as long as
// the loops between are in their first iteration.
//
// A stride that is a number has to be the difference. One with symbols has to
// be the same difference all through one execution of the loop, in proportion
// for formulas that are multiples of each other; its first difference tells
// what the symbols stand for, and is not counted.
//
// It needs a run with its own Plan, of all of which it sees every batch.
type Checker struct {
	analysis *Analysis
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
}

// loopTable is what is the same for all executions of a loop.
type loopTable struct {
	records int            // references in it
	classes map[string]int // of symbolic strides
	free    []*execution
}

// execution is one execution of a loop, from entry to exit.
type execution struct {
	loop      int
	iteration int64
	epoch     uint64 // of its records
	records   []record
	strides   []observed // by class
}

type record struct {
	epoch     uint64
	iteration int64
	addr      uint64
}

type observed struct {
	epoch uint64
	value int64
}

// NewChecker returns a Checker for the program of an analysis.
func NewChecker(a *Analysis) *Checker {
	c := &Checker{analysis: a, threads: make(map[int32]*checkedThread)}
	at := make(map[uint64]int, len(a.All))
	for i := range a.All {
		at[uint64(a.All[i].PC)] = i
	}
	c.loops = make([][]loopTable, len(a.Program.Routines))
	for n, r := range a.Program.Routines {
		c.loops[n] = make([]loopTable, len(r.Loops))
		for b := range r.Blocks {
			c.addBlock(n, b, at)
		}
	}
	return c
}

// Plan is what the run has to record: all blocks of the control-flow graphs,
// and all references in them.
func (c *Checker) Plan() *trace.Plan { return &c.plan }

func (c *Checker) addBlock(routine, b int, at map[uint64]int) {
	r := c.analysis.Program.Routines[routine]
	block := checkedBlock{routine: routine, block: b, first: trace.RefID(len(c.refs))}
	for i := range r.Blocks[b].Insts {
		in := &r.Blocks[b].Insts[i]
		if in.Mem.Kind == isa.NoMem {
			continue
		}
		if index, ok := at[in.PC]; ok {
			c.addRef(routine, index)
			block.refs++
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
		PC: trace.PC(r.Blocks[b].PC()), Instructions: uint32(len(r.Blocks[b].Insts)), Refs: uint32(block.refs),
	})
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
		checked.levels = append(checked.levels, l)
	}
	c.plan.Refs = append(c.plan.Refs, trace.Ref{PC: ref.PC, Size: ref.Size, Kind: ref.Kind, Float: ref.Float, Group: trace.GroupID(len(c.refs))})
	c.refs = append(c.refs, checked)
}

// classOf returns the class of formulas that f is a multiple of, and how many
// times it is the smallest one with whole coefficients.
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
	for _, id := range b.Blocks {
		block := &c.blocks[id]
		t.enter(block)
		if block.refs == 0 {
			continue
		}
		// Control that came to the middle of a block left accesses without it.
		for len(accesses) > 0 && accesses[0].Ref() != block.first {
			accesses = accesses[1:]
			c.unaligned++
		}
		n := min(block.refs, len(accesses))
		for _, x := range accesses[:n] {
			c.refs[x.Ref()].executions++
			t.access(&c.refs[x.Ref()], x.Addr())
		}
		accesses = accesses[n:]
	}
	c.unaligned += uint64(len(accesses))
}

// checkedThread follows the activations of routines in a thread.
type checkedThread struct {
	c     *Checker
	stack []activation
}

// activation is one execution of a routine.
type activation struct {
	routine int
	block   int          // executed last
	loops   []*execution // that it is in, from the outermost in
}

// maxActivations bounds the stack that is remembered.
const maxActivations = 1 << 16

// enter notes that a block is executed.
func (t *checkedThread) enter(b *checkedBlock) {
	t.follow(b)
	t.stack[len(t.stack)-1].block = b.block
	t.iterate(b)
}

// follow finds the activation that a block belongs to: the one on top, if an
// edge leads there from the block before; a new one, after a call; one that
// called and now goes on. When control came in ways that no instruction shows,
// as when goroutines switch, all are forgotten.
func (t *checkedThread) follow(b *checkedBlock) {
	if n := len(t.stack); n > 0 {
		top := &t.stack[n-1]
		if top.routine == b.routine && t.c.edge(top.routine, top.block, b.block) {
			return
		}
		last := &t.c.analysis.Program.Routines[top.routine].Blocks[top.block]
		entry := t.c.isEntry(b)
		switch {
		case last.Last().Class == isa.Call && entry && n < maxActivations:
			t.stack = append(t.stack, activation{routine: b.routine})
			return
		case (last.Exit == cfg.TailJump || last.Exit == cfg.Unknown) && entry:
			t.pop()
			t.stack = append(t.stack, activation{routine: b.routine})
			return
		}
		for i := n - 2; i >= 0; i-- {
			if a := &t.stack[i]; a.routine == b.routine && t.c.edge(a.routine, a.block, b.block) {
				for len(t.stack) > i+1 {
					t.pop()
				}
				return
			}
		}
	}
	for len(t.stack) > 0 {
		t.pop()
	}
	t.stack = append(t.stack, activation{routine: b.routine})
}

func (c *Checker) isEntry(b *checkedBlock) bool {
	return slices.Contains(c.analysis.Program.Routines[b.routine].Entries, b.block)
}

// edge reports whether control can go from a block to another of the routine.
func (c *Checker) edge(routine, from, to int) bool {
	r := c.analysis.Program.Routines[routine]
	for _, e := range r.Blocks[from].Succs {
		if r.Edges[e].To == to {
			return true
		}
	}
	return false
}

func (t *checkedThread) pop() {
	top := &t.stack[len(t.stack)-1]
	for len(top.loops) > 0 {
		t.leave(top)
	}
	t.stack = t.stack[:len(t.stack)-1]
}

// leave ends the innermost loop.
func (t *checkedThread) leave(a *activation) {
	e := a.loops[len(a.loops)-1]
	a.loops = a.loops[:len(a.loops)-1]
	table := &t.c.loops[a.routine][e.loop]
	table.free = append(table.free, e)
}

// midway is the iteration of a loop that was not entered through its header.
const midway = 1 << 40

// iterate brings the loops of the activation on top up to date.
func (t *checkedThread) iterate(b *checkedBlock) {
	a := &t.stack[len(t.stack)-1]
	keep := 0
	for keep < len(a.loops) && keep < len(b.chain) && a.loops[keep].loop == b.chain[keep] {
		keep++
	}
	for len(a.loops) > keep {
		t.leave(a)
	}
	if keep == len(b.chain) {
		if b.header {
			a.loops[keep-1].iteration++
		}
		return
	}
	for i, l := range b.chain[keep:] {
		e := t.c.loops[a.routine][l].begin(l)
		if keep+i < len(b.chain)-1 || !b.header {
			e.iteration = midway
		}
		a.loops = append(a.loops, e)
	}
}

// begin returns the execution of a loop that begins.
func (t *loopTable) begin(loop int) *execution {
	if n := len(t.free); n > 0 {
		e := t.free[n-1]
		t.free = t.free[:n-1]
		e.epoch++
		e.iteration = 0
		return e
	}
	return &execution{loop: loop, epoch: 1, records: make([]record, t.records), strides: make([]observed, len(t.classes))}
}

// access checks one execution of a reference.
func (t *checkedThread) access(ref *checkedRef, addr uint64) {
	loops := t.stack[len(t.stack)-1].loops
	for i := range ref.levels {
		l, e := &ref.levels[i], loops[len(loops)-1-i]
		was := &e.records[l.slot]
		if was.epoch == e.epoch && was.iteration == e.iteration {
			return
		}
		if l.check && was.epoch == e.epoch && was.iteration+1 == e.iteration {
			l.compare(e, int64(addr-was.addr))
		}
		*was = record{e.epoch, e.iteration, addr}
		if e.iteration != 0 {
			return
		}
	}
}

func (l *level) compare(e *execution, difference int64) {
	if l.class < 0 {
		l.count(difference == l.number)
		return
	}
	num, ok := mul(difference, l.scale.den)
	if !ok || num%l.scale.num != 0 {
		l.count(false)
		return
	}
	value := num / l.scale.num
	if s := &e.strides[l.class]; s.epoch != e.epoch {
		*s = observed{e.epoch, value}
	} else {
		l.count(value == s.value)
	}
}

func (l *level) count(agree bool) {
	if agree {
		l.agree++
	} else {
		l.disagree++
	}
}

// StrideCheck is what a Checker found. Counts are of executed accesses.
type StrideCheck struct {
	Accesses uint64 // of references in the control-flow graphs
	Stack    uint64 // of these, traffic of the stack (Reference.Stack)
	InLoops  uint64 // of the others, those in loops
	Clean    uint64 // of these, those whose strides are regular for all loops

	// Comparisons of consecutive iterations, one for each loop level, where the
	// stride is neither irregular nor indirect; traffic of the stack is left out.
	Agree, Disagree uint64

	// Unaligned accesses belong to no block that was seen to be executed.
	Unaligned uint64

	// References are those executed, the ones with most disagreement first,
	// then by most executions.
	References []ReferenceCheck
}

// ReferenceCheck is what was found for a reference.
type ReferenceCheck struct {
	Index           int // in Analysis.All
	Executions      uint64
	Clean           bool     // regular for all loops
	Agree, Disagree []uint64 // like Reference.Strides
	disagree        uint64
}

// AgreeShare is the share of comparisons that agree; 1 if there are none.
func (s *StrideCheck) AgreeShare() float64 { return share(s.Agree, s.Agree+s.Disagree) }

// CleanShare is the share of accesses in loops whose strides are regular for
// all loops; 1 if there are none.
func (s *StrideCheck) CleanShare() float64 { return share(s.Clean, s.InLoops) }

func share(part, all uint64) float64 {
	if all == 0 {
		return 1
	}
	return float64(part) / float64(all)
}

// Result returns what was found so far.
func (c *Checker) Result() *StrideCheck {
	out := &StrideCheck{Unaligned: c.unaligned}
	for i := range c.refs {
		if c.refs[i].executions > 0 {
			out.add(&c.refs[i], &c.analysis.All[c.refs[i].index])
		}
	}
	slices.SortStableFunc(out.References, func(a, b ReferenceCheck) int {
		return cmp.Or(cmp.Compare(b.disagree, a.disagree), cmp.Compare(b.Executions, a.Executions))
	})
	return out
}

func (s *StrideCheck) add(c *checkedRef, ref *Reference) {
	s.Accesses += c.executions
	if ref.Stack != NotStack {
		s.Stack += c.executions
		return
	}
	r := ReferenceCheck{Index: c.index, Executions: c.executions, Clean: true}
	for i := range c.levels {
		l := &c.levels[i]
		r.Clean = r.Clean && l.check
		r.Agree, r.Disagree = append(r.Agree, l.agree), append(r.Disagree, l.disagree)
		r.disagree += l.disagree
		s.Agree += l.agree
		s.Disagree += l.disagree
	}
	if len(c.levels) > 0 {
		s.InLoops += c.executions
		if r.Clean {
			s.Clean += c.executions
		}
	}
	s.References = append(s.References, r)
}

var _ trace.Collector = (*Checker)(nil)
