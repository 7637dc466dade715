//go:build !race

package perf_test

import (
	"context"
	"fmt"
	"os"

	"presage/perf"
	"presage/perf/simpoint"
	"presage/perf/store"
)

// A run is cut into intervals, a few of them are chosen, the caches of a machine
// are simulated on these alone, and the hit rates are held against the simulation
// of the whole run.
func ExampleSampleCaches() {
	dir := perf.Must(os.MkdirTemp("", "presage"))
	defer os.RemoveAll(dir)
	ctx := context.Background()
	prog := perf.Must(perf.Build(ctx, "../datasets/programs/matmul"))
	m := perf.Must(perf.FindMachine("../datasets/metasim/power3.yaml"))

	phases := perf.Must(perf.BlockVectors(ctx, prog, perf.Point{"n": 48}, perf.PhaseOptions{
		RunOptions: perf.RunOptions{Args: "-n {n} -quiet", Store: store.Open(dir)}, Interval: 200_000,
	}))
	samples := perf.Must(perf.SampleCaches(ctx, phases, m, []perf.Sampling{
		{SimPoint: simpoint.Options{K: 8}},
		{Percent: 10},
		{Full: true},
	}))
	hits := perf.Must(perf.HitRates(samples...))
	fmt.Println(hits.Nrow(), "rows: samples and levels")
	off := hits.Col("hit_ratio_diff").Float()
	fmt.Println("SimPoint is off by less than a point:", off[0] > -0.01 && off[0] < 0.01)
	// Output:
	// 9 rows: samples and levels
	// SimPoint is off by less than a point: true
}
