package replay

import (
	"testing"

	"presage/perf/trace"

	"pgregory.net/rapid"
)

// TestClassesDependOnCoordinates: another class follows from a step of those coordinates that it is
// said to depend on, and of no others.
func TestClassesDependOnCoordinates(t *testing.T) {
	for _, s := range []Split{
		{},
		{Modulus: 1, A: 2},
		{Modulus: 3, A: 1},
		{Modulus: 8, A: 3},
		{Modulus: 4, Sign: 1, A: 3, B: 1},
		{Modulus: 2, Sign: -1, A: 2, B: 0},
		{Modulus: 2, Sign: 1, A: 3, B: 2, More: 1},
		{Modulus: 2, Sign: 1, A: 3, B: 2, More: 2},
	} {
		v := []int64{12, 14, 17, 23}
		for k := range v {
			before := s.class(v)
			v[k]++
			if changes, says := s.class(v) != before, s.coords()>>k&1 != 0; changes != says {
				t.Errorf("%+v: coordinate %d changes the class %v, says %v", s, k, changes, says)
			}
		}
	}
}

// TestAffineRecovers feeds points of a known function, in any order and number, and
// asks for the values at all points of their span.
func TestAffineRecovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(0, 4).Draw(t, "d")
		coef := rapid.SliceOfN(rapid.Int64Range(-5000, 5000), d+1, d+1).Draw(t, "coef")
		value := func(v []int64) int64 {
			y := coef[0]
			for k, x := range v {
				y += coef[k+1] * x
			}
			return y
		}
		var a affine
		points := rapid.SliceOfN(rapid.SliceOfN(rapid.Int64Range(0, 6), d, d), 1, 12).Draw(t, "points")
		for _, v := range points {
			if !a.add(v, value(v)) {
				t.Fatalf("%v: the function was not found", v)
			}
		}
		for _, v := range points { // none was lost while others came
			if a.coarse {
				if a.exactly(v) != integer(value(v)) {
					t.Errorf("at %v: not %d", v, value(v))
				}
			} else if got := a.at(v); got != scale*value(v) {
				t.Errorf("at %v: %d eighths, want %d", v, got, scale*value(v))
			}
		}
		// A point that others determine, with another value, is refused.
		v := points[len(points)-1]
		if a.add(v, value(v)+1) {
			t.Error("a point that contradicts another was accepted")
		}
	})
}

// TestAffineRefuses tests that points of a function that is not affine are refused,
// as soon as they span the space.
func TestAffineRefuses(t *testing.T) {
	var a affine
	for i := range int64(3) {
		ok := a.add([]int64{i}, i*i)
		if want := i < 2; ok != want {
			t.Errorf("point %d: accepted %v, want %v", i, ok, want)
		}
	}
	var b affine // a third is no multiple of an eighth
	b.add([]int64{0}, 0)
	if b.add([]int64{3}, 1); !b.coarse {
		t.Error("a slope of 1/3 passes for a multiple of 1/8")
	}
}

func TestSplitClasses(t *testing.T) {
	for _, c := range []struct {
		s    Split
		want int
	}{
		{Split{}, 0},
		{Split{Modulus: 4, A: 1}, 3},
		{Split{Modulus: 3, A: 0}, 2},
		{Split{Modulus: 8, A: 0, B: 1, Sign: -1}, 6}, // 5-7 = -2
		{Split{Modulus: 8, A: 0, B: 1, Sign: 1}, 4},
		{Split{Modulus: 2, A: 2, B: 1, Sign: 1}, 1},
		{Split{Modulus: 2, A: 2, B: 1, Sign: 1, More: 1}, 0},
	} {
		if got := c.s.class([]int64{5, 7, 2}); got != c.want {
			t.Errorf("%+v: class %d, want %d", c.s, got, c.want)
		}
	}
	if got := len(splits(3)); got != 1+3*(3+6)+1 {
		t.Errorf("%d splits of 3 coordinates, want 29", got)
	}
	if got := len(splits(5)); got != 1+3*(5+20)+4 {
		t.Errorf("%d splits of 5 coordinates, want 80", got)
	}
}

