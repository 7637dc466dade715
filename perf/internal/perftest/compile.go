package perftest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/subject"
)

// bare are the flags of programs without a library. Loops are not made calls of
// memset.
const bare = "-static -nostdlib -ffreestanding -fno-tree-loop-distribute-patterns"

// Source returns the path of one of this package's sources.
func Source(t testing.TB, name string) string {
	return Path(t, "perf", "internal", "perftest", "testdata", name)
}

// Compile builds an executable of this package's sources by a cross compiler,
// gcc or gfortran.
func Compile(t testing.TB, tool, flags, name string, sources ...string) *subject.Program {
	t.Helper()
	args := strings.Fields(bare + " " + flags)
	if tool == "gfortran" {
		args = append(args, "-J", t.TempDir()) // where the files of its modules go
	}
	for _, s := range sources {
		args = append(args, Source(t, s))
	}
	return Link(t, oracle.Need(t, "riscv64-linux-gnu-"+tool), args, name)
}

// Link runs a compiler that makes the executable called name.
func Link(t testing.TB, compiler string, args []string, name string) *subject.Program {
	t.Helper()
	exe := filepath.Join(t.TempDir(), name)
	if out, err := exec.Command(compiler, append(args, "-o", exe)...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", compiler, args, err, out)
	}
	prog, err := subject.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	return prog
}
