package shard

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"presage/perf/isa"
	"presage/perf/trace"
)

// inst makes an instruction of four bytes; def and uses below 0 are none.
func inst(pc uint64, class isa.Class, def int, uses ...int) isa.Inst {
	in := isa.Inst{PC: pc, Len: 4, Class: class}
	if def >= 0 {
		in.AddDef(isa.Reg(def))
	}
	for _, u := range uses {
		in.AddUse(isa.Reg(u))
	}
	switch class {
	case isa.Load, isa.FPLoad:
		in.AddMem(isa.Mem{Kind: isa.MemLoad, Size: 8, Base: 1, Index: isa.NoReg})
	case isa.Store, isa.FPStore:
		in.AddMem(isa.Mem{Kind: isa.MemStore, Size: 8, Base: 1, Index: isa.NoReg})
	}
	return in
}

const (
	f1 = int(isa.F0) + 1
	f2 = int(isa.F0) + 2
)

// program is three blocks: a loop body of eight instructions that begins four
// instructions before the end of a block of code, its end, and a routine
// elsewhere.
func program() [][]isa.Inst {
	const a, b, c = 0x1030, 0x1050, 0x2000
	return [][]isa.Inst{
		{
			inst(a, isa.FPLoad, f1, 1),             // 0
			inst(a+4, isa.FPAdd, f2, f1),           // 1: used by 3
			inst(a+8, isa.Multiply, 6, 5),          // 2: used by 5
			inst(a+12, isa.FPMultiply, f1, f2, f2), // 3: used by 6
			inst(a+16, isa.ALU, 7, 5),              // 4
			inst(a+20, isa.ALU, 6, 6, 7),           // 5
			inst(a+24, isa.FPStore, -1, 1, f1),     // 6
			inst(a+28, isa.Branch, -1, 6),          // 7
		},
		{inst(b, isa.Shift, 5, 6), inst(b+4, isa.Call, 1)},
		{inst(c, isa.Divide, 5, 6), inst(c+4, isa.FPDivide, f1, f1), inst(c+8, isa.Return, -1, 1)},
	}
}

func planOf(code [][]isa.Inst) *trace.Plan {
	p := new(trace.Plan)
	for _, insts := range code {
		b := trace.Block{PC: trace.PC(insts[0].PC), Instructions: uint32(len(insts))}
		for i := range insts {
			if insts[i].Accesses() {
				b.Refs++
				p.Refs = append(p.Refs, trace.Ref{PC: trace.PC(insts[i].PC), Size: insts[i].Mems()[0].Size})
			}
		}
		p.Blocks = append(p.Blocks, b)
	}
	return p
}

func access(ref trace.RefID, addr uint64) trace.Access { return trace.Tag(ref, 8) | trace.Access(addr) }

// TestByHand checks two iterations of the loop, its end, and the routine, worked out by
// hand:
//
//	instruction   0 … 7    8 … 15   16 17    18 19 20
//	block         loop     loop     end      routine
//	code block    0x1000: 0-3, 8-11;  0x1040: 4-7, 12-17;  0x2000: 18-20
//	data          0: A   6: B       8: A and B (straddles)   14: C
func TestByHand(t *testing.T) {
	code := program()
	c, err := New(planOf(code), code, 0)
	if err != nil {
		t.Fatal(err)
	}
	c.Observe(&trace.Batch{
		Blocks:   []trace.BlockID{0, 0, 1, 2},
		Accesses: []trace.Access{access(0, 0x100), access(1, 0x140), access(0, 0x13c), access(1, 0x800)},
	})
	shards, warnings := c.Result()
	want := Shard{
		Instructions: 21,
		Control:      4, // two branches, a call, a return
		Taken:        2, // the first branch, the call; where the return led is not seen
		FloatALU:     2, FloatMulDiv: 3, IntMulDiv: 3, IntALU: 5, Memory: 4,
		// At 8: 8 from A and 2 from B.
		Data: Distances{2, 10}, DataBlocks: 3,
		// 0x1000: 3 ones, 8-3=5, 3 ones. 0x1040: 3 ones, 12-7=5, 5 ones.
		// 0x2000: 2 ones.
		Code: Distances{18, 3 + 5 + 3 + 3 + 5 + 5 + 2}, CodeBlocks: 3,
		FloatALUUse: Distances{2, 4}, FloatMulUse: Distances{2, 6}, IntMulUse: Distances{2, 6},
	}
	if len(shards) != 1 || shards[0] != want || len(warnings) > 0 {
		t.Fatalf("got  %+v\nwant %+v\nwarnings %v", shards, want, warnings)
	}
	values := []float64{4. / 21, 2. / 21, 2. / 21, 3. / 21, 3. / 21, 5. / 21, 4. / 21, 5, 26. / 18, 2, 3, 3, 21. / 4}
	for i, got := range shards[0].Values() {
		if math.Abs(got-values[i]) > 1e-15 {
			t.Errorf("%s is %g, want %g", Characteristics()[i].Name, got, values[i])
		}
	}
	if len(values) != 13 || len(Characteristics()) != 13 {
		t.Error("there are not thirteen characteristics")
	}
}

