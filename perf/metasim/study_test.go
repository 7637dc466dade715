//go:build slow && unix

package metasim_test

import (
	"syscall"
	"testing"

	"presage/perf/cache"
	"presage/perf/cfg"
	"presage/perf/engine"
	"presage/perf/engine/rv64"
	"presage/perf/isa"
	isarv "presage/perf/isa/rv64"
	"presage/perf/machine"
	"presage/perf/metasim"
	"presage/perf/pipeline"
	"presage/perf/simpoint"
	"presage/perf/trace"
)

// processorSeconds returns the processor time of the process, which excludes other
// load on the machine.
func processorSeconds(t *testing.T) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(u.Utime) + seconds(u.Stime)
}

// TestStudy compares samplers with full simulation on the repository's
// programs, and prints the differences in hit rates on the paper's Power3, in
// percentage points, and processor times as multiples of the untraced run's.
func TestStudy(t *testing.T) {
	for _, p := range []struct {
		name string
		args []string
	}{
		{"sweep3d", []string{"-n", "50"}},
		{"cg", []string{"-n", "80", "-iterations", "25"}},
		{"matmul", []string{"-n", "250", "-repeat", "10"}},
	} {
		t.Run(p.name, func(t *testing.T) { newStudy(t, p.name, p.args...).all(t) })
	}
}

type study struct {
	run            *subject
	code           *metasim.Code
	prof           *metasim.Profile
	untraced, full float64 // processor seconds
	truth          []metasim.ProgramRate
}

