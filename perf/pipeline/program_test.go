package pipeline_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/objfile"
	"presage/perf/pipeline"
	"presage/perf/trace"
)

func goBuild(tb testing.TB, source string) *objfile.File {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), filepath.Base(source))
	cmd := exec.Command("go", "build", "-o", path, source)
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

// codeOf returns the instructions of a program's blocks, and the plan that records
// them.
func codeOf(tb testing.TB, f *objfile.File) ([][]isa.Inst, *trace.Plan) {
	tb.Helper()
	var code [][]isa.Inst
	for _, r := range cfg.Analyze(f).Routines {
		for _, b := range r.Blocks {
			code = append(code, b.Insts)
		}
	}
	plan, err := pipeline.Plan(code)
	if err != nil {
		tb.Fatal(err)
	}
	return code, plan
}
