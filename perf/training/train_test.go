package training

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
)

// small returns options for programs of testdata.
func small(t *testing.T, until float64, budget time.Duration) Options {
	return Options{
		ProfileOptions: locality.ProfileOptions{RunOptions: subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir())}, BlockBytes: []uint64{64, 4096}},
		Parameter:      "n", From: 12, Until: until, Budget: budget, seconds: byWork,
	}
}

func train(t *testing.T, prog *subject.Program, opt Options) *Trained {
	t.Helper()
	trained, err := Train(t.Context(), prog, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range trained.Steps {
		t.Logf("%v %s: %s; %d accesses, %.3g s of %.3g, errors %.3g, held out %.3g to %.3g, change %.3g %s", s.Point, s.Run, s.Outcome, s.Accesses, s.Seconds, s.Spent, s.Err, s.Before, s.After, s.Change, s.Note)
	}
	t.Logf("%s; %+v %v", trained.Stopped, trained.HeldOut, trained.Warnings)
	return trained
}

// sizes returns the sizes that a model was fitted to.
func sizes(trained *Trained) []float64 {
	var out []float64
	for _, r := range trained.Runs.Runs {
		out = append(out, r.Point["n"])
	}
	return out
}

// TestErrorIsReached trains until errors are small, and holds the model against a run
// at the size asked for, which it has not seen.
func TestErrorIsReached(t *testing.T) {
	opt := small(t, 70, time.Minute)
	opt.BlockBytes, opt.Error = []uint64{64}, 0.05
	prog := kernel(t, "PRODUCT")
	got := train(t, prog, opt)
	if got.Stopped != StopError || !got.HeldOut[0].within(0.05) || len(got.Warnings) > 0 {
		t.Fatalf("%s with errors %+v and %v", got.Stopped, got.HeldOut[0], got.Warnings)
	}
	have := sizes(got)
	if !slices.IsSorted(have) || slices.Max(have) >= 70 {
		t.Fatalf("fitted to %v", have)
	}
	seen, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 70), opt.ProfileOptions)
	if err != nil {
		t.Fatal(err)
	}
	off, err := judge(got.Model, &seen.Runs[0])
	if err != nil || sum(off).Median > 0.05 {
		t.Errorf("at n=70: %+v, %v; want a median within the 5%% requested", sum(off), err)
	}

	// The error held out is that of a model of the other runs, fitted here.
	others, err := locality.Profile(t.Context(), prog, subject.Sweep("n", have[:len(have)-1]...), opt.ProfileOptions)
	if err != nil {
		t.Fatal(err)
	}
	model, err := misses.Fit(t.Context(), others, misses.FitOptions{Store: opt.Store})
	if err != nil {
		t.Fatal(err)
	}
	if off, err = judge(model, &got.Runs.Runs[len(have)-1]); err != nil || sum(off) != got.HeldOut[0].Error {
		t.Errorf("held out %+v, want %+v (%v)", got.HeldOut[0].Error, sum(off), err)
	}
	last := got.Steps[len(got.Steps)-1]
	if last.After != got.HeldOut[0].P90 || last.Spent != got.Spent || last.Change > 0.05 {
		t.Errorf("the last step is %+v", last)
	}
}

// TestBudgetIsSpent checks that nothing is begun that does not fit, and that what is
// run beyond the exact sizes is sampled.
func TestBudgetIsSpent(t *testing.T) {
	opt := small(t, 1000, 500*time.Millisecond)
	opt.BlockBytes, opt.Error = []uint64{64}, 1e-6
	got := train(t, kernel(t, "GATHER"), opt)
	if got.Stopped != StopBudget || got.Spent > 0.5 {
		t.Errorf("%s after %g s of 0.5", got.Stopped, got.Spent)
	}
	spent, sampled := 0.0, false
	for _, s := range got.Steps {
		spent += s.Seconds
		if math.Abs(s.Spent-spent) > 1e-9 {
			t.Errorf("%v: %g s spent, want %g", s.Point, s.Spent, spent)
		}
		if s.Run == "exact" {
			continue
		}
		sampled = true
		for _, other := range got.Steps {
			if other.Run == "exact" && other.Point["n"] >= s.Point["n"] || !strings.HasPrefix(s.Run, "sampled 1 in ") {
				t.Errorf("%s at %v, and exact at %v", s.Run, s.Point, other.Point)
			}
		}
	}
	if !sampled {
		t.Error("nothing was sampled")
	}
	if len(got.Warnings) == 0 {
		t.Error("the error was not reached, and nothing says so")
	}
}