// TestShardsAreCut demands that a shard ends with the first block that begins at or
// after a multiple of the length, and starts without history.
func TestShardsAreCut(t *testing.T) {
	code := program()
	c, err := New(planOf(code), code, 10)
	if err != nil {
		t.Fatal(err)
	}
	loop := func(n int, start uint64) *trace.Batch {
		b := &trace.Batch{Start: start}
		for range n {
			b.Blocks = append(b.Blocks, 0)
			b.Accesses = append(b.Accesses, access(0, 0x100), access(1, 0x100))
		}
		return b
	}
	c.Observe(loop(2, 0)) // 0-15; the second turn begins before 10
	c.Observe(loop(1, 16))
	c.Observe(loop(2, 40)) // a window: nothing was recorded in between
	shards, _ := c.Result()
	type brief struct{ From, Instructions, Taken, Data uint64 }
	var got []brief
	for _, s := range shards {
		got = append(got, brief{s.From, s.Instructions, s.Taken, s.Data.Count})
	}
	want := []brief{{0, 16, 1, 3}, {16, 8, 0, 1}, {40, 16, 1, 3}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestAgainstReference compares with a slow reference on random runs, which keeps the
// list of instructions executed in each shard and searches it backward.
func TestAgainstReference(t *testing.T) {
	code := program()
	plan := planOf(code)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		length := uint64(1 + rng.IntN(60))
		c, err := New(plan, code, length)
		if err != nil {
			t.Fatal(err)
		}
		var want []Shard
		ref := newReference(length)
		at := uint64(0)
		for range 4 {
			b := &trace.Batch{Start: at, Thread: int32(rng.IntN(2))}
			for range 1 + rng.IntN(9) {
				id := rng.IntN(3)
				b.Blocks = append(b.Blocks, trace.BlockID(id))
				var addrs []uint64
				if id == 0 {
					for r := range 2 {
						addrs = append(addrs, uint64(rng.IntN(300)))
						b.Accesses = append(b.Accesses, access(trace.RefID(r), addrs[r]))
					}
				}
				ref.block(at, b.Thread, code[id], addrs)
				at += uint64(len(code[id]))
			}
			c.Observe(b)
		}
		want = ref.result()
		got, warnings := c.Result()
		if !reflect.DeepEqual(got, want) || len(warnings) > 0 {
			t.Fatalf("length %d:\ngot  %+v\nwant %+v\nwarnings %v", length, got, want, warnings)
		}
	}
}

// event is an executed instruction.
type event struct {
	at     uint64
	thread int32
	in     isa.Inst
	data   []uint64 // blocks that it accesses
}

type reference struct {
	length uint64
	parts  [][]event
	next   uint64
}

func newReference(length uint64) *reference { return &reference{length: length} }

func (r *reference) block(at uint64, thread int32, insts []isa.Inst, addrs []uint64) {
	if at >= r.next {
		r.parts = append(r.parts, nil)
		for r.next <= at {
			r.next += r.length
		}
	}
	for i, in := range insts {
		e := event{at: at + uint64(i), thread: thread, in: in}
		if in.Accesses() {
			e.data = append(e.data, addrs[0]/64)
			if last := (addrs[0] + 7) / 64; last != e.data[0] {
				e.data = append(e.data, last)
			}
			addrs = addrs[1:]
		}
		r.parts[len(r.parts)-1] = append(r.parts[len(r.parts)-1], e)
	}
}

func (r *reference) result() (list []Shard) {
	for _, part := range r.parts {
		s := Shard{From: part[0].at, Instructions: uint64(len(part))}
		for i, e := range part {
			s.tally(&e.in)
			s.lookBack(part[:i], e)
			s.taken(part[i+1:], e)
		}
		list = append(list, s)
	}
	return list
}

// lookBack finds the latest accesses to e's blocks, and counts e as a consumer
// of those producers that nobody consumed or overwrote since.
func (s *Shard) lookBack(before []event, e event) {
	find := func(same func(event) bool) (uint64, bool) {
		for i := len(before) - 1; i >= 0; i-- {
			if same(before[i]) {
				return e.at - before[i].at, true
			}
		}
		return 0, false
	}
	note := func(d *Distances, blocks *uint64, same func(event) bool) {
		if distance, found := find(same); found {
			d.add(distance)
		} else {
			*blocks++
		}
	}
	note(&s.Code, &s.CodeBlocks, func(o event) bool { return o.in.PC/64 == e.in.PC/64 })
	for _, b := range e.data {
		note(&s.Data, &s.DataBlocks, func(o event) bool {
			for _, x := range o.data {
				if x == b {
					return true
				}
			}
			return false
		})
	}
	for _, reg := range e.in.Uses() {
		s.consumes(before, e, reg)
	}
}

func (s *Shard) consumes(before []event, e event, reg isa.Reg) {
	for i := len(before) - 1; i >= 0; i-- {
		o := before[i]
		if o.thread != e.thread {
			continue
		}
		for _, d := range o.in.Defs() {
			if d != reg {
				continue
			}
			switch o.in.Class {
			case isa.FPAdd:
				s.FloatALUUse.add(e.at - o.at)
			case isa.FPMultiply:
				s.FloatMulUse.add(e.at - o.at)
			case isa.Multiply:
				s.IntMulUse.add(e.at - o.at)
			}
			return
		}
		for _, u := range o.in.Uses() {
			if u == reg {
				return
			}
		}
	}
}

// taken counts e if it is a transfer whose outcome the thread's next
// instruction in the shard shows.
func (s *Shard) taken(after []event, e event) {
	switch e.in.Class {
	case isa.Branch, isa.Call, isa.Return:
	default:
		return
	}
	for _, o := range after {
		if o.thread == e.thread {
			if e.in.Class != isa.Branch || o.in.PC != e.in.Next() {
				s.Taken++
			}
			return
		}
	}
}

func TestOddBatchesAreReported(t *testing.T) {
	code := program()
	c, err := New(planOf(code), code, 0)
	if err != nil {
		t.Fatal(err)
	}
	c.Observe(&trace.Batch{Blocks: []trace.BlockID{0}, Accesses: []trace.Access{access(1, 0), access(0, 0)}})
	shards, warnings := c.Result()
	if len(warnings) != 2 || !strings.Contains(warnings[0].Error(), "1 recorded") || !strings.Contains(warnings[1].Error(), "1 executed") {
		t.Errorf("warnings %v", warnings)
	}
	if len(shards) != 1 || shards[0].Memory != 2 || shards[0].DataBlocks != 1 {
		t.Errorf("%+v", shards)
	}
}

func TestBadPlans(t *testing.T) {
	code := program()
	plan := planOf(code)
	unrecorded := planOf(code)
	unrecorded.Refs = unrecorded.Refs[:1]
	for _, c := range []struct {
		plan *trace.Plan
		code [][]isa.Inst
		want string
	}{
		{nil, code, "no blocks"},
		{plan, code[:2], "3 blocks"},
		{plan, [][]isa.Inst{code[0], code[2], code[1]}, "block 1"},
		{unrecorded, code, "0x1048"},
	} {
		if _, err := New(c.plan, c.code, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q: got %v", c.want, err)
		}
	}
}
