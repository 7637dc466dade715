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

	"presage/perf/engine"
	"presage/perf/internal/oracle"
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

// nativeRuns is how often the native program is run; the fastest run counts.
const nativeRuns = 5

// BenchmarkGuest runs each program untraced, and with every reference recorded
// and drained. x-native is the slowdown against the native build of the same
// source, in processor time, measured in the same run.
func BenchmarkGuest(b *testing.B) {
	for _, prog := range []struct {
		path string
		args []string
	}{
		{path: "./testdata/matmul"},
		{path: "./testdata/stencil"},
		{path: "./testdata/isort"},
		{path: "presage/datasets/programs/sweep3d", args: []string{"-n", "30", "-iterations", "1"}},
	} {
		b.Run("prog="+filepath.Base(prog.path), func(b *testing.B) {
			guest := goBuild(b, prog.path, "linux", "riscv64")
			native := exec.Command(goBuild(b, prog.path, runtime.GOOS, runtime.GOARCH), prog.args...)
			f, err := objfile.Open(guest)
			if err != nil {
				b.Fatal(err)
			}
			plan := planAll(f)
			plan.Blocks = nil
			for name, mode := range modes(b) {
				for _, traced := range []string{"off", "on"} {
					b.Run(fmt.Sprintf("engine=%s/trace=%s", name, traced), func(b *testing.B) {
						opt := options{Request: engine.Request{Args: prog.args}, mode: mode}
						if traced == "on" {
							opt.Plan = plan
						}
						benchGuest(b, f, native, opt)
					})
				}
			}
		})
	}
}

// speedPrograms are programs in C, C++ and Fortran with arguments that take a few
// tenths of a second natively.
var speedPrograms = []struct {
	source, compiler string
	args             []string
}{
	{"sparse.c", "gcc", []string{"20000", "600"}},
	{"elements.cpp", "g++", []string{"30", "750"}},
	{"expressions.cpp", "g++", []string{"300", "1250"}},
	{"stencils.f90", "gfortran", []string{"60", "600"}},
	{"product.f90", "gfortran", []string{"220", "200"}},
}

// BenchmarkCompiled is BenchmarkGuest for what gcc compiles at -O3, on the host with
// vector instructions.
func BenchmarkCompiled(b *testing.B) {
	for _, prog := range speedPrograms {
		b.Run("prog="+prog.source, func(b *testing.B) {
			build := func(compiler string, flags ...string) string {
				exe := filepath.Join(b.TempDir(), prog.source+"-"+compiler)
				args := append(flags, "-O3", "-o", exe, filepath.Join("testdata", "speed", prog.source))
				if out, err := exec.Command(oracle.Need(b, compiler), args...).CombinedOutput(); err != nil {
					b.Fatalf("%s: %v\n%s", compiler, err, out)
				}
				return exe
			}
			f, err := objfile.Open(build("riscv64-linux-gnu-"+prog.compiler, "-static"))
			if err != nil {
				b.Fatal(err)
			}
			native := exec.Command(build(prog.compiler), prog.args...)
			plan := planAll(f)
			plan.Blocks = nil
			for _, traced := range []string{"off", "on"} {
				b.Run("trace="+traced, func(b *testing.B) {
					opt := options{Request: engine.Request{Args: prog.args}, mode: Translate}
					if traced == "on" {
						opt.Plan = plan
					}
					benchGuest(b, f, native, opt)
				})
			}
		})
	}
}

func goBuild(tb testing.TB, source, goos, goarch string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), filepath.Base(source)+"-"+goarch)
	cmd := exec.Command("go", "build", "-o", path, source)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return path
}

// processorTime returns the processor time that this process has used, which
// other load on the machine does not inflate.
func processorTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchGuest(b *testing.B, f *objfile.File, native *exec.Cmd, opt options) {
	best := time.Duration(1 << 62)
	for range nativeRuns {
		cmd := exec.Command(native.Path, native.Args[1:]...)
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		best = min(best, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	var instructions, accesses uint64
	start := processorTime(b)
	for b.Loop() {
		if opt.Plan != nil {
			opt.Sink = trace.NewDirect(new(drain))
		}
		r, err := run(context.Background(), f, opt)
		if err != nil {
			b.Fatal(err)
		}
		instructions += r.Instructions
		accesses += r.Accesses
	}
	elapsed := processorTime(b) - start
	b.ReportMetric(float64(instructions)/elapsed.Seconds()/1e6, "MIPS")
	b.ReportMetric(elapsed.Seconds()/float64(b.N)/best.Seconds(), "x-native")
	if opt.Plan != nil {
		b.ReportMetric(float64(accesses)/elapsed.Seconds()/1e6, "Mref/s")
	}
}

// BenchmarkFlow runs programs with nothing counted, with every basic block
// recorded and drained, with every block and arrival counted, with every edge
// between blocks and every arrival counted, and with only the destinations of
// indirect jumps counted. x-uncounted is the processor time relative to the
// uncounted run, measured in the same benchmark.
func BenchmarkFlow(b *testing.B) {
	for _, prog := range []struct {
		path string
		args []string
	}{
		{path: "./testdata/matmul"},
		{path: "./testdata/isort"},
		{path: "presage/datasets/programs/sweep3d", args: []string{"-n", "30", "-iterations", "1"}},
	} {
		b.Run("prog="+filepath.Base(prog.path), func(b *testing.B) {
			f, err := objfile.Open(goBuild(b, prog.path, "linux", "riscv64"))
			if err != nil {
				b.Fatal(err)
			}
			blocks := planAll(f).Blocks
			places := new(trace.FlowPlan)
			for _, at := range blocks {
				places.Places = append(places.Places, at.PC)
			}
			plans := map[string]*trace.Plan{
				"none": nil, "blocks": {Blocks: blocks}, "edges": {Flow: betweenBlocks(f, everyTransfer(f), blocks)},
				"places": {Flow: places}, "jumps": {Flow: &trace.FlowPlan{Jumps: indirectJumps(f)}},
			}
			for name, mode := range modes(b) {
				for _, count := range []string{"none", "blocks", "places", "edges", "jumps"} {
					b.Run(fmt.Sprintf("engine=%s/count=%s", name, count), func(b *testing.B) {
						benchFlow(b, f, options{Request: engine.Request{Args: prog.args}, mode: mode}, plans[count])
					})
				}
			}
		})
	}
}

func benchFlow(b *testing.B, f *objfile.File, opt options, plan *trace.Plan) {
	timed := func(p *trace.Plan) time.Duration {
		opt.Plan, opt.Sink = p, nil
		if p != nil && len(p.Blocks) > 0 {
			opt.Sink = trace.NewDirect(new(drain))
		}
		start := processorTime(b)
		if _, err := run(context.Background(), f, opt); err != nil {
			b.Fatal(err)
		}
		return processorTime(b) - start
	}
	var without, with time.Duration
	for b.Loop() {
		without += timed(nil)
		with += timed(plan)
	}
	b.ReportMetric(with.Seconds()/without.Seconds(), "x-uncounted")
}
