package amd64

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
)

// compiled builds a program of testdata.
func compiled(t *testing.T, source string, flags ...string) string {
	t.Helper()
	compiler := map[string]string{".c": "gcc", ".cc": "g++", ".f90": "gfortran"}[filepath.Ext(source)]
	oracle.Need(t, compiler)
	dir := t.TempDir()
	exe := filepath.Join(dir, "program")
	args := append([]string{"-o", exe, "-J", dir, filepath.Join("testdata", source)}, flags...)
	if compiler != "gfortran" {
		args = append(args[:2], args[4:]...)
	}
	if compiler == "gcc" {
		args = append(args, "-lm")
	}
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", compiler, args, err, out)
	}
	return exe
}

// TestCompiled compares programs that are compiled for processors with AVX-512.
func TestCompiled(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	oracle.Need(t, "objdump")
	for _, source := range []string{"kernels.c", "library.cc", "stencil.f90"} {
		for i, flags := range []string{
			"-O0 -march=x86-64-v4", "-O1 -march=x86-64-v4", "-O2 -march=x86-64-v4", "-O3 -march=x86-64-v4 -ffast-math",
			"-O3 -march=sapphirerapids -mprefer-vector-width=512 -ffast-math", "-O3 -march=x86-64-v3", "-O2 -march=bdver4", "-O3",
		} {
			if source == "library.cc" && i%4 != 3 && perFile < 1<<20 {
				continue // most of it comes from the library's headers, and takes long
			}
			t.Run(source+" "+flags, func(t *testing.T) {
				exe := compiled(t, source, strings.Fields(flags)...)
				a := tally{t: t}
				code := image(t, exe)
				disassemble(t, exe, nil, func(l line) bool { a.compare(l, code(l.pc)); return true })
				t.Logf("%d instructions compared; wrong: %v", a.total, a.wrong)
				if a.total < 200 || a.skipped > a.total/100 {
					t.Errorf("%d instructions compared, %d not", a.total, a.skipped)
				}
			})
		}
	}
}
