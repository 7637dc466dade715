package misses

import (
	"math"
	"slices"
	"strings"
	"testing"

	"presage/perf/frame"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/subject"
)

// TestMissesByLoop: misses by loop add up to those of the program.
func TestMissesByLoop(t *testing.T) {
	model := askable(t)
	sums := make(map[subject.Scope]float64)
	for _, by := range []subject.Scope{subject.ByProgram, subject.ByRoutine, subject.ByLoop} {
		df, err := Predict(t.Context(), model, profiletest.Machine(t, "origin2000"), subject.Sweep("n", 22), PredictOptions{By: by})
		if err != nil {
			t.Fatal(err)
		}
		sums[by] = perftest.Total(t, df, "pred_misses")
		if by == subject.ByLoop && !slices.ContainsFunc(perftest.Text(t, df, "scope"), func(s string) bool { return strings.HasPrefix(s, "solveLine/loop@mesh.c") }) {
			t.Errorf("no loop of solveLine in\n%s", frame.String(frame.Of(df)))
		}
	}
	if d := math.Abs(sums[subject.ByLoop]/sums[subject.ByProgram] - 1); d > 1e-9 || math.Abs(sums[subject.ByRoutine]/sums[subject.ByProgram]-1) > 1e-9 {
		t.Errorf("sums %v", sums)
	}
}
