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
