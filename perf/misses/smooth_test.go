package misses

import (
	"strings"
	"testing"

	"presage/perf/locality"
	"presage/perf/subject"
)

// TestRoughness: instructions that jump from size to size are told, those that
// grow as a polynomial or in steps of a few instructions are not.
func TestRoughness(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts func(n int) uint64
		rough  bool
	}{
		{"cubic", func(n int) uint64 { return uint64(5000 + 7*n*n*n) }, false},
		{"n log n", func(n int) uint64 { return uint64(1000*n + 100*n*n/10) }, false},
		{"with a remainder", func(n int) uint64 { return uint64(9*n*n*n + 20*(n%4)*n) }, false},
		{"of the data", func(n int) uint64 { return uint64(n * n * n * (10 + n*7%5)) }, true},
	} {
		runs := new(locality.Runs)
		for n := 20; n <= 60; n += 6 {
			runs.Runs = append(runs.Runs, locality.Run{Point: subject.Point{"n": float64(n)}, Instructions: c.counts(n)})
		}
		text := roughness(t.Context(), runs)
		if (text != "") != c.rough || c.rough && !strings.Contains(text, "instructions executed at n=") {
			t.Errorf("%s: %q", c.name, text)
		}
		runs.Runs = runs.Runs[:enoughRuns-1]
		if text := roughness(t.Context(), runs); text != "" {
			t.Errorf("%s: of five runs: %q", c.name, text)
		}
	}
}
