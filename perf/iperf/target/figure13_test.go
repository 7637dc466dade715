package target_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"presage/perf/iperf"
)

// figure13 returns the report's most precise model by machine and level.
func figure13(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open("../../../datasets/iperf/iperf-fig13-targets.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"UltraSPARC-I": "ultrasparc-1", "UltraSPARC-II": "ultrasparc-2", "SuperSPARC-I": "supersparc-1", "SuperSPARC-II": "supersparc-2"}
	out := make(map[string]string)
	for _, row := range rows[1:] {
		out[names[row[0]]+" "+row[1]] = row[2]
	}
	if len(out) != 12 {
		t.Fatalf("%d target systems in Figure 13", len(out))
	}
	return out
}

// chosen returns the most precise model of the report's factors for each target
// system, from the recorded times, and the shares of that and of Figure 13's.
func chosen(t *testing.T, placement string) (differ []string) {
	for target, printed := range figure13(t) {
		machine, level, _ := strings.Cut(target, " ")
		s := system(t, machine)
		times := recordedTimes(t, machine, level, placement)
		a, err := iperf.Search(t.Context(), times, kernel(t, "increment-ij"), s, iperf.ReportDatabase(), iperf.Request{AbsErr: 0.005}, iperf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		same := slices.IndexFunc(a.Candidates, func(e iperf.Evaluation) bool { return e.Name() == printed })
		t.Logf("%s, pages %s: %s (%.0f%%), Figure 13 has %s (%.0f%% here)", target, placement, a.Model.Name(), 100*a.Model.Share, printed, 100*a.Candidates[same].Share)
		if a.Model.Name() != printed {
			differ = append(differ, fmt.Sprintf("%s: %s", target, a.Model.Name()))
		}
	}
	slices.Sort(differ)
	return differ
}

func TestSimulatedTargetsAgainstFigure13(t *testing.T) {
	for _, p := range []iperf.Placement{iperf.Anywhere, iperf.Coloured} {
		t.Log(p, chosen(t, p.String()))
	}
}
