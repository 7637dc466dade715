package trace

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAccessKeepsItsParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ref := RefID(rapid.Uint32Range(0, MaxRefs-1).Draw(t, "ref"))
		size := uint8(1) << rapid.Uint8Range(0, 7).Draw(t, "log2 size")
		addr := rapid.Uint64Range(0, AddrLimit-1).Draw(t, "addr")
		a := Tag(ref, size) | Access(addr)
		if a.Ref() != ref || a.Size() != uint64(size) || a.Addr() != addr {
			t.Fatalf("got ref %d size %d addr %#x", a.Ref(), a.Size(), a.Addr())
		}
		if a.Last() != addr+uint64(size)-1 {
			t.Fatalf("Last = %#x", a.Last())
		}
	})
}

func TestPlanCheck(t *testing.T) {
	good := Plan{
		Refs:   []Ref{{PC: 4, Size: 8}, {PC: 4, Operand: 1, Size: 8, Kind: Store}, {PC: 6, Size: 1, Group: 5}},
		Blocks: []Block{{PC: 0}, {PC: 4}},
	}
	if err := good.Check(); err != nil {
		t.Errorf("good plan: %v", err)
	}
	if good.Groups() != 6 {
		t.Errorf("Groups = %d, want 6", good.Groups())
	}
	for want, bad := range map[string]Plan{
		"does not follow":     {Refs: []Ref{{PC: 4, Size: 8}, {PC: 4, Size: 8}}},
		"operand 1 at pc 0x4": {Refs: []Ref{{PC: 4, Operand: 1, Size: 8}, {PC: 4, Size: 8}}},
		"not a power of two":  {Refs: []Ref{{PC: 4, Size: 3}}},
		"size 0":              {Refs: []Ref{{PC: 4}}},
		"block 1 at pc 0x2":   {Blocks: []Block{{PC: 4}, {PC: 2}}},
		"at most 2097152 can": {Refs: make([]Ref, MaxRefs+1)},
		"edge 1 from pc 0x2":  {Flow: &FlowPlan{Edges: []Edge{{2, 6}, {2, 6}}}},
		"plan place 2 at":     {Flow: &FlowPlan{Places: []PC{2, 4, 4}}},
		"quiet place 1 at":    {Flow: &FlowPlan{Quiet: []PC{4, 2}}},
		"indirect jump 1 at":  {Flow: &FlowPlan{Edges: []Edge{{2, 6}, {4, 2}}, Jumps: []PC{4, 4}}},
	} {
		if err := bad.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestDigest(t *testing.T) {
	plans := []Plan{
		{},
		{Flow: &FlowPlan{}},
		{Refs: []Ref{{PC: 4, Size: 8}}},
		{Refs: []Ref{{PC: 4, Size: 4}}},
		{Refs: []Ref{{PC: 4, Size: 8, Float: true}}},
		{Refs: []Ref{{PC: 4, Size: 8, Kind: Store}}},
		{Refs: []Ref{{PC: 4, Size: 8, Group: 1}}},
		{Refs: []Ref{{PC: 4, Size: 8}, {PC: 6, Size: 8}}},
		{Blocks: []Block{{PC: 4}}},
		{Blocks: []Block{{PC: 4, Refs: 1}}},
		{Blocks: []Block{{PC: 4, Refs: 1, Varies: true}}},
		{Refs: []Ref{{PC: 4, Operand: 1, Size: 8}}},
		{Refs: []Ref{{PC: 4, Operand: 1, Size: 8, Kind: Store}}},
		{Flow: &FlowPlan{Edges: []Edge{{2, 6}}}},
		{Flow: &FlowPlan{Places: []PC{2}}},
		{Flow: &FlowPlan{Quiet: []PC{2}}},
		{Flow: &FlowPlan{Jumps: []PC{2}}},
		{Refs: make([]Ref, 1000)},
		{Refs: make([]Ref, 1001)},
	}
	seen := make(map[string]int)
	for i := range plans {
		d := plans[i].Digest()
		if j, ok := seen[d]; ok || d != plans[i].Digest() {
			t.Errorf("plans %d and %d have the digest %s", i, j, d)
		}
		seen[d] = i
	}
}

// TestDigestIsStable compares digests of plans with one operand per instruction
// with those from before references had operands, which are part of the keys of
// stored profiles.
func TestDigestIsStable(t *testing.T) {
	for want, plan := range map[string]Plan{
		"374708fff7719dd5979ec875d56cd228": {},
		"94f2b0599872ea7e5536f46c9a5076e9": {
			Refs:   []Ref{{PC: 4, Size: 8, Group: 1}, {PC: 6, Size: 4, Kind: ReadModifyWrite, Float: true}},
			Blocks: []Block{{PC: 2, Instructions: 3, Refs: 2}},
			Flow:   &FlowPlan{Edges: []Edge{{2, 6}}, Places: []PC{2}, Quiet: []PC{4}, Jumps: []PC{8}},
		},
	} {
		if got := plan.Digest(); got != want {
			t.Errorf("the digest of %+v is %s, was %s", plan, got, want)
		}
	}
}

func TestFlowLooksUp(t *testing.T) {
	f := Flow{
		Arrivals: []Arrival{{PC: 2, Count: 7}, {PC: 6, Count: 1}},
		Breaks:   []Break{{PC: 4, Left: 1}, {PC: 8, Entered: 2}},
	}
	for pc, want := range map[PC]uint64{0: 0, 2: 7, 4: 0, 6: 1, 8: 0} {
		if got := f.Arrived(pc); got != want {
			t.Errorf("Arrived(%d) = %d, want %d", pc, got, want)
		}
	}
	for _, want := range []Break{{PC: 4, Left: 1}, {PC: 8, Entered: 2}, {PC: 6}} {
		if got := f.Break(want.PC); got != want {
			t.Errorf("Break(%d) = %+v, want %+v", want.PC, got, want)
		}
	}
}

// keeper is a collector that keeps a copy of all accesses.
type keeper struct {
	got    []Access
	starts []uint64
}

func (k *keeper) Observe(b *Batch) {
	k.got = append(k.got, b.Accesses...)
	k.starts = append(k.starts, b.Start)
}

// bomb is a collector that panics at its third batch.
type bomb struct{ seen int }

func (b *bomb) Observe(*Batch) {
	if b.seen++; b.seen == 3 {
		panic("third batch")
	}
}

// send hands n batches of three accesses each to s.
func send(s Sink, n int) (want []Access) {
	b := s.Exchange(nil)
	for i := range n {
		for j := range 3 {
			b.Accesses = append(b.Accesses, Access(3*i+j))
		}
		b.Start = uint64(i)
		want = append(want, b.Accesses...)
		if b = s.Exchange(b); len(b.Accesses) != 0 || b.Start != 0 {
			panic("a batch came back that is not empty")
		}
	}
	return want
}

func TestSinksDeliverEverythingInOrder(t *testing.T) {
	const batches = 1000
	a, b := new(keeper), new(keeper)
	p := NewPipeline(a, b)
	want := send(p, batches)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	c := new(keeper)
	send(NewDirect(c), batches)
	for name, k := range map[string]*keeper{"pipeline 1": a, "pipeline 2": b, "direct": c} {
		if !slices.Equal(k.got, want) {
			t.Errorf("%s: %d accesses differ from the %d sent", name, len(k.got), len(want))
		}
		if len(k.starts) != batches || !slices.IsSorted(k.starts) {
			t.Errorf("%s: batches out of order", name)
		}
	}
}

// holder reads batches only after others have come, and ends its holds last.
type holder struct {
	held []*Batch
	done []func()
}

func (h *holder) Observe(*Batch) { panic("observed") }

func (h *holder) Hold(b *Batch, done func()) {
	h.held, h.done = append(h.held, b), append(h.done, done)
}

// TestPipelineLendsBatches: what is held stays as it is, more of it than is in flight,
// and comes back for use.
func TestPipelineLendsBatches(t *testing.T) {
	h, k := new(holder), new(keeper)
	p := NewPipeline(h, k)
	want := send(p, 5*pipelineBatches)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	var got []Access
	for i, b := range h.held {
		got = append(got, b.Accesses...)
		h.done[i]()
	}
	if !slices.Equal(got, want) || !slices.Equal(k.got, want) {
		t.Errorf("%d accesses held and %d observed differ from the %d sent", len(got), len(k.got), len(want))
	}
	if len(p.free) != pipelineBatches-1 || len(p.spare) != len(h.held) { // send has one
		t.Errorf("%d batches in flight and %d spare, want %d and %d", len(p.free)+1, len(p.spare), pipelineBatches, len(h.held))
	}
}

func TestPipelineWithoutCollectors(t *testing.T) {
	p := NewPipeline()
	send(p, 100)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestPipelineSurvivesAPanic(t *testing.T) {
	k := new(keeper)
	p := NewPipeline(new(bomb), k)
	want := send(p, 100)
	err := p.Close()
	if err == nil || !strings.Contains(err.Error(), "*trace.bomb panicked: third batch") {
		t.Errorf("Close = %v", err)
	}
	if !slices.Equal(k.got, want) {
		t.Error("the other collector did not see everything")
	}
}

func TestPipelineRefusesForeignBatch(t *testing.T) {
	p := NewPipeline()
	defer p.Close()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	p.Exchange(new(Batch))
}
