package scaling

import (
	"math"
	"math/rand/v2"
	"testing"

	"presage/perf/fit"
	"presage/perf/reuse"
)

// TestRankedAgainstList compares ranks with the full list of distances.
func TestRankedAgainstList(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var bins []reuse.Bin
		var list []float64
		d := uint64(0)
		for range 1 + rng.IntN(6) {
			d += 1 + rng.Uint64N(20)
			c := 1 + rng.Uint64N(5)
			bins = append(bins, reuse.Bin{Lo: d, Hi: d + 1, Count: c})
			for range c {
				list = append(list, float64(d))
			}
		}
		r := newRanked(bins)
		a := rng.IntN(len(list))
		b := a + 1 + rng.IntN(len(list)-a)
		s := span{float64(a), float64(b)}
		sum, below := 0.0, 0
		cut := list[rng.IntN(len(list))] - float64(rng.IntN(2))
		for _, x := range list[a:b] {
			sum += x
			if x < cut {
				below++
			}
		}
		if got := r.mean(s); math.Abs(got-sum/s.count()) > 1e-9 {
			t.Fatalf("mean %g, want %g", got, sum/s.count())
		}
		if lo, hi := r.ends(s); lo != list[a] || hi != list[b-1] {
			t.Fatalf("ends %g, %g, want %g, %g", lo, hi, list[a], list[b-1])
		}
		if got := r.below(s, cut); got != float64(a+below) {
			t.Fatalf("%g below %g, want %d", got, cut, a+below)
		}
	}
	// Half an access of the first of two kinds.
	r := newRanked([]reuse.Bin{{Lo: 1, Hi: 2, Count: 1}, {Lo: 4, Hi: 5, Count: 1}})
	if got := r.mean(span{0.5, 2}); math.Abs(got-3) > 1e-12 {
		t.Errorf("mean of half a 1 and a 4: %g, want 3", got)
	}
}

// partsOf runs the splitting of one group.
func partsOf(t *testing.T, ns []int, g Group) ([]part, []ranked) {
	t.Helper()
	f, err := newFitter(sizesOf(ns...), []Group{g}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.prepare(t.Context(), []Group{g}, 1)
	s := splitter{fitter: f, hists: rankAll(g.Hists), twice: fit.At(f.twice)}
	all := make(part, len(ns))
	for i := range all {
		all[i] = span{0, s.hists[i].total()}
	}
	s.split(all, 0)
	s.coalesce()
	return s.parts, s.hists
}

// TestPartsDoNotStraddleGaps splits a stencil, whose distances within a row, a
// plane and the mesh are clusters far apart; no part with a noticeable share
// may reach across a gap at any size (from 14 on: in a mesh of 8, where a row
// is a line, the clusters touch).
func TestPartsDoNotStraddleGaps(t *testing.T) {
	for gi, g := range kernels[3].groupsAt(sweepSizes...) {
		parts, hists := partsOf(t, sweepSizes, g)
		for _, p := range parts {
			for i, sp := range p {
				if sweepSizes[i] < 14 || sp.count() < 0.02*hists[i].total() {
					continue
				}
				if lo, hi := hists[i].ends(sp); hi > 3*lo+2 {
					t.Errorf("group %d at %d: a part with %.0f%% of the reuses reaches from %g to %g", gi, sweepSizes[i], 100*sp.count()/hists[i].total(), lo, hi)
				}
			}
		}
	}
}

// TestMatchFollowsDriftingShare demands that gaps are matched from size to
// size, so that a share that drifts far from that of the largest size is still
// followed: here the near cluster grows from 40% of the reuses to 90%, while a
// gap within it ends up at 45%.
func TestMatchFollowsDriftingShare(t *testing.T) {
	shares := []float64{0.4, 0.55, 0.7, 0.8, 0.9} // from the largest size on
	p := make(part, len(shares))
	all := make([][]gap, len(shares))
	for i, s := range shares {
		p[i] = span{100, 1100}
		all[i] = []gap{{rank: 100 + 1000*s/2, ratio: 5}, {rank: 100 + 1000*s, ratio: 50}}
	}
	all[3] = nil // a size without gaps takes the share of the one before
	var sp splitter
	ranks := sp.match(p, all, []int{0, 1, 2, 3, 4}, all[0][1])
	for i, want := range []float64{500, 650, 800, 800, 1000} {
		if math.Abs(ranks[i]-want) > 1e-9 {
			t.Errorf("size %d is cut at %g, want %g", i, ranks[i], want)
		}
	}
}

// TestStrayAccessesDoNotMisleadCuts splits a volume of n³ at 14n, a surface at
// 0.85n², which no gap separates from the volume at small sizes, and, at odd
// sizes, n accesses far below both: their gap does not belong to the surface,
// and must not replace the surface's where that is missing.
func TestStrayAccessesDoNotMisleadCuts(t *testing.T) {
	ns := []int{20, 23, 26, 31, 36, 39, 45}
	near, far := poly(0, 0, 0, 0.8), poly(0, 0, 0.75)
	var g Group
	for _, n := range ns {
		x := float64(n)
		var bins []reuse.Bin
		if n%2 == 1 {
			bins = addTo(bins, uint64(9*n), uint64(n))
		}
		bins = addTo(bins, uint64(14*n), uint64(near(x)))
		for _, d := range []float64{1.12, 1.25} { // between volume and surface
			if 14*x*d < 0.75*x*x {
				bins = addTo(bins, uint64(14*x*d), 2)
			}
		}
		bins = addTo(bins, max(uint64(0.85*x*x), bins[len(bins)-1].Hi), uint64(far(x)))
		g.Hists = append(g.Hists, reuse.Histogram{Bins: bins})
	}
	m := fitOne(t, ns, Options{}, g)
	for _, n := range []float64{56, 100} {
		beyond := 0.0
		for _, b := range m.Groups[0].Histogram(fit.Point{"n": n}).Bins {
			if b.Distance > 24*n {
				beyond += b.Count
			}
		}
		if math.Abs(beyond/far(n)-1) > 0.3 {
			t.Errorf("n=%g: %.0f accesses of the surface, want %.0f of %.0f in all", n, beyond, far(n), near(n)+far(n))
		}
	}
}

func TestCutFindsClustersOfDriftingShare(t *testing.T) {
	ns := []int{4, 8, 16, 32, 64}
	counts := []func(n float64) float64{poly(0, 60), poly(0, 0, 5), poly(0, 0, 2.5)}
	g := synthetic(ns, poly(0), atom{poly(5), counts[0]}, atom{poly(100, 50), counts[1]}, atom{poly(1000, 900), counts[2]})
	parts, _ := partsOf(t, ns, g)
	if len(parts) != 3 {
		t.Fatalf("%d parts", len(parts))
	}
	for i, n := range ns {
		for k, p := range parts {
			if want := counts[k](float64(n)); math.Abs(p[i].count()-want) > 0.5 {
				t.Errorf("n=%d part %d: %g accesses, want %g", n, k, p[i].count(), want)
			}
		}
	}
}