// TestRepeatedCallsChooseTheSame trains by this machine's clock, twice: the second
// call runs nothing, and its steps are the same to the digit.
func TestRepeatedCallsChooseTheSame(t *testing.T) {
	opt := small(t, 40, 10*time.Minute)
	opt.BlockBytes, opt.seconds = []uint64{64}, nil
	prog := kernel(t, "SWEEPS")
	first := train(t, prog, opt)
	ran := 0
	opt.Progress = func(p progress.Report) {
		if !p.Stored && !p.Finished() {
			ran++
		}
	}
	again := train(t, prog, opt)
	if ran > 0 {
		t.Errorf("%d reports of runs that the store has", ran)
	}
	if diff := cmp.Diff(first.Steps, again.Steps, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(first.HeldOut, again.HeldOut, cmpopts.EquateNaNs()); diff != "" {
		t.Error(diff)
	}
}

func TestCancelledTrainingGoesOn(t *testing.T) {
	opt := small(t, 40, time.Second)
	opt.BlockBytes = []uint64{64}
	prog := kernel(t, "PRODUCT")
	ctx, cancel := context.WithCancelCause(t.Context())
	because := errors.New("enough")
	opt.Progress = func(p progress.Report) {
		if p.Done == 3 {
			cancel(because)
		}
	}
	if _, err := Train(ctx, prog, opt); !errors.Is(err, because) {
		t.Fatalf("error %v, want %v", err, because)
	}
	stored := make(map[int]bool)
	opt.Progress = func(p progress.Report) { stored[p.Done] = stored[p.Done] || p.Stored }
	train(t, prog, opt)
	for i := range 5 {
		if stored[i] != (i < 3) {
			t.Errorf("run %d: stored %t", i, stored[i])
		}
	}
}

func TestSizeMustMatter(t *testing.T) {
	_, err := Train(t.Context(), kernel(t, "CONSTANT"), small(t, 100, time.Minute))
	if !errors.Is(err, locality.ErrConstant) || !strings.Contains(fmt.Sprint(err), `--args "-n {n}"`) {
		t.Errorf("error %v", err)
	}
}

// TestFailingSizesAreLeftOut trains a program that fails at multiples of five and
// above 60.
func TestFailingSizesAreLeftOut(t *testing.T) {
	prog := kernel(t, "FRAGILE")
	opt := small(t, 200, time.Minute)
	opt.From, opt.Error, opt.BlockBytes = 15, 1e-9, []uint64{64}
	got := train(t, prog, opt)
	failed := 0
	for _, s := range got.Steps {
		n := s.Point["n"]
		if want := math.Mod(n, 5) == 0 || n > 60; (s.Outcome == Failed) != want {
			t.Errorf("n=%g: %s", n, s.Outcome)
		}
		if s.Outcome != Failed {
			continue
		}
		failed++
		if !slices.ContainsFunc(got.Warnings, func(w string) bool {
			return strings.HasPrefix(w, fmt.Sprintf("n=%g: failed: ", n)) && strings.Contains(w, "exit status 3")
		}) {
			t.Errorf("no warning names n=%g: %q", n, got.Warnings)
		}
	}
	if failed == 0 || failed > maxFailures {
		t.Errorf("%d failures", failed)
	}
	for _, n := range sizes(got) {
		if math.Mod(n, 5) == 0 || n > 60 {
			t.Errorf("fitted to n=%g", n)
		}
	}

	opt = small(t, 200, time.Minute)
	opt.From = 70
	_, err := Train(t.Context(), prog, opt)
	if err == nil || !strings.Contains(err.Error(), "0 runs succeeded") || !strings.Contains(err.Error(), "n=70") {
		t.Errorf("error %v", err)
	}
}

func TestNothingFitsIntoTheBudget(t *testing.T) {
	opt := small(t, 100, time.Nanosecond)
	opt.seconds = nil
	for range 2 { // the second finds that the first had no time
		_, err := Train(t.Context(), kernel(t, "PRODUCT"), opt)
		if err == nil || !strings.Contains(err.Error(), "0 runs succeeded within 1ns") || !strings.Contains(err.Error(), "larger budget") {
			t.Errorf("error %v", err)
		}
	}
}

// TestExecutablesOfSeveralSizes trains with an executable for each size.
func TestExecutablesOfSeveralSizes(t *testing.T) {
	opt := small(t, 100, time.Minute)
	opt.Args, opt.Error, opt.BlockBytes = "", 1e-9, []uint64{64}
	for _, n := range []float64{12, 15, 18, 23} {
		opt.Binaries = append(opt.Binaries, subject.BinaryPoint{Point: subject.Point{"n": n}, Program: kernel(t, "PRODUCT", fmt.Sprintf("-DSIZE=%g", n))})
	}
	got := train(t, nil, opt)
	if got.Stopped != StopSizes || len(got.Runs.Runs) != 4 {
		t.Errorf("%s after runs at %v", got.Stopped, sizes(got))
	}
	opt.Binaries[3].Point = subject.Point{"n": 12}
	if _, err := Train(t.Context(), nil, opt); err == nil || !strings.Contains(err.Error(), "two executables of n=12") {
		t.Errorf("error %v", err)
	}
}

func TestProfilesCanBeLoaded(t *testing.T) {
	got := train(t, kernel(t, "CHOLESKY"), small(t, 40, time.Second))
	dir := filepath.Join(t.TempDir(), "profiles")
	if err := got.Runs.Save(dir); err != nil {
		t.Fatal(err)
	}
	runs, err := locality.LoadRuns(dir)
	if err != nil || len(runs.Runs) != len(got.Runs.Runs) {
		t.Fatalf("%v", err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	prog := new(subject.Program)
	good := Options{Parameter: "n", Until: 100}
	for want, change := range map[string]func(*Options){
		"no parameter":          func(o *Options) { o.Parameter = "" },
		"until n = 0":           func(o *Options) { o.Until = 0 },
		"until n = +Inf":        func(o *Options) { o.Until = math.Inf(1) },
		"a budget of -1s":       func(o *Options) { o.Budget = -time.Second },
		"an error of -1":        func(o *Options) { o.Error = -1 },
		"from n = 99 until 100": func(o *Options) { o.From = 99 },
		"no SampleOneIn":        func(o *Options) { o.SampleOneIn = 4 },
		"n is fixed":            func(o *Options) { o.Fixed = subject.Point{"n": 3} },
		"and not both":          func(o *Options) { o.Binaries = make([]subject.BinaryPoint, 4) },
	} {
		opt := good
		change(&opt)
		if _, err := opt.check(prog); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := good.check(nil); err == nil {
		t.Error("no program, and no error")
	}
	opt, err := good.check(prog)
	if err != nil || opt.From != 8 || opt.Budget != DefaultBudget || opt.Error != DefaultError {
		t.Errorf("%+v, %v", opt, err)
	}
}
