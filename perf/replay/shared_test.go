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

// TestFitsOfSomeSizes: where all sizes are of one residue class, its fit is that to all
// sizes, made once; a class of fewer has a fit of its own, and so have all but the smallest,
// for sizes beyond the runs.
func TestFitsOfSomeSizes(t *testing.T) {
	prog := compile(t, "-O2 -DMATMUL")
	m := learn(t, prog, codeOf(t, prog), 12, 16, 20, 24, 28, 32)
	chosen := func(n int64) (list [][]int64) {
		for _, some := range m.choices(n) {
			f, err := m.fit(t.Context(), some)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, f.prog.Sizes)
		}
		return list
	}
	all, larger := []int64{12, 16, 20, 24, 28, 32}, []int64{16, 20, 24, 28, 32}
	for n, want := range map[int64][][]int64{
		20: {all, all, all},
		21: {all},
		36: {all, all, all, larger},
	} {
		if got := chosen(n); !reflect.DeepEqual(got, want) {
			t.Errorf("n=%d: fits to %d, want %d", n, got, want)
		}
	}
	if len(m.fits) != 2 {
		t.Errorf("%d fits were made of 2", len(m.fits))
	}
	m.sizes[2] = 21 // no multiple of 4
	if got, want := chosen(40), [][]int64{{12, 16, 21, 24, 28, 32}, {12, 16, 24, 28, 32}, {12, 16, 24, 28, 32}, {16, 21, 24, 28, 32}}; !reflect.DeepEqual(got, want) {
		t.Errorf("n=40: fits to %d, want %d", got, want)
	}
}
