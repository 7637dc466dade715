package cfg

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	"presage/perf/isa"
	"presage/perf/trace"
)

func sortEdges(r *Routine) {
	slices.SortFunc(r.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
	})
	r.Edges = slices.Compact(r.Edges)
}

// jungle is a random program: any instruction anywhere, leading anywhere.
type jungle struct {
	*rand.Rand
	base    uint64
	insts   []isa.Inst
	starts  []int            // routines' first instructions, and the end
	tables  map[int][]uint64 // by instruction: an indirect jump's targets
	open    map[int]bool     // indirect jumps that have other targets, too
	traps   map[int]bool     // plain instructions taken to fault
	returns map[int]bool     // calls taken to return
	entries map[uint64]bool
}

func newJungle(seed uint64) *jungle {
	j := &jungle{
		Rand: rand.New(rand.NewPCG(seed, 42)), base: 0x1000,
		tables: make(map[int][]uint64), open: make(map[int]bool), traps: make(map[int]bool), returns: make(map[int]bool),
		entries: make(map[uint64]bool),
	}
	n := 0
	for range 1 + j.IntN(4) {
		j.starts = append(j.starts, n)
		n += 1 + j.IntN(40)
	}
	j.starts = append(j.starts, n)
	j.insts = make([]isa.Inst, n)
	for k := range j.starts[:len(j.starts)-1] {
		j.entries[j.at(j.starts[k])] = true
		for i := j.starts[k]; i < j.starts[k+1]; i++ {
			j.grow(i, j.starts[k], j.starts[k+1])
		}
	}
	j.insts[n-1].Class, j.insts[n-1].HasTarget = isa.Return, false
	delete(j.tables, n-1)
	delete(j.open, n-1)
	delete(j.traps, n-1)
	return j
}

func (j *jungle) at(i int) uint64       { return j.base + word*uint64(i) }
func (j *jungle) index(pc trace.PC) int { return int(uint64(pc)-j.base) / word }
func (j *jungle) any() uint64           { return j.at(j.IntN(len(j.insts))) }
func (j *jungle) oneIn(n int) bool      { return j.IntN(n) == 0 }

func (j *jungle) indirectJumps() (n int) {
	for i := range j.insts {
		if j.insts[i].Class == isa.IndirectJump {
			n++
		}
	}
	return n
}

// grow makes instruction i of a routine.
func (j *jungle) grow(i, first, end int) {
	classes := []isa.Class{
		isa.ALU, isa.ALU, isa.ALU, isa.Branch, isa.Branch, isa.Branch, isa.Jump,
		isa.Call, isa.Call, isa.Return, isa.IndirectJump, isa.SystemCall, isa.Breakpoint, isa.Illegal,
	}
	weights := []int{9, 9, 9, 6, 6, 6, 3, 3, 3, 2, 3, 1, 1, 1}
	pick := j.IntN(62)
	k := 0
	for ; pick >= weights[k]; k++ {
		pick -= weights[k]
	}
	in := isa.Inst{PC: j.at(i), Len: word, Class: classes[k]}
	inside := func() uint64 { return j.at(first + j.IntN(end-first)) }
	target := func() uint64 {
		if j.oneIn(8) { // another routine's, mostly as one of its entries
			pc := j.any()
			if k := j.index(trace.PC(pc)); !j.oneIn(6) && (k < first || k >= end) {
				j.entries[pc] = true
			}
			return pc
		}
		return inside()
	}
	switch in.Class {
	case isa.ALU:
		j.traps[i] = j.oneIn(30)
	case isa.Branch, isa.Jump:
		in.Target, in.HasTarget = target(), true
	case isa.Call:
		j.returns[i] = !j.oneIn(6)
		if j.oneIn(3) {
			in.AddUse(5)
			break
		}
		in.Target, in.HasTarget = j.any(), true
		if k := j.starts[j.IntN(len(j.starts))]; k < len(j.insts) && !j.oneIn(3) {
			in.Target = j.at(k)
		}
		j.entries[in.Target] = j.entries[in.Target] || !j.oneIn(20)
	case isa.IndirectJump:
		in.AddUse(5)
		if j.oneIn(5) {
			in.Target, in.HasTarget = target(), true
			break
		}
		for range j.IntN(5) {
			j.tables[i] = append(j.tables[i], inside())
		}
		j.open[i] = len(j.tables[i]) == 0 || j.oneIn(4)
	}
	j.insts[i] = in
}

