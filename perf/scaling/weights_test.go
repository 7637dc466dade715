package scaling

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"presage/perf/fit"
)

func fitValues(t *testing.T, ns []int, value func(n float64) float64) fit.Func {
	t.Helper()
	f, err := newFitter(sizesOf(ns...), nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, len(ns))
	for i, n := range ns {
		y[i] = value(float64(n))
	}
	g, err := fitTo(f.design, f.shape, f.extents, y, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func doubted(f fit.Func, d fit.Doubt) bool {
	return slices.ContainsFunc(f.Warnings, func(w fit.Warning) bool { return w.Doubt == d })
}

// TestLastPieceIsExtrapolated demands that, of a piecewise function, the piece
// at the largest sizes is extrapolated, and that the result says so.
func TestLastPieceIsExtrapolated(t *testing.T) {
	ns := []int{12, 16, 20, 24, 28, 32, 36, 40}
	pieces := func(n float64) float64 {
		if n < 22 {
			return 40
		}
		return 3 * n * n
	}
	g := fitValues(t, ns, pieces)
	for _, n := range []float64{60, 80} {
		if got := g.Eval(fit.Point{"n": n}); math.Abs(got/pieces(n)-1) > 0.1 {
			t.Errorf("n=%g: %g, want %g", n, got, pieces(n))
		}
	}
	if !doubted(g, Pieces) {
		t.Errorf("no doubt: %v", g.Warnings)
	}
}

// TestRemaindersAreNotPieces demands that data that a basis fits to within a
// few percent count as one function of all sizes.
func TestRemaindersAreNotPieces(t *testing.T) {
	ns := []int{8, 14, 20, 26, 32, 40}
	blocks := func(n float64) float64 { return n * n * math.Ceil(n/4) }
	if g := fitValues(t, ns, blocks); doubted(g, Pieces) || g.LOO > pieces || g.LOO == 0 {
		t.Errorf("%v, LOO %g, %v", &g, g.LOO, g.Warnings)
	}
}

// TestWeightsStayPositive demands positive weights for sizes that span six
// decades.
func TestWeightsStayPositive(t *testing.T) {
	for _, power := range []float64{usual, late} {
		w := weights([]float64{1, 1e3, 1e6}, []float64{0, 5, 1e18}, power)
		for i, x := range w {
			if !(x > 0) || math.IsInf(x, 0) {
				t.Errorf("power %g: weight %d is %g", power, i, x)
			}
		}
	}
}

// TestMemoChangesNothing demands the same model for a group whether others with the
// same data were modelled before or not, and for any number of workers: memoisation
// never changes a result.
func TestMemoChangesNothing(t *testing.T) {
	ns := []int{8, 14, 20, 26, 32}
	var groups []Group
	for _, k := range []kernel{kernels[2], kernels[4]} {
		groups = append(groups, k.groupsAt(ns...)...)
	}
	groups = append(groups, groups...)
	opt := Options{Negligible: -1}
	together := fitOne(t, ns, opt, groups...)
	opt.Workers = 1
	if one := fitOne(t, ns, opt, groups...); !reflect.DeepEqual(formulas(one), formulas(together)) {
		t.Error("one worker gives another model")
	}
	for i, g := range groups {
		f, err := newFitter(sizesOf(ns...), groups, opt)
		if err != nil {
			t.Fatal(err)
		}
		f.chance = true // as Fit has it
		if err := f.prepare(t.Context(), groups, 1); err != nil {
			t.Fatal(err)
		}
		first, err := f.group(&f.groups[i])
		if err != nil {
			t.Fatal(err)
		}
		alone := &Model{Groups: []GroupModel{first}}
		if got, want := formulas(together)[i], formulas(alone)[0]; !slices.Equal(got, want) {
			t.Fatalf("group %d %s: %v, alone %v", i, g.Name, got, want)
		}
	}
}

// formulas lists the coefficients of each group's functions.
func formulas(m *Model) [][]float64 {
	out := make([][]float64, len(m.Groups))
	for i := range m.Groups {
		g := &m.Groups[i]
		add := func(f fit.Func) { out[i] = append(append(out[i], f.Coefficients...), f.LOO) }
		add(g.Cold)
		add(g.Accesses)
		for _, b := range g.Bins {
			add(b.Distance)
			add(b.Frequency)
		}
	}
	return out
}
