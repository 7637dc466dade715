package engine_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// fake is an engine with the properties that the embedded one lacks: it knows no
// code before running it, its programs have 47-bit addresses and several threads,
// an instruction may have two references, and a block may make any number of
// accesses. It has none of the optional capabilities.
//
// Its one program runs several threads. Each copies its array word by word, with
// one instruction that loads and stores, and after each word fills a buffer of its
// own with one to five bytes, with a repeated string instruction; then it ends. A
// thread starts at its first turn.
type fake struct{}

var _ engine.Discoverer = fake{}

// Real addresses of the program, as in a Linux process on x86-64, and its code.
const (
	fakeModule  = 0x5555_5555_4000
	fakeHeap    = 0x5555_7aa0_12a0 // arrays of all threads, one after the other
	fakeStacks  = 0x7fff_ff00_0000 // buffers, one stack per thread
	stackBytes  = 1 << 20
	fakeThreads = 3
	fakeTurn    = 64 // words

	copyPC = 0x40 // in the module: the loop's first block, of two instructions
	fillPC = 0x52 // its second one, of three
	endPC  = 0x60
)

// event is an access of the program, independent of any plan.
type event struct {
	ref    trace.Ref
	addr   uint64 // real
	thread int32
}

// block is one execution of a basic block.
type block struct {
	trace.Block
	accesses []event
}

func load(pc trace.PC, operand uint8, size uint8, kind trace.Kind) trace.Ref {
	return trace.Ref{PC: pc, Operand: operand, Size: size, Kind: kind}
}

// program yields the blocks that the threads execute, in turns, until yield returns
// false.
func program(words int, yield func(thread int32, b block) bool) {
	heap := func(thread int32) uint64 { return fakeHeap + uint64(thread)*uint64(words)*16 }
	for first := 0; first < words; first += fakeTurn {
		for thread := range int32(fakeThreads) {
			for w := first; w < min(first+fakeTurn, words); w++ {
				at := heap(thread) + uint64(w)*8
				b := block{trace.Block{PC: copyPC, Instructions: 2, Refs: 2}, []event{
					{load(copyPC, 0, 8, trace.Load), at, thread},
					{load(copyPC, 1, 8, trace.Store), at + uint64(words)*8, thread},
				}}
				if !yield(thread, b) {
					return
				}
				b = block{Block: trace.Block{PC: fillPC, Instructions: 3, Refs: 1, Varies: true}}
				for i := range 1 + w*w%5 {
					at := fakeStacks - uint64(thread)*stackBytes - uint64(8*w+i) - 1
					b.accesses = append(b.accesses, event{load(fillPC+2, 0, 1, trace.Store), at, thread})
				}
				if !yield(thread, b) {
					return
				}
			}
		}
	}
	for thread := range int32(fakeThreads) {
		if !yield(thread, block{Block: trace.Block{PC: endPC, Instructions: 1}}) {
			return
		}
	}
}

func (fake) Identity() engine.Identity         { return engine.Identity{Name: "fake", Version: 3} }
func (fake) Capabilities() engine.Capabilities { return 0 }

func (fake) Accepts(f *objfile.File) error {
	if f.Path != "fake" {
		return errors.New("fake: not its program")
	}
	return nil
}

// regions maps the program's memory.
func regions(words int) (*trace.Regions, error) {
	r := new(trace.Regions)
	_, err := r.Add(fakeModule, 0x2000, 0)
	if err == nil {
		_, err = r.Add(fakeHeap, uint64(words)*16*fakeThreads, 1<<30)
	}
	for thread := range uint64(fakeThreads) {
		if err == nil {
			_, err = r.Add(fakeStacks-(thread+1)*stackBytes, stackBytes, 0)
		}
	}
	return r, err
}

// Discover implements engine.Discoverer.
func (e fake) Discover(ctx context.Context, f *objfile.File, r engine.Request) (*engine.Discovery, error) {
	m, err := e.start(r)
	if err != nil {
		return nil, err
	}
	refs := make(map[trace.Ref]bool)
	blocks := make(map[trace.PC]trace.Block)
	m.seen = func(b block) {
		for _, a := range b.accesses {
			refs[a.ref] = true
		}
		blocks[b.PC] = b.Block
	}
	out, err := m.run(ctx)
	if out == nil {
		return nil, err
	}
	base, _ := m.regions.Synthetic(fakeModule)
	plan := &trace.Plan{Refs: slices.SortedFunc(maps.Keys(refs), trace.Ref.Compare)}
	for i := range plan.Refs {
		plan.Refs[i].PC += trace.PC(base)
		plan.Refs[i].Group = trace.GroupID(i)
	}
	for _, pc := range slices.Sorted(maps.Keys(blocks)) {
		b := blocks[pc]
		b.PC += trace.PC(base)
		plan.Blocks = append(plan.Blocks, b)
	}
	return &engine.Discovery{Plan: plan, Modules: []engine.Module{{Path: f.Path, Base: trace.PC(base), Size: 0x2000}}, Outcome: out}, err
}

