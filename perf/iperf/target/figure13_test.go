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

// Experiment 4 of the report on simulated times: with its own factors there is
// no model of the UltraSPARC-II, and the evidence is a missing factor, at sizes
// where the report saw peaks; with the page factor there is one. With
// coloured pages the report's factors do, and need no cache.
func TestPagesOfTheUltraSPARCII(t *testing.T) {
	s := system(t, "ultrasparc-2")
	request := iperf.Request{AbsErr: 0.002, Share: 0.99}
	search := func(placement string, db *iperf.Database) *iperf.Answer {
		s.Placement = iperf.Anywhere
		if placement == "coloured" {
			s.Placement = iperf.Coloured
		}
		a, err := iperf.Search(t.Context(), recordedTimes(t, "ultrasparc-2", "O3", placement), kernel(t, "increment-ij"), s, db, request, iperf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := search("anywhere", iperf.ReportDatabase())
	if a.NoModel == nil {
		t.Fatalf("the report's factors explain it: %s", a.Model.Name())
	}
	if first := a.NoModel.Reasons[0]; first.Cause != iperf.MissingFactor || !first.Holds {
		t.Errorf("want a missing factor: %v", a.NoModel)
	}
	// The third of the report's peaks, at 640, is what L1nb happens to fit.
	var at []float64
	for _, p := range a.NoModel.Peaks[:min(2, len(a.NoModel.Peaks))] {
		at = append(at, p.Point["n"])
	}
	slices.Sort(at)
	if !slices.Equal(at, []float64{512, 768}) {
		t.Errorf("the highest peaks are at %v: %v", at, a.NoModel)
	}
	a = search("anywhere", iperf.DefaultDatabase())
	if a.Model == nil || !slices.Contains(a.Model.Factors(), "pages") {
		t.Errorf("with the page factor: %v", a.NoModel)
	}
	request.Criterion = iperf.Cheapest
	a = search("coloured", iperf.ReportDatabase())
	if a.Model == nil {
		t.Errorf("coloured pages: %v", a.NoModel)
	} else if a.Model.Name() != "CPU+TLB" {
		t.Errorf("coloured pages need %s, want computation and TLB", a.Model.Name())
	}
}
