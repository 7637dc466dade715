package targets_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/machine"
	"presage/perf/pipeline"
	"presage/perf/sched"
	"presage/perf/shard"
	"presage/perf/trace"
)

const (
	equal, less, notBelow = 0, 2, 5 // indices of conditions

	iterations = 100
	array      = 0x200000
)

// sumLoop is a routine that, for r2 = 0 to r1 - 1, adds array[r2] to r3, r3 to
// array[r2+1000], 7 to a counter, and copies a number from r5 on to r6 on.
func sumLoop() *assembler {
	a := newAssembler()
	a.emit(opPush, 12<<4)
	a.emit(opImmediate, 0)
	a.long(array)
	a.emit(opImmediate, 2)
	a.long(0)
	a.emit(opImmediate, 4)
	a.long(iterations)
	a.emit(opNop) // so that the loop lies at an odd address
	a.label("loop")
	a.emit(opAddLoad, 3)
	a.address(0, 2, 3, 0)
	a.emit(opAddStore, 3)
	a.address(0, 2, 3, 8000)
	a.emit(opAddLong)
	a.address(nothing, nothing, 0, array-64)
	a.long(7)
	a.emit(opAddByte, 2, 1)
	a.emit(opCompare, 2<<4|4)
	a.branch(less, "loop")
	a.label("end")
	a.emit(opPop, 12<<4)
	a.emit(opReturn)
	return a
}

func TestLoopOfVariableLengths(t *testing.T) {
	a := sumLoop()
	p := cfg.Analyze(a.file(t))
	if len(p.Routines) != 1 || len(p.Warnings) > 0 {
		t.Fatalf("%d routines, warnings %v", len(p.Routines), p.Warnings)
	}
	r := p.Routines[0]
	if len(r.Blocks) != 3 || len(r.Loops) != 1 || len(r.Gaps) > 0 || a.labels["loop"]%2 == 0 {
		t.Fatalf("%d blocks, %d loops, gaps %v, the loop at %#x", len(r.Blocks), len(r.Loops), r.Gaps, a.labels["loop"])
	}
	body := &r.Blocks[r.Loops[0].Header]
	if body.PC() != a.labels["loop"] || body.End() != a.labels["end"] || len(body.Insts) != 6 {
		t.Errorf("the loop is %d instructions from %#x to %#x", len(body.Insts), body.PC(), body.End())
	}
	var lengths []uint8
	for i := range body.Insts {
		lengths = append(lengths, body.Insts[i].Len)
	}
	if want := []uint8{8, 8, 15, 3, 2, 6}; !slices.Equal(lengths, want) {
		t.Errorf("lengths %v, want %v", lengths, want)
	}
}

func TestReferencesOfMemoryAndArithmetic(t *testing.T) {
	p := cfg.Analyze(sumLoop().file(t))
	an := access.Analyze(p)
	var got []string
	for i := range an.All {
		ref := &an.All[i]
		text := fmt.Sprintf("%v of %d at %v", ref.Kind, ref.Size, ref.First)
		for _, s := range ref.Strides {
			text += fmt.Sprintf(" by %v %t %t", s.Formula, s.Irregular, s.Indirect)
		}
		got = append(got, strings.TrimSpace(text+" "+ref.Stack.String()))
	}
	want := []string{
		"store of 8 at r15 - 8 saved register",
		"load of 8 at 0x200000 by 8 false false",
		"read-modify-write of 8 at 0x201f40 by 8 false false",
		"read-modify-write of 8 at 0x1fffc0 by 0 false false",
		"load of 8 at r15 - 8 saved register",
		"load of 8 at r15", // the return address
	}
	for i, w := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], w) {
			t.Errorf("reference %d of %q, want %q", i, got, w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d references, want %d", len(got), len(want))
	}
}

