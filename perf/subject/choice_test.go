package subject_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/internal/oracle"
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

// TestDevicesOfFolders: that a program may open devices in a folder is part of its inputs,
// too, and comes to the engine. Folders without have the keys that they had.
func TestDevicesOfFolders(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("no engine needs it")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	cat, err := subject.Open(oracle.Need(t, "cat"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		devices       bool
		folders, says string
	}{
		{false, fmt.Sprintf(`[{"Guest":%q,"Host":%[1]q}]`, dir), ":dev"},
		{true, fmt.Sprintf(`[{"Guest":%q,"Host":%[1]q,"Devices":true}]`, dir), ""},
	} {
		opt := subject.RunOptions{Engine: "confined", Folders: []subject.Folder{{Guest: dir, Host: dir, Devices: c.devices}}}
		in, err := cat.InputsOf([]string{file}, opt)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := json.Marshal(in.Options().Folders); err != nil || string(text) != c.folders {
			t.Errorf("folders are %s, error %v; want %s", text, err, c.folders)
		}
		var output strings.Builder
		run, err := cat.Runner(in, &output, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		_, err = run(t.Context(), engine.Request{})
		switch {
		case err != nil && (strings.Contains(err.Error(), "cannot confine") || strings.Contains(err.Error(), "ptrace")):
			t.Skip(err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%+v: error %v, want %s", opt.Folders, err, c.says)
		case c.says == "" && (err != nil || output.String() != "content"):
			t.Errorf("%+v: output %q, error %v", opt.Folders, &output, err)
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
