package sparse

import (
	"context"
	"strings"
	"testing"

	"presage/perf/progress"
	"presage/perf/spmv"
	"presage/perf/store"
)

// TestAdvise recommends a block size and measures all.
func TestAdvise(t *testing.T) {
	m := randomMatrix(t, 13)
	done := make(map[string]int)
	opt := AdviceOptions{Timing: spmv.TimeOptions{Passes: 1, Repeats: 1}, Verify: true, Store: store.Open(t.TempDir()), Progress: func(p progress.Report) {
		if p.Done != done[p.Task] || p.Total != 64 {
			t.Errorf("%+v after %d", p, done[p.Task])
		}
		done[p.Task]++
	}}
	a, err := Advise(context.Background(), m, opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(done) != 2 || done["dense: timings"] != 64 || done[m.Name+": timings"] != 64 {
		t.Errorf("progress: %v", done)
	}
	if len(a.Shapes) != 64 || !a.Verified || a.Loss < 0 || a.Loss >= 1 || a.MeasuredGain <= 0 {
		t.Errorf("%+v", a)
	}
	for i, s := range a.Shapes {
		if i > 0 && s.PredMflops > a.Shapes[i-1].PredMflops {
			t.Fatalf("row %d is predicted to be faster than the one before it", i)
		}
		if s.Mflops <= 0 {
			t.Errorf("row %d was not measured: %+v", i, s)
		}
	}
	if a.DenseKept || a.Warning != "" {
		t.Errorf("speeds are kept before they are measured: %+v", a)
	}
	opt.Verify, opt.Progress = false, nil
	again, err := Advise(context.Background(), m, opt)
	if err != nil || !again.DenseKept || again.Shape != a.Shape || again.Gain != a.Gain || !strings.Contains(again.Text(), "earlier") {
		t.Errorf("with kept speeds: %+v, %v", again, err)
	}
	opt.Anew = true
	if anew, err := Advise(context.Background(), m, opt); err != nil || anew.DenseKept {
		t.Errorf("measured anew: %+v, %v", anew, err)
	}
	if text := a.Text(); !strings.Contains(text, a.Shape.String()) || !strings.Contains(text, "Measured: ") {
		t.Errorf("the recommendation reads %q", text)
	}
}