// TestTableBehindFlags resolves a jump through a table of code addresses that
// lies among the code, at an odd address, after a bounds check through flags.
func TestTableBehindFlags(t *testing.T) {
	a := newAssembler()
	a.emit(opCompareWord, 3)
	a.word(3)
	a.branch(notBelow, "default")
	a.emit(opTable)
	table := len(a.code)
	a.address(nothing, 3, 3, 0)
	for i := range 3 {
		a.label(fmt.Sprintf("case%d", i))
		a.emit(opAddByte, 4, byte(i), opReturn)
	}
	a.label("default")
	a.emit(opReturn)
	if a.pc()%2 == 0 {
		a.emit(0xff)
	}
	at := a.pc()
	for i := range 3 {
		a.to(fmt.Sprintf("case%d", i), 8)
	}
	a.to("default", 8) // beyond the table
	for i, b := range []byte{byte(at), byte(at >> 8), byte(at >> 16), 0} {
		a.code[table+2+i] = b
	}
	p := cfg.Analyze(a.file(t))
	r := p.RoutineAt(codeAt)
	var targets []uint64
	for _, e := range r.Edges {
		if e.Kind == cfg.Table {
			targets = append(targets, r.Blocks[e.To].PC())
		}
	}
	if want := []uint64{a.labels["case0"], a.labels["case1"], a.labels["case2"]}; !slices.Equal(targets, want) || len(r.Open) > 0 {
		t.Errorf("the table leads to %#x, open %v; want %#x", targets, r.Open, want)
	}
}

// TestCallsAndCopies follows values through pushes to the frame, a call, and an
// instruction with two memory operands.
func TestCallsAndCopies(t *testing.T) {
	a := newAssembler()
	a.emit(opCall)
	a.to("callee", 4)
	a.emit(opMove, 1<<4, opMove, 2<<4|12)
	a.label("loop")
	a.emit(opCopyString)
	a.emit(opCompare, 1<<4|13)
	a.branch(less, "loop")
	a.emit(opSystem, opReturn)
	a.label("callee")
	a.emit(opPush, 12<<4, opPush, 3<<4)
	a.emit(opPop, 3<<4, opPop, 12<<4)
	a.emit(opReturn)
	p := cfg.Analyze(a.file(t))
	if len(p.Routines) != 2 || p.Routines[1].Addr != a.labels["callee"] {
		t.Fatalf("%d routines, want the one that is called at %#x", len(p.Routines), a.labels["callee"])
	}
	an := access.Analyze(p)
	var both []access.Reference
	for _, ref := range an.All {
		if uint64(ref.PC) == a.labels["loop"] {
			both = append(both, ref)
		}
	}
	if len(both) != 2 || both[0].Kind != trace.Load || both[1].Kind != trace.Store || both[0].Operand != 0 || both[1].Operand != 1 {
		t.Fatalf("the copy's references are %+v", both)
	}
	for i, want := range []string{fmt.Sprintf("r0@%#x", codeAt), "r12"} {
		if got := both[i].First.String(); got != want {
			t.Errorf("operand %d is first at %s, want %s", i, got, want)
		}
		if s := both[i].Strides[0]; !s.Regular() || s.Formula.String() != "8" {
			t.Errorf("operand %d moves by %+v", i, s)
		}
	}
	copies(t, p)
	saved := 0
	for i := range an.All {
		if an.All[i].Stack == access.SavedReg {
			saved++
		}
	}
	if saved != 2 { // r12's, not r3's
		t.Errorf("%d references save or restore a register, want 2", saved)
	}
}

