package reuse_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"presage/perf/access"
	"presage/perf/cache"
	"presage/perf/cfg"
	"presage/perf/engine"
	"presage/perf/engine/rv64"
	"presage/perf/internal/oracle"
	"presage/perf/objfile"
	"presage/perf/reuse"
	"presage/perf/trace"
)

// nests are the loop nests of testdata/loops.c.
var nests = []string{"product", "interchanged", "stencil", "strided", "gather"}

// loops compiles testdata/loops.c for arrays of size² elements and plans the
// recording of all its references.
func loops(t testing.TB, size int) (*objfile.File, *trace.Plan) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "loops")
	cmd := exec.Command(oracle.Need(t, "riscv64-linux-gnu-gcc"), "-O2", "-static", "-DSIZE="+strconv.Itoa(size), "-o", path, "testdata/loops.c")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	f, err := objfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	a := access.Analyze(cfg.Analyze(f))
	plan, err := a.Groups(nil).Plan(a, access.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return f, plan
}

// run runs a nest and returns the number of accesses.
func run(t testing.TB, f *objfile.File, plan *trace.Plan, nest int, sink trace.Sink) uint64 {
	t.Helper()
	out, err := rv64.Engine{}.Run(t.Context(), f, engine.Request{Args: []string{strconv.Itoa(nest)}, Plan: plan, Sink: sink})
	if err != nil || out.ExitCode != 0 {
		t.Fatalf("%v, exit code %d", err, out.ExitCode)
	}
	return out.Accesses
}

// TestCompressedPrograms: whole programs whose loops are compressed give the
// distances, hits and misses of the accesses as recorded.
func TestCompressedPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("runs programs")
	}
	f, plan := loops(t, 60)
	config := cache.Config{
		Levels: []cache.Level{{Name: "L1", Blocks: 256, BlockBytes: 64, Ways: 4}, {Name: "L2", Blocks: 2048, BlockBytes: 64, Ways: 8}},
		TLBs:   []cache.TLB{{Name: "TLB", Entries: 16, EntryBytes: 4096}},
	}
	for nest, name := range nests {
		var distances [2][]*reuse.Result
		var hits [2]*cache.Result
		for i := range 2 {
			var all []trace.Collector
			var cs []*reuse.Collector
			for _, size := range []uint64{64, 4096} {
				c, err := reuse.New(plan, reuse.Options{BlockBytes: size})
				if err != nil {
					t.Fatal(err)
				}
				cs, all = append(cs, c), append(all, c)
			}
			s, err := cache.New(plan, config)
			if err != nil {
				t.Fatal(err)
			}
			seen := new(counter)
			var sink trace.Sink = trace.NewDirect(append(all, s, seen)...)
			if i > 0 {
				sink = trace.NewCompressor(plan, sink)
			}
			run(t, f, plan, nest, sink)
			if i > 0 && (seen.single == 0 || name != "gather" && 2*seen.single > seen.all) {
				t.Errorf("%s: %d of %d accesses are in no run", name, seen.single, seen.all)
			}
			for _, c := range cs {
				distances[i] = append(distances[i], c.Result())
			}
			hits[i] = s.Result()
		}
		if diff := cmp.Diff(distances[0], distances[1]); diff != "" {
			t.Errorf("%s: distances -recorded +compressed:\n%s", name, diff)
		}
		if diff := cmp.Diff(hits[0], hits[1]); diff != "" {
			t.Errorf("%s: hits and misses -recorded +compressed:\n%s", name, diff)
		}
	}
}

// counter counts accesses, and those in no run.
type counter struct{ single, all uint64 }

func (c *counter) TakesRuns() bool { return true }

func (c *counter) Observe(b *trace.Batch) {
	n, _ := b.Expansion()
	c.all += n
	c.single += uint64(len(b.Accesses))
}

// BenchmarkCompressor runs programs with exact distances at one block size, or in
// lines and pages with a simulation, and measures how much less processor time,
// of the engine and the analysis together, they take if their loops are
// compressed: x-recorded.
func BenchmarkCompressor(b *testing.B) {
	f, plan := loops(b, 300)
	for nest, name := range nests {
		for _, what := range []string{"lines", "all"} {
			b.Run("nest="+name+"/collect="+what, func(b *testing.B) {
				var took [2]time.Duration
				accesses := uint64(0)
				for b.Loop() {
					for i := range took {
						var sink trace.Sink = trace.NewDirect(collectors(b, plan, what)...)
						if i > 0 {
							sink = trace.NewCompressor(plan, sink)
						}
						start := spent(b)
						accesses = run(b, f, plan, nest, sink)
						took[i] += spent(b) - start
					}
				}
				b.ReportMetric(float64(b.N)*float64(accesses)/took[1].Seconds()/1e6, "Mref/s")
				b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "x-recorded")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// collectors returns one of distances between lines, or all of those that a
// profile and a simulation take.
func collectors(b *testing.B, plan *trace.Plan, what string) []trace.Collector {
	lines, err := reuse.New(plan, reuse.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if what == "lines" {
		return []trace.Collector{lines}
	}
	pages, err := reuse.New(plan, reuse.Options{BlockBytes: 4096})
	if err != nil {
		b.Fatal(err)
	}
	s, err := cache.New(plan, cache.Config{
		Levels: []cache.Level{{Name: "L1", Blocks: 512, BlockBytes: 64, Ways: 8}, {Name: "L2", Blocks: 16384, BlockBytes: 64, Ways: 8}},
		TLBs:   []cache.TLB{{Name: "TLB", Entries: 64, EntryBytes: 4096}},
	})
	if err != nil {
		b.Fatal(err)
	}
	return []trace.Collector{lines, pages, s}
}

// spent returns the processor time of the process.
func spent(t testing.TB) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
