package replay

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawnWraps is a function of vectors that wraps at some ends.
type drawnWraps struct {
	coef  []int64
	jumps []RunJump
}

func (w *drawnWraps) at(v []int64) int64 {
	y := w.coef[0]
	for k, x := range v {
		y += w.coef[k+1] * x
	}
	for _, j := range w.jumps {
		if v[j.Coord] >= j.From {
			y += j.By
		}
	}
	return y
}

// drawWraps draws a function of coordinates below trips, of at least six.
func drawWraps(t *rapid.T, trips []int64) *drawnWraps {
	w := &drawnWraps{coef: rapid.SliceOfN(rapid.Int64Range(-5000, 5000), len(trips)+1, len(trips)+1).Draw(t, "coef")}
	for k, n := range trips {
		if rapid.Bool().Draw(t, "first") {
			w.jumps = append(w.jumps, RunJump{int8(k), rapid.Int64Range(1, 2).Draw(t, "from"), -rapid.Int64Range(1, 1e6).Draw(t, "by")})
		}
		if rapid.Bool().Draw(t, "last") {
			w.jumps = append(w.jumps, RunJump{int8(k), n - rapid.Int64Range(1, 2).Draw(t, "to"), -rapid.Int64Range(1, 1e6).Draw(t, "by")})
		}
	}
	return w
}

// vectors passes on all vectors of coordinates below trips, in the order of loops.
func vectors(trips []int64, use func(v []int64)) {
	v := make([]int64, len(trips))
	for {
		use(v)
		k := len(v) - 1
		for k >= 0 && v[k]+1 == trips[k] {
			v[k] = 0
			k--
		}
		if k < 0 {
			return
		}
		v[k]++
	}
}

// TestWrapsRecovers draws functions that wrap at the first or last steps of loops, and
// asks for their coefficients and jumps. Part of the points may be missing, as data decide,
// as long as each loop's steps are seen with steps that are known of the others.
func TestWrapsRecovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 3).Draw(t, "d")
		trips := rapid.SliceOfN(rapid.Int64Range(7, 9), d, d).Draw(t, "trips")
		want := drawWraps(t, trips)
		missing := rapid.SliceOfN(rapid.Int64Range(1, 6), d, d).Draw(t, "missing") // all of these: no point
		w := wraps{form: Form{Wraps: true}}
		vectors(trips, func(v []int64) {
			if d > 1 && slices.Equal(v, missing) {
				return
			}
			if !w.add(v, want.at(v)) {
				t.Fatalf("%+v: not found at %v", want, v)
			}
		})
		got := w.result()
		if got == nil {
			t.Fatalf("%+v: nothing is found", want)
		}
		live := liveRef{kind: wrapped, form: got.Form, classes: [][]int64{got.Classes[0].Coef}, jumps: [][]liveJump{nil}}
		for _, j := range got.Jumps[0] {
			live.jumps[0] = append(live.jumps[0], liveJump{int(j.Coord), j.From, j.By})
		}
		vectors(trips, func(v []int64) {
			if a := int64(live.address(v)); a != want.at(v) && want.at(v) >= 0 {
				t.Errorf("at %v: %d, want %d", v, a, want.at(v))
			}
		})
		if len(got.Jumps[0]) != len(want.jumps) || got.Classes[0].Rank != d {
			t.Errorf("%+v is taken for %+v", want, got)
		}
		for k, j := range got.Jumps[0] {
			if x := want.jumps[k]; j.Coord != x.Coord || j.From != x.From || j.By != x.By*scale {
				t.Errorf("jump %+v, want %+v", j, x)
			}
		}
		if !slices.EqualFunc(got.Classes[0].Coef, want.coef, func(x, y int64) bool { return x == y*scale }) {
			t.Errorf("coefficients %v eighths, want %v", got.Classes[0].Coef, want.coef)
		}
	})
}

// TestWrapsOfTables tests functions by the value of a coordinate, of which data leave out
// part: rows of a disc in the middle of a square, each of which begins elsewhere.
func TestWrapsOfTables(t *testing.T) {
	const n = 11
	sides := []drawnWraps{
		{coef: []int64{4000, 0, 88, 8}},
		{coef: []int64{9000, 0, 88, 8}, jumps: []RunJump{{1, 1, -968}, {2, n - 1, -88}}},
		{coef: []int64{20000, 0, 88, 8}, jumps: []RunJump{{1, n - 1, -968}}},
	}
	disc := func(y, x int64) bool { return (2*y-n+1)*(2*y-n+1)+(2*x-n+1)*(2*x-n+1) < n*n/3 }
	for _, inside := range []bool{false, true} {
		w := wraps{form: Form{Wraps: true, Table: 1}}
		vectors([]int64{int64(len(sides)), n, n}, func(v []int64) {
			if disc(v[1], v[2]) == inside && !w.add(v, sides[v[0]].at(v)) {
				t.Fatalf("inside %v: not found at %v", inside, v)
			}
		})
		got := w.result()
		if got == nil || len(got.Classes) != len(sides) {
			t.Fatalf("inside %v: %+v", inside, got)
		}
		for c := range sides {
			jumps := len(sides[c].jumps)
			if inside {
				jumps = 0 // the borders are outside
			}
			if len(got.Jumps[c]) != jumps || got.Classes[c].Coef[2] != 88*scale || got.Classes[c].Coef[3] != 8*scale {
				t.Errorf("inside %v, side %d: %v and %+v, want %+v", inside, c, got.Classes[c].Coef, got.Jumps[c], sides[c])
			}
			if !inside && got.Classes[c].Coef[0] != sides[c].coef[0]*scale {
				t.Errorf("side %d: constant %d, want %d", c, got.Classes[c].Coef[0]/scale, sides[c].coef[0])
			}
		}
	}
}

// TestWrapsRefuses tests that functions that are no such sums are refused: where the
// coordinates wrap together, slopes change, or jumps are many.
func TestWrapsRefuses(t *testing.T) {
	for name, f := range map[string]func(v []int64) int64{
		"together": func(v []int64) int64 { return 80*v[0] + 8*((v[0]+v[1])%10) },
		"product":  func(v []int64) int64 { return v[0] * v[1] },
		"square":   func(v []int64) int64 { return 80*v[0] + v[1]*v[1] },
		"bend":     func(v []int64) int64 { return 80*v[0] + 8*max(5, v[1]) + 16*min(5, v[1]) },
		"often":    func(v []int64) int64 { return 80*v[0] + 8*v[1] + 1000*(v[1]&1) },
	} {
		w := wraps{form: Form{Wraps: true}}
		ok := true
		vectors([]int64{10, 20}, func(v []int64) { ok = ok && w.add(v, f(v)) })
		if ok && w.result() != nil {
			t.Errorf("%s: taken for %+v", name, w.result())
		}
	}
	w := wraps{form: Form{Wraps: true, Table: 1}}
	for i := range int64(maxTable + 1) {
		if ok := w.add([]int64{i, 0}, i*i); ok != (i < maxTable) {
			t.Errorf("row %d of a table: accepted %v", i, ok)
		}
	}
}
