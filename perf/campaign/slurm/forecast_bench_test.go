package slurm

import (
	"math"
	"slices"
	"testing"
	"time"

	"presage/perf/campaign"
	"presage/perf/campaign/internal/squares"
	"presage/perf/store"
)

// BenchmarkForecast holds the time that a forecast predicts against a campaign on two real
// nodes: x-measured is predicted over measured, the median, x-measured-free the same if Slurm cost
// nothing. What it takes to start a task and to hand on its cores is learned from two other
// campaigns, so that nothing of the one that judges goes into the forecast but the times
// of its jobs. Jobs wait and do not compute: other work on the machine matters little.
func BenchmarkForecast(b *testing.B) {
	needCluster(b)
	seen := make(map[string][]float64)
	for b.Loop() {
		free := Cluster{Nodes: 2, Cores: 2, Poll: executor().Poll.Seconds()}
		cluster := learned(b, free)
		load, measured := timed(b, 72, func(i int) float64 { return 0.3 + 0.05*float64(i%24) })
		for unit, v := range map[string]float64{
			"x-measured":      predicted(b, load, cluster) / measured,
			"x-measured-free": predicted(b, load, free) / measured,
			"begin-sec":       cluster.Begin,
			"release-sec":     cluster.Release,
		} {
			seen[unit] = append(seen[unit], v)
		}
	}
	for unit, values := range seen {
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], unit)
	}
	b.Logf("sorted: %v", seen)
	b.ReportMetric(0, "ns/op")
}

// small returns an executor that packs jobs into tasks of some seconds.
func small() *Executor {
	x := executor()
	x.Config.Target = 4
	return x
}

// learned returns a cluster with the times that explain how long two campaigns take: one of
// a job for each core, which starts tasks, and one of two, which hands on their cores.
func learned(b *testing.B, cluster Cluster) Cluster {
	b.Helper()
	one := func(int) float64 { return 1 }
	load, measured := timed(b, cluster.Nodes*cluster.Cores, one)
	cluster.Begin = math.Max(0, measured-predicted(b, load, cluster))
	load, measured = timed(b, 2*cluster.Nodes*cluster.Cores, one)
	cluster.Release = math.Max(0, measured-predicted(b, load, cluster))
	return cluster
}

// timed has a campaign done whose jobs wait for so many seconds, and returns what a
// forecast wants to know of it and how many seconds it took.
func timed(b *testing.B, n int, seconds func(i int) float64) (Load, float64) {
	b.Helper()
	st := store.Open(b.TempDir())
	x := small()
	list := jobs(b, n, func(i int, s *squares.Spec) { s.Sleep, s.Bytes = seconds(i), 20_000 })
	at := time.Now()
	if failed, err := run(b, x, st, list); err != nil || len(failed) > 0 {
		b.Fatalf("%v, failed %+v", err, failed)
	}
	took := time.Since(at).Seconds()
	id, err := campaign.IDOf(list)
	if err != nil {
		b.Fatal(err)
	}
	load, err := LoadOf(st, id)
	if err != nil {
		b.Fatal(err)
	}
	return load, took
}

func predicted(b *testing.B, load Load, cluster Cluster) float64 {
	b.Helper()
	rows, err := Forecast(b.Context(), load, cluster, small().Config)
	if err != nil {
		b.Fatal(err)
	}
	return rows[0].Seconds
}
