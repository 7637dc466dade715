package training

import (
	"math"
	"slices"
	"testing"
)

// climb returns the sizes of a ladder up to some number, all of them tried.
func climb(from, until float64, n int) []float64 {
	l := newLadder(&Options{From: from, Until: until})
	var out []float64
	for i := range n {
		size, ok := l.rung(i)
		if !ok {
			break
		}
		l.try(size)
		out = append(out, size)
	}
	return out
}

func TestFirstSizesShareNoFactorOfTwo(t *testing.T) {
	for from := 4.0; from <= 300; from++ {
		sizes := climb(from, 8*from, firstSizes)
		if len(sizes) != firstSizes || !slices.IsSorted(sizes) || sizes[0] < from-4 {
			t.Fatalf("from %g: %v", from, sizes)
		}
		for _, m := range []float64{2, 4, 8} {
			var classes []float64
			for _, x := range sizes {
				if x != math.Trunc(x) {
					t.Fatalf("from %g: %v are not whole", from, sizes)
				}
				if c := math.Mod(x, m); !slices.Contains(classes, c) {
					classes = append(classes, c)
				}
			}
			if want := min(int(m), 4); len(classes) < min(want, 3) {
				t.Errorf("from %g: %v are of %d classes modulo %g", from, sizes, len(classes), m)
			}
		}
		if last := sizes[len(sizes)-1]; from > 20 && (last < 1.8*from || last > 3*from) {
			t.Errorf("from %g to %g: want a growth of %g", from, last, math.Pow(growth, firstSizes-1))
		}
	}
}

func TestSizesEndWhereAsked(t *testing.T) {
	if got := climb(10, 14, 20); len(got) > 5 || slices.Max(got) > 14 {
		t.Errorf("got %v, none is to be larger than 14", got)
	}
	l := newLadder(&Options{From: 10, Until: 100})
	for _, x := range []float64{10, 13, 17} {
		l.try(x)
	}
	for _, x := range l.candidates(17, exactMultiples) {
		if slices.Contains(l.tried, x) || x > 100 || x < 10 {
			t.Errorf("candidate %g", x)
		}
	}
	l.failed = 20
	if got := l.candidates(17, exactMultiples); len(got) == 0 || slices.Max(got) >= 20 {
		t.Errorf("candidates %v, though the program fails from 20 on", got)
	}
	l.until = 17
	for _, x := range l.candidates(17, exactMultiples) {
		if x > 17 {
			t.Errorf("candidate %g beyond 17", x)
		}
	}
}

// TestGivenSizes checks that executables of some sizes are all that is run.
func TestGivenSizes(t *testing.T) {
	l := &ladder{given: []float64{16, 20, 25, 32, 64}, until: 100, failed: math.Inf(1)}
	for i, want := range l.given {
		if got, ok := l.rung(i); !ok || got != want {
			t.Errorf("rung %d: %g, want %g", i, got, want)
		}
	}
	if _, ok := l.rung(5); ok {
		t.Error("a sixth of five")
	}
	l.tried = []float64{16, 20, 32}
	if got := l.candidates(32, exactMultiples); !slices.Equal(got, []float64{25, 64}) {
		t.Errorf("candidates %v, want those not tried", got)
	}
}

func TestCapacities(t *testing.T) {
	if got, want := capacities(40), []uint64{8, 12, 16, 24, 32, 48}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := capacities(0); !slices.Equal(got, []uint64{8}) {
		t.Errorf("of nothing: %v", got)
	}
}

func TestErrorsAreSummedUp(t *testing.T) {
	var all []deviation
	for i := range 11 {
		all = append(all, deviation{64, 8, float64(10-i) / 100})
	}
	if got, want := sum(all), (Error{11, 0.05, 0.09, 0.1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if none := sum(nil); !math.IsNaN(none.P90) || none.within(1) {
		t.Errorf("of nothing: %+v", none)
	}
	if e := sum(all); e.within(0.08) || !e.within(0.09) {
		t.Errorf("%+v is within 0.09", e)
	}
	rows := byBlock(append(all, deviation{4096, 16, 3}), HeldOut{}, []uint64{64, 4096})
	if len(rows) != 3 || rows[0].Worst != 3 || rows[0].Capacity != 65536 || rows[1].Worst != 0.1 || rows[1].Capacity != 512 || rows[2].Capacities != 1 {
		t.Errorf("got %+v", rows)
	}
}

func TestPoorBlockSizesAreNamed(t *testing.T) {
	rows := byBlock([]deviation{{64, 8, 0.01}, {4096, 8, 0.5}}, HeldOut{Point: map[string]float64{"n": 30}}, []uint64{64, 4096, 32768})
	got := unjudged(rows[1:], 0.02)
	want := []string{
		"blocks of 4096 bytes at n=30, held out: nine in ten predictions of misses are within 50% only",
		"blocks of 32768 bytes at n=30, held out: no cache has the 1000 misses that it takes to judge predictions",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestGaps(t *testing.T) {
	l := &ladder{tried: []float64{10, 15, 18}}
	for size, want := range map[float64]float64{12: 1.5, 16: 1.2, 9: math.Inf(1), 20: math.Inf(1)} {
		if got := l.gap(size); got != want {
			t.Errorf("%g stands in a gap of %g, want %g", size, got, want)
		}
	}
}