// copies runs the block that copies, whose first instruction makes two accesses,
// through the collectors.
func copies(t *testing.T, p *cfg.Program) {
	t.Helper()
	r := p.Routines[0]
	code := [][]isa.Inst{r.Blocks[r.Loops[0].Header].Insts}
	plan, err := pipeline.Plan(code)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(plan.Refs); n != 2 || plan.Blocks[0].Refs != 2 || plan.Refs[0].PC != plan.Refs[1].PC || plan.Refs[1].Operand != 1 || plan.Refs[1].Kind != trace.Store {
		t.Fatalf("references %+v of blocks %+v", plan.Refs, plan.Blocks)
	}
	batch := new(trace.Batch)
	const times = 50
	for i := range trace.Access(times) {
		batch.Blocks = append(batch.Blocks, 0)
		batch.Accesses = append(batch.Accesses, trace.Tag(0, 8)+0x1000+8*i, trace.Tag(1, 8)+0x2000+8*i)
	}
	timings := make(map[isa.Class]pipeline.Timing)
	for _, class := range isa.Classes() {
		timings[class] = pipeline.Timing{Latency: 1}
	}
	sim, err := pipeline.New(madeUp(), plan, code, pipeline.Config{Window: 16, Timings: timings}, pipeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	chars, err := shard.New(plan, code, 0)
	if err != nil {
		t.Fatal(err)
	}
	sim.Observe(batch)
	chars.Observe(batch)
	if got := sim.Result(); got.Instructions != 3*times || len(got.Warnings) > 0 {
		t.Errorf("%d instructions simulated, want %d; warnings %v", got.Instructions, 3*times, got.Warnings)
	}
	shards, warnings := chars.Result()
	if len(warnings) > 0 || shards[0].Memory != times || shards[0].DataBlocks != 14 || shards[0].Data.Count != 2*times-14 {
		t.Errorf("%+v, warnings %v", shards, warnings)
	}
}

// wide is a core of 4 micro-operations a cycle.
func wide() *machine.Core {
	c := &machine.Core{
		FetchWidth: 4, IssueWidth: 4, RetireWidth: 4, Window: 64, IntRegisters: 64, FloatRegisters: 64,
		Units: []machine.Unit{{Name: "alu", Count: 3}, {Name: "mem", Count: 2}}, Classes: make(map[isa.Class]machine.Timing),
	}
	for _, class := range isa.Classes() {
		unit, latency := "alu", machine.Cycles(1)
		switch class {
		case isa.Load, isa.FPLoad:
			unit, latency = "mem", 4
		case isa.Store, isa.FPStore:
			unit = "mem"
		}
		c.Classes[class] = machine.Timing{Latency: latency, Uses: []machine.Use{{AnyOf: []string{unit}, Cycles: 1}}}
	}
	return c
}

// TestScheduleOfMicroOperations schedules a loop of 11 micro-operations, 5 of
// which access memory, with a recurrence through its counter in memory: a load
// of 4 cycles, an add and a store of one each. Widths and units limit it less.
func TestScheduleOfMicroOperations(t *testing.T) {
	p := cfg.Analyze(sumLoop().file(t))
	an := access.Analyze(p)
	r := p.Routines[0]
	loop := r.Loops[0]
	d := an.Dependences(0, 0, []int{loop.Header}, access.DependenceOptions{})
	if len(d.Nodes) != 11 {
		t.Fatalf("%d micro-operations, want 11", len(d.Nodes))
	}
	s, err := sched.New(wide(), sched.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seg := s.ScheduleLoop(d)
	if seg.Bounds.Fetch != 11.0/4 || seg.Bounds.Units != 2.5 || seg.Bounds.Recurrence != 6 || seg.Cycles != 6 {
		t.Errorf("bounds %+v, %v cycles", seg.Bounds, seg.Cycles)
	}
	f := &sched.Frequencies{Routines: []sched.RoutineFrequencies{{Blocks: make([]float64, len(r.Blocks)), Edges: make([]float64, len(r.Edges))}}}
	f.Routines[0].Blocks[loop.Header] = iterations
	for e, edge := range r.Edges {
		f.Routines[0].Edges[e] = 1
		if edge.From == loop.Header && edge.To == loop.Header {
			f.Routines[0].Edges[e] = iterations - 1
		}
	}
	f.Routines[0].Blocks[0], f.Routines[0].Blocks[2] = 1, 1
	result, err := s.Program(context.Background(), an, f)
	if err != nil {
		t.Fatal(err)
	}
	if want := float64(iterations*6 + len(r.Blocks[0].Insts) + len(r.Blocks[2].Insts)); result.Instructions != want || result.Cycles < 6*(iterations-1) || result.Cycles > 6*iterations+50 {
		t.Errorf("%v instructions in %v cycles, want %v in about %d", result.Instructions, result.Cycles, want, 6*iterations)
	}
}

// run is the execution of the sum loop, as an engine would record it.
func run(t *testing.T) (code [][]isa.Inst, plan *trace.Plan, batch *trace.Batch) {
	t.Helper()
	r := cfg.Analyze(sumLoop().file(t)).Routines[0]
	for b := range r.Blocks {
		code = append(code, r.Blocks[b].Insts)
	}
	plan, err := pipeline.Plan(code)
	if err != nil {
		t.Fatal(err)
	}
	const stack = 0x7fff00
	addresses := func(i uint64) [][]uint64 {
		return [][]uint64{{stack - 8}, {array + 8*i, array + 8000 + 8*i, array - 64}, {stack - 8, stack}}
	}
	batch = new(trace.Batch)
	execute := func(block int, i uint64) {
		batch.Blocks = append(batch.Blocks, trace.BlockID(block))
		first := trace.RefID(0)
		for b := range block {
			first += trace.RefID(plan.Blocks[b].Refs)
		}
		for k, at := range addresses(i)[block] {
			batch.Accesses = append(batch.Accesses, trace.Tag(first+trace.RefID(k), 8)+trace.Access(at))
		}
	}
	execute(0, 0)
	for i := range uint64(iterations) {
		execute(1, i)
	}
	execute(2, 0)
	return code, plan, batch
}

func TestShardOfMemoryAndArithmetic(t *testing.T) {
	code, plan, batch := run(t)
	c, err := shard.New(plan, code, 0)
	if err != nil {
		t.Fatal(err)
	}
	c.Observe(batch)
	shards, warnings := c.Result()
	if len(shards) != 1 || len(warnings) > 0 {
		t.Fatalf("%d shards, warnings %v", len(shards), warnings)
	}
	s := shards[0]
	// Of the loop, 3 of 6 instructions access memory, and 5 compute.
	if s.Instructions != 5+6*iterations+2 || s.Memory != 1+3*iterations+2 || s.IntALU != 3+5*iterations || s.Control != iterations+1 || s.Taken != iterations-1 {
		t.Errorf("%+v", s)
	}
}

func TestPipelineOfMicroOperations(t *testing.T) {
	code, plan, batch := run(t)
	config := pipeline.Config{
		FetchWidth: 4, DispatchWidth: 4, IssueWidth: 4, RetireWidth: 4, Window: 64, IntRegisters: 64,
		Units: []pipeline.Unit{{Name: "alu", Count: 3}, {Name: "mem", Count: 2}}, Timings: make(map[isa.Class]pipeline.Timing),
	}
	for class, timing := range wide().Classes {
		config.Timings[class] = pipeline.Timing{Latency: int(timing.Latency), Uses: []pipeline.Use{{AnyOf: timing.Uses[0].AnyOf, Cycles: 1}}}
	}
	sim, err := pipeline.New(madeUp(), plan, code, config, pipeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sim.Observe(batch)
	result := sim.Result()
	if result.Instructions != 5+6*iterations+2 || len(result.Warnings) > 0 {
		t.Fatalf("%d instructions, warnings %v", result.Instructions, result.Warnings)
	}
	// The counter in memory: a load of 4 cycles that gets what the store before
	// it left, an add and the store.
	if least := uint64(5 * iterations); result.Cycles < least || result.Cycles > 7*iterations+50 {
		t.Errorf("%d cycles, want 5 to 7 an iteration", result.Cycles)
	}
	if result.Forwarded != iterations-1 {
		t.Errorf("%d loads got what a store had left", result.Forwarded)
	}
	small := config
	small.IntRegisters = 17
	if _, err := pipeline.New(madeUp(), plan, code, small, pipeline.Options{}); err == nil || !strings.Contains(err.Error(), "17 hold the architectural state") {
		t.Errorf("17 registers, all of them architectural: %v", err)
	}
}
