package mending

import (
	"math"
	"slices"
	"strings"
	"testing"

	"presage/perf/advice"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/store"
)

// close is how far a predicted gain may be from the simulated one.
const close = 0.2

// TestLive: kernels of each way to tell a gain, simulated now, at the sizes of the
// recording: what is advised is what the kernel is about, and comes true.
func TestLive(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	oracle.Need(t, defaultCompiler)
	live := slices.DeleteFunc(Kernels(), func(k Kernel) bool { return !slices.Contains([]int{4, 5, 6, 7, 10, 12, 17, 18, 19, 20}, k.Number) })
	for i := range live {
		if live[i].Number != 4 {
			live[i].Train = nil // one is modelled
		}
	}
	f, err := Options{
		Source: perftest.Path(t, "datasets", "advice", "kernels.c"), Machine: profiletest.Machine(t, "zen4"),
		Kernels: live, Models: true, Store: store.Open(t.TempDir()),
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range f.Rows {
		if r.Advice != live[i].Advice || !(math.Abs(r.Error) <= close) {
			t.Errorf("%s: advised %q with a gain of %g misses, which is %g", r.Kernel, r.Advice, r.Gain, r.Saved)
		}
		if r.Advice != advice.Nothing && r.Saved < r.Before/4 {
			t.Errorf("%s: of %g misses %g are left: it has no problem", r.Kernel, r.Before, r.After)
		}
		if live[i].Level != "L1 TLB" && !(math.Abs(r.LeftError) <= close) {
			t.Errorf("%s: with prefetchers, of %g misses a gain of %g is advised, which is %g", r.Kernel, r.Left, r.LeftGain, r.Left-r.LeftAfter)
		}
		if r.Left > r.Before/20 != (r.CoveredShare < 0.5) {
			t.Errorf("%s: of %g misses %g are left, %.2f covered", r.Kernel, r.Before, r.Left, r.CoveredShare)
		}
		if len(live[i].Train) > 0 && !(math.Abs(r.LeftModelError) <= close) {
			t.Errorf("%s: with prefetchers, models predict a gain of %g, which is %g", r.Kernel, r.LeftModel, r.Left-r.LeftAfter)
		}
		if len(live[i].Train) > 0 && !(math.Abs(r.ModelError) <= close) {
			t.Errorf("%s: models of n up to %g predict a gain of %g, which is %g", r.Kernel, r.ModelFrom, r.Model, r.Saved)
		}
	}
	path := t.TempDir() + "/gains.csv"
	if err := f.Record(path, "test"); err != nil {
		t.Fatal(err)
	}
	if again, err := Load(path); err != nil || len(again.Rows) != len(f.Rows) || again.Rows[0].Gain != f.Rows[0].Gain {
		t.Errorf("loaded %v, %v", again, err)
	}
}

// TestRecorded: the recording has all kernels, and of those with a problem at least ten
// gains that came true to within a fifth, by simulation, and as many kinds as there are.
func TestRecorded(t *testing.T) {
	f, err := Load(perftest.Path(t, "datasets", "advice", "gains.csv"))
	if err != nil {
		t.Fatal(err)
	}
	kernels := Kernels()
	if len(f.Rows) != len(kernels) {
		t.Fatalf("%d rows for %d kernels: record them again", len(f.Rows), len(kernels))
	}
	near, modelled, left, leftModelled := 0, 0, 0, 0
	kinds := make(map[advice.Kind]bool)
	for i, r := range f.Rows {
		if r.Kernel != kernels[i].Name || r.N != kernels[i].Size || r.Advice != kernels[i].Advice {
			t.Errorf("row %d is of %s at n=%g, advised %q", i, r.Kernel, r.N, r.Advice)
		}
		kinds[r.Advice] = true
		if r.Advice == advice.Nothing {
			if math.Abs(r.Saved) > r.Before/100 {
				t.Errorf("%s: nothing to gain, and %g misses saved", r.Kernel, r.Saved)
			}
			continue
		}
		if math.Abs(r.Error) <= close {
			near++
		}
		if math.Abs(r.ModelError) <= close {
			modelled++
		}
		if math.Abs(r.LeftError) <= close {
			left++
		}
		if math.Abs(r.LeftModelError) <= close {
			leftModelled++
		}
	}
	if near < 16 || modelled < 9 || len(kinds) != 10 {
		t.Errorf("%d gains came true by simulation, %d by models; %d kinds", near, modelled, len(kinds))
	}
	if left < 16 || leftModelled < 9 {
		t.Errorf("with prefetchers, %d gains came true by simulation, %d by models", left, leftModelled)
	}
}

func TestRunErrors(t *testing.T) {
	m := profiletest.Machine(t, "zen4")
	opt := Options{Source: "nothing.c", Machine: m, Compiler: "no-such-compiler", Store: store.Open(t.TempDir())}
	if _, err := opt.Run(t.Context()); err == nil || !strings.Contains(err.Error(), debian) {
		t.Errorf("no compiler: %v", err)
	}
	opt.Compiler = oracle.Need(t, defaultCompiler)
	if _, err := opt.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "nothing.c") {
		t.Errorf("no source: %v", err)
	}
}
