package subject_test

import (
	"errors"
	"slices"
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/progress"
	"presage/perf/subject"
)

// TestEach: points are taken in turn, as steps that count them, up to the first error; the
// end is reported where there was none.
func TestEach(t *testing.T) {
	prog := perftest.Built("planted")(t)
	points := subject.Sweep("n", 3, 5, 4)
	failed := errors.New("failed")
	for at, want := range map[int]error{-1: nil, 1: failed} {
		ended := 0
		s, err := subject.RunOptions{Args: "-n {n}", Progress: func(e progress.Report) {
			if e.Finished() {
				ended++
			}
		}}.Sweep(prog, points)
		if err != nil {
			t.Fatal(err)
		}
		var seen []float64
		err = s.Each(t.Context(), func(step subject.Step, loaded subject.Loaded) error {
			if step.Done != len(seen) || step.Total != 3 || loaded.Program == nil {
				t.Errorf("step %d of %d, program %v", step.Done, step.Total, loaded.Program)
			}
			seen = append(seen, step.Point["n"])
			if step.Done == at {
				return failed
			}
			return nil
		})
		if !errors.Is(err, want) || (err == nil) != (ended == 1) {
			t.Errorf("%v, want %v; the end was reported %d times", err, want, ended)
		}
		if all := []float64{3, 5, 4}; !slices.Equal(seen, all[:len(seen)]) || len(seen) != 3 && len(seen) != at+1 {
			t.Errorf("points %v", seen)
		}
	}
}
