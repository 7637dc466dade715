//go:build linux && amd64

package native

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"presage/perf/engine"
	"presage/perf/trace"
)

// childTime returns the processor time of all processes that this one has started
// and that have ended.
func childTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkNative measures the processor time of programs on the engine, as ratios
// to that of a plain run: untraced, and with every reference recorded. The time of
// the engine itself, which reads the records on another processor, is not in it.
func BenchmarkNative(b *testing.B) {
	for _, p := range []struct {
		name, file, argument string
		flags                []string
	}{
		{"matmul", "matmul.c", "600", []string{"-O2", "-static"}},
		{"matmul-wide", "matmul.c", "900", []string{"-O3", "-march=native", "-static"}},
		{"stencil", "stencil.c", "90", []string{"-O3", "-static"}},
		{"gather", "gather.c", "2000000", []string{"-O2", "-static"}},
		{"sort", "sort.c", "1000000", []string{"-O2", "-static"}},
		{"calls", "calls.c", "34", []string{"-O2", "-fno-inline", "-fno-optimize-sibling-calls", "-static"}},
	} {
		b.Run("program="+p.name, func(b *testing.B) {
			source, err := os.ReadFile(filepath.Join("testdata", "bench", p.file))
			if err != nil {
				b.Fatal(err)
			}
			f := compile(b, string(source), p.flags...)
			found, err := Engine{}.Discover(b.Context(), f, engine.Request{Args: []string{p.argument}})
			if err != nil {
				b.Fatal(err)
			}
			time := func(run func() error) float64 {
				start := childTime(b)
				if err := run(); err != nil {
					b.Fatal(err)
				}
				return (childTime(b) - start).Seconds()
			}
			var plain, untraced, traced float64
			var out *engine.Outcome
			for b.Loop() {
				plain += time(func() error { return exec.Command(f.Path, p.argument).Run() })
				untraced += time(func() error {
					_, err := Engine{}.Run(b.Context(), f, engine.Request{Args: []string{p.argument}})
					return err
				})
				traced += time(func() (err error) {
					out, err = Engine{}.Run(b.Context(), f, engine.Request{Args: []string{p.argument}, Plan: found.Plan, Sink: trace.NewDirect()})
					return err
				})
			}
			b.ReportMetric(untraced/plain, "untraced/plain")
			b.ReportMetric(traced/plain, "traced/plain")
			b.ReportMetric(float64(out.Accesses)*float64(b.N)/traced/1e6, "Mref/s")
		})
	}
}
