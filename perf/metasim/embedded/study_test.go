//go:build slow

package embedded_test

import (
	"testing"
	"time"

	"presage/perf/bbv"
	"presage/perf/cache"
	"presage/perf/metasim"
	"presage/perf/simpoint"
)

// TestStudy compares samplers with full simulation on the repository's
// programs, and prints what it finds: hit rates in percentage points from the
// full simulation's, times as multiples of the untraced run's.
func TestStudy(t *testing.T) {
	for _, p := range []struct {
		name string
		args []string
	}{
		{"sweep3d", []string{"-n", "50", "-iterations", "6"}},
		{"cg", []string{"-n", "80", "-iterations", "25"}},
		{"matmul", []string{"-n", "250", "-repeat", "10"}},
	} {
		t.Run(p.name, func(t *testing.T) { study(t, p.name, p.args) })
	}
}

func study(t *testing.T, name string, args []string) {
	ctx := t.Context()
	run, code := program(t, name, args...)
	timed := func(f func()) float64 {
		start := time.Now()
		f()
		return time.Since(start).Seconds()
	}
	untraced := timed(func() {
		if _, err := run.Run(ctx, metasim.Request{}); err != nil {
			t.Fatal(err)
		}
	})
	var prof *metasim.Profile
	var err error
	collect := timed(func() {
		prof, err = metasim.Collect(ctx, run, code, metasim.CollectOptions{Interval: bbv.DefaultInterval / 10})
	})
	if err != nil {
		t.Fatal(err)
	}
	v, err := prof.Vectors.Coarser(10)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d instructions, %d blocks; untraced %.2f s; vectors x%.2f; warnings %v", prof.Instructions, len(code.Blocks), untraced, collect/untraced, prof.Warnings)
	hierarchy := []cache.Config{metasim.Power3()}
	rates := func(s *metasim.Simulation, combine metasim.Combine) []metasim.ProgramRate {
		s.Sample.Combine = combine
		list, err := metasim.RatesOf(code, s).Program(code, prof.Executions)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	var full []metasim.ProgramRate
	fullTime := timed(func() {
		s, err := metasim.Simulate(ctx, run, code, metasim.Full(), hierarchy, metasim.SimulateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		full = rates(s[0], metasim.ByAccess)
	})
	t.Logf("full: x%.1f; L1 %.4f%%, L2 %.4f%%; %+v", fullTime/untraced, 100*full[0].Hit, 100*full[1].Hit, full[0])
	show := func(what string, sample metasim.Sample, opt metasim.SimulateOptions) {
		var s []*metasim.Simulation
		sec := timed(func() { s, err = metasim.Simulate(ctx, run, code, sample, hierarchy, opt) })
		if err != nil {
			t.Fatal(err)
		}
		one := s[0]
		by := sample.Combine
		a, b := rates(one, by), rates(one, metasim.ByAccess)
		t.Logf("%-14s %-11v %7d: simulated %6.3f%% + warm %6.3f%%, time x%.2f, 1/%.0f of full; L1 %+.4f (by access %+.4f), L2 %+.4f (%+.4f) points; unseen %.4f%% %v",
			what, opt.Warmup, opt.WarmLength, 100*float64(one.Simulated)/float64(prof.Instructions), 100*float64(one.Warmed)/float64(prof.Instructions),
			sec/untraced, fullTime/sec, 100*(a[0].Hit-full[0].Hit), 100*(b[0].Hit-full[0].Hit), 100*(a[1].Hit-full[1].Hit), 100*(b[1].Hit-full[1].Hit), 100*a[0].Unseen, one.Warnings)
	}
	warm := []metasim.SimulateOptions{
		{Warmup: metasim.WarmNone}, {Warmup: metasim.WarmKept}, {WarmLength: 1e5}, {}, {Warmup: metasim.WarmKeptFixed, WarmLength: 1e5},
	}
	for _, k := range []int{0, 8, 30} {
		var r *simpoint.Result
		sec := timed(func() { r, err = simpoint.Pick(ctx, v, simpoint.Options{K: k}) })
		if err != nil {
			t.Fatal(err)
		}
		sample, err := metasim.Guided(v, r.Points)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("k %d of %d intervals in %.2f s, mismatch %.4f", r.K, v.Len(), sec, r.Mismatch)
		for _, opt := range warm {
			show(sample.Name, sample, opt)
		}
	}
	for _, x := range []float64{10, 1} {
		sample, err := metasim.Periodic(prof.Instructions, x, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, opt := range warm {
			show(sample.Name, sample, opt)
		}
	}
}
