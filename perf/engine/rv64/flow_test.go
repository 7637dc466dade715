package rv64

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// everyTransfer plans each instruction that a sweep finds, its direct transfers
// to its target and to the next instruction, and no quiet place.
func everyTransfer(f *objfile.File) *trace.FlowPlan {
	p := new(trace.FlowPlan)
	sweep(f, func(pc uint64, size int, l lowered) {
		from, next := trace.PC(pc), trace.PC(pc+uint64(size))
		p.Places = append(p.Places, from)
		switch {
		case l.illegal || l.op.code == opJalr || l.op.code == opEbreak:
			return
		case l.target != 0:
			p.Edges = append(p.Edges, trace.Edge{From: from, To: trace.PC(l.target)})
			if l.op.code == opJ || l.op.code == opJal {
				return
			}
		}
		p.Edges = append(p.Edges, trace.Edge{From: from, To: next})
	})
	slices.SortFunc(p.Edges, trace.Edge.Compare)
	p.Edges = slices.Compact(p.Edges)
	if len(f.Routines) == 0 { // invalid encodings are executed too
		for s, pc := f.Segments[0], f.Entry; pc < s.Addr+s.MemSize; pc += 4 {
			p.Places = append(p.Places, trace.PC(pc))
		}
	}
	slices.Sort(p.Places)
	p.Places = slices.Compact(p.Places)
	return p
}

