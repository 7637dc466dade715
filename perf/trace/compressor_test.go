package trace

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// keep is a Sink that keeps copies of batches and what they stand for.
type keep struct {
	t     *testing.T
	plan  *Plan
	batch Batch
	got   Batch
	runs  int
	kept  int // accesses recorded one by one
}

func (k *keep) Exchange(full *Batch) *Batch {
	if full != nil {
		if err := full.Check(k.plan); err != nil {
			k.t.Fatal(err)
		}
		var out Batch
		full.Expand(&out)
		k.got.Accesses = append(k.got.Accesses, out.Accesses...)
		k.got.Blocks = append(k.got.Blocks, out.Blocks...)
		k.got.Counts = append(k.got.Counts, out.Counts...)
		k.runs += len(full.Runs)
		k.kept += len(full.Accesses)
	}
	k.batch.Reset()
	return &k.batch
}

// nests appends random loops, noise and gathers to a batch, as an engine records
// them.
func nests(rng *rand.Rand, p *Plan, b *Batch, most int) {
	for len(b.Accesses) < most {
		id := BlockID(rng.IntN(4))
		refs := 1 + rng.IntN(6)
		if len(p.Blocks) > 0 {
			refs = int(p.Blocks[id].Refs)
		}
		var at, step [8]int64
		for j := range step {
			at[j], step[j] = int64(1<<20+rng.IntN(1<<16)), int64(8*(rng.IntN(9)-4))
		}
		gathers := rng.IntN(4) == 0
		for range rng.IntN(60) {
			if len(p.Blocks) > 0 {
				n := refs
				if p.Blocks[id].Varies {
					n += rng.IntN(2)
				}
				b.Blocks = append(b.Blocks, id)
				if p.Blocks[3].Varies {
					b.Counts = append(b.Counts, uint32(n))
				}
				refs = n
			}
			for j := range refs {
				if gathers && j == 0 {
					step[0] = int64(rng.IntN(1000))
				}
				b.Accesses = append(b.Accesses, Tag(RefID(j), 8)+Access(at[j]))
				at[j] += step[j]
			}
			if len(p.Blocks) > 0 {
				refs = int(p.Blocks[id].Refs)
			}
		}
	}
}

// TestCompressor: what is compressed stands for the same events, and most loops
// become runs.
func TestCompressor(t *testing.T) {
	refs := make([]Ref, 8)
	for i := range refs {
		refs[i] = Ref{PC: PC(4 * i), Size: 8}
	}
	blocks := []Block{{PC: 0, Refs: 2}, {PC: 8, Refs: 0}, {PC: 12, Refs: 3}, {PC: 24, Refs: 1}}
	varying := slices.Clone(blocks)
	varying[3].Varies = true
	for name, plan := range map[string]*Plan{
		"accesses": {Refs: refs}, "blocks": {Refs: refs, Blocks: blocks}, "blocks that vary": {Refs: refs, Blocks: varying},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		k := &keep{t: t, plan: plan}
		c := NewCompressor(plan, k)
		var want Batch
		b := c.Exchange(nil)
		for i := range 40 {
			if i == 20 {
				c.base = 1<<32 - 5000 // about to wrap around
			}
			nests(rng, plan, b, 4000)
			want.Accesses = append(want.Accesses, b.Accesses...)
			want.Blocks = append(want.Blocks, b.Blocks...)
			want.Counts = append(want.Counts, b.Counts...)
			b = c.Exchange(b)
		}
		if !slices.Equal(k.got.Accesses, want.Accesses) || !slices.Equal(k.got.Blocks, want.Blocks) || !slices.Equal(k.got.Counts, want.Counts) {
			t.Errorf("%s: the compressed batches stand for other events", name)
		}
		if k.runs == 0 || 2*k.kept > len(want.Accesses) {
			t.Errorf("%s: %d runs; %d of %d accesses were left", name, k.runs, k.kept, len(want.Accesses))
		}
		t.Logf("%s: %d runs; %d of %d accesses were left", name, k.runs, k.kept, len(want.Accesses))
	}
}

// TestCompressorGivesUp: where there is nothing to find few batches are looked at, where
// loops begin they are found again, and an engine's own runs end the search.
func TestCompressorGivesUp(t *testing.T) {
	p := &Plan{Refs: []Ref{{PC: 4, Size: 8}, {PC: 8, Size: 8}}}
	rng := rand.New(rand.NewPCG(1, 2))
	k := &keep{t: t, plan: p}
	c := NewCompressor(p, k)
	var want Batch
	send := func(batches int, loop bool) (runs int) {
		before := k.runs
		for range batches {
			b := new(Batch)
			for i := range 2000 {
				at := uint64(rng.IntN(1 << 20))
				if loop {
					at = 1<<20 + uint64(i)*4
				}
				b.Accesses = append(b.Accesses, Tag(RefID(i%2), 8)+Access(at))
			}
			want.Accesses = append(want.Accesses, b.Accesses...)
			c.Exchange(b)
		}
		return k.runs - before
	}
	if got := send(50, true); got < 50 {
		t.Errorf("%d runs in 50 batches of loops", got)
	}
	send(200, false)
	if c.idle != compressSkip {
		t.Errorf("after 200 batches without loops it passes %d, want %d", c.idle, compressSkip)
	}
	if got := send(200, true); got < 200-compressSkip {
		t.Errorf("%d runs in 200 batches of loops, after others", got)
	}
	if !slices.Equal(k.got.Accesses, want.Accesses) {
		t.Error("the accesses are others")
	}
	b := new(Batch)
	b.AddRun(Loop{Count: 9, Strides: []Stride{{First: Tag(0, 8) + 64, Step: 8}}})
	c.Exchange(b)
	if got := send(3, true); got != 0 {
		t.Errorf("%d runs are found though the engine records them", got)
	}
}
