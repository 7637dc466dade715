package replay

import (
	"reflect"
	"slices"
	"sync"
	"testing"
)

// TestRunsAreShared: Models of the same runs, and one Model for several sizes, say what
// they say alone when they are asked at the same time; the runs stay as they are. The
// race detector looks on in make race.
func TestRunsAreShared(t *testing.T) {
	prog := compile(t, "-O2 -DDIAGONALS")
	code := codeOf(t, prog)
	alone := learn(t, prog, code, 15, 16, 18, 20, 21, 24, 28)
	var before []*Run
	for _, r := range alone.runs {
		before = append(before, stored(t, r))
	}
	ask := func(m *Model, n int64) []doubt {
		in, err := m.At(t.Context(), n)
		if err != nil {
			t.Error(err)
			return nil
		}
		return in.doubts
	}
	sizes := []int64{64, 97}
	var want [][]doubt
	for _, n := range sizes {
		want = append(want, ask(alone, n))
	}
	if !reflect.DeepEqual(alone.runs, before) {
		t.Error("a Model changes its runs")
	}
	bent := func(p RunPlace) bool {
		return slices.ContainsFunc(p.Branch, func(b RunBranch) bool { return b.Bends })
	}
	if !slices.ContainsFunc(before[0].Places, bent) {
		t.Error("no bounds that bend: nothing to share")
	}

	var all sync.WaitGroup
	for range 2 {
		m, err := NewModel(code, alone.sizes, before)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range sizes {
			all.Go(func() {
				if got := ask(m, n); !slices.Equal(got, want[i]) {
					t.Errorf("n=%d: other doubts than alone", n)
				}
			})
		}
	}
	all.Wait()
}

// TestFitsOfResidueClasses: where all sizes are of one residue class, its fit is that to all
// sizes, made once; a class of fewer has a fit of its own.
func TestFitsOfResidueClasses(t *testing.T) {
	prog := compile(t, "-O2 -DMATMUL")
	m := learn(t, prog, codeOf(t, prog), 12, 16, 20, 24, 28)
	fitOf := func(modulus, residue int64) *fitted {
		f, err := m.fit(t.Context(), modulus, residue)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	all := fitOf(1, 0)
	for _, modulus := range []int64{2, 4} {
		if fitOf(modulus, 0) != all {
			t.Errorf("multiples of %d were fitted anew", modulus)
		}
	}
	if f := fitOf(8, 4); f != nil {
		t.Errorf("three sizes were fitted: %d", f.prog.Sizes)
	}
	m.sizes[2] = 21 // no multiple of 4
	if f := fitOf(4, 0); f == nil || f == all || !slices.Equal(f.prog.Sizes, []int64{12, 16, 24, 28}) {
		t.Error("the fit to four of five sizes is not theirs")
	}
}
