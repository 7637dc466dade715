package rv64

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
	"testing"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// sweep decodes all routines and the gaps between them.
func sweep(f *objfile.File, visit func(pc uint64, size int, l lowered)) {
	c := newCodeCache(nil, nil, 0)
	over := func(addr uint64, code []byte) {
		for off := 0; off < len(code); {
			pc := addr + uint64(off)
			d, ok := c.decode(code[off:min(off+4, len(code))])
			if !ok {
				off += 2
				continue
			}
			visit(pc, d.size, c.lower(d, pc))
			off += d.size
		}
	}
	if len(f.Routines) == 0 {
		s := f.Segments[0]
		over(f.Entry, s.Data[f.Entry-s.Addr:])
	}
	end := uint64(0)
	for _, r := range f.Routines {
		// Some code stands between routines.
		if gap := f.Bytes(end, r.Addr-end); end > 0 && r.Addr > end && gap != nil {
			over(end, gap)
		}
		if code := f.Bytes(r.Addr, r.Size); code != nil {
			over(r.Addr, code)
			end = r.Addr + r.Size
		}
	}
}

// planAll plans every memory instruction that a sweep through the executable
// segments finds, and every start of a basic block.
func planAll(f *objfile.File) *trace.Plan {
	p := new(trace.Plan)
	starts := make(map[uint64]bool)
	sweep(f, func(pc uint64, size int, l lowered) {
		if l.memory && !l.illegal {
			p.Refs = append(p.Refs, trace.Ref{PC: trace.PC(pc), Size: l.size, Kind: l.kind, Float: l.float})
		}
		if l.ends {
			starts[pc+uint64(size)] = true
			if l.target != 0 {
				starts[l.target] = true
			}
		}
	})
	for _, r := range f.Routines {
		if f.Bytes(r.Addr, r.Size) != nil {
			starts[r.Addr] = true
		}
	}
	slices.SortFunc(p.Refs, func(a, b trace.Ref) int { return cmp.Compare(a.PC, b.PC) })
	p.Refs = slices.CompactFunc(p.Refs, func(a, b trace.Ref) bool { return a.PC == b.PC })
	for pc := range starts {
		p.Blocks = append(p.Blocks, trace.Block{PC: trace.PC(pc)})
	}
	slices.SortFunc(p.Blocks, func(a, b trace.Block) int { return cmp.Compare(a.PC, b.PC) })
	return p
}

// tape keeps a run's events.
type tape struct {
	t        *testing.T
	accesses []trace.Access
	blocks   []trace.BlockID
	threads  []int32 // of each access
	starts   []uint64
	ends     []int // accesses before the end of each batch
	capacity int
	batch    trace.Batch
}

func (s *tape) Exchange(full *trace.Batch) *trace.Batch {
	if full != nil {
		if full != &s.batch || len(full.Accesses) > s.capacity {
			s.t.Errorf("a batch of %d accesses came back", len(full.Accesses))
		}
		if len(full.Accesses)+len(full.Blocks) == 0 {
			s.t.Error("an empty batch was handed over")
		}
		s.accesses = append(s.accesses, full.Accesses...)
		s.blocks = append(s.blocks, full.Blocks...)
		for range full.Accesses {
			s.threads = append(s.threads, full.Thread)
		}
		s.starts = append(s.starts, full.Start)
		s.ends = append(s.ends, len(s.accesses))
	} else {
		s.batch.Accesses = make([]trace.Access, 0, s.capacity)
	}
	s.batch.Reset()
	return &s.batch
}

// reference is the trace that single-stepping produces: before each instruction is
// executed, it is looked up in the plan and its address computed.
type reference struct {
	accesses []trace.Access
	blocks   []trace.BlockID
	threads  []int32  // of each access
	at       []uint64 // instructions executed before each access
	blockAt  []uint64 // and before each block
}

