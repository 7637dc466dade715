//go:build unix

package rv64

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"presage/perf/objfile"
	"presage/perf/trace"
)

// drain is a collector that reads every access and keeps next to nothing.
type drain struct{ sum uint64 }

func (d *drain) Observe(b *trace.Batch) {
	for _, a := range b.Accesses {
		d.sum += uint64(a)
	}
}

// nativeRuns is how often the native program is run; the quickest counts.
const nativeRuns = 5

// BenchmarkGuest runs each program untraced, and with every reference recorded
// and drained. x-native is the slowdown against the native build of the same
// source, in processor time, measured in the same run.
func BenchmarkGuest(b *testing.B) {
	for _, name := range []string{"matmul", "stencil", "isort"} {
		b.Run("prog="+name, func(b *testing.B) {
			guest := goBuild(b, name, "linux", "riscv64")
			native := goBuild(b, name, runtime.GOOS, runtime.GOARCH)
			f, err := objfile.Open(guest)
			if err != nil {
				b.Fatal(err)
			}
			plan := planAll(f)
			plan.Blocks = nil
			for _, traced := range []string{"off", "on"} {
				b.Run(fmt.Sprintf("engine=interp/trace=%s", traced), func(b *testing.B) {
					benchGuest(b, f, native, plan, traced == "on")
				})
			}
		})
	}
}

func goBuild(tb testing.TB, name, goos, goarch string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name+"-"+goarch)
	cmd := exec.Command("go", "build", "-o", path, "./testdata/"+name)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return path
}

// processorTime is what this process has used, so that other load on the
// machine does not count.
func processorTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchGuest(b *testing.B, f *objfile.File, native string, plan *trace.Plan, traced bool) {
	best := time.Duration(1 << 62)
	for range nativeRuns {
		cmd := exec.Command(native)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		best = min(best, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	var instructions, accesses uint64
	start := processorTime(b)
	for b.Loop() {
		var opt Options
		if traced {
			opt.Plan, opt.Sink = plan, trace.NewDirect(new(drain))
		}
		r, err := Run(context.Background(), f, opt)
		if err != nil {
			b.Fatal(err)
		}
		instructions += r.Instructions
		accesses += r.Accesses
	}
	elapsed := processorTime(b) - start
	b.ReportMetric(float64(instructions)/elapsed.Seconds()/1e6, "MIPS")
	b.ReportMetric(elapsed.Seconds()/float64(b.N)/best.Seconds(), "x-native")
	if traced {
		b.ReportMetric(float64(accesses)/elapsed.Seconds()/1e6, "Mref/s")
	}
}