// TestSeriesExtrapolates recovers polynomials, over all sizes or by residue class,
// and counts the sizes to spare.
func TestSeriesExtrapolates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		modulus := rapid.SampledFrom([]int64{1, 2, 4, 8}).Draw(t, "modulus")
		degree := rapid.IntRange(0, 3).Draw(t, "degree")
		coef := make([][]int64, modulus)
		for r := range coef {
			coef[r] = rapid.SliceOfN(rapid.Int64Range(-9, 9), degree+1, degree+1).Draw(t, "coef")
		}
		value := func(n int64) int64 {
			y := int64(0)
			for k := degree; k >= 0; k-- {
				y = y*n + coef[n%modulus][k]
			}
			return y
		}
		n := rapid.Int64Range(100, 300).Draw(t, "n")
		var s Series
		for size := int64(8); size < 8+8*modulus; size++ {
			s.Sizes, s.Values = append(s.Sizes, size), append(s.Values, value(size))
		}
		v := s.At(n)
		if !v.Exact() || v.At != value(n) {
			t.Errorf("%+v at %d, want %d", v, n, value(n))
		}
	})
}

// TestSeriesOfFractions tests that fractions of the size, rounded, are found at sizes whose
// residue class has few others, and that remainders are not taken for them.
func TestSeriesOfFractions(t *testing.T) {
	sizes := []int64{24, 30, 38, 46, 56, 64}
	of := func(f func(n int64) int64) *Series {
		s := &Series{Sizes: sizes}
		for _, n := range sizes {
			s.Values = append(s.Values, f(n))
		}
		return s
	}
	quarters := func(n int64) int64 { return n + n/4 }
	for _, n := range []int64{96, 98, 256} {
		if v := of(quarters).At(n); !v.Exact() || v.At != quarters(n) {
			t.Errorf("at %d: %+v, want %d", n, v, quarters(n))
		}
	}
	for _, n := range []int64{97, 99} { // no size has their remainder
		if v := of(quarters).At(n); v.Exact() {
			t.Errorf("at %d: %+v is exact", n, v)
		}
	}
	if v := of(func(n int64) int64 { return n + n/4 + n/46*n%3 }).At(96); v.Exact() {
		t.Errorf("classes that differ by more than a constant: %+v", v)
	}
	beat := &Series{Sizes: []int64{18, 20, 21, 22, 24, 26, 28}, Values: []int64{64, 192, 256, 320, -64, 64, 192}}
	if v := beat.At(56); v.Exact() {
		t.Errorf("a remainder modulo 8: %+v", v)
	}
}

// TestSeriesDoubts tests that values that no polynomial goes through, or with too few
// sizes to spare, are not exact.
func TestSeriesDoubts(t *testing.T) {
	for _, s := range []Series{
		{Sizes: []int64{1, 2, 3, 4, 5, 6}, Values: []int64{1, 2, 4, 8, 16, 32}},
		{Sizes: []int64{10, 20}, Values: []int64{5, 5}},
		{Sizes: []int64{10, 20, 30}, Values: []int64{5, 6, 7}},
		{},
	} {
		if v := s.At(40); v.Exact() {
			t.Errorf("%v: exact", s)
		}
	}
}

// TestBranchesRecover tests that the outcomes of random loop nests are learned: of a
// triangular loop with special first and last iterations, at every vector.
func TestBranchesRecover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, slope := rapid.Int64Range(0, 3).Draw(t, "first"), rapid.Int64Range(0, 2).Draw(t, "slope")
		end := rapid.Int64Range(6, 9).Draw(t, "end")
		outcome := func(i, j int64) (next uint32) {
			switch {
			case j < first:
				return 1
			case j < end+slope*i:
				return 2
			}
			return 3
		}
		b := newBranch(2, false)
		stamps := []uint64{0, 0}
		clock := uint64(0)
		for i := range int64(5) {
			clock++
			stamps[0] = clock
			for j := range end + slope*i + 1 {
				clock++
				stamps[1] = clock
				b.add([]int64{i, j}, stamps, blockID(outcome(i, j)))
			}
		}
		b.end()
		if len(b.candidates) == 0 {
			t.Fatal("no form was found")
		}
		c := b.candidates[0]
		for i := range int64(5) {
			for j := range end + slope*i + 1 {
				if got := c.outcomeAt([]int64{i, j}); got != blockID(outcome(i, j)) {
					t.Errorf("at (%d, %d): %d, want %d", i, j, got, outcome(i, j))
				}
			}
		}
	})
}

// outcomeAt evaluates a candidate, the obvious way.
func (c *branchCandidate) outcomeAt(v []int64) blockID {
	o := &c.classes[c.form.Split.class(v)]
	for k := range o.shape[:len(o.shape)-1] {
		if v[c.form.Pivot]*scale <= o.bounds[k].at(v[:c.form.Pivot]) {
			return o.shape[k]
		}
	}
	return o.shape[len(o.shape)-1]
}

type blockID = trace.BlockID