// step runs a program instruction by instruction, with thread turns as the
// engine's documentation promises: 2^16 instructions, extended to the next
// transfer of control.
func step(t *testing.T, f *objfile.File, opt options, plan *trace.Plan) (*reference, *result) {
	t.Helper()
	opt.mode = Interpret
	m, err := newMachine(f, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	m.code.limit = 1
	refs, starts := make(map[uint64]int), make(map[uint64]int)
	for i, r := range plan.Refs {
		refs[uint64(r.PC)] = i
	}
	for i, b := range plan.Blocks {
		starts[uint64(b.PC)] = i
	}
	var ref reference
	for !m.over {
		th := m.schedule()
		for left := int64(quantum); ; {
			if m.deliver(th); m.over || th.blocked || th.exited {
				break
			}
			if i, ok := starts[th.pc]; ok {
				ref.blocks = append(ref.blocks, trace.BlockID(i))
				ref.blockAt = append(ref.blockAt, m.executed())
			}
			i, planned := refs[th.pc]
			access := trace.Access(0)
			if planned {
				addr, size := m.accessOf(th)
				if size != uint64(plan.Refs[i].Size) {
					t.Fatalf("size %d at %#x, plan says %d", size, th.pc, plan.Refs[i].Size)
				}
				access = trace.Tag(trace.RefID(i), uint8(size)) | trace.Access(addr)
			}
			d, _ := m.code.decode(m.mem.code(th.pc))
			l := m.code.lower(d, th.pc)
			yields := l.op.code == opEcall && th.x[regA7] == 124
			before := m.executed()
			m.horizon, m.budget = before+1, 1
			m.serve(th, m.slice(th))
			done := m.executed() > before // not a fault
			if planned && done {
				ref.accesses = append(ref.accesses, access)
				ref.threads = append(ref.threads, th.index)
				ref.at = append(ref.at, before)
			}
			if done {
				left--
			}
			if l.ends && left <= 0 || yields {
				break
			}
		}
	}
	if m.err != nil {
		t.Fatal(m.err)
	}
	return &ref, m.result()
}

// TestTraceAgainstSingleSteps compares the recorded streams with those of
// single-stepping, for random programs, a Fortran program, and a C program with
// threads and a handled fault.
func TestTraceAgainstSingleSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	files := make(map[string]*objfile.File)
	for seed := range uint64(8) {
		files[fmt.Sprint("random", seed)] = readFile(t, randomImage(100+seed, 3000))
	}
	for _, p := range programs() {
		if p.name != "fortran-O3-rv64gc" && p.name != "c-O3-rv64gc" {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			f, err := objfile.Open(p.build(t))
			if err != nil {
				t.Fatal(err)
			}
			testTrace(t, f)
		})
	}
	for name, f := range files {
		t.Run(name, func(t *testing.T) { testTrace(t, f) })
	}
}

// testTrace runs f with every reference and block planned, and with the
// references alone, so that blocks are longer.
func testTrace(t *testing.T, f *objfile.File) {
	plan := planAll(f)
	want, stepped := step(t, f, options{}, plan)
	if len(want.blocks) < 50 {
		t.Errorf("only %d blocks executed", len(want.blocks))
	}
	for _, mode := range modes(t) {
		testTraceOn(t, f, mode, plan, want, stepped)
	}
	plan.Blocks, want.blocks = nil, nil
	for _, mode := range modes(t) {
		testTraceOn(t, f, mode, plan, want, stepped)
	}
}

