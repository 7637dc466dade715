package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// recorder is a testing.TB that notes how a test would have ended.
type recorder struct {
	testing.TB
	ended, message string
}

func (r *recorder) Helper() {}

func (r *recorder) Skip(args ...any) { r.end("skip", fmt.Sprint(args...)) }

func (r *recorder) Fatalf(format string, args ...any) { r.end("fail", fmt.Sprintf(format, args...)) }

func (r *recorder) end(how, message string) {
	r.ended, r.message = how, message
	runtime.Goexit()
}

// run runs f as a test of its own.
func run(t *testing.T, f func(testing.TB)) *recorder {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r
}

func TestNeed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	missing := func(t testing.TB) { Need(t, "qemu-riscv64") }

	t.Setenv(RequireVariable, "")
	if r := run(t, missing); r.ended != "skip" || !strings.Contains(r.message, "apt-get install qemu-user") {
		t.Errorf("missing tool: ended %q with %q, want a skip that names the package", r.ended, r.message)
	}
	t.Setenv(RequireVariable, "1")
	if r := run(t, missing); r.ended != "fail" || !strings.Contains(r.message, "qemu-riscv64 is not installed") {
		t.Errorf("missing and required tool: ended %q with %q, want a failure", r.ended, r.message)
	}

	want := filepath.Join(dir, "qemu-riscv64")
	if err := os.WriteFile(want, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var got string
	if r := run(t, func(t testing.TB) { got = Need(t, "qemu-riscv64") }); r.ended != "" || got != want {
		t.Errorf("present tool: path %q, ended %q; want path %q and no end", got, r.ended, want)
	}
}

func TestNeedPythonMissingModule(t *testing.T) {
	t.Setenv(RequireVariable, "1")
	r := run(t, func(t testing.TB) { NeedPython(t, "presage_has_no_such_module") })
	if r.ended != "fail" {
		t.Errorf("missing Python module: ended %q with %q, want a failure", r.ended, r.message)
	}
}

// TestInstallScriptHasEveryPackage demands that set-up installs every package
// that a skip message names.
func TestInstallScriptHasEveryPackage(t *testing.T) {
	script, err := os.ReadFile("../../../.ci/install-deps.sh")
	if err != nil {
		t.Fatal(err)
	}
	words := make(map[string]bool)
	for _, w := range strings.Fields(string(script)) {
		words[strings.Trim(w, `"'()`)] = true
	}
	for _, table := range []map[string]string{packages, pythonPackages} {
		for tool, list := range table {
			for _, debian := range strings.Fields(list) {
				if !words[debian] {
					t.Errorf(".ci/install-deps.sh does not install %s, which brings %s", debian, tool)
				}
			}
		}
	}
}