// program cuts the routines into blocks, as Analyze would.
func (j *jungle) program() *Program {
	leaders := maps.Clone(j.entries)
	for i := range j.insts {
		in := &j.insts[i]
		if in.HasTarget {
			leaders[in.Target] = true
		}
		for _, pc := range j.tables[i] {
			leaders[pc] = true
		}
		if in.Class.EndsBlock() || j.traps[i] {
			leaders[in.Next()] = true
		}
	}
	for i := range j.insts { // a target within a block, which the graph does not know as one
		if pc := j.at(i); j.oneIn(5) && !j.entries[pc] && !slices.ContainsFunc(j.insts, func(in isa.Inst) bool { return in.HasTarget && in.Target == pc }) &&
			!slices.ContainsFunc(slices.Collect(maps.Values(j.tables)), func(t []uint64) bool { return slices.Contains(t, pc) }) &&
			(i == 0 || !j.insts[i-1].Class.EndsBlock() && !j.traps[i-1]) {
			delete(leaders, pc)
		}
	}
	var routines []*Routine
	for k := range j.starts[:len(j.starts)-1] {
		first, end := j.starts[k], j.starts[k+1]
		r := &Routine{Name: "jungle", Addr: j.at(first), Size: word * uint64(end-first)}
		for i := first; i < end; i++ {
			if i == first || leaders[j.at(i)] {
				r.Blocks = append(r.Blocks, Block{Dominator: -1, Loop: -1})
			}
			b := &r.Blocks[len(r.Blocks)-1]
			b.Insts = append(b.Insts, j.insts[i])
		}
		for b := range r.Blocks {
			j.connect(r, b)
			if pc := r.Blocks[b].PC(); j.entries[pc] {
				r.Entries = append(r.Entries, b)
			}
		}
		r.complete()
		routines = append(routines, r)
	}
	return programOf(routines...)
}

func (j *jungle) connect(r *Routine, b int) {
	block := &r.Blocks[b]
	last := block.Last()
	i := j.index(trace.PC(last.PC))
	to := func(pc uint64, kind EdgeKind) {
		if t := r.startingAt(pc); t >= 0 {
			if t == 0 && kind == Jumps && j.oneIn(2) {
				kind = Restarts
			}
			r.Edges = append(r.Edges, Edge{b, t, kind})
		} else {
			block.Exit = TailJump
		}
	}
	switch {
	case j.traps[i] || last.Class == isa.Breakpoint || last.Class == isa.Illegal:
		block.Exit = Traps
	case last.Class == isa.Branch:
		to(last.Target, Taken)
		to(last.Next(), Falls)
	case last.Class == isa.Jump:
		to(last.Target, Jumps)
	case last.Class == isa.Call:
		block.Exit = NoReturn
		if j.returns[i] && r.startingAt(last.Next()) >= 0 {
			block.Exit = Stays
			to(last.Next(), CallReturn)
		}
	case last.Class == isa.Return:
		block.Exit = Returns
	case last.Class == isa.IndirectJump && last.HasTarget:
		block.Exit = TailJump
	case last.Class == isa.IndirectJump:
		for _, pc := range j.tables[i] {
			to(pc, Table)
		}
		if j.open[i] {
			block.Exit = Unknown
		}
	default:
		to(last.Next(), Falls)
	}
}

// walk is a full record of the flow of control, instruction by instruction.
type walk struct {
	executed         map[trace.PC]uint64
	direct, indirect map[trace.Edge]uint64
	breaks           map[trace.PC]trace.Break
}

func (w *walk) note(pc uint64, entered, left, broke uint64) {
	b := w.breaks[trace.PC(pc)]
	w.breaks[trace.PC(pc)] = trace.Break{PC: trace.PC(pc), Entered: b.Entered + entered, Left: b.Left + left, Broke: b.Broke + broke}
}

