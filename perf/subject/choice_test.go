package subject_test

import (
	"encoding/json"
	"strings"
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestEngineOfInputs: how a program is executed is part of its inputs, which bring it to
// stored results, to other processes, and to runs that results lead to.
func TestEngineOfInputs(t *testing.T) {
	prog := perftest.Program(t)
	keys := make(map[store.Key]string)
	for _, c := range []struct{ engine, mode string }{{"", ""}, {"auto", ""}, {"rv64", ""}, {"interp", "interp"}, {"jit", "jit"}} {
		in, err := prog.Inputs(subject.Point{"n": 6}, subject.RunOptions{Engine: c.engine})
		if err != nil || in.Mode != c.mode {
			t.Errorf("engine %q: mode %q, error %v; want %q", c.engine, in.Mode, err, c.mode)
		}
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var there subject.Inputs
		if err := json.Unmarshal(text, &there); err != nil || there.Options().Engine != c.mode {
			t.Errorf("engine %q: elsewhere %q, error %v; want %q", c.engine, there.Options().Engine, err, c.mode)
		}
		key, err := store.NewKey("kind", 1, in)
		if err != nil {
			t.Fatal(err)
		}
		if mode, known := keys[key]; known && mode != c.mode {
			t.Errorf("modes %q and %q have one key", mode, c.mode)
		}
		keys[key] = c.mode
	}
	if len(keys) != 3 {
		t.Errorf("%d keys of 3 modes", len(keys))
	}
	for _, c := range []struct {
		opt  subject.RunOptions
		want string
	}{
		{subject.RunOptions{Engine: "native"}, `engine "native": want auto, interp or jit, as the program is for riscv64`},
		{subject.RunOptions{CPU: "x86-64-v3"}, `processor "x86-64-v3": the engine rv64@`},
	} {
		if _, err := prog.Inputs(subject.Point{"n": 6}, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %s", c.opt, err, c.want)
		}
	}
}

// TestJobsOfModes: a job is done in the mode that it was made for.
func TestJobsOfModes(t *testing.T) {
	prog, st := perftest.Program(t), store.Open(t.TempDir())
	in, err := prog.Inputs(subject.Point{"n": 6}, subject.RunOptions{Engine: "interp"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := prog.Remote(st, in, subject.Point{"n": 6})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{`"interp"`: "", `"confined"`: `engine "confined": want auto, interp or jit`} {
		var there subject.Remote
		if err := json.Unmarshal([]byte(strings.Replace(string(text), `"interp"`, from, 1)), &there); err != nil {
			t.Fatal(err)
		}
		_, err := there.Open(st)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("mode %s: error %v, want %q", from, err, want)
		}
		if err == nil && there.Inputs.Mode != in.Mode {
			t.Errorf("mode %q, want %q", there.Inputs.Mode, in.Mode)
		}
	}
}
