package trace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestRunExample expands the batch in the comment of Run.
func TestRunExample(t *testing.T) {
	const e, f, g = 0, 1, 2
	p, q, x := Tag(0, 8)+100, Tag(1, 4)+200, Tag(2, 8)+300
	b := &Batch{
		Accesses: []Access{p, p, q, p, p}, Blocks: []BlockID{e, f, e}, Start: 9, Thread: 3,
		Runs:   []Run{{Accesses: 3, Blocks: 2, Count: 3, Refs: 1, Body: 1}},
		Bodies: []BlockID{g}, Strides: []Stride{{First: x, Step: 8}},
	}
	plan := &Plan{
		Refs:   []Ref{{PC: 0, Size: 8}, {PC: 4, Size: 4}, {PC: 8, Size: 8}},
		Blocks: []Block{{PC: 0, Refs: 2}, {PC: 4, Refs: 1}, {PC: 8, Refs: 1}},
	}
	if err := b.Check(plan); err != nil {
		t.Error(err)
	}
	var out Batch
	b.Expand(&out)
	if want := []Access{p, p, q, x, x + 8, x + 16, p, p}; !slices.Equal(out.Accesses, want) {
		t.Errorf("accesses %v, want %v", out.Accesses, want)
	}
	if want := []BlockID{e, f, g, g, g, e}; !slices.Equal(out.Blocks, want) {
		t.Errorf("blocks %v, want %v", out.Blocks, want)
	}
	if out.Start != 9 || out.Thread != 3 || len(out.Runs)+len(out.Counts) > 0 {
		t.Errorf("expanded to %+v", out)
	}
	if a, n := b.Expansion(); a != 8 || n != 6 {
		t.Errorf("it stands for %d accesses and %d blocks, want 8 and 6", a, n)
	}
}

// recorded is a random sequence of events, as AddRun and appends record it and
// one by one.
func recorded(rng *rand.Rand, varies bool) (b, plain *Batch) {
	b, plain = new(Batch), new(Batch)
	for range rng.IntN(12) {
		if rng.IntN(2) == 0 {
			id, n := BlockID(rng.IntN(4)), uint32(rng.IntN(3))
			for _, to := range []*Batch{b, plain} {
				to.Blocks = append(to.Blocks, id)
				if varies {
					to.Counts = append(to.Counts, n)
				}
			}
			for range n {
				a := Tag(RefID(rng.IntN(5)), 8) + Access(rng.IntN(1000))
				b.Accesses, plain.Accesses = append(b.Accesses, a), append(plain.Accesses, a)
			}
			continue
		}
		l := Loop{Count: 1 + rng.Uint32N(5)}
		for range 1 + rng.IntN(3) {
			n := rng.IntN(3)
			l.Body = append(l.Body, BlockID(rng.IntN(4)))
			if varies {
				l.Counts = append(l.Counts, uint32(n))
			}
			for range n {
				l.Strides = append(l.Strides, Stride{Tag(RefID(rng.IntN(5)), 8) + 5000, int64(rng.IntN(40)) * 8 * int64(1-2*rng.IntN(2))})
			}
		}
		b.AddRun(l)
		for i := range l.Count {
			for j, id := range l.Body {
				plain.Blocks = append(plain.Blocks, id)
				if varies {
					plain.Counts = append(plain.Counts, l.Counts[j])
				}
			}
			for _, s := range l.Strides {
				addr := int64(s.First.Addr()) + int64(i)*s.Step
				plain.Accesses = append(plain.Accesses, Tag(s.First.Ref(), 8)+Access(addr))
			}
		}
	}
	return b, plain
}

func sameEvents(t *testing.T, got, want *Batch) {
	t.Helper()
	if !slices.Equal(got.Accesses, want.Accesses) || !slices.Equal(got.Blocks, want.Blocks) || !slices.Equal(got.Counts, want.Counts) {
		t.Fatalf("expanded to\n%v\n%v\n%v\nwant\n%v\n%v\n%v", got.Accesses, got.Blocks, got.Counts, want.Accesses, want.Blocks, want.Counts)
	}
}

func TestExpand(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var out Batch
	for range 500 {
		b, plain := recorded(rng, rng.IntN(2) == 0)
		b.Expand(&out)
		sameEvents(t, &out, plain)
		if a, n := b.Expansion(); a != uint64(len(plain.Accesses)) || n != uint64(len(plain.Blocks)) {
			t.Fatalf("it stands for %d accesses and %d blocks, want %d and %d", a, n, len(plain.Accesses), len(plain.Blocks))
		}
		if b.Empty() != (len(plain.Blocks) == 0) {
			t.Fatalf("Empty of %d blocks: %t", len(plain.Blocks), b.Empty())
		}
	}
}

