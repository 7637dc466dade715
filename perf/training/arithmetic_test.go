//go:build slow

package training

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

// BenchmarkAgainstArithmeticLists holds the sizes that Train chooses against lists of six
// sizes at equal distances that take as long by the tests' clock, by the errors at two and four
// times the largest size that Train ran. It reports
// geometric means over all kernels.
func BenchmarkAgainstArithmeticLists(t *testing.B) {
	run := subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir())}
	blocks := []uint64{64, 128, 4096}
	var logs, medians [2]float64 // of trained sizes, and of lists
	var table strings.Builder
	for _, name := range []string{"PRODUCT", "SWEEPS", "HEAT", "CHOLESKY", "SORT", "GATHER"} {
		prog := kernel(t, name)
		trained, err := Train(t.Context(), prog, Options{
			ProfileOptions: locality.ProfileOptions{RunOptions: run, BlockBytes: blocks}, Parameter: "n", From: 12, Until: 1000,
			Budget: 1200 * time.Millisecond, seconds: byWork,
		})
		if err != nil {
			t.Fatal(err)
		}
		list := equallyExpensive(t, trained)
		runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", list...), locality.ProfileOptions{RunOptions: run, BlockBytes: blocks})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: run.Store})
		if err != nil {
			t.Fatal(err)
		}
		largest := trained.Runs.Runs[len(trained.Runs.Runs)-1].Point["n"]
		fmt.Fprintf(&table, "%s: trained at %s, %d accesses; list %v, %d accesses; held out %.2f%%, change %.2f%%\n", name,
			sizesOf(trained.Runs), accesses(trained.Runs), list, accesses(runs), 100*trained.HeldOut[0].P90, 100*trained.Steps[len(trained.Steps)-1].Change)
		for _, times := range []float64{2, 4} {
			judged, err := locality.Profile(t.Context(), prog, subject.Sweep("n", times*largest), locality.ProfileOptions{RunOptions: run, BlockBytes: blocks})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&table, "  %gx", times)
			for i, m := range []*misses.Model{trained.Model, plain} {
				all, err := judge(m, &judged.Runs[0])
				if err != nil {
					t.Fatal(err)
				}
				e := sum(all)
				logs[i] += math.Log(e.P90+1e-4) / 12
				medians[i] += math.Log(e.Median+1e-4) / 12
				fmt.Fprintf(&table, "   %s: median %.3f%%, p90 %.2f%%, worst %.0f%%", []string{"trained", "list"}[i], 100*e.Median, 100*e.P90, 100*e.Worst)
			}
			table.WriteString("\n")
		}
	}
	t.Log("\n" + table.String())
	t.Logf("geometric means of medians: trained %.3f%%, list %.3f%%; of 90th percentiles: trained %.3f%%, list %.3f%%",
		100*math.Exp(medians[0]), 100*math.Exp(medians[1]), 100*math.Exp(logs[0]), 100*math.Exp(logs[1]))
	t.ReportMetric(math.Exp(medians[0]-medians[1]), "median-ratio")
	t.ReportMetric(math.Exp(logs[0]-logs[1]), "p90-ratio")
}

func sizesOf(runs *locality.Runs) string {
	var out []string
	for _, r := range runs.Runs {
		text := fmt.Sprint(r.Point["n"])
		if r.Recorded.SampleOneIn > 1 {
			text += fmt.Sprintf("/%d", r.Recorded.SampleOneIn)
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func accesses(runs *locality.Runs) uint64 {
	n := uint64(0)
	for _, r := range runs.Runs {
		n += r.Accesses
	}
	return n
}

// equallyExpensive returns six sizes from the smallest of some runs at equal
// distances, which take no less time than all steps together.
func equallyExpensive(t testing.TB, of *Trained) []float64 {
	t.Helper()
	total := 0.0
	for _, s := range of.Steps {
		total += s.Seconds * 10e6
	}
	from := of.Runs.Runs[0].Point["n"]
	for to := from + 5; ; to++ {
		var list []float64
		work := 0.0
		for i := range 6 {
			n := math.Round(from + float64(i)*(to-from)/5)
			list = append(list, n)
			for _, a := range of.Model.Accesses(subject.Point{"n": n}) {
				work += a
			}
		}
		if work >= total {
			return list
		}
	}
}
