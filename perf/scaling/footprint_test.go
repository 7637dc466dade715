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
		f, err := FitFootprint(sizes, blockBytes, blocks)
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
	f, err := FitFootprint(sizes, []uint64{64, 4096}, blocks)
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
	if _, err := FitFootprint(sizes[:2], []uint64{64}, [][]float64{{1, 2}}); err == nil {
		t.Error("two sizes are enough")
	}
	defer func() {
		if recover() == nil {
			t.Error("blocks that were not fitted have a footprint")
		}
	}()
	f.Blocks(128, sizes[0])
}
