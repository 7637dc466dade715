//go:build unix

package rv64

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"presage/perf/internal/oracle"
)

// BenchmarkQemu runs the programs of BenchmarkGuest on qemu's user-mode
// emulator, which translates to machine code. x-native is the slowdown against
// the native build, in processor time, measured in the same run.
func BenchmarkQemu(b *testing.B) {
	oracle.Need(b, qemu)
	for _, prog := range []struct {
		path string
		args []string
	}{
		{path: "./testdata/matmul"},
		{path: "./testdata/stencil"},
		{path: "./testdata/isort"},
		{path: "presage/datasets/programs/sweep3d", args: []string{"-n", "30", "-iterations", "1"}},
	} {
		name := filepath.Base(prog.path)
		b.Run("prog="+name, func(b *testing.B) {
			guest := program{name: name, tool: "go", args: []string{"build"}, after: []string{prog.path}}.build(b)
			native := filepath.Join(b.TempDir(), name)
			if out, err := exec.Command("go", "build", "-o", native, prog.path).CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
			best := time.Duration(1 << 62)
			for range nativeRuns {
				best = min(best, usedBy(b, exec.Command(native, prog.args...)))
			}
			var used time.Duration
			for b.Loop() {
				used += usedBy(b, exec.Command(qemu, append([]string{guest}, prog.args...)...))
			}
			b.ReportMetric(best.Seconds(), "s-native")
			b.ReportMetric(used.Seconds()/float64(b.N)/best.Seconds(), "x-native")
		})
	}
}

// usedBy runs a command and returns the processor time that it used.
func usedBy(b *testing.B, cmd *exec.Cmd) time.Duration {
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
