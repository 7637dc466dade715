package scaling

import (
	"math"
	"testing"

	"presage/perf/fit"
	"presage/perf/reuse"
)

// rows lists what one row after another of n doubles touches, plane by plane,
// twice over: the near accesses find the line that the one before touched, the
// far ones come back from the pass before. It counts by going through the
// addresses.
func rows(n int, lineBytes int) reuse.Histogram {
	var h reuse.Histogram
	near, far := uint64(0), uint64(0)
	lines := 0
	for row := range n * n {
		last := -1
		for i := range n {
			line := (row*n + i) * 8 / lineBytes
			if line == last {
				near++
			} else {
				far++
			}
			last = line
		}
		lines = last + 1
	}
	h.Bins = addTo(h.Bins, 4, near)
	h.Bins = addTo(h.Bins, uint64(lines), far)
	return h
}

func TestAlignmentIsModelled(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	sizes := []int{20, 26, 32, 38, 44, 50}
	g := Group{Name: "rows"}
	for _, n := range sizes {
		g.Hists = append(g.Hists, rows(n, 128))
	}
	far := func(h Histogram) float64 { return missesAt(h, 64) }
	worst := func(opt Options) float64 {
		m := fitOne(t, sizes, opt, g)
		e := 0.0
		for _, n := range []int{48, 75, 80, 101} {
			truth := rows(n, 128)
			want := float64(truth.Misses(64))
			e = max(e, math.Abs(far(m.Groups[0].Histogram(fit.Point{"n": float64(n)}))/want-1))
		}
		return e
	}
	with, without := worst(Options{BlockBytes: 128}), worst(Options{})
	t.Logf("largest error with terms of alignment %.2f%%, without %.1f%%", 100*with, 100*without)
	if with > 0.005 || without < 0.05 {
		t.Errorf("largest error with terms of alignment %g, without %g", with, without)
	}
}

func TestAlignmentOnlyWhereItTells(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	plain := fit.Monomials(3, "n")
	for name, c := range map[string]struct {
		sizes []fit.Point
		block uint64
	}{
		"no block size":    {sizesOf(20, 26, 32), 0},
		"pages":            {sizesOf(20, 26, 32), 16384},
		"the same at all":  {sizesOf(16, 32, 48), 128},
		"sizes in between": {[]fit.Point{{"n": 20}, {"n": 26.5}, {"n": 32}}, 128},
	} {
		if got := withAlignment(plain, c.sizes, c.block); got != plain {
			t.Errorf("%s: %s", name, got)
		}
	}
	two := fit.Monomials(2, "m", "n")
	if got := withAlignment(two, []fit.Point{{"m": 1, "n": 2}}, 128); got != two {
		t.Errorf("two parameters: %s", got)
	}
	if got, want := withAlignment(plain, sizesOf(20, 26, 32), 128).String(), "1, n, n^2, n^3, n*gcd(8*n, 128)/128, n^2*gcd(8*n, 128)/128"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDoubtsPlanesThatOutgrowPages checks a plane of n² elements of 8 bytes,
// which is larger than a page of 16 KiB from n = 46 on; sizes on both sides of
// 46, or on one side, are no reason for doubt.
func TestDoubtsPlanesThatOutgrowPages(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	doubts := func(blockBytes uint64, at float64, ns ...int) int {
		m := fitOne(t, ns, Options{BlockBytes: blockBytes}, synthetic(ns, poly(1), atom{poly(5), poly(0, 3)}))
		count := 0
		for _, w := range m.Doubts(fit.Point{"n": at}) {
			if w.Doubt == Outgrown {
				count++
			}
		}
		return count
	}
	for _, c := range []struct {
		blockBytes uint64
		at         float64
		ns         []int
		want       int
	}{
		{16384, 46, []int{20, 30, 45}, 1},
		{16384, 45, []int{20, 30, 45}, 0},
		{16384, 90, []int{20, 30, 46}, 0},
		{16384, 2049, []int{20, 30, 45}, 2}, // a row, too
		{128, 90, []int{3, 4, 5}, 0},
		{0, 90, []int{20, 30, 45}, 0},
	} {
		if got := doubts(c.blockBytes, c.at, c.ns...); got != c.want {
			t.Errorf("pages of %d bytes, model of %v, at %g: %d doubts, want %d", c.blockBytes, c.ns, c.at, got, c.want)
		}
	}
}
