package metasim_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"presage/perf/cfg"
	"presage/perf/engine"
	"presage/perf/engine/rv64"
	"presage/perf/metasim"
	"presage/perf/objfile"
)

// subject is a program with its input, run by the embedded engine.
type subject struct {
	file  *objfile.File
	input engine.Request
}

// Run runs the subject; it is an engine.Runner.
func (p *subject) Run(ctx context.Context, r engine.Request) (*engine.Outcome, error) {
	return engine.Repeat(rv64.Engine{}, p.file, p.input, nil)(ctx, r)
}

// blind runs the subject as an engine does that cannot tell which pages were touched.
func blind(p *subject) engine.Runner {
	return func(ctx context.Context, r engine.Request) (*engine.Outcome, error) {
		r.Pages = false
		return p.Run(ctx, r)
	}
}

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

// program builds one of the repository's programs and analyses its code.
func program(tb testing.TB, name string, args ...string) (*subject, *metasim.Code) {
	tb.Helper()
	f := build(tb, "../../datasets/programs/"+name)
	code, err := metasim.CodeOf(cfg.Analyze(f))
	if err != nil {
		tb.Fatal(err)
	}
	return &subject{f, engine.Request{Args: args}}, code
}