func testTraceOn(t *testing.T, f *objfile.File, mode Mode, plan *trace.Plan, want *reference, stepped *result) {
	got := &tape{t: t, capacity: maxBlock}
	_, r, err := runGuest(t, f, options{Request: engine.Request{Plan: plan, Sink: got}, mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	if r.Instructions != stepped.Instructions || r.ExitCode != stepped.ExitCode {
		t.Errorf("%d instructions, status %d; single-stepped %d, %d", r.Instructions, r.ExitCode, stepped.Instructions, stepped.ExitCode)
	}
	if !slices.Equal(got.blocks, want.blocks) {
		t.Errorf("%d block executions differ from the %d single-stepped", len(got.blocks), len(want.blocks))
	}
	if len(want.accesses) < 500 || len(got.accesses) != len(want.accesses) {
		t.Fatalf("%d accesses, single-stepped %d", len(got.accesses), len(want.accesses))
	}
	for i, a := range got.accesses {
		if got.threads[i] != want.threads[i] {
			t.Fatalf("access %d is thread %d's, want %d", i, got.threads[i], want.threads[i])
		}
		if a != want.accesses[i] {
			t.Fatalf("access %d is ref %d at %#x, want ref %d at %#x", i, a.Ref(), a.Addr(), want.accesses[i].Ref(), want.accesses[i].Addr())
		}
	}
	if r.Accesses != uint64(len(got.accesses)) || r.Blocks != uint64(len(got.blocks)) || r.Batches != uint64(len(got.starts)) {
		t.Errorf("the result counts %d accesses, %d blocks, %d batches", r.Accesses, r.Blocks, r.Batches)
	}
	// Start is between the last access of one batch and the first of the next.
	for i, start := range got.starts {
		first := 0
		if i > 0 {
			first = got.ends[i-1]
			if first > 0 && want.at[first-1] >= start {
				t.Fatalf("batch %d starts at %d, but access %d was at %d", i, start, first-1, want.at[first-1])
			}
		}
		if first < len(want.at) && want.at[first] < start {
			t.Fatalf("batch %d starts at %d, after its first access at %d", i, start, want.at[first])
		}
	}
}

// hashSink hashes the accesses of some references, identified by instruction
// address, with their threads and block executions.
type hashSink struct {
	plan  *trace.Plan
	keep  map[trace.PC]bool
	batch trace.Batch
	sum   uint64
	n     int
}

func newHashSink(plan *trace.Plan, keep map[trace.PC]bool) *hashSink {
	s := &hashSink{plan: plan, keep: keep}
	s.batch.Accesses = make([]trace.Access, 0, trace.BatchAccesses)
	return s
}

func (s *hashSink) Exchange(full *trace.Batch) *trace.Batch {
	if full != nil {
		for _, a := range full.Accesses {
			if pc := s.plan.Refs[a.Ref()].PC; s.keep[pc] {
				s.n++
				s.sum = s.sum*0x9e3779b97f4a7c15 + uint64(pc) ^ a.Addr() ^ uint64(full.Thread)<<50
			}
		}
	}
	s.batch.Reset()
	return &s.batch
}

// TestDeterminism runs the Go program with its goroutines, signals and garbage
// collector in every mode, with everything planned, with every third reference and
// no block, and untraced. All runs must execute the same instructions and access
// the same addresses.
func TestDeterminism(t *testing.T) {
	f, err := objfile.Open(programs()[0].build(t))
	if err != nil {
		t.Fatal(err)
	}
	all := planAll(f)
	some := new(trace.Plan)
	keep := make(map[trace.PC]bool)
	for i, r := range all.Refs {
		if i%3 == 0 {
			some.Refs = append(some.Refs, r)
			keep[r.PC] = true
		}
	}
	type outcome struct {
		sum, instructions uint64
		n, threads        int
		out               string
	}
	var first outcome
	for i, plan := range []*trace.Plan{all, all, some, nil, nil} {
		opt := options{Request: engine.Request{Plan: plan}}
		if i%2 == 1 {
			opt.mode = Interpret
		}
		sink := newHashSink(plan, keep)
		if plan != nil {
			opt.Sink = sink
		}
		out, r, err := runGuest(t, f, opt)
		if err != nil {
			t.Fatal(err)
		}
		got := outcome{sink.sum, r.Instructions, sink.n, r.Threads, out}
		switch {
		case i == 0:
			first = got
			if got.n < 1e6 || got.threads < 3 {
				t.Errorf("only %d accesses, %d threads", got.n, got.threads)
			}
		case plan == nil:
			if got.instructions != first.instructions || got.out != first.out {
				t.Errorf("untraced: %d instructions, traced %d", got.instructions, first.instructions)
			}
		case got != first:
			t.Errorf("run %d: %+v, first run %+v", i, got, first)
		}
	}
}