// wander executes the program in random order, with threads that begin, are
// interrupted, fault and end anywhere, and returns to frames of any stack.
func (j *jungle) wander(steps int) *walk {
	w := &walk{
		executed: make(map[trace.PC]uint64), breaks: make(map[trace.PC]trace.Break),
		direct: make(map[trace.Edge]uint64), indirect: make(map[trace.Edge]uint64),
	}
	inTable := make(map[uint64]bool)
	for _, t := range j.tables {
		for _, pc := range t {
			inTable[pc] = true
		}
	}
	// At random, control goes where no instruction leads, but not to the targets
	// of a table, whose arrivals count as the table's.
	astray := func() uint64 {
		for range 5 {
			if pc := j.any(); !inTable[pc] {
				return pc
			}
		}
		return 0x10 // outside the program
	}
	type thread struct {
		pc    uint64
		stack []uint64
	}
	var threads []*thread
	begin := func() *thread {
		t := &thread{pc: j.any()}
		w.note(t.pc, 1, 0, 0)
		threads = append(threads, t)
		return t
	}
	for range 1 + j.IntN(3) {
		begin()
	}
	for range steps {
		t := threads[j.IntN(len(threads))]
		if t.pc < j.base || t.pc >= j.at(len(j.insts)) { // a library's code, or the kernel's
			w.note(t.pc, 0, 1, 0)
			t.pc = j.any()
			w.note(t.pc, 1, 0, 0)
			continue
		}
		if j.oneIn(60) { // interrupted
			w.note(t.pc, 0, 1, 0)
			t.pc = j.any()
			w.note(t.pc, 1, 0, 0)
		}
		at := t.pc
		i := j.index(trace.PC(at))
		in := &j.insts[i]
		w.executed[trace.PC(at)]++
		indirect := func(to uint64) {
			w.indirect[trace.Edge{From: trace.PC(at), To: trace.PC(to)}]++
			t.pc = to
		}
		direct := func(to uint64) {
			w.direct[trace.Edge{From: trace.PC(at), To: trace.PC(to)}]++
			t.pc = to
		}
		if in.Class == isa.Breakpoint || in.Class == isa.Illegal || j.traps[i] && !j.oneIn(4) || j.oneIn(60) {
			w.note(at, 0, 0, 1)
			t.pc = j.any()
			w.note(t.pc, 1, 0, 0)
			continue
		}
		switch in.Class {
		case isa.Branch:
			if j.oneIn(2) {
				direct(in.Target)
			} else {
				direct(in.Next())
			}
		case isa.Jump:
			direct(in.Target)
		case isa.Call:
			t.stack = append(t.stack, in.Next())
			if len(t.stack) > 5 {
				t.stack = t.stack[1:]
			}
			switch {
			case len(in.Uses()) == 0:
				direct(in.Target)
			case j.oneIn(5):
				indirect(astray())
			default:
				if pc := j.at(j.starts[j.IntN(len(j.starts)-1)]); !inTable[pc] {
					indirect(pc)
				} else {
					indirect(astray())
				}
			}
		case isa.Return:
			stack := threads[j.IntN(len(threads))].stack // or another's, as after a switch
			if len(stack) == 0 || j.oneIn(10) {
				indirect(astray())
				break
			}
			to := stack[j.IntN(len(stack))] // or further up, as longjmp
			if inTable[to] {
				to = astray()
			}
			indirect(to)
		case isa.IndirectJump:
			switch {
			case in.HasTarget && inTable[in.Target]: // also by a table
				w.note(at, 0, 0, 1)
				t.pc = j.any()
				w.note(t.pc, 1, 0, 0)
			case in.HasTarget:
				indirect(in.Target)
			case j.open[i] && (len(j.tables[i]) == 0 || j.oneIn(3)):
				indirect(j.any())
			default:
				indirect(j.tables[i][j.IntN(len(j.tables[i]))])
			}
		default:
			direct(in.Next())
		}
	}
	for _, t := range threads {
		w.note(t.pc, 0, 1, 0)
	}
	return w
}

// flow is what an engine would count.
func (w *walk) flow(p *trace.FlowPlan) *trace.Flow {
	f := new(trace.Flow)
	for _, e := range p.Edges {
		f.Edges = append(f.Edges, w.direct[e])
	}
	for _, pc := range p.Places {
		f.Places = append(f.Places, w.executed[pc])
	}
	arrivals := make(map[trace.PC]uint64)
	for e, n := range w.indirect {
		if _, planned := slices.BinarySearch(p.Jumps, e.From); planned {
			f.Jumps = append(f.Jumps, trace.JumpCount{Edge: e, Count: n})
		} else if _, quiet := slices.BinarySearch(p.Quiet, e.To); !quiet {
			arrivals[e.To] += n
		}
	}
	for pc, n := range arrivals {
		f.Arrivals = append(f.Arrivals, trace.Arrival{PC: pc, Count: n})
	}
	f.Breaks = slices.Collect(maps.Values(w.breaks))
	slices.SortFunc(f.Arrivals, func(a, b trace.Arrival) int { return cmp.Compare(a.PC, b.PC) })
	slices.SortFunc(f.Jumps, func(a, b trace.JumpCount) int { return a.Edge.Compare(b.Edge) })
	slices.SortFunc(f.Breaks, func(a, b trace.Break) int { return cmp.Compare(a.PC, b.PC) })
	return f
}