// runKeeper is a collector that keeps copies of batches.
type runKeeper struct {
	runs bool
	got  []Batch
}

func (k *runKeeper) TakesRuns() bool { return k.runs }

func (k *runKeeper) Observe(b *Batch) {
	k.got = append(k.got, Batch{
		Accesses: slices.Clone(b.Accesses), Blocks: slices.Clone(b.Blocks), Counts: slices.Clone(b.Counts),
		Runs: slices.Clone(b.Runs), Strides: slices.Clone(b.Strides), Bodies: slices.Clone(b.Bodies), BodyCounts: slices.Clone(b.BodyCounts),
	})
}

// plainCollector hides TakesRuns.
type plainCollector struct{ Collector }

// TestSinksExpand: collectors that take runs see them, and all others what they
// stand for.
func TestSinksExpand(t *testing.T) {
	for name, start := range map[string]func(...Collector) (Sink, func() error){
		"direct":   func(c ...Collector) (Sink, func() error) { return NewDirect(c...), func() error { return nil } },
		"pipeline": func(c ...Collector) (Sink, func() error) { p := NewPipeline(c...); return p, p.Close },
	} {
		taker, refuser, unaware := &runKeeper{runs: true}, &runKeeper{}, &runKeeper{runs: true}
		sink, end := start(refuser, taker, plainCollector{unaware})
		rng := rand.New(rand.NewPCG(3, 4))
		var sent, plain []*Batch
		b := sink.Exchange(nil)
		for range 50 {
			varies := rng.IntN(2) == 0
			with, without := recorded(rng, varies)
			sent, plain = append(sent, with), append(plain, without)
			*b = *with
			b = sink.Exchange(b)
			if !b.Empty() || len(b.Strides)+len(b.Bodies)+len(b.BodyCounts) > 0 {
				t.Fatalf("%s: the next batch is %+v", name, b)
			}
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		for i := range sent {
			if fmt.Sprint(taker.got[i].Runs, taker.got[i].Strides, taker.got[i].Bodies) != fmt.Sprint(sent[i].Runs, sent[i].Strides, sent[i].Bodies) {
				t.Errorf("%s: batch %d came as %+v", name, i, taker.got[i])
			}
			for _, k := range []*runKeeper{refuser, unaware} {
				if len(k.got[i].Runs) > 0 {
					t.Errorf("%s: batch %d came with runs", name, i)
				}
				sameEvents(t, &k.got[i], plain[i])
			}
		}
	}
}

func TestBatchCheck(t *testing.T) {
	plan := &Plan{
		Refs:   []Ref{{PC: 0, Size: 8}, {PC: 4, Size: 4}},
		Blocks: []Block{{PC: 0, Refs: 1}, {PC: 4, Refs: 1}},
	}
	good := func() *Batch {
		b := &Batch{Accesses: []Access{Tag(0, 8)}, Blocks: []BlockID{0}}
		b.AddRun(Loop{Count: 3, Body: []BlockID{0, 1}, Strides: []Stride{{Tag(0, 8) + 64, -8}, {Tag(1, 4), 4}}})
		return b
	}
	if err := good().Check(plan); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*Batch){
		"precedes": func(b *Batch) {
			b.AddRun(Loop{Count: 1, Body: []BlockID{0}, Strides: b.Strides[:1]})
			b.Runs[1].Blocks = 0
		},
		"comes after":             func(b *Batch) { b.Runs[0].Accesses = 2 },
		"no events":               func(b *Batch) { b.Runs[0].Count = 0 },
		"have 2 strides":          func(b *Batch) { b.Strides = b.Strides[:1] },
		"stands for":              func(b *Batch) { b.Runs[0].Count = MaxExpansion; b.Strides[0].Step = 0 },
		"reference 7 of 2":        func(b *Batch) { b.Strides[0].First = Tag(7, 8) },
		"accesses 4 bytes":        func(b *Batch) { b.Strides[0].First = Tag(0, 4) },
		"leaves the address spac": func(b *Batch) { b.Strides[0].First = Tag(0, 8) + 15 },
		"block 5 of 2":            func(b *Batch) { b.Bodies[0] = 5 },
		"counts; some vary":       func(b *Batch) { b.BodyCounts = []uint32{1, 1} },
		"have 1 references":       func(b *Batch) { b.Runs[0].Body, b.Bodies = 1, b.Bodies[:1] },
	} {
		b := good()
		spoil(b)
		if err := b.Check(plan); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
