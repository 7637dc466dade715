//go:build linux && amd64

package judging

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	engine "presage/perf/engine/native"
	"presage/perf/internal/oracle"
)

// TestRunNative: programs are built by this computer's compiler, with shared libraries,
// wherever their sizes come from.
func TestRunNative(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	oracle.Need(t, "gcc")
	opt := small(t)
	opt.Native = true
	opt.Programs = slices.DeleteFunc(opt.Programs, func(p Program) bool { return p.Size == FromCompiler })
	found, err := opt.Run(t.Context())
	if errors.Is(err, engine.ErrPtrace) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	misses := make(map[string]float64)
	for _, r := range found.Misses {
		if r.Level == "L1" {
			misses[r.Program] = r.Sim
			if math.Abs(r.Err) > 0.02 || r.Sim < 1000 {
				t.Errorf("%s: %g misses predicted, %g simulated", r.Program, r.Pred, r.Sim)
			}
		}
	}
	if len(misses) != 2 {
		t.Errorf("misses of %v, want those of arg and file", misses)
	}
	if len(found.Failed) != 1 || found.Failed[0].Program != "wrong" || len(found.Cycles) > 0 {
		t.Errorf("failed: %+v; cycles: %+v", found.Failed, found.Cycles)
	}
	if opt.Programs[0].Native {
		t.Error("the programs of the options were changed")
	}
	for _, h := range found.Headlines(HeadlineOptions{Half: Open, Native: true}) {
		if !strings.Contains(h.Study, "native") {
			t.Errorf("a headline of %q", h.Study)
		}
	}
}
