package replay

import (
	"context"
	"testing"

	"presage/perf/trace"
)

// BenchmarkReplay reports how many times faster a trace is generated than recorded
// from the engine.
func BenchmarkReplay(b *testing.B) {
	for _, kernel := range []string{"MATMUL", "CHOLESKY", "STENCIL", "TILED", "TRANSPOSE"} {
		b.Run("kernel="+kernel, func(b *testing.B) {
			prog := compile(b, "-O2 -D"+kernel)
			code := codeOf(b, prog)
			var hints Hints
			var runs []*Run
			sizes := []int64{16, 24, 32, 40, 48, 56}
			for _, n := range sizes {
				runs = append(runs, learn(b, prog, code, &hints, n))
			}
			m, err := NewModel(code, sizes, runs)
			if err != nil {
				b.Fatal(err)
			}
			const n = 120
			record := testing.Benchmark(func(b *testing.B) {
				for b.Loop() {
					execute(b, prog, code, n)
				}
			})
			collect := testing.Benchmark(func(b *testing.B) {
				for b.Loop() {
					execute(b, prog, code, n, NewCollector(code, hints))
				}
			})
			accesses := uint64(0)
			for b.Loop() {
				in, err := m.At(context.Background(), n)
				if err != nil {
					b.Fatal(err)
				}
				out, err := in.Replay(context.Background(), trace.NewDirect(), Options{MaxAccesses: 1 << 30})
				if err != nil {
					b.Fatal(err)
				}
				accesses = out.Accesses
			}
			per := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(float64(record.NsPerOp())/1e9/per, "times-recording")
			b.ReportMetric(float64(collect.NsPerOp())/float64(record.NsPerOp()), "learning/recording")
			b.ReportMetric(float64(accesses)/per/1e6, "Maccesses/s")
		})
	}
}
