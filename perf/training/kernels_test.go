package training

import (
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/subject"
)

// kernel compiles a program of testdata/kernels.c.
func kernel(t testing.TB, name string, flags ...string) *subject.Program {
	t.Helper()
	source := perftest.Path(t, "perf", "training", "testdata", "kernels.c")
	args := append([]string{"-O2", "-static", "-D" + name, source, "-lm"}, flags...)
	return perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gcc"), args, name)
}

// byWork is a clock that goes by accesses, ten million a second: choices do not
// depend on the machine that runs the test.
func byWork(work float64, oneIn uint64) float64 {
	if oneIn > 1 {
		return work / 30e6
	}
	return work / 10e6
}
