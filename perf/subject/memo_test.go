package subject_test

import (
	"errors"
	"slices"
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestMemo: a result is computed once, and progress says where it came from.
func TestMemo(t *testing.T) {
	var reports []progress.Report
	opt := &subject.RunOptions{Store: store.Open(t.TempDir()), Progress: func(r progress.Report) { reports = append(reports, r) }}
	step := subject.Step{Options: opt, Point: subject.Point{"n": 3}, Done: 1, Total: 4}
	calls := 0
	compute := func(running func(uint64)) (int, error) {
		calls++
		running(100)
		return 42, nil
	}
	for i := range 2 {
		m, err := subject.Memo(step, "answer", 1, "inputs", compute)
		if err != nil || m.Value != 42 || m.Stored != (i == 1) || m.Warning != "" {
			t.Errorf("call %d: %+v, %v", i, m, err)
		}
	}
	want := []progress.Report{
		{Task: "n=3", Done: 1, Total: 4},
		{Task: "n=3", Done: 1, Total: 4, Instructions: 100},
		{Task: "n=3", Done: 1, Total: 4, Stored: true},
	}
	if calls != 1 || !slices.Equal(reports, want) {
		t.Errorf("computed %d times, reported %+v", calls, reports)
	}
	// Another version, or other inputs, are another result; a failure is none.
	boom := errors.New("boom")
	fails := func(func(uint64)) (int, error) { return 0, boom }
	for _, err := range []error{
		second(subject.Memo(step, "answer", 2, "inputs", fails)),
		second(subject.Memo(step, "answer", 1, "others", fails)),
		second(subject.Memo(step, "answer", 1, "others", fails)),
	} {
		if !errors.Is(err, boom) {
			t.Errorf("%v, want %v", err, boom)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestFailureOfARun is an error, unless the request allows for it.
func TestFailureOfARun(t *testing.T) {
	prog := perftest.Program(t)
	in, err := prog.InputsOf([]string{"-n", "6", "-iterations", "0"}, subject.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := prog.DataPlan()
	if err != nil {
		t.Fatal(err)
	}
	if res, err := prog.Run(t.Context(), subject.Request{Inputs: in, Plan: plan}); err == nil {
		t.Errorf("%+v and no error", res)
	}
	res, err := prog.Run(t.Context(), subject.Request{Inputs: in, Plan: plan, MayFail: true})
	if err != nil || res.Failed != "exit status 2" || res.Output == "" {
		t.Errorf("%+v, %v", res, err)
	}
	res.WarnFailed("sweep3d", "nothing follows")
	if n := len(res.Warnings); n == 0 || res.Warnings[n-1] != "sweep3d ended with exit status 2; nothing follows"+res.Output {
		t.Errorf("warnings %q", res.Warnings)
	}
}

// TestScopesOf numbers the scopes of some references by first appearance.
func TestScopesOf(t *testing.T) {
	prog := perftest.Program(t)
	first, err := prog.FirstRefs()
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []subject.Scope{subject.ByProgram, subject.ByRoutine, subject.ByLoop, subject.ByReference} {
		p := prog.ScopesOf(by, first)
		seen := -1
		for i, at := range p.Of {
			if at > seen+1 || p.Names[at] != prog.ScopeOf(by, first[i]) {
				t.Fatalf("by %s: reference %d is in scope %d, %s", by, first[i], at, p.Names[at])
			}
			seen = max(seen, at)
		}
		if seen != len(p.Names)-1 || by == subject.ByProgram && seen != 0 {
			t.Errorf("by %s: %d scopes, numbered up to %d", by, len(p.Names), seen)
		}
	}
}
