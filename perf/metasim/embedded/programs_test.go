package embedded_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"presage/perf/cfg"
	"presage/perf/engine/rv64"
	"presage/perf/metasim"
	"presage/perf/metasim/embedded"
	"presage/perf/objfile"
)

// build compiles a Go program for the engine.
func build(tb testing.TB, source string) *objfile.File {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), filepath.Base(source))
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", path, source)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	f, err := objfile.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// program builds one of the repository's programs and takes it apart.
func program(tb testing.TB, name string, args ...string) (*embedded.Program, *metasim.Code) {
	tb.Helper()
	f := build(tb, "../../../datasets/programs/"+name)
	code, err := metasim.CodeOf(cfg.Analyze(f))
	if err != nil {
		tb.Fatal(err)
	}
	return &embedded.Program{File: f, Options: rv64.Options{Args: args}}, code
}
