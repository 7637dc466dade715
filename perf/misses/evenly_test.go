package misses

import (
	"math"
	"strings"
	"testing"

	"presage/perf/cache"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// TestEvenShareIsOfSweeps holds the share of accesses that miss against the simulation of
// sweeps over blocks that lie one after the other.
func TestEvenShareIsOfSweeps(t *testing.T) {
	const sets, sweeps, blockBytes = 64, 10, 64
	for _, ways := range []int{1, 2, 4, 8} {
		for _, blocks := range []int{sets*ways - 5, sets * ways, sets*ways + 1, sets*ways + sets/3, sets*ways + sets - 1, sets*ways + sets, sets*ways + 2*sets} {
			plan := &trace.Plan{Refs: []trace.Ref{{Size: 8}}}
			sim, err := cache.New(plan, cache.Config{Levels: []cache.Level{{Name: "L1", Blocks: uint64(sets * ways), BlockBytes: blockBytes, Ways: ways}}})
			if err != nil {
				t.Fatal(err)
			}
			for range sweeps + 1 {
				for b := range blocks {
					sim.Access(trace.Tag(0, 8) | trace.Access(b*blockBytes))
				}
			}
			got := float64(sim.Result().Levels[0].Total.Misses) - float64(blocks)
			if want := evenShare(float64(blocks-1), sets*float64(ways), float64(ways)) * float64(sweeps*blocks); math.Abs(got-want) > 1e-6*want {
				t.Errorf("%d ways, %d blocks: %.0f misses in %d sweeps, %.0f expected", ways, blocks, got, sweeps, want)
			}
		}
	}
}

// TestWhatSweeps: columns and rows of matrices are gone through in strides, look-ups in a
// table are not.
func TestWhatSweeps(t *testing.T) {
	opt := locality.ProfileOptions{RunOptions: subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir())}, BlockBytes: []uint64{64}}
	l := predict.Level{Name: "L1", Sets: 64, Ways: 2, BlockBytes: 64}
	for kernel, least := range map[string]float64{"PRODUCT": 0.9, "VECTORS": 0.6, "SKEWED": 0} {
		model, _ := pagesOf(t, kernel, opt, 10, 12, 14, 16, 18, 20)
		all, sweeping := 0.0, 0.0
		for g, n := range model.Accesses(subject.Point{"n": 20}) {
			all += n
			if model.sweeping(l, "")[g] {
				sweeping += n
			}
		}
		if share := sweeping / all; share < least || share > least+0.3 {
			t.Errorf("%s: %.2f of the accesses sweep", kernel, share)
		}
	}
}

// TestSweepsAreMissedEvenly holds the misses of sweeps over a little more than a cache
// holds against simulation: a fully associative cache is far off there.
func TestSweepsAreMissedEvenly(t *testing.T) {
	opt := locality.ProfileOptions{RunOptions: subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir())}, BlockBytes: []uint64{64}}
	model, prog := pagesOf(t, "STENCIL", opt, 40, 48, 56, 66, 78, 90)
	const n = 140 // two arrays of 153 KiB
	level := cache.Level{Name: "L1", Blocks: 4096, BlockBytes: 64, Ways: 2}
	m := &machine.Machine{Name: "of 256 KiB", Frequency: 1e9, Caches: []machine.Cache{{Level: level}}}
	points := subject.Sweep("n", n)
	rows, err := Predict(t.Context(), model, m, points, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	truth, err := Simulate(t.Context(), prog, m, points, SimulateOptions{RunOptions: opt.RunOptions})
	if err != nil {
		t.Fatal(err)
	}
	r, want := rows[0], float64(truth[0].Misses)
	if !strings.Contains(r.Method, MethodEvenly) || math.Abs(r.Misses/want-1) > 0.1 {
		t.Errorf("%.0f misses by %q, %.0f simulated", r.Misses, r.Method, want)
	}
	if math.Abs(r.FullyAssoc/want-1) < 0.2 {
		t.Errorf("%.0f misses fully associative, %.0f simulated: this shows nothing", r.FullyAssoc, want)
	}
	if r.Low > want || r.High < partWay(r.Misses, r.FullyAssoc, calibratedFew) {
		t.Errorf("from %.0f to %.0f: want %.0f in it, and part of the way to %.0f", r.Low, r.High, want, r.FullyAssoc)
	}
	if !strings.Contains(r.Warning, "conflicts possible") {
		t.Errorf("no warning of conflicts: %s", r.Warning)
	}
}