// indirectJumps lists the JALRs of a program.
func indirectJumps(f *objfile.File) (list []trace.PC) {
	sweep(f, func(pc uint64, _ int, l lowered) {
		if l.op.code == opJalr {
			list = append(list, trace.PC(pc))
		}
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// betweenBlocks keeps the edges that leave or enter a block, and no places.
func betweenBlocks(f *objfile.File, all *trace.FlowPlan, blocks []trace.Block) *trace.FlowPlan {
	starts, ends := make(map[trace.PC]bool), make(map[trace.PC]bool)
	for _, b := range blocks {
		starts[b.PC] = true
	}
	sweep(f, func(pc uint64, _ int, l lowered) { ends[trace.PC(pc)] = l.ends })
	p := new(trace.FlowPlan)
	for _, e := range all.Edges {
		if ends[e.From] || starts[e.To] {
			p.Edges = append(p.Edges, e)
		}
	}
	return p
}

// someFlow plans about half of the edges and places; half of the edges' targets
// are quiet.
func someFlow(all *trace.FlowPlan, seed uint64) *trace.FlowPlan {
	rng := rand.New(rand.NewPCG(seed, 6))
	p := &trace.FlowPlan{}
	for _, e := range all.Edges {
		if rng.IntN(2) == 0 {
			p.Edges = append(p.Edges, e)
		}
		if rng.IntN(2) == 0 {
			p.Quiet = append(p.Quiet, e.To)
		}
	}
	for _, pc := range all.Places {
		if rng.IntN(2) == 0 {
			p.Places = append(p.Places, pc)
		}
	}
	for _, pc := range all.Jumps {
		if rng.IntN(2) == 0 {
			p.Jumps = append(p.Jumps, pc)
		}
	}
	slices.Sort(p.Quiet)
	p.Quiet = slices.Compact(p.Quiet)
	return p
}

// steppedFlow is the complete flow that single-stepping observes, by address in
// memory.
type steppedFlow struct {
	direct, indirect map[trace.Edge]uint64
	breaks           map[trace.PC]trace.Break
	executed         map[trace.PC]uint64 // attempts included
	bias             uint64
	instructions     uint64
}

func (s *steppedFlow) pc(addr uint64) trace.PC { return trace.PC(addr - s.bias) }

func (s *steppedFlow) note(addr uint64, entered, left, broke uint64) {
	pc := s.pc(addr)
	b := s.breaks[pc]
	s.breaks[pc] = trace.Break{PC: pc, Entered: b.Entered + entered, Left: b.Left + left, Broke: b.Broke + broke}
}

// stepFlow runs a program instruction by instruction, without a plan, and derives
// the flow of control from each thread's successive pcs.
func stepFlow(t *testing.T, f *objfile.File, opt options) *steppedFlow {
	t.Helper()
	opt.mode = Interpret
	m, err := newMachine(f, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	m.code.limit = 1
	s := &steppedFlow{
		direct: make(map[trace.Edge]uint64), indirect: make(map[trace.Edge]uint64),
		breaks: make(map[trace.PC]trace.Break), executed: make(map[trace.PC]uint64), bias: Bias(f),
	}
	gone := make(map[*thread]bool)
	spent := func() bool { return opt.MaxInstructions > 0 && m.executed() >= opt.MaxInstructions }
	s.note(m.threads[0].pc, 1, 0, 0)
	for !m.over && !spent() {
		th := m.schedule()
		for end := m.executed() + quantum; !m.over && !th.exited; {
			at := th.pc
			if m.deliver(th); m.over || th.pc != at {
				s.note(at, 0, 1, 0)
				gone[th] = m.over
				if !m.over {
					s.note(th.pc, 1, 0, 0)
				}
			}
			if m.over || th.blocked {
				break
			}
			cut, yields := s.step(m, th, gone)
			if cut && (m.executed() >= end || spent()) || yields {
				break
			}
		}
	}
	for _, th := range m.threads {
		if !gone[th] {
			s.note(th.pc, 0, 1, 0)
		}
	}
	s.instructions = m.executed()
	return s
}

// step executes one instruction. It reports whether a turn may be cut after it,
// and whether the instruction yields the turn.
func (s *steppedFlow) step(m *machine, th *thread, gone map[*thread]bool) (cut, yields bool) {
	at, number, threads := th.pc, th.x[regA7], len(m.threads)
	d, _ := m.code.decode(m.mem.code(at))
	l := m.code.lower(d, at)
	s.executed[s.pc(at)]++
	m.horizon, m.budget = m.executed()+1, 1
	e := m.slice(th)
	edge := trace.Edge{From: s.pc(at), To: s.pc(th.pc)}
	switch {
	case e == exitBudget && l.op.code == opJalr:
		s.indirect[edge]++
	case e == exitBudget || e == exitFenceI || e == exitSyscall && !slices.Contains([]uint64{93, 94, 139}, number):
		s.direct[edge]++
	default:
		s.note(at, 0, 0, 1)
		gone[th] = true
	}
	m.serve(th, e)
	if gone[th] && !m.over && !th.exited {
		delete(gone, th) // in a handler, or back from one
		s.note(th.pc, 1, 0, 0)
	}
	for _, n := range m.threads[min(threads, len(m.threads)):] {
		s.note(n.pc, 1, 0, 0)
	}
	return l.ends || e != exitBudget, e == exitSyscall && number == 124
}

// flow returns the flow that an engine should report for a plan.
func (s *steppedFlow) flow(p *trace.FlowPlan) *trace.Flow {
	f := &trace.Flow{Edges: []uint64{}, Places: []uint64{}}
	for _, pc := range p.Places {
		f.Places = append(f.Places, s.executed[pc])
	}
	for _, e := range p.Edges {
		f.Edges = append(f.Edges, s.direct[e])
	}
	arrivals := make(map[trace.PC]uint64)
	for e, n := range s.indirect {
		if _, planned := slices.BinarySearch(p.Jumps, e.From); planned {
			f.Jumps = append(f.Jumps, trace.JumpCount{Edge: e, Count: n})
		} else if _, quiet := slices.BinarySearch(p.Quiet, e.To); !quiet {
			arrivals[e.To] += n
		}
	}
	for pc, n := range arrivals {
		f.Arrivals = append(f.Arrivals, trace.Arrival{PC: pc, Count: n})
	}
	for b := range maps.Values(s.breaks) {
		f.Breaks = append(f.Breaks, b)
	}
	slices.SortFunc(f.Arrivals, func(a, b trace.Arrival) int { return cmp.Compare(a.PC, b.PC) })
	slices.SortFunc(f.Jumps, func(a, b trace.JumpCount) int { return a.Edge.Compare(b.Edge) })
	slices.SortFunc(f.Breaks, func(a, b trace.Break) int { return cmp.Compare(a.PC, b.PC) })
	return f
}

// flowPlans returns plans that request different combinations of counters.
func flowPlans(f *objfile.File, seed uint64) map[string]*trace.FlowPlan {
	all := everyTransfer(f)
	jumps := indirectJumps(f)
	return map[string]*trace.FlowPlan{
		"every transfer": all,
		"blocks":         betweenBlocks(f, all, planAll(f).Blocks),
		"half":           someFlow(&trace.FlowPlan{Edges: all.Edges, Places: all.Places, Jumps: jumps}, seed),
		"jumps":          {Jumps: jumps},
		"nothing":        {},
	}
}

func sameFlow(t *testing.T, got, want *trace.Flow, p *trace.FlowPlan) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	for i, n := range got.Edges {
		if n != want.Edges[i] {
			t.Errorf("edge %#x: %d, single-stepped %d", p.Edges[i], n, want.Edges[i])
			break
		}
	}
	for i, n := range got.Places {
		if n != want.Places[i] {
			t.Errorf("place %#x: %d, single-stepped %d", uint64(p.Places[i]), n, want.Places[i])
			break
		}
	}
	if !slices.Equal(got.Arrivals, want.Arrivals) {
		t.Errorf("arrivals %#x, single-stepped %#x", got.Arrivals, want.Arrivals)
	}
	if !slices.Equal(got.Jumps, want.Jumps) {
		t.Errorf("jumps %#x, single-stepped %#x", got.Jumps, want.Jumps)
	}
	if !slices.Equal(got.Breaks, want.Breaks) {
		t.Errorf("breaks %+v, single-stepped %+v", got.Breaks, want.Breaks)
	}
	if !t.Failed() {
		t.Errorf("flow %+v, single-stepped %+v", got, want)
	}
}

func testFlow(t *testing.T, f *objfile.File, opt func() options, plans map[string]*trace.FlowPlan, heat int) *steppedFlow {
	t.Helper()
	want := stepFlow(t, f, opt())
	for name, plan := range plans {
		for mode, e := range modes(t) {
			o := opt()
			o.mode, o.heat, o.Plan = e, heat, &trace.Plan{Flow: plan}
			_, r, err := runGuest(t, f, o)
			if err != nil && !errors.Is(err, engine.ErrInstructionLimit) {
				t.Fatal(err)
			}
			if r.Instructions != want.instructions {
				t.Errorf("%s, %s: %d instructions, single-stepped %d", mode, name, r.Instructions, want.instructions)
			}
			sameFlow(t, r.Flow, want.flow(plan), plan)
			if t.Failed() {
				t.Fatalf("%s, %s", mode, name)
			}
		}
	}
	return want
}

// TestFlowOfRandomPrograms compares the flow counted in each mode with
// single-stepping, over complete runs and runs that a limit ends.
func TestFlowOfRandomPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	var direct, indirect, broke uint64
	for seed := range uint64(200) {
		f := readFile(t, flowImage(seed, 2+int(seed%40), 300))
		opt := options{Request: engine.Request{Memory: minMemory}}
		if seed%3 == 0 {
			opt.MaxInstructions = 1 + 7*seed
		}
		s := testFlow(t, f, func() options { return opt }, flowPlans(f, seed), 1+int(seed%3))
		for n := range maps.Values(s.direct) {
			direct += n
		}
		for n := range maps.Values(s.indirect) {
			indirect += n
		}
		for b := range maps.Values(s.breaks) {
			broke += b.Broke
		}
		if t.Failed() {
			t.Fatalf("program %d", seed)
		}
	}
	t.Logf("%d direct transfers, %d indirect, %d faults and system calls", direct, indirect, broke)
	if direct < 300_000 || indirect < 5000 || broke < 2000 {
		t.Errorf("the programs do too little")
	}
}

// flowPrograms returns compiled programs in which control arrives and leaves other
// than by an instruction.
func flowPrograms() []program {
	c := func(name, tool, source string, args ...string) program {
		return program{name: name, tool: "riscv64-linux-gnu-" + tool, args: append([]string{"-static", "-O2", "-pthread"}, args...), after: []string{source}}
	}
	pie := programs()[len(programs())-1]
	return []program{
		{name: "go", tool: "go", args: []string{"build"}, after: []string{"./testdata/goflow"}},
		c("threads", "gcc", "testdata/c/flow.c"),
		c("exceptions", "g++", "testdata/cpp/flow.cc"),
		pie,
	}
}

// TestFlowOfPrograms compares the flow counted in each mode with single-stepping
// for compiled programs: threads, signals that restart system calls, longjmp, a
// Go program with goroutines, recovered faults, os.Exit several calls deep, C++
// exceptions, a PIE.
func TestFlowOfPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, p := range flowPrograms() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			f, err := objfile.Open(p.build(t))
			if err != nil {
				t.Fatal(err)
			}
			plans := flowPlans(f, 1)
			delete(plans, "nothing")
			s := testFlow(t, f, func() options { return options{Request: engine.Request{Stdin: strings.NewReader("one two\n")}} }, plans, 0)
			var breaks trace.Break
			for b := range maps.Values(s.breaks) {
				breaks.Entered, breaks.Left, breaks.Broke = breaks.Entered+b.Entered, breaks.Left+b.Left, breaks.Broke+b.Broke
			}
			t.Logf("%d instructions, %d different direct transfers, %d indirect, breaks %+v", s.instructions, len(s.direct), len(s.indirect), breaks)
			if breaks.Entered != breaks.Left+breaks.Broke {
				t.Error("what came did not go")
			}
		})
	}
}

