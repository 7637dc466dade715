package iperf_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"presage/perf/iperf"
)

// geometry is a machine in elements of 8 bytes, as the report writes it.
type geometry struct {
	entries, page                    float64
	s1, l1, sl1, a1, s2, l2, sl2, a2 float64
}

// figure5 is the report's Figure 5, from its text, in elements.
var figure5 = map[string]geometry{
	"ultrasparc-1": {64, 1024, 512, 4, 2, 1, 8192, 8, 8, 1},
	"ultrasparc-2": {64, 1024, 512, 4, 2, 1, 32768, 8, 8, 1},
	"supersparc-1": {64, 512, 128, 4, 4, 4, 8192, 16, 4, 1},
	"supersparc-2": {64, 512, 128, 4, 4, 4, 8192, 16, 4, 1},
}

// distance is Figure 6's D to the letter, for a stride of n elements of at least
// a block.
func distance(n, l, s float64) float64 {
	for d := 1.0; ; d++ {
		if math.Mod(math.Floor(n*d/l), s) == 0 {
			return d
		}
	}
}

// blocking is Figure 6's model of a blocking cache, written from the report.
func blocking(n, l, sl, s, a, d float64) float64 {
	switch {
	case n/d <= a:
		return n * n / sl
	case n/d >= a+1:
		return n * n
	}
	return n / sl * (n + (sl-1)*(a+1)*(n-a*d))
}

func figure6(g geometry, n float64) map[string]float64 {
	d1, d2 := distance(n, g.l1, g.s1), distance(n, g.l2, g.s2)
	out := map[string]float64{
		// The report has n <= P; beyond, a page is met an access, and no more.
		"TLB": n * n * min(n, g.page) / g.page,
		"L1b": blocking(n, g.l1, g.sl1, g.s1, g.a1, d1),
		"L2b": blocking(n, g.l2, g.sl2, g.s2, g.a2, d2),
	}
	if n*n <= g.entries*g.page {
		out["TLB"] = n * n / g.page
	}
	if n/d1 > g.a1 && n/d2 <= g.a2 {
		out["L1nb"] = n * n / d1
	}
	// Appendix A.1.
	out["TLB_overflow"] = n * n / g.page
	if (n-1)*min(n, g.page)/g.page > g.entries {
		out["TLB_overflow"] = n * n
	} else if n*n/g.page > g.entries {
		out["TLB_overflow"] = n * n * (n - 1) / g.page
	}
	return out
}

// Every formula, at every size, on every machine, whether it describes it or not.
func TestFigure6(t *testing.T) {
	points := 0
	for name, g := range figure5 {
		s := system(t, name)
		for i := range s.Levels {
			s.Levels[i].NonBlocking = false
		}
		blockingCaches, err := iperf.Preselect(iperf.DefaultDatabase(), kernel(t, "increment-ij"), s, reportSizes())
		if err != nil {
			t.Fatal(err)
		}
		s.Levels[0].NonBlocking = true
		nonBlocking, err := iperf.Preselect(iperf.DefaultDatabase(), kernel(t, "increment-ij"), s, reportSizes())
		if err != nil {
			t.Fatal(err)
		}
		c := curves(t, blockingCaches)
		c["L1nb"] = curves(t, nonBlocking)["L1nb"]
		for i, p := range blockingCaches.Points {
			n := p["n"]
			if n < g.l2 {
				continue // D to the letter is 1 within a block; see exactDistance
			}
			for model, want := range figure6(g, n) {
				points++
				if got := c[model].Terms[0][i]; !near(got, want) {
					t.Errorf("%s, n = %g: %s is %g, by Figure 6 %g", name, n, model, got, want)
				}
			}
			for term, want := range []float64{1, n, n * n} {
				if got := c["CPU"].Terms[term][i]; got != want {
					t.Errorf("n = %g: term %d of CPU is %g, want %g", n, term, got, want)
				}
			}
		}
	}
	if points < 1500 {
		t.Errorf("compared %d points", points)
	}
}

