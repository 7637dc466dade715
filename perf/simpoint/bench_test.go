package simpoint_test

import (
	"context"
	"testing"

	"presage/perf/bbv"
	"presage/perf/simpoint"
)

// BenchmarkSimpoint chooses points among 10,000 intervals of 2,000 blocks, of
// which 50 are executed in each: in phases, and without any structure, which
// takes k-means longest. SimPoint 3.2 on a machine of this kind took 2.2 s of a
// processor for the binary search, 13.5 s for all k up to 30, and 1.4 s for
// k = 30, on data of this size.
func BenchmarkSimpoint(b *testing.B) {
	phases, _ := planted{intervals: 10_000, blocks: 2000, nonzero: 50, phases: 20, noise: 0.2, stray: 10}.vectors(1)
	data := []struct {
		name string
		v    *bbv.Vectors
	}{{"phases", phases}, {"random", unstructured(10_000, 2000, 50, 1)}}
	for _, d := range data {
		for _, m := range []struct {
			name string
			opt  simpoint.Options
		}{
			{"search=binary", simpoint.Options{}},
			{"search=all", simpoint.Options{Search: simpoint.All}},
			{"k=30", simpoint.Options{K: 30}},
		} {
			b.Run("data="+d.name+"/"+m.name, func(b *testing.B) {
				began := processorSeconds(b)
				for b.Loop() {
					if _, err := simpoint.Pick(context.Background(), d.v, m.opt); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric((processorSeconds(b)-began)/float64(b.N), "cpu-sec/op")
			})
		}
	}
}