// conserved checks the conservation law in trace.FlowPlan's comment for every
// block, and that executions are as recorded.
func conserved(t *testing.T, blocks []trace.Block, executions map[trace.PC]uint64, p *trace.FlowPlan, f *trace.Flow) {
	t.Helper()
	blockOf := func(pc trace.PC) int { // -1: before all
		i, _ := slices.BinarySearchFunc(blocks, pc+1, func(b trace.Block, pc trace.PC) int { return cmp.Compare(b.PC, pc) })
		return i - 1
	}
	in, out := make([]uint64, len(blocks)), make([]uint64, len(blocks))
	for i, e := range p.Edges {
		if k := blockOf(e.From); k >= 0 {
			out[k] += f.Edges[i]
		}
		if k := blockOf(e.To); k >= 0 && blocks[k].PC == e.To {
			in[k] += f.Edges[i]
		}
	}
	for _, j := range f.Jumps { // the law's transfers by indirect jump, all of them
		out[blockOf(j.Edge.From)] += j.Count
		if k := blockOf(j.Edge.To); k >= 0 && blocks[k].PC == j.Edge.To {
			in[k] += j.Count
		}
	}
	later := make([]trace.Break, len(blocks))
	for _, b := range f.Breaks {
		k := blockOf(b.PC)
		if k < 0 {
			continue
		}
		later[k].Broke += b.Broke
		if blocks[k].PC == b.PC {
			in[k] += b.Entered - b.Left
		} else {
			later[k].Entered += b.Entered
			later[k].Left += b.Left
		}
	}
	wrong := 0
	for i, b := range blocks {
		n := executions[b.PC]
		if in[i] != n || out[i] != n+later[i].Entered-later[i].Left-later[i].Broke {
			if wrong++; wrong < 5 {
				t.Errorf("block at %#x: executed %d times, in %d, out %d, breaks behind its start %+v", uint64(b.PC), n, in[i], out[i], later[i])
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d blocks", wrong, len(blocks))
	}
}

// blockTape counts block executions.
type blockTape struct {
	plan  *trace.Plan
	count map[trace.PC]uint64
	batch trace.Batch
}

func newBlockTape(p *trace.Plan) *blockTape {
	s := &blockTape{plan: p, count: make(map[trace.PC]uint64)}
	s.batch.Accesses = make([]trace.Access, 0, trace.BatchAccesses)
	return s
}

func (s *blockTape) Exchange(full *trace.Batch) *trace.Batch {
	if full != nil {
		for _, b := range full.Blocks {
			s.count[s.plan.Blocks[b].PC]++
		}
	}
	s.batch.Reset()
	return &s.batch
}

// arrivedAt adds to the blocks the destinations of indirect jumps, which a sweep
// cannot find.
func arrivedAt(t *testing.T, f *objfile.File, blocks []trace.Block, opt options) []trace.Block {
	t.Helper()
	opt.Plan, opt.Sink, opt.Windows = &trace.Plan{Flow: &trace.FlowPlan{}}, nil, nil
	_, r, err := runGuest(t, f, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range r.Flow.Arrivals {
		blocks = append(blocks, trace.Block{PC: a.PC})
	}
	slices.SortFunc(blocks, func(a, b trace.Block) int { return cmp.Compare(a.PC, b.PC) })
	return slices.CompactFunc(blocks, func(a, b trace.Block) bool { return a.PC == b.PC })
}

// TestFlowIsConserved checks the conservation law on whole runs, with blocks and
// edges counted in the same run, and in windows of the run, whose counts add up
// to the whole. Counting changes nothing else.
func TestFlowIsConserved(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	list := []program{flowPrograms()[0], programNamed(t, "c-O3-rv64gc"), programNamed(t, "cpp-O0-rv64gc"), waitProgram()}
	for _, p := range list {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			f, err := objfile.Open(p.build(t))
			if err != nil {
				t.Fatal(err)
			}
			opt := func() options {
				return options{Request: engine.Request{Args: []string{"x"}, Stdin: strings.NewReader("one two three two\nfour\n")}}
			}
			if p.name == "wait" {
				opt = waitOptions(t)
			}
			plan := &trace.Plan{Blocks: arrivedAt(t, f, planAll(f).Blocks, opt())}
			plan.Flow = betweenBlocks(f, everyTransfer(f), plan.Blocks)
			plan.Flow.Jumps = indirectJumps(f)
			for _, b := range plan.Blocks {
				plan.Flow.Places = append(plan.Flow.Places, b.PC)
			}
			plain, without, err := runGuest(t, f, opt())
			if err != nil {
				t.Fatal(err)
			}
			for name, mode := range modes(t) {
				tape := newBlockTape(plan)
				o := opt()
				o.mode, o.Plan, o.Sink = mode, plan, tape
				out, whole, err := runGuest(t, f, o)
				if err != nil || out != plain || whole.Instructions != without.Instructions || whole.Clock != without.Clock {
					t.Errorf("%s: %d instructions, without flow %d; same output %v: %v", name, whole.Instructions, without.Instructions, out == plain, err)
				}
				conserved(t, plan.Blocks, tape.count, plan.Flow, whole.Flow)
				for i, pc := range plan.Flow.Places {
					if n := whole.Flow.Places[i]; n != tape.count[pc] {
						t.Errorf("%s: %#x was executed %d times, recorded %d", name, uint64(pc), n, tape.count[pc])
					}
				}
				third := whole.Instructions / 3
				sum := make([]uint64, len(plan.Flow.Edges))
				for _, w := range [][]trace.Window{{{From: 0, To: third}}, {{From: third, To: 2 * third}}, {{From: 2 * third, To: math.MaxUint64}}} {
					tape, o := newBlockTape(plan), opt()
					o.mode, o.Plan, o.Sink, o.Windows = mode, plan, tape, w
					_, r, err := runGuest(t, f, o)
					if err != nil {
						t.Fatal(err)
					}
					conserved(t, plan.Blocks, tape.count, plan.Flow, r.Flow)
					for i, n := range r.Flow.Edges {
						sum[i] += n
					}
				}
				if !slices.Equal(sum, whole.Flow.Edges) {
					t.Errorf("%s: the edges counted in windows do not add up to those of the whole run", name)
				}
			}
		})
	}
}

// TestFlowKeepsTheTrace compares traces with and without flow, of a Go program
// with goroutines, signals and a garbage collector.
func TestFlowKeepsTheTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	f, err := objfile.Open(programNamed(t, "go").build(t))
	if err != nil {
		t.Fatal(err)
	}
	keep := make(map[trace.PC]bool)
	all := planAll(f)
	for _, r := range all.Refs {
		keep[r.PC] = true
	}
	every := everyTransfer(f)
	for name, mode := range modes(t) {
		var sums []uint64
		for _, flow := range []*trace.FlowPlan{nil, every, someFlow(every, 3)} {
			plan := &trace.Plan{Refs: all.Refs, Blocks: all.Blocks, Flow: flow}
			sink := newHashSink(plan, keep)
			_, r, err := runGuest(t, f, options{Request: engine.Request{Plan: plan, Sink: sink}, mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			sums = append(sums, sink.sum, uint64(sink.n), r.Instructions, r.Blocks)
			if (flow == nil) != (r.Flow == nil) {
				t.Errorf("%s: flow asked for %v, given %v", name, flow != nil, r.Flow != nil)
			}
		}
		if !slices.Equal(sums[:4], sums[4:8]) || !slices.Equal(sums[:4], sums[8:]) {
			t.Errorf("%s: trace, instructions, blocks without flow, with all and half of it: %d", name, sums)
		}
	}
}

// TestFlowOfSnapshots cuts runs in two at a snapshot: the counts of the two parts
// add up to those of the whole run, and each part conserves flow.
func TestFlowOfSnapshots(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	f, err := objfile.Open(waitProgram().build(t))
	if err != nil {
		t.Fatal(err)
	}
	fresh := waitOptions(t)
	plan := &trace.Plan{Flow: &trace.FlowPlan{Edges: everyTransfer(f).Edges}}
	_, whole, err := runGuest(t, f, with(fresh(), plan))
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("seen enough")
	for i := range uint64(12) {
		opt := with(fresh(), plan)
		opt.SnapshotAt = []uint64{whole.Instructions * i / 12}
		var taken *Snapshot
		opt.Snapshot = func(s engine.Snapshot) error {
			taken = s.(*Snapshot)
			return stop
		}
		_, head, err := runGuest(t, f, opt)
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		rest := with(fresh(), plan)
		rest.Resume = through(t, taken)
		if log := logOf(opt); log != nil {
			rest.Grants = opt.Grants
		}
		_, tail, err := runGuest(t, f, rest)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range whole.Flow.Edges {
			if head.Flow.Edges[i]+tail.Flow.Edges[i] != n {
				t.Fatalf("snapshot at %d: edge %#x was taken %d and %d times, of %d", taken.Instructions(), plan.Flow.Edges[i], head.Flow.Edges[i], tail.Flow.Edges[i], n)
			}
		}
		for _, a := range whole.Flow.Arrivals {
			if head.Flow.Arrived(a.PC)+tail.Flow.Arrived(a.PC) != a.Count {
				t.Fatalf("snapshot at %d: arrivals at %#x do not add up", taken.Instructions(), uint64(a.PC))
			}
		}
		for _, r := range []*result{head, tail} {
			var b trace.Break
			for _, at := range r.Flow.Breaks {
				b.Entered, b.Left, b.Broke = b.Entered+at.Entered, b.Left+at.Left, b.Broke+at.Broke
			}
			if b.Entered != b.Left+b.Broke {
				t.Errorf("snapshot at %d: breaks %+v", taken.Instructions(), b)
			}
		}
	}
}

func with(opt options, p *trace.Plan) options {
	opt.Plan = p
	return opt
}

// TestFlowContradiction runs programs with plans that do not fit them.
func TestFlowContradiction(t *testing.T) {
	const start = flowText
	image := func() []byte {
		var a asm
		a.word(wordI(opcodeImm, 0, 5, 0, 1), wordB(0, 5, 0, 8), wordJ(0, 4), wordI(opcodeJALR, 0, 0, 0, 0))
		return assemble(a.text, nil, pageBytes)
	}()
	f := readFile(t, image)
	for want, p := range map[string]*trace.FlowPlan{
		"edge from pc 0x100b0 to pc 0x100b8":          {Edges: []trace.Edge{{From: start, To: start + 8}}},
		"edge from pc 0x100b4 to pc 0x100c0":          {Edges: []trace.Edge{{From: start + 4, To: start + 8}, {From: start + 4, To: start + 12}, {From: start + 4, To: start + 16}}},
		"edge from pc 0x100b8 to pc 0x100b0":          {Edges: []trace.Edge{{From: start + 8, To: start}}},
		"edge from pc 0x100bc to pc 0x100c0":          {Edges: []trace.Edge{{From: start + 12, To: start + 16}}},
		"indirect jump at pc 0x100b4, but the instru": {Jumps: []trace.PC{start + 4}},
	} {
		for name, mode := range modes(t) {
			_, _, err := runGuest(t, f, options{Request: engine.Request{Plan: &trace.Plan{Flow: p}, MaxInstructions: 100}, mode: mode, heat: 1})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: want %q, got %v", name, want, err)
			}
		}
	}
	_, _, err := runGuest(t, f, options{Request: engine.Request{Plan: &trace.Plan{Flow: &trace.FlowPlan{}, Blocks: []trace.Block{{PC: start}}}}})
	if err == nil || !strings.Contains(err.Error(), "go together") {
		t.Errorf("blocks without a sink: %v", err)
	}
}

// TestFlowArenaFull counts flow in a program whose translations do not fit into
// the arena.
func TestFlowArenaFull(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	needJIT(t)
	f := readFile(t, flowImage(5, 40, 20_000))
	plan := everyTransfer(f)
	want := stepFlow(t, f, options{Request: engine.Request{Memory: minMemory}}).flow(plan)
	for _, room := range []int{200, 1 << 10, 4 << 10, 8 << 10} {
		m, err := newMachine(f, options{Request: engine.Request{Memory: minMemory, Plan: &trace.Plan{Flow: plan}}, mode: Translate, heat: 1})
		if err != nil {
			t.Fatal(err)
		}
		cutArena(m.jit, m.jit.base+room)
		if err := m.run(t.Context()); err != nil {
			t.Errorf("%d bytes for code: %v", room, err)
		}
		t.Run(fmt.Sprint(room), func(t *testing.T) { sameFlow(t, m.result().Flow, want, plan) })
		m.close()
	}
}
