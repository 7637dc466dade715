package cache

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestServe: transfers to a level are served alike by servePlain and by what the processor
// has for their ways: hits at all places of a set, misses, writes to blocks that it has and to
// others, with or without an access, from levels of smaller blocks. Where it has vectors of
// eight tags, those of four do the same.
func TestServe(t *testing.T) {
	narrow(t, testServe)
}

func testServe(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, ways := range []int{1, 2, 3, 4, 6, 8, 12, 16, 20, 64} {
		for range 300 {
			spec := Level{BlockBytes: 64, Ways: ways, Blocks: uint64(ways) << rng.IntN(5)}
			var levels [2]level
			for i := range levels {
				levels[i] = level{contents: newContents(spec, 1), ways: uint64(ways)}
			}
			levels[0].wide, levels[0].far = false, false
			shift := uint(rng.IntN(3))
			blocks := 1 + rng.Uint64N(spec.Blocks<<shift*2)
			if rng.IntN(4) == 0 {
				blocks = 1 << 40
			}
			for range 4 {
				in := transfers(rng, blocks)
				serve := func(l *level, out []transfer) []transfer { return l.serve(out, in, shift) }
				if shift == 0 && rng.IntN(2) == 0 {
					in = asksOf(in)
					serve = func(l *level, out []transfer) []transfer { return l.ask(out, in) }
				}
				before := transfers(rng, blocks) // what out has stays
				plain := levels[0].servePlain(slices.Clone(before), in, shift)
				got := serve(&levels[1], slices.Clone(before))
				if !slices.Equal(got, plain) || !slices.Equal(levels[0].tags, levels[1].tags) {
					t.Fatalf("%+v, %d bits of a block, %v:\n%v\n%v\nplain\n%v\n%v", spec, shift, in, got, levels[1].tags, plain, levels[0].tags)
				}
			}
		}
	}
}

// asksOf returns those of transfers that ask for a block, without writes.
func asksOf(list []transfer) (asks []transfer) {
	for _, r := range list {
		if r.block != 0 {
			asks = append(asks, transfer{block: r.block, from: r.from})
		}
	}
	return asks
}

// transfers returns up to 60 transfers, of blocks less than a number.
func transfers(rng *rand.Rand, blocks uint64) []transfer {
	list := make([]transfer, rng.IntN(60))
	for i := range list {
		r := &list[i]
		r.from = origin{rng.Uint32(), rng.Uint32()}
		if rng.IntN(4) > 0 {
			r.victim = tagOf(rng.Uint64N(blocks)) | tag(rng.IntN(2))
		}
		if rng.IntN(8) > 0 {
			r.block = tagOf(rng.Uint64N(blocks)) | tag(rng.IntN(2))
		}
	}
	return list
}