func newStudy(t *testing.T, name string, args ...string) *study {
	s := new(study)
	s.run, s.code = program(t, name, args...)
	var err error
	s.untraced = s.timed(t, func() { _, err = s.run.Run(t.Context(), engine.Request{}) })
	if err != nil {
		t.Fatal(err)
	}
	collect := s.timed(t, func() {
		s.prof, err = metasim.Collect(t.Context(), s.run.Run, s.code, metasim.CollectOptions{Interval: 200_000})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d instructions; untraced %.2f s; vectors x%.2f; warnings %v", s.prof.Instructions, s.untraced, collect/s.untraced, s.prof.Warnings)
	return s
}

func (s *study) timed(t *testing.T, f func()) float64 {
	start := processorSeconds(t)
	f()
	return processorSeconds(t) - start
}

func (s *study) all(t *testing.T) {
	s.show(t, metasim.Full(), metasim.SimulateOptions{})
	for _, c := range []struct{ factor, k int }{{5, 8}, {5, 0}, {1, 0}} {
		v, err := s.prof.Vectors.Coarser(c.factor)
		if err != nil {
			t.Fatal(err)
		}
		stable, err := simpoint.Stability(t.Context(), v, simpoint.Options{K: c.k}, 4)
		if err != nil {
			t.Fatal(err)
		}
		r := stable.Runs[0]
		t.Logf("intervals of %d instructions: k = %d (%d to %d over seeds, agreement %.3f), mismatch %.4f", c.factor*200_000, r.K, stable.KMin, stable.KMax, stable.Agreement, r.Mismatch)
		sample, err := metasim.Guided(v, r.Points)
		if err != nil {
			t.Fatal(err)
		}
		s.show(t, sample, metasim.SimulateOptions{})
		if c.factor == 5 {
			s.show(t, sample, metasim.SimulateOptions{Warmup: metasim.WarmNone})
			s.show(t, sample, metasim.SimulateOptions{Warmup: metasim.WarmKeptFixed})
		}
	}
	for _, x := range []float64{10, 1} {
		sample, err := metasim.Periodic(s.prof.Instructions, x, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.show(t, sample, metasim.SimulateOptions{})
		s.show(t, sample, metasim.SimulateOptions{Warmup: metasim.WarmKept})
	}
}

func (s *study) show(t *testing.T, sample metasim.Sample, opt metasim.SimulateOptions) {
	var sims []*metasim.Simulation
	var err error
	sec := s.timed(t, func() {
		sims, err = metasim.Simulate(t.Context(), s.run.Run, s.code, sample, []cache.Config{metasim.Power3()}, opt)
	})
	if err != nil {
		t.Fatal(err)
	}
	rates, err := metasim.RatesOf(s.code, sims[0]).Program(s.code, s.prof.Executions)
	if err != nil {
		t.Fatal(err)
	}
	if s.truth == nil {
		s.truth, s.full = rates, sec
	}
	percent := func(n uint64) float64 { return 100 * float64(n) / float64(s.prof.Instructions) }
	t.Logf("%-13s warm-up %-11v: %7.3f%% simulated, %6.3f%% to warm up; time x%.2f, 1/%.1f of full; L1 %.4f%% (%+.4f), L2 %.4f%% (%+.4f); unseen %.3f%%, L1 from %.3f to %.3f%%",
		sample.Name, opt.Warmup, percent(sims[0].Simulated), percent(sims[0].Warmed), sec/s.untraced, s.full/sec,
		100*rates[0].Hit, 100*(rates[0].Hit-s.truth[0].Hit), 100*rates[1].Hit, 100*(rates[1].Hit-s.truth[1].Hit),
		100*rates[0].Unseen, 100*rates[0].Lo, 100*rates[0].Hi)
}

// TestConvolverAgainstPipeline prints convolved cycles beside the pipeline
// simulator's for the same run.
func TestConvolverAgainstPipeline(t *testing.T) {
	for _, p := range []struct {
		name string
		args []string
	}{{"sweep3d", []string{"-n", "24", "-iterations", "2"}}, {"cg", []string{"-n", "32", "-iterations", "10"}}, {"matmul", []string{"-n", "112", "-repeat", "5"}}} {
		run, code := program(t, p.name, p.args...)
		prof, err := metasim.Collect(t.Context(), run.Run, code, metasim.CollectOptions{Interval: 200_000})
		if err != nil {
			t.Fatal(err)
		}
		var insts [][]isa.Inst
		graph := cfg.Analyze(run.file)
		for _, r := range graph.Routines {
			for b := range r.Blocks {
				insts = append(insts, r.Blocks[b].Insts)
			}
		}
		for _, name := range []string{"origin2000", "zen4", "neoverse-n1"} {
			m, err := machine.Load("../../machines/" + name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			convolved := convolve(t, run, code, prof, m)
			cycles := simulate(t, run, insts, m)
			t.Logf("%s on %s: convolved %.4g cycles (work %.3g, waits %.3g), simulated %.4g: %+.1f%%", p.name, name, convolved.Cycles, convolved.Work, convolved.Waits, cycles, 100*(convolved.Cycles/cycles-1))
		}
	}
}

// convolve convolves the run with machine m, with hit rates from a SimPoint-guided
// sample.
// Keep the contents of caches of megabytes.
func convolve(t *testing.T, run *subject, code *metasim.Code, prof *metasim.Profile, m *machine.Machine) *metasim.Time {
	r, err := simpoint.Pick(t.Context(), prof.Vectors, simpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sample, err := metasim.Guided(prof.Vectors, r.Points)
	if err != nil {
		t.Fatal(err)
	}
	sims, err := metasim.Simulate(t.Context(), run.Run, code, sample, []cache.Config{m.Hierarchy()}, metasim.SimulateOptions{Warmup: metasim.WarmKeptFixed})
	if err != nil {
		t.Fatal(err)
	}
	out, err := metasim.Convolve(&metasim.Signature{Code: code, Executions: prof.Executions, Rates: metasim.RatesOf(code, sims[0])}, metasim.ProfileOf(m))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func simulate(t *testing.T, run *subject, insts [][]isa.Inst, m *machine.Machine) float64 {
	config, err := m.Pipeline()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pipeline.Plan(insts)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := pipeline.New(isarv.Target(), plan, insts, config.Config, pipeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (rv64.Engine{}).Run(t.Context(), run.file, engine.Request{Args: run.input.Args, Plan: plan, Sink: trace.NewDirect(sim)}); err != nil {
		t.Fatal(err)
	}
	return float64(sim.Result().Cycles)
}
