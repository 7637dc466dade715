//go:build unix

package pipeline_test

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"presage/perf/engine"
	"presage/perf/engine/rv64"
	isarv "presage/perf/isa/rv64"
	"presage/perf/pipeline"
	"presage/perf/trace"
)

// processorTime returns the CPU time that this process has used, so that other load
// on the machine does not count.
func processorTime(tb testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// recording is a collector that keeps batches.
type recording struct {
	batches []trace.Batch
	limit   int
}

func (r *recording) Observe(b *trace.Batch) {
	if r.limit > 0 && len(r.batches) >= r.limit {
		return
	}
	r.batches = append(r.batches, trace.Batch{
		Accesses: append([]trace.Access(nil), b.Accesses...), Blocks: append([]trace.BlockID(nil), b.Blocks...),
		Start: b.Start, Thread: b.Thread,
	})
}

// BenchmarkPipeline simulates programs, driven by the engine and alone on recorded
// batches.
func BenchmarkPipeline(b *testing.B) {
	for _, prog := range []struct {
		name string
		args []string
	}{
		{"sweep3d", []string{"-n", "24", "-iterations", "1"}},
		{"matmul", []string{"-n", "120"}},
		{"cg", []string{"-n", "16"}},
	} {
		b.Run("prog="+prog.name, func(b *testing.B) {
			f := goBuild(b, "presage/datasets/programs/"+prog.name)
			code, plan := codeOf(b, f)
			for _, core := range []struct {
				name   string
				config pipeline.Config
			}{{"in-order", benchInOrder()}, {"out-of-order", benchOutOfOrder()}} {
				b.Run("core="+core.name+"/from=engine", func(b *testing.B) {
					instructions := uint64(0)
					start := processorTime(b)
					for b.Loop() {
						s, err := pipeline.New(isarv.Target(), plan, code, core.config, pipeline.Options{})
						if err != nil {
							b.Fatal(err)
						}
						_, err = rv64.Engine{}.Run(context.Background(), f, engine.Request{Args: prog.args, Plan: plan, Sink: trace.NewDirect(s)})
						if err != nil {
							b.Fatal(err)
						}
						r := s.Result()
						instructions += r.Instructions
						b.ReportMetric(r.CPI(), "CPI")
						for _, w := range r.Warnings {
							b.Log(w)
						}
					}
					b.ReportMetric(float64(instructions)/(processorTime(b)-start).Seconds()/1e6, "Minst/s")
					b.ReportMetric(0, "ns/op")
				})
				b.Run("core="+core.name+"/from=memory", func(b *testing.B) {
					tape := &recording{limit: 200}
					if _, err := (rv64.Engine{}).Run(context.Background(), f, engine.Request{Args: prog.args, Plan: plan, Sink: trace.NewDirect(tape)}); err != nil {
						b.Fatal(err)
					}
					instructions := uint64(0)
					start := processorTime(b)
					for b.Loop() {
						s, err := pipeline.New(isarv.Target(), plan, code, core.config, pipeline.Options{})
						if err != nil {
							b.Fatal(err)
						}
						for i := range tape.batches {
							s.Observe(&tape.batches[i])
						}
						instructions += s.Result().Instructions
					}
					b.ReportMetric(float64(instructions)/(processorTime(b)-start).Seconds()/1e6, "Minst/s")
					b.ReportMetric(0, "ns/op")
				})
			}
		})
	}
}
