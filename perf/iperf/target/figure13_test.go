package target_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"presage/perf/iperf"
)

// figureRows returns the rows of a figure of the report, without their heading.
func figureRows(t *testing.T, file string) [][]string {
	t.Helper()
	f, err := os.Open("../../../datasets/iperf/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

// figure13 returns the report's most precise model by machine and level.
func figure13(t *testing.T) map[string]string {
	t.Helper()
	rows := figureRows(t, "iperf-fig13-targets.csv")
	names := map[string]string{"UltraSPARC-I": "ultrasparc-1", "UltraSPARC-II": "ultrasparc-2", "SuperSPARC-I": "supersparc-1", "SuperSPARC-II": "supersparc-2"}
	out := make(map[string]string)
	for _, row := range rows {
		out[names[row[0]]+" "+row[1]] = row[2]
	}
	if len(out) != 12 {
		t.Fatalf("%d target systems in Figure 13", len(out))
	}
	return out
}

// chosen returns where the most precise model for the recorded times is another
// than Figure 13's. Models by the approximate D go by the name of the exact one.
func chosen(t *testing.T, placement string, db *iperf.Database) (differ []string) {
	for target, printed := range figure13(t) {
		machine, level, _ := strings.Cut(target, " ")
		s := system(t, machine)
		times := recordedTimes(t, machine, level, placement)
		a, err := iperf.Search(t.Context(), times, kernel(t, "increment-ij"), s, db, iperf.Request{AbsErr: 0.005}, iperf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		name := func(e *iperf.Evaluation) string { return strings.ReplaceAll(e.Name(), "_gcd", "") }
		same := slices.IndexFunc(a.Candidates, func(e iperf.Evaluation) bool { return name(&e) == printed })
		t.Logf("%s, pages %s: %s (%.0f%%), Figure 13 has %s (%.0f%% here)", target, placement, name(a.Model), 100*a.Model.Share, printed, 100*a.Candidates[same].Share)
		if name(a.Model) != printed {
			differ = append(differ, fmt.Sprintf("%s: %s", target, name(a.Model)))
		}
	}
	slices.Sort(differ)
	return differ
}

// reportWithGCD is the report's database with D by appendix A.2's approximation.
func reportWithGCD() *iperf.Database {
	return iperf.DefaultDatabase().Without("TLB_overflow", "MEM", "CACHE", "L1b", "L1nb", "L1wait", "L2b", "L2nb", "pages")
}

// Of the twelve target systems of Figure 13, simulated, these choose another
// model than the report found. Why:
//
// SuperSPARC, pages anywhere, D as defined: at n = 792, among the largest times,
// D is 331, so that rows meet in L2 by the program's addresses: with coloured
// pages 69% of accesses miss. With pages anywhere 31% do, as at the sizes around,
// while 59% do at 640, where L2b has no peak. (792 is the only size at which the
// two definitions of D tell different L2 misses of any of the four machines.) So L2b lowers the error as a whole
// but moves as many sizes out of the 5 ms as into it, or more. The approximate D
// knows nothing of 792: the SuperSPARC-I then agrees, and on the SuperSPARC-II
// TLB and L1b add to what Figure 13 has.
//
// Coloured pages: on the UltraSPARC-II no peaks are left (as in Figure 15), and
// CPU alone has all sizes within 5 ms; on the SuperSPARC-II the TLB's part can be
// seen (97 against 93%). The UltraSPARCs of the report had pages anywhere.
func TestSimulatedTargetsAgainstFigure13(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	ultra := []string{"ultrasparc-2 O3: CPU", "ultrasparc-2 none: CPU"}
	for _, c := range []struct {
		placement, distance string
		db                  *iperf.Database
		want                []string // 8, 10, 8 and 8 of 12 agree
	}{
		{"anywhere", "as defined", iperf.ReportDatabase(), []string{
			"supersparc-1 O3: CPU+TLB", "supersparc-1 none: CPU+TLB", "supersparc-2 O3: CPU", "supersparc-2 none: CPU",
		}},
		{"anywhere", "approximate", reportWithGCD(), []string{
			"supersparc-2 O3: CPU+TLB+L1b+L2b", "supersparc-2 none: CPU+TLB+L1b+L2b",
		}},
		{"coloured", "as defined", iperf.ReportDatabase(), append([]string{
			"supersparc-2 O3: CPU+TLB+L2b", "supersparc-2 none: CPU+TLB+L2b",
		}, ultra...)},
		{"coloured", "approximate", reportWithGCD(), append([]string{
			"supersparc-2 O3: CPU+TLB+L1b+L2b", "supersparc-2 none: CPU+TLB+L1b+L2b",
		}, ultra...)},
	} {
		if got := chosen(t, c.placement, c.db); !slices.Equal(got, c.want) {
			t.Errorf("pages %s, D %s: different from Figure 13 are %q, before %q", c.placement, c.distance, got, c.want)
		}
	}
}

// Without n = 792, whose rows meet in L2 by one D and not by the other, the SuperSPARCs
// choose the factors that the report printed, by either. On the UltraSPARCs the two
// never differ, so that there is no reason to leave it out.
func TestFigure13WithoutOneSize(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for target, printed := range figure13(t) {
		machine, level, _ := strings.Cut(target, " ")
		if !strings.HasPrefix(machine, "supersparc") {
			continue
		}
		var times []iperf.Measurement
		for _, m := range recordedTimes(t, machine, level, "anywhere") {
			if m.Point["n"] != 792 {
				times = append(times, m)
			}
		}
		if len(times) != 99 {
			t.Fatalf("%s: %d sizes", target, len(times))
		}
		for _, db := range []*iperf.Database{iperf.ReportDatabase(), reportWithGCD()} {
			a, err := iperf.Search(t.Context(), times, kernel(t, "increment-ij"), system(t, machine), db, iperf.Request{AbsErr: 0.005}, iperf.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if name := strings.ReplaceAll(a.Model.Name(), "_gcd", ""); name != printed {
				t.Errorf("%s: %s, Figure 13 has %s", target, name, printed)
			}
		}
	}
}

// gain is by how many sizes of 100 L2b changes those that a model has within 5 ms.
type gain struct{ machine, level, to string }

// printedGains are those of the report's Figure 21 for the SuperSPARCs, at -none and -O3.
func printedGains(t *testing.T) map[gain]float64 {
	t.Helper()
	rows := figureRows(t, "iperf-fig20-21.csv")
	shares := make(map[gain]float64) // by the factors of the model
	for _, row := range rows {
		if row[2] != "OLS" || row[5] != "0.005" {
			continue
		}
		share, err := strconv.ParseFloat(row[6], 64)
		if err != nil {
			t.Fatal(err)
		}
		shares[gain{row[0], row[1], row[4]}] = share
	}
	gains := make(map[gain]float64)
	for machine, name := range map[string]string{"SuperSPARC-I": "supersparc-1", "SuperSPARC-II": "supersparc-2"} {
		for _, level := range []string{"none", "O3"} {
			for _, to := range []string{"CPU", "CPU+TLB"} {
				gains[gain{name, level, to}] = shares[gain{machine, level, to + "+L2b"}] - shares[gain{machine, level, to}]
			}
		}
	}
	return gains
}

// Which D the report's prototype used is told by its Figure 21: L2b gains sizes there in
// all of eight pairs of models that it alone tells apart. So it does in simulated times
// by the approximate D; by D as defined it loses as many as it gains, or more, in six.
func TestL2bGainsAsPrintedByTheApproximateD(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	of := func(g gain, db *iperf.Database) float64 {
		a, err := iperf.Search(t.Context(), recordedTimes(t, g.machine, g.level, "anywhere"), kernel(t, "increment-ij"), system(t, g.machine), db, iperf.Request{AbsErr: 0.005}, iperf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		share := func(model string) float64 {
			i := slices.IndexFunc(a.Candidates, func(e iperf.Evaluation) bool { return strings.ReplaceAll(e.Name(), "_gcd", "") == model })
			return math.Round(100 * a.Candidates[i].Within(0.005))
		}
		return share(g.to+"+L2b") - share(g.to)
	}
	printed := printedGains(t)
	if len(printed) != 8 {
		t.Fatalf("%d pairs", len(printed))
	}
	loses := 0
	for g, want := range printed {
		approximate, defined := of(g, reportWithGCD()), of(g, iperf.ReportDatabase())
		t.Logf("%s %s, L2b beside %s: printed %+g, D approximate %+g, as defined %+g", g.machine, g.level, g.to, want, approximate, defined)
		if want <= 0 || approximate <= 0 {
			t.Errorf("%v: printed %+g, with the approximate D %+g", g, want, approximate)
		}
		if defined <= 0 {
			loses++
		}
	}
	if loses != 6 {
		t.Errorf("with D as defined %d of 8 do not gain, the comment has 6", loses)
	}
}

// Pages in fragments of free memory, which the formula of the page factor does not
// assume, are explained by it all the same; where pages are coloured, and search is
// not told, it is not taken.
func TestPageFactorWhereItsFormulaDoesNotHold(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, machine := range recordedMachines {
		for _, placement := range []string{"fragmented", "coloured"} {
			a, err := iperf.Search(t.Context(), recordedTimes(t, machine, "O3", placement), kernel(t, "increment-ij"), system(t, machine),
				iperf.DefaultDatabase(), iperf.Request{AbsErr: 0.005}, iperf.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := considers(a.Model, "pages"); got != (placement == "fragmented") {
				t.Errorf("%s, pages %s: the model is %s", machine, placement, a.Model.Name())
			}
			if placement == "fragmented" && a.Model.Share < 1 {
				t.Errorf("%s: %g of the sizes within 5 ms", machine, a.Model.Share)
			}
		}
	}
}

// Where pages lie anywhere, the page factor takes the place of the report's cache
// factors, and has all sizes of all four machines within 5 ms.
func TestPageFactorExplainsAllTargets(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, machine := range recordedMachines {
		for _, level := range []string{"none", "O3"} {
			a, err := iperf.Search(t.Context(), recordedTimes(t, machine, level, "anywhere"), kernel(t, "increment-ij"), system(t, machine),
				iperf.DefaultDatabase(), iperf.Request{AbsErr: 0.005, Share: 1, Criterion: iperf.Cheapest}, iperf.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if a.Model == nil || !considers(a.Model, "pages") {
				t.Errorf("%s %s: %v", machine, level, a.NoModel)
			}
		}
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
	// The report's three. L1nb has peaks there as well, and is bent to stand for what
	// is missing: too high at 512, too low at the others.
	var at []float64
	for _, p := range a.NoModel.Peaks[:min(3, len(a.NoModel.Peaks))] {
		at = append(at, p.Point["n"])
	}
	slices.Sort(at)
	if !slices.Equal(at, []float64{512, 640, 768}) {
		t.Errorf("the highest peaks are at %v: %v", at, a.NoModel)
	}
	a = search("anywhere", iperf.DefaultDatabase())
	if a.Model == nil || !considers(a.Model, "pages") {
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

// considers reports whether a complete model has a model of the factor.
func considers(e *iperf.Evaluation, factor string) bool {
	return slices.ContainsFunc(e.Models, func(m *iperf.Model) bool { return m.Factor == factor })
}
