//go:build unix

package explore

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/store"
)

// BenchmarkShow computes and draws what the page does when a slider moves, when a
// level is chosen, and when the model changes, of the profiles in $PRESAGE_PROFILES: of
// a whole program, which has no more groups than Sweep3D, it should take less than 200 ms.
// Processor time tells more than wall time on a computer that others use.
func BenchmarkShow(b *testing.B) {
	dir := os.Getenv("PRESAGE_PROFILES")
	if dir == "" {
		b.Skip("PRESAGE_PROFILES names no folder that presage profile wrote")
	}
	runs, err := locality.LoadRuns(dir)
	if err != nil {
		b.Fatal(err)
	}
	s, err := New(runs, Options{Fit: misses.FitOptions{Store: store.Open(b.TempDir())}})
	if err != nil {
		b.Fatal(err)
	}
	bases := []string{"1, n, n^2, n^3", "1, n^2, n^3", "1, n^3"}
	changes := 0
	for _, c := range []struct {
		name   string
		change func(st *State)
	}{
		{"what=slider", func(st *State) { st.Capacity = st.Block * uint64(64+changes) }},
		{"what=scope", func(st *State) { st.By, st.Capacity = "loop", st.Block*uint64(64+changes) }},
		{"what=size", func(st *State) { st.At = 50 + float64(changes)/1000 }},
		{"what=basis", func(st *State) { st.Basis = fmt.Sprintf("%s + %g", bases[changes%3], 1e-9*float64(changes)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			began := processorTime(b)
			for b.Loop() {
				changes++
				st := s.Initial()
				c.change(&st)
				v, err := s.Show(b.Context(), st)
				if err != nil {
					b.Fatal(err)
				}
				v.figureContents()
			}
			b.ReportMetric((processorTime(b)-began).Seconds()*1000/float64(b.N), "cpu-ms/op")
		})
	}
}

// processorTime returns what the process has used, all its threads together.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
