package scaling

import (
	"math"
	"testing"

	"presage/perf/fit"
)

// touchedBlocks counts the blocks of rows of bytes, each so far from the one before.
func touchedBlocks(base, rows, rowBytes, apart, blockBytes int) map[int]bool {
	set := make(map[int]bool)
	for r := range rows {
		for at := base + r*apart; at < base+r*apart+rowBytes; at += 8 {
			set[at/blockBytes] = true
		}
	}
	return set
}

// TestFootprintOfArrays: the blocks of three arrays, dense or with rows that are not
// used whole, are known beyond the sizes of the model.
func TestFootprintOfArrays(t *testing.T) {
	blockBytes := []uint64{64, 512, 4096, 16384}
	for name, apart := range map[string]func(n int) int{
		"dense":        func(n int) int { return 8 * n },
		"rows of 4 KB": func(int) int { return 4096 },
	} {
		count := func(n int, blockBytes uint64) float64 {
			total := 0
			for array := range 3 {
				total += len(touchedBlocks(8+array*(1<<30)+array*4024, n, 8*n, apart(n), int(blockBytes)))
			}
			return float64(total)
		}
		var sizes []fit.Point
		blocks := make([][]float64, len(blockBytes))
		for _, n := range []int{26, 32, 38, 44, 51, 60} {
			sizes = append(sizes, fit.Point{"n": float64(n)})
			for i, b := range blockBytes {
				blocks[i] = append(blocks[i], count(n, b))
			}
		}
		f, err := FitFootprint(sizes, blockBytes, blocks, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{60, 90, 120, 240} {
			p := fit.Point{"n": float64(n)}
			larger := math.Inf(1)
			for _, b := range blockBytes {
				// Rows apart fill lines and half kilobytes as their remainders have it.
				if apart(n) != 8*n && b < 4096 {
					continue
				}
				got, want := f.Blocks(b, p), count(n, b)
				if math.Abs(got-want) > 0.03*want+2 {
					t.Errorf("%s: %g blocks of %d bytes at %d, want %g", name, got, b, n, want)
				}
				if got > larger {
					t.Errorf("%s: more blocks of %d bytes at %d than smaller ones", name, b, n)
				}
				if r := f.Range(b, p); !(r.Lo <= got && got <= r.Hi) {
					t.Errorf("%s: %g blocks of %d bytes at %d are not in %v", name, got, b, n, r)
				}
				larger = got
			}
		}
	}
}

// TestFootprintLaws: whatever the data, blocks hold the smaller ones, and are no
// more than they.
func TestFootprintLaws(t *testing.T) {
	var sizes []fit.Point
	blocks := make([][]float64, 2)
	for i, n := range []float64{10, 14, 20, 28, 40} {
		sizes = append(sizes, fit.Point{"n": n})
		blocks[0] = append(blocks[0], 10*n*n)
		blocks[1] = append(blocks[1], math.Max(10*n*n/64, 20+math.Pow(-1, float64(i))*9)) // of 64 times the size, and erratic
	}
	f, err := FitFootprint(sizes, []uint64{64, 4096}, blocks, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := 10.0; n <= 320; n += 5 {
		p := fit.Point{"n": n}
		small, large := f.Blocks(64, p), f.Blocks(4096, p)
		if large > small || large < small/64*(1-1e-9) {
			t.Errorf("at %g, %g blocks and %g of 64 times the size", n, small, large)
		}
	}
	if _, err := FitFootprint(sizes[:2], []uint64{64}, [][]float64{{1, 2}}, nil); err == nil {
		t.Error("two sizes are enough")
	}
	defer func() {
		if recover() == nil {
			t.Error("blocks that were not fitted have a footprint")
		}
	}()
	f.Blocks(128, sizes[0])
}

// TestFootprintThatLeaps: a buffer that was made of memory freed before, and from a size
// on is fresh, makes the blocks touched leap once, and not steeper beyond.
func TestFootprintThatLeaps(t *testing.T) {
	blockBytes := []uint64{64, 4096}
	count := func(n float64, blockBytes uint64) float64 {
		bytes := 16*n + 40000
		if n > 17000 {
			bytes += 4*n + 130000
		}
		return math.Ceil(bytes / float64(blockBytes))
	}
	for _, train := range [][]float64{
		{6000, 9000, 12000, 16000, 20000, 24000}, {9000, 12000, 16000, 18000, 20000, 24000}, {24000, 6000, 12000, 9000, 16000}, {4000, 16000, 18000, 20000, 24000, 28000},
	} {
		var sizes []fit.Point
		var ways []uint64
		blocks := make([][]float64, len(blockBytes))
		for _, n := range train {
			sizes = append(sizes, fit.Point{"n": n})
			for i, b := range blockBytes {
				blocks[i] = append(blocks[i], count(n, b))
			}
			way := uint64(0)
			if n > 17000 {
				way = 3
			}
			ways = append(ways, way)
		}
		f, err := FitFootprint(sizes, blockBytes, blocks, ways)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := FitFootprint(sizes, blockBytes, blocks, nil)
		if err != nil {
			t.Fatal(err)
		}
		off := func(f *Footprint, n float64, b uint64) float64 {
			return math.Abs(f.Blocks(b, fit.Point{"n": n})/count(n, b) - 1)
		}
		for _, b := range blockBytes {
			// How it grows on the other side of the leap is not known from a size or two.
			for _, n := range []float64{16000, 20000, 24000} {
				if got := off(f, n, b); got > 0.03 {
					t.Errorf("%v: blocks of %d bytes are %.0f%% off at %g", train, b, 100*got, n)
				}
			}
			if got, before := off(f, 96000, b), off(plain, 96000, b); got > 0.15 || before < 1.5*got {
				t.Errorf("%v: blocks of %d bytes are %.0f%% off at 96000, %.0f%% without jumps", train, b, 100*got, 100*before)
			}
		}
	}
}

// TestFootprintThatFalls: memory that is less where malloc turns to mappings is no leap, and
// its function is that of all sizes.
func TestFootprintThatFalls(t *testing.T) {
	var sizes []fit.Point
	blocks := make([][]float64, 1)
	for _, n := range []float64{8, 10, 13, 16, 20, 24} {
		count := 400 + 250*n
		if n > 18 {
			count -= 900
		}
		sizes, blocks[0] = append(sizes, fit.Point{"n": n}), append(blocks[0], count)
	}
	plain, err := FitFootprint(sizes, []uint64{64}, blocks, nil)
	if err != nil {
		t.Fatal(err)
	}
	turned, err := FitFootprint(sizes, []uint64{64}, blocks, []uint64{0, 0, 0, 0, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []float64{8, 24, 96} {
		if got, want := turned.Blocks(64, fit.Point{"n": n}), plain.Blocks(64, fit.Point{"n": n}); got != want {
			t.Errorf("%g blocks at %g, %g by the function of all sizes", got, n, want)
		}
	}
}