// Where a stride is below a block, D to the letter would call a block's reuse a
// conflict.
func TestUnitStrideIsNoConflict(t *testing.T) {
	for _, name := range []string{"increment-ji", "copy", "stencil"} {
		s := system(t, "supersparc-1")
		l, err := iperf.Preselect(iperf.DefaultDatabase(), kernel(t, name), s, sizes(100, 8))
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range l.Points {
			n := p["n"]
			// Sub-blocks of 32 bytes hold 4 elements: a miss for each, once.
			want := map[string]float64{"increment-ji": n * n / 4, "copy": 2 * n / 4, "stencil": 2 * (n - 2) * (n - 2) / 4}[name]
			if got := curves(t, l)["L2b"].Terms[0][i]; !near(got, want) {
				t.Errorf("%s, n = %g: L2b is %g, want %g", name, n, got, want)
			}
		}
	}
}

// peaks of the report's Figure 7 that its text names: three of L2 on the
// UltraSPARC-I (section 4.2.1), at 512, 640, 768 (4.4), and none on the II, where
// L1 has them.
func TestPeaksOfFigure7(t *testing.T) {
	for name, want := range map[string][]float64{"ultrasparc-1": {512, 640, 768}, "ultrasparc-2": nil} {
		l, err := iperf.Preselect(iperf.DefaultDatabase(), kernel(t, "increment-ij"), system(t, name), reportSizes())
		if err != nil {
			t.Fatal(err)
		}
		var got []float64
		for i, p := range l.Points {
			if n := p["n"]; curves(t, l)["L2b"].Terms[0][i] > 1.01*n*n/8 {
				got = append(got, n)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: L2b has peaks at %v, want %v", name, got, want)
		}
	}
	l, err := iperf.Preselect(iperf.DefaultDatabase(), kernel(t, "increment-ij"), system(t, "ultrasparc-2"), reportSizes())
	if err != nil {
		t.Fatal(err)
	}
	y := curves(t, l)["L1nb"].Terms[0]
	for _, n := range []int{512, 640, 768} {
		if i := n/8 - 1; y[i] < 1.5*y[i-1] || y[i] < 1.5*y[i+1] {
			t.Errorf("L1nb at %d is %g, beside %g and %g: no peak", n, y[i], y[i-1], y[i+1])
		}
	}
}

// The factor that the report found missing peaks where it saw peaks.
func TestPagesPeakWhereTheReportDoes(t *testing.T) {
	l, err := iperf.Preselect(iperf.DefaultDatabase(), kernel(t, "increment-ij"), system(t, "ultrasparc-2"), reportSizes())
	if err != nil {
		t.Fatal(err)
	}
	type peak struct{ n, misses float64 }
	var all []peak
	for i, v := range curves(t, l)["pages"].Terms[0] {
		n := l.Points[i]["n"]
		all = append(all, peak{n, v / (n * n)})
	}
	slices.SortFunc(all, func(a, b peak) int { return int(math.Copysign(1, b.misses-a.misses)) })
	var first []float64
	for _, p := range all[:3] {
		first = append(first, p.n)
	}
	slices.Sort(first)
	if !slices.Equal(first, []float64{512, 640, 768}) {
		t.Errorf("most conflicts an access at %v, want 512, 640, 768", first)
	}
}

// Figure 9: what is left for the UltraSPARC-I is computation, TLB, L1nb and L2b,
// and computation is in every model. The figure lists six of these eight under
// "all possible"; its models are the first of each cost here.
func TestFigure9(t *testing.T) {
	l, err := iperf.Preselect(iperf.ReportDatabase(), kernel(t, "increment-ij"), system(t, "ultrasparc-1"), reportSizes())
	if err != nil {
		t.Fatal(err)
	}
	all, err := l.Enumerate()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range all {
		got = append(got, fmt.Sprintf("%s %g", c.Name(), c.Cost))
	}
	want := []string{
		"CPU 1", "CPU+TLB 2", "CPU+L1nb 2", "CPU+L2b 2",
		"CPU+TLB+L1nb 3", "CPU+TLB+L2b 3", "CPU+L1nb+L2b 3", "CPU+TLB+L1nb+L2b 4",
	}
	if !slices.Equal(got, want) {
		t.Errorf("complete models %q, want %q", got, want)
	}
	reasons := make(map[string]string)
	for _, p := range l.Pruned {
		reasons[p.Factor+"/"+p.Model] = p.Reason
	}
	for what, reason := range map[string]string{
		"L1/L1b":        "it describes a blocking L1: L1_nonblocking == 0 does not hold (L1_nonblocking = 1)",
		"L2/L2nb":       "it describes a non-blocking L2: L2_nonblocking == 1 does not hold (L2_nonblocking = 0)",
		"PAGING/PAGING": "a program that fits into memory does not page: memory_bytes is not known of Sun UltraSPARC-I",
		"PAGING/":       "no model of it or of a factor below it applies",
		"CACHE/":        "no model stands for it: its children do",
		"MEM/":          "no model stands for it: its children do",
	} {
		if reasons[what] != reason {
			t.Errorf("%s was pruned because %q, want %q", what, reasons[what], reason)
		}
	}
}

// Of the four machines, their two caches and the report's hundred sizes, the two D of
// appendix A.2 tell different misses in one case: L2 of the SuperSPARCs at n = 792. There
// 331 rows are 16384.5 blocks, and the definition drops the half, so that block 16384 is
// that of the first row's set, 2 S; without the floor it is 16384 rows. To the
// definition every access misses, to the approximation one in four.
func TestTheTwoDistancesDifferAtOneSize(t *testing.T) {
	type cell struct {
		machine, level string
		n              float64
	}
	differ := make(map[cell][2]float64) // D
	cells := 0
	for name, g := range figure5 {
		for _, level := range []struct {
			name        string
			s, l, sl, a float64
		}{{"L1", g.s1, g.l1, g.sl1, g.a1}, {"L2", g.s2, g.l2, g.sl2, g.a2}} {
			for n := 8.0; n <= 800; n += 8 {
				if n < level.l {
					continue // the formula is of strides of a block or more: 8 elements are half of one
				}
				cells++
				exact, gcd := distance(n, level.l, level.s), level.l*level.s/divisor(n, level.l*level.s)
				if blocking(n, level.l, level.sl, level.s, level.a, exact) != blocking(n, level.l, level.sl, level.s, level.a, gcd) {
					differ[cell{name, level.name, n}] = [2]float64{exact, gcd}
				}
			}
		}
	}
	want := map[cell][2]float64{{"supersparc-1", "L2", 792}: {331, 16384}, {"supersparc-2", "L2", 792}: {331, 16384}}
	if cells != 798 || !maps.Equal(differ, want) {
		t.Errorf("of %d cases %v differ, want %v", cells, differ, want)
	}
	g := figure5["supersparc-2"]
	if exact, gcd := blocking(792, g.l2, g.sl2, g.s2, g.a2, 331), blocking(792, g.l2, g.sl2, g.s2, g.a2, 16384); exact != 792*792 || gcd != 792*792/4 {
		t.Errorf("misses at 792: %g and %g", exact, gcd)
	}
}

// divisor returns the greatest common divisor of two integers.
func divisor(a, b float64) float64 {
	for b != 0 {
		a, b = b, math.Mod(a, b)
	}
	return a
}

// D by the gcd approximation is that by definition wherever blocks divide
// strides; pre-selection then says that the curves are one.
func TestApproximateDistance(t *testing.T) {
	s := system(t, "supersparc-2")
	k := kernel(t, "increment-ij")
	even, err := iperf.Preselect(iperf.DefaultDatabase(), k, s, sizes(16, 50))
	if err != nil {
		t.Fatal(err)
	}
	if c := curves(t, even); c["L2b_gcd"].Model != nil || c["L2b"].Model == nil {
		t.Error("n = 16 i: the approximation has a curve of its own")
	}
	odd, err := iperf.Preselect(iperf.DefaultDatabase(), k, s, sizes(5, 160))
	if err != nil {
		t.Fatal(err)
	}
	if c := curves(t, odd); c["L2b_gcd"].Model == nil {
		t.Error("n = 5 i: the approximation has the curve of the definition")
	}
}
