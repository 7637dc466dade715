package replay

import (
	"context"
	"testing"
	"time"

	"presage/perf/trace"
)

// BenchmarkReplay reports how many times faster a trace is generated than recorded
// from the engine.
func BenchmarkReplay(b *testing.B) {
	for _, kernel := range []string{"MATMUL", "CHOLESKY", "STENCIL", "TILED", "TRANSPOSE"} {
		b.Run("kernel="+kernel, func(b *testing.B) {
			prog := compile(b, "-O2 -D"+kernel)
			code := codeOf(b, prog)
			m := learn(b, prog, code, 16, 24, 32, 40, 48, 56)
			const n = 120
			record := least(func() { execute(b, b.Context(), prog, code, n) })
			collect := least(func() { execute(b, b.Context(), prog, code, n, NewCollector(code, Hints{})) })
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
			b.ReportMetric(record/per, "times-recording")
			b.ReportMetric(collect/record, "learning/recording")
			b.ReportMetric(float64(accesses)/per/1e6, "Maccesses/s")
		})
	}
}

// least returns the least time in seconds that f took.
func least(f func()) float64 {
	best := time.Hour
	for range 3 {
		begin := time.Now()
		f()
		best = min(best, time.Since(begin))
	}
	return best.Seconds()
}