// Run implements engine.Engine.
func (e fake) Run(ctx context.Context, f *objfile.File, r engine.Request) (*engine.Outcome, error) {
	m, err := e.start(r)
	if err != nil {
		return nil, err
	}
	if r.Plan != nil {
		m.record(r.Plan)
	}
	return m.run(ctx)
}

// machine is the state of a run.
type machine struct {
	request engine.Request
	words   int
	status  int
	regions *trace.Regions
	seen    func(block) // called for each block; nil: nothing to call

	refs    map[trace.Ref]trace.RefID // without Group, PC in the module
	blocks  map[trace.PC]trace.BlockID
	counted bool // the plan has blocks that vary
	batch   *trace.Batch
	foreign map[trace.Ref]bool // executed but not planned
	out     engine.Outcome
}

func (e fake) start(r engine.Request) (*machine, error) {
	if err := r.Check(e.Capabilities()); err != nil {
		return nil, err
	}
	m := &machine{request: r, foreign: make(map[trace.Ref]bool)}
	var err error
	if m.words, err = strconv.Atoi(r.Args[0]); err != nil {
		return nil, err
	}
	if m.words < 0 {
		m.words, m.status = -m.words, 7
	}
	m.regions, err = regions(m.words)
	return m, err
}

// record prepares to record a plan, whose addresses are relative to the module's
// base.
func (m *machine) record(p *trace.Plan) {
	base, _ := m.regions.Synthetic(fakeModule)
	m.refs, m.blocks = make(map[trace.Ref]trace.RefID), make(map[trace.PC]trace.BlockID)
	for i, r := range p.Refs {
		r.PC, r.Group = r.PC-trace.PC(base), 0
		m.refs[r] = trace.RefID(i)
	}
	for i, b := range p.Blocks {
		m.blocks[b.PC-trace.PC(base)] = trace.BlockID(i)
		m.counted = m.counted || b.Varies
	}
	if m.request.Sink != nil {
		m.batch = m.request.Sink.Exchange(nil)
	}
}

func (m *machine) run(ctx context.Context) (*engine.Outcome, error) {
	var err error
	end, limit := m.request.End()
	program(m.words, func(thread int32, b block) bool {
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case end > 0 && m.out.Instructions >= end && limit:
			err = fmt.Errorf("fake: %w", engine.ErrInstructionLimit)
		case end > 0 && m.out.Instructions >= end:
			m.out.Stopped = true
		default:
			m.execute(thread, b)
			return true
		}
		return false
	})
	m.flush(0)
	m.out.UnplannedRefs = len(m.foreign)
	if err == nil && !m.out.Stopped {
		m.out.ExitCode = m.status
		input, _ := io.ReadAll(cmp.Or[io.Reader](m.request.Stdin, new(bytes.Buffer)))
		if m.request.Stdout != nil {
			fmt.Fprintf(m.request.Stdout, "copied %d words of %s\n", m.words, input)
		}
	}
	return &m.out, err
}

func (m *machine) execute(thread int32, b block) {
	if m.seen != nil {
		m.seen(b)
	}
	if m.batch != nil {
		m.append(thread, b)
	}
	m.out.Threads = max(m.out.Threads, int(thread)+1)
	m.out.Instructions += uint64(b.Instructions)
}

func (m *machine) append(thread int32, b block) {
	if m.batch.Thread != thread || len(m.batch.Accesses)+len(b.accesses) > cap(m.batch.Accesses) {
		m.flush(thread)
	}
	n := uint32(0)
	for _, a := range b.accesses {
		id, ok := m.refs[a.ref]
		if !ok {
			m.foreign[a.ref] = true
			continue
		}
		addr, ok := m.regions.Synthetic(a.addr)
		if !ok {
			panic(fmt.Sprintf("%#x is in no region", a.addr))
		}
		m.batch.Accesses = append(m.batch.Accesses, trace.Tag(id, a.ref.Size)|trace.Access(addr))
		n++
	}
	if id, ok := m.blocks[b.PC]; ok {
		m.batch.Blocks = append(m.batch.Blocks, id)
		if m.counted {
			m.batch.Counts = append(m.batch.Counts, n)
		}
	}
}

// flush passes the batch to the sink unless it is empty.
func (m *machine) flush(thread int32) {
	if m.batch == nil {
		return
	}
	if b := m.batch; len(b.Accesses)+len(b.Blocks) > 0 {
		m.out.Accesses += uint64(len(b.Accesses))
		m.out.Blocks += uint64(len(b.Blocks))
		m.out.Batches++
		m.batch = m.request.Sink.Exchange(b)
	}
	m.batch.Start, m.batch.Thread = m.out.Instructions, thread
}
