//go:build unix

package cfg

import (
	"math"
	"syscall"
	"testing"

	"presage/perf/trace"
)

// countings returns the ways to count: nothing; as little as needed; each edge,
// by arrivals too; each block.
func countings(p *Program) []struct {
	name string
	plan *trace.Plan
} {
	all := countEverything(p).Plan
	heads := make([]trace.PC, 0, len(all.Places))
	heads = append(heads, all.Places...)
	return []struct {
		name string
		plan *trace.Plan
	}{
		{"none", nil},
		{"tree", &trace.Plan{Flow: PlaceCounters(p).Plan}},
		{"edges", &trace.Plan{Flow: &trace.FlowPlan{Edges: all.Edges, Jumps: all.Jumps}}},
		{"blocks", &trace.Plan{Flow: &trace.FlowPlan{Places: all.Places, Quiet: heads}}},
	}
}

// processorSeconds returns the CPU time of the process so far: on a shared
// machine wall-clock time means little.
func processorSeconds(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkCounters measures the overhead of counting: x-uncounted is the CPU
// time of the fastest counted run divided by that of the fastest uncounted one,
// with the two kinds of run alternating.
func BenchmarkCounters(b *testing.B) {
	for _, s := range []subject{
		{name: "sweep3d", tool: "go", source: "../../datasets/programs/sweep3d", args: []string{"-n", "40", "-iterations", "2", "-quiet"}},
		{name: "kernels", tool: "riscv64-linux-gnu-gcc", flags: []string{"-static", "-O2"}, source: "testdata/kernels.c", args: []string{"500"}},
	} {
		f := s.open(b)
		p := s.foreseen(b, f)
		for _, c := range countings(p) {
			b.Run("prog="+s.name+"/count="+c.name, func(b *testing.B) {
				plain, counted := math.Inf(1), math.Inf(1)
				for b.Loop() {
					start := processorSeconds(b)
					s.run(b, f, nil, nil)
					between := processorSeconds(b)
					s.run(b, f, c.plan, nil)
					plain, counted = min(plain, between-start), min(counted, processorSeconds(b)-between)
				}
				b.ReportMetric(counted/plain, "x-uncounted")
				b.ReportMetric(1000*counted, "ms/run")
			})
		}
	}
}

// BenchmarkPlaceCounters measures placement and recovery for a whole program.
func BenchmarkPlaceCounters(b *testing.B) {
	s := subjects()[0]
	f := s.open(b)
	p := s.foreseen(b, f)
	var c *Counters
	b.Run("step=place", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c = PlaceCounters(p)
		}
	})
	c = PlaceCounters(p)
	flow := s.run(b, f, &trace.Plan{Flow: c.Plan}, nil).Flow
	b.Run("step=recover", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Recover(flow); err != nil {
				b.Fatal(err)
			}
		}
	})
}
