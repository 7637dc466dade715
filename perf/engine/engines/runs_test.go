//go:build linux && amd64

package engines_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"presage/perf/cache"
	"presage/perf/engine/native"
	"presage/perf/internal/oracle"
	"presage/perf/reuse"
	"presage/perf/subject"
	"presage/perf/trace"
)

// keeper keeps batches as an engine recorded them.
type keeper struct{ batches []*trace.Batch }

func (*keeper) TakesRuns() bool { return true }

func (k *keeper) Observe(b *trace.Batch) {
	k.batches = append(k.batches, &trace.Batch{
		Accesses: slices.Clone(b.Accesses), Blocks: slices.Clone(b.Blocks), Counts: slices.Clone(b.Counts),
		Runs: slices.Clone(b.Runs), Strides: slices.Clone(b.Strides), Bodies: slices.Clone(b.Bodies), BodyCounts: slices.Clone(b.BodyCounts),
		Start: b.Start, Thread: b.Thread,
	})
}

// recording is a run of testdata/loops.c.
type recording struct {
	plan     *trace.Plan
	recorded []*trace.Batch
	expanded []*trace.Batch
	accesses uint64
}

// record records a program of testdata/loops.c that a compiler has built.
func record(t testing.TB, compiler, name string, size int) *recording {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "loops")
	if out, err := exec.Command(oracle.Need(t, compiler), "-O2", "-static", "-o", exe, "testdata/loops.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	prog, err := subject.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	r, k := new(recording), new(keeper)
	if r.plan, err = prog.Plan(); err != nil {
		t.Fatal(err)
	}
	res, err := subject.Run(t.Context(), prog, nil, subject.RecordOptions{RunOptions: subject.RunOptions{Args: fmt.Sprint(name, " ", size)}}, k)
	if errors.Is(err, native.ErrPtrace) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.recorded, r.accesses = k.batches, res.Accesses
	for _, b := range r.recorded {
		out := new(trace.Batch)
		b.Expand(out)
		r.expanded = append(r.expanded, out)
	}
	return r
}

// compressed returns the batches with the runs that a Compressor finds, and the
// processor time that it took.
func (r *recording) compressed() ([]*trace.Batch, time.Duration) {
	k := new(keeper)
	for _, b := range r.expanded { // a Compressor changes what it is given
		k.Observe(b)
	}
	s := new(kept)
	c := trace.NewCompressor(r.plan, s)
	start := threadTime()
	for _, b := range k.batches {
		c.Exchange(b)
	}
	return s.batches, threadTime() - start
}

// kept is a Sink that keeps what it is given.
type kept struct{ batches []*trace.Batch }

func (k *kept) Exchange(full *trace.Batch) *trace.Batch {
	k.batches = append(k.batches, full)
	return nil
}

// threadTime returns the processor time of the thread.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// hierarchy is a machine with two caches and a TLB.
var hierarchy = cache.Config{
	Levels: []cache.Level{{Name: "L1", Blocks: 512, BlockBytes: 64, Ways: 8}, {Name: "L2", Blocks: 8192, BlockBytes: 64, Ways: 8}},
	TLBs:   []cache.TLB{{Name: "TLB", Entries: 64, EntryBytes: 4096}},
}

// collect returns the results of a collector of some kind on batches, and the processor
// time that it took.
func (r *recording) collect(t testing.TB, kind string, batches []*trace.Batch) (any, time.Duration) {
	t.Helper()
	var c trace.Collector
	var result func() any
	switch kind {
	case "reuse-64", "reuse-4096":
		d, err := reuse.New(r.plan, reuse.Options{BlockBytes: map[string]uint64{"reuse-64": 64, "reuse-4096": 4096}[kind]})
		if err != nil {
			t.Fatal(err)
		}
		c, result = d, func() any { return d.Result() }
	default:
		s, err := cache.New(r.plan, hierarchy)
		if err != nil {
			t.Fatal(err)
		}
		c, result = s, func() any { return s.Result() }
	}
	start := threadTime()
	for _, b := range batches {
		c.Observe(b)
	}
	took := threadTime() - start
	return result(), took
}

var (
	compilers = []string{"gcc", "riscv64-linux-gnu-gcc"}
	kinds     = []string{"reuse-64", "reuse-4096", "cache"}
)

// TestRunsChangeNothing: whole programs have the same distances and misses, to the last
// count, whether their loops are recorded as runs, access by access, or compressed
// into runs afterwards.
func TestRunsChangeNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, compiler := range compilers {
		for name, size := range map[string]int{"product": 60, "stencil": 30, "multigrid": 32, "sort": 3000} {
			t.Run(compiler+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := record(t, compiler, name, size)
				compressed, _ := r.compressed()
				if n := slices.IndexFunc(compressed, func(b *trace.Batch) bool { return len(b.Runs) > 0 }); n < 0 {
					t.Error("a Compressor finds no runs")
				}
				if n := slices.IndexFunc(r.recorded, func(b *trace.Batch) bool { return len(b.Runs) > 0 }); n < 0 && compiler == "gcc" && name != "sort" {
					t.Error("the native engine records no runs")
				}
				for _, kind := range kinds {
					want, _ := r.collect(t, kind, r.expanded)
					for form, batches := range map[string][]*trace.Batch{"recorded": r.recorded, "compressed": compressed} {
						got, _ := r.collect(t, kind, batches)
						if diff := cmp.Diff(want, got); diff != "" {
							t.Errorf("%s: -access by access +%s:\n%.2000s", kind, form, diff)
						}
					}
				}
			})
		}
	}
}

// BenchmarkRuns measures what runs bring to whole programs: millions of references a
// second of processor time of the analysis, access by access (plain), as they reach
// collectors (recorded: with the runs of the native engine, and those found behind the
// other), and with a Compressor, whose time counts (compressed).
func BenchmarkRuns(b *testing.B) {
	for _, compiler := range compilers {
		for _, p := range []struct {
			name string
			size int
		}{{"product", 200}, {"stencil", 100}, {"multigrid", 128}, {"sort", 200_000}} {
			var r *recording
			for _, kind := range kinds {
				b.Run(fmt.Sprintf("%s/program=%s/analysis=%s", compiler, p.name, kind), func(b *testing.B) {
					if r == nil {
						r = record(b, compiler, p.name, p.size)
					}
					runtime.LockOSThread() // its processor time is measured
					defer runtime.UnlockOSThread()
					var plain, recorded, compressed time.Duration
					n := 0.0
					for b.Loop() {
						_, took := r.collect(b, kind, r.expanded)
						plain += took
						_, took = r.collect(b, kind, r.recorded)
						recorded += took
						batches, own := r.compressed()
						_, took = r.collect(b, kind, batches)
						compressed += own + took
						n += float64(r.accesses) / 1e6
					}
					b.ReportMetric(n/plain.Seconds(), "plain-Mref/s")
					b.ReportMetric(n/recorded.Seconds(), "recorded-Mref/s")
					b.ReportMetric(n/compressed.Seconds(), "compressed-Mref/s")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}
