package amd64

import (
	"os"
	"testing"

	"presage/perf/internal/oracle"
)

// systemFiles are programs and libraries of Debian with code of many kinds.
var systemFiles = []string{
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib/x86_64-linux-gnu/libm.so.6",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libgfortran.so.5",
	"/usr/lib/x86_64-linux-gnu/libquadmath.so.0",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/x86_64-linux-gnu/libopenblas.so.0",
	"/usr/lib/python3/dist-packages/numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so",
	"/usr/bin/python3",
	"/usr/bin/git",
	"/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
}

// TestSystemFiles compares instructions of the system's own programs with
// objdump: length, name, operands, what becomes of memory, kind.
func TestSystemFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	oracle.Need(t, "objdump")
	found, ran, total := 0, 0, 0
	for _, path := range systemFiles {
		if _, err := os.Stat(path); err != nil {
			t.Logf("%s is not installed", path)
			continue
		}
		found++
		t.Run(path, func(t *testing.T) {
			a := tally{t: t}
			code := image(t, path)
			disassemble(t, path, nil, func(l line) bool {
				a.compare(l, code(l.pc))
				return a.total < perFile
			})
			t.Logf("%d instructions compared, %d that objdump does not know or shows otherwise; wrong: %v", a.total, a.skipped, a.wrong)
			ran, total = ran+1, total+a.total
		})
	}
	if found == 0 {
		t.Skip("none of the system's libraries is where Debian has them")
	}
	t.Logf("%d instructions of %d files compared", total, ran)
	if ran == found && total < ofFiles {
		t.Errorf("want %d", ofFiles)
	}
}
