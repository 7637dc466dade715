//go:build linux && amd64

package native

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"presage/perf/allocation"
	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/reuse"
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
// the engine itself, which reads the records on another processor, is not in it. With
// exact reuse distances for blocks of 64 bytes it is wall time, on as many processors
// as there are. Beside these stand other tools, where they run the program: cachegrind,
// which simulates caches, and qemu-x86_64, which records nothing.
func BenchmarkNative(b *testing.B) {
	for _, p := range []struct {
		name, file, argument string
		flags                []string
	}{
		{"matmul", "matmul.c", "600", []string{"-O2", "-static"}},
		{"matmul-wide", "matmul.c", "900", []string{"-O3", "-march=native", "-static"}},
		{"stencil", "stencil.c", "90", []string{"-O3", "-static"}},
		{"stencil-longer", "stencil.c", "260", []string{"-O3", "-static"}}, // starting the program counts less
		{"gather", "gather.c", "2000000", []string{"-O2", "-static"}},
		{"sort", "sort.c", "1000000", []string{"-O2", "-static"}},
		{"calls", "calls.c", "34", []string{"-O2", "-fno-inline", "-fno-optimize-sibling-calls", "-static"}},
		{"calls-longer", "calls.c", "38", []string{"-O2", "-fno-inline", "-fno-optimize-sibling-calls", "-static"}},
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
			taken := func(run func() error) float64 {
				start := childTime(b)
				if err := run(); err != nil {
					b.Fatal(err)
				}
				return (childTime(b) - start).Seconds()
			}
			var plain, untraced, traced float64
			var out *engine.Outcome
			for b.Loop() {
				plain += taken(func() error { return exec.Command(f.Path, p.argument).Run() })
				untraced += taken(func() error {
					_, err := Engine{}.Run(b.Context(), f, engine.Request{Args: []string{p.argument}})
					return err
				})
				traced += taken(func() (err error) {
					out, err = Engine{}.Run(b.Context(), f, engine.Request{Args: []string{p.argument}, Plan: found.Plan, Sink: trace.NewDirect()})
					return err
				})
			}
			begin := time.Now()
			if err := exec.Command(f.Path, p.argument).Run(); err != nil {
				b.Fatal(err)
			}
			alone := time.Since(begin)
			b.ReportMetric(distances(b, f, found.Plan, p.argument).Seconds()/alone.Seconds(), "distances/plain-wall")
			each := plain / float64(b.N)
			for _, tool := range [][]string{
				{"valgrind", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"}, {"qemu-x86_64"},
			} {
				command := append(tool[1:len(tool):len(tool)], f.Path, p.argument)
				start := childTime(b)
				if exec.Command(tool[0], command...).Run() == nil { // it knows the instructions
					b.ReportMetric((childTime(b)-start).Seconds()/each, tool[0]+"/plain")
				}
			}
			b.ReportMetric(untraced/plain, "untraced/plain")
			b.ReportMetric(traced/plain, "traced/plain")
			b.ReportMetric(float64(out.Accesses)*float64(b.N)/traced/1e6, "Mref/s")
		})
	}
}

// distances returns the wall time of a run whose exact reuse distances are collected.
func distances(b *testing.B, f *objfile.File, plan *trace.Plan, argument string) time.Duration {
	opt := reuse.Options{BlockBytes: 64}
	opt.Spread(1)
	c, err := reuse.New(plan, opt)
	if err != nil {
		b.Fatal(err)
	}
	sink := trace.NewPipeline(c)
	begin := time.Now()
	if _, err := (Engine{}).Run(b.Context(), f, engine.Request{Args: []string{argument}, Plan: plan, Sink: sink}); err != nil {
		b.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		b.Fatal(err)
	}
	return time.Since(begin)
}

// BenchmarkAllocations measures what it costs to tell of memory, in processor time of
// program and engine: microseconds for each call of malloc with its free.
func BenchmarkAllocations(b *testing.B) {
	const count = 20_000
	f := compile(b, `#include <stdlib.h>
int main(int argc, char **argv) {
	int n = atoi(argv[1]);
	for (int i = 0; i < n; i++)
		free(malloc(i % 512));
	return 0;
}`, "-O0", "-g", "-static")
	r := engine.Request{Args: []string{strconv.Itoa(count)}}
	found, err := Engine{}.Discover(b.Context(), f, r)
	if err != nil {
		b.Fatal(err)
	}
	told := *found.Plan
	told.Memory = allocation.Plan(f)
	took := func(p *trace.Plan) float64 {
		start := childTime(b) + ownTime(b)
		r.Plan, r.Sink = p, trace.NewDirect()
		if _, err := (Engine{}).Run(b.Context(), f, r); err != nil {
			b.Fatal(err)
		}
		return (childTime(b) + ownTime(b) - start).Seconds()
	}
	with, without := 0.0, 0.0
	for b.Loop() {
		with += took(&told)
		without += took(found.Plan)
	}
	b.ReportMetric((with-without)*1e6/float64(count*b.N), "µs/allocation")
	b.ReportMetric(0, "ns/op")
}

// ownTime returns the processor time of this process.
func ownTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFreeThreads measures the wall time of a program with two threads, as ratios
// of medians to that of a plain run: untraced and with every reference recorded, while
// threads take turns and while they run at the same time.
func BenchmarkFreeThreads(b *testing.B) {
	f := freely(b)
	r := engine.Request{Args: []string{"sums", "2", "4000000"}}
	found, err := Engine{}.Discover(b.Context(), f, r)
	if err != nil {
		b.Fatal(err)
	}
	kinds := map[string]func() error{"plain": func() error { return exec.Command(f.Path, r.Args...).Run() }}
	for name, free := range map[string]bool{"turns": false, "free": true} {
		untraced := r
		untraced.FreeThreads = free
		kinds[name] = func() error {
			_, err := Engine{}.Run(b.Context(), f, untraced)
			return err
		}
		kinds[name+"-traced"] = func() error {
			traced := untraced
			traced.Plan, traced.Sink = found.Plan, trace.NewDirect()
			_, err := Engine{}.Run(b.Context(), f, traced)
			return err
		}
	}
	times := make(map[string][]float64)
	for b.Loop() {
		for name, run := range kinds {
			start := time.Now()
			if err := run(); err != nil {
				b.Fatal(err)
			}
			times[name] = append(times[name], time.Since(start).Seconds())
		}
	}
	median := func(name string) float64 {
		slices.Sort(times[name])
		return times[name][len(times[name])/2]
	}
	for name := range kinds {
		if name != "plain" {
			b.ReportMetric(median(name)/median("plain"), name+"/plain")
		}
	}
}
