package iperf_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"presage/perf/iperf"
)

// readTable reads a table of the report's figures, without its header.
func readTable(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open("../../datasets/iperf/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%s: %d rows, %v", name, len(rows), err)
	}
	return rows[1:]
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// profile is Figures 20 and 21: target system, fit and model number to the
// percentages within 0.005, 0.010, 0.015 s and within 10, 20, 30%.
type profile map[string]*profileRow

type profileRow struct {
	model    int
	factors  []string
	abs, rel []float64
}

func key(arch, opt, fit string, model int) string {
	return fmt.Sprintf("%s/%s/%s/%d", arch, opt, fit, model)
}

func readProfile(t *testing.T) profile {
	t.Helper()
	p := make(profile)
	for _, row := range readTable(t, "iperf-fig20-21.csv") {
		model, err := strconv.Atoi(row[3])
		if err != nil {
			t.Fatal(err)
		}
		k := key(row[0], row[1], row[2], model)
		if p[k] == nil {
			p[k] = &profileRow{model: model, factors: strings.Split(row[4], "+")}
		}
		p[k].abs = append(p[k].abs, number(t, row[6]))
		p[k].rel = append(p[k].rel, number(t, row[8]))
	}
	if len(p) != 4*3*2*9 {
		t.Fatalf("%d rows in Figures 20 and 21, want 216", len(p))
	}
	return p
}

// candidates returns the report's models of a target system, in order, that
// keep holds for, with their shares within the error-th absolute error.
func (p profile) candidates(arch, opt string, errorIndex int, keep func(*profileRow) bool) (rows []*profileRow, out []iperf.Candidate) {
	for model := 1; model <= 9; model++ {
		if r := p[key(arch, opt, "OLS", model)]; keep(r) {
			rows = append(rows, r)
			out = append(out, iperf.Candidate{Cost: float64(len(r.factors)), Share: r.abs[errorIndex] / 100})
		}
	}
	return rows, out
}

// complete holds for the models that enumeration gives for an UltraSPARC: with
// computation, as in Figure 9, and with the L1 model that pre-selection leaves.
func complete(r *profileRow) bool {
	return slices.Contains(r.factors, "CPU") && !slices.Contains(r.factors, "L1b")
}

func TestFigure11IsPartOfFigure20(t *testing.T) {
	p := readProfile(t)
	for _, row := range readTable(t, "iperf-fig11-ultrasparc1-O3.csv") {
		model, _ := strconv.Atoi(row[0])
		r := p[key("UltraSPARC-I", "O3", "OLS", model)]
		for i, want := range row[2:] {
			if got := r.abs[i]; got != number(t, want) || row[1] != strings.Join(r.factors, "+") {
				t.Errorf("model %d (%s): Figure 11 has %s, Figure 20 %g (%v)", model, row[1], want, got, r.factors)
			}
		}
	}
}

// figure12 selects for every cell of Figure 12 and returns the cells that differ.
func figure12(t *testing.T, keep func(*profileRow) bool) (cells int, differ []string) {
	p := readProfile(t)
	for _, row := range readTable(t, "iperf-fig12-selection.csv") {
		criterion := map[string]iperf.Criterion{"highest-precision": iperf.HighestPrecision, "fewest-factors": iperf.Cheapest}[row[0]]
		absErr := number(t, row[1])
		errorIndex := int(absErr/0.005+0.5) - 1
		rows, candidates := p.candidates("UltraSPARC-I", "O3", errorIndex, keep)
		for i, share := range []float64{0.9, 0.8, 0.7} {
			cells++
			got := "none"
			if best := iperf.Select(candidates, iperf.Request{AbsErr: absErr, Share: share, Criterion: criterion}); best >= 0 {
				got = strconv.Itoa(rows[best].model)
			}
			if got != row[2+i] {
				differ = append(differ, fmt.Sprintf("%s, %g s, %g: selected %s, printed %s", row[0], absErr, share, got, row[2+i]))
			}
		}
	}
	return cells, differ
}

func TestFigure12(t *testing.T) {
	cells, differ := figure12(t, complete)
	if cells != 18 || len(differ) > 0 {
		t.Errorf("of %d cells, these differ: %q", cells, differ)
	}
}

// Figure 11 lists model 9, TLB+L1nb+L2b, with 92% within 0.010 s for three
// factors. Were it a candidate, it would be cheaper than model 6, which Figure
// 12(b) prints there: so the report's candidates are those with computation.
func TestFigure12LeavesModel9Out(t *testing.T) {
	_, differ := figure12(t, func(*profileRow) bool { return true })
	want := []string{"fewest-factors, 0.01 s, 0.9: selected 9, printed 6"}
	if !slices.Equal(differ, want) {
		t.Errorf("with all nine models of Figure 11 these differ: %q, want %q", differ, want)
	}
}

func TestFigure13(t *testing.T) {
	p := readProfile(t)
	for _, keep := range []func(*profileRow) bool{
		func(*profileRow) bool { return true },
		func(r *profileRow) bool { return slices.Contains(r.factors, "CPU") },
	} {
		rows := readTable(t, "iperf-fig13-targets.csv")
		if len(rows) != 12 {
			t.Fatalf("%d target systems", len(rows))
		}
		for _, row := range rows {
			models, candidates := p.candidates(row[0], row[1], 0, keep)
			best := iperf.Select(candidates, iperf.Request{AbsErr: 0.005})
			got := strings.Join(models[best].factors, "+")
			if got != row[2] || models[best].abs[0] != number(t, row[3]) {
				t.Errorf("%s %s: selected %s (%g%%), printed %s (%s%%)", row[0], row[1], got, models[best].abs[0], row[2], row[3])
			}
		}
	}
}

// Section 4.2.1 says that the best models of the two SuperSPARCs are the same, and
// Figure 13 prints different ones. Figure 21 hardly tells them apart: within 5 ms each
// machine's model is no more than two sizes of 100 better than the other's, and on the
// SuperSPARC-II the cheapest of three models that are within one size of each other
// is printed, TLB and L1b adding nothing.
func TestSuperSPARCsAreTiesInFigure21(t *testing.T) {
	p := readProfile(t)
	share := func(arch, opt string, model int) float64 { return p[key(arch, opt, "OLS", model)].abs[0] }
	const l2, tlbL2, tlbL1L2 = 4, 8, 7 // of Figure 19
	for _, row := range readTable(t, "iperf-fig13-targets.csv") {
		arch, opt := row[0], row[1]
		if opt == "depend-fast" || !strings.HasPrefix(arch, "Super") {
			continue
		}
		chosen, other := l2, tlbL2
		if arch == "SuperSPARC-I" {
			chosen, other = tlbL2, l2
		}
		if got := strings.Join(p[key(arch, opt, "OLS", chosen)].factors, "+"); got != row[2] {
			t.Fatalf("%s %s: model %d is %s, Figure 13 has %s", arch, opt, chosen, got, row[2])
		}
		if more := share(arch, opt, chosen) - share(arch, opt, other); more < 0 || more > 2 {
			t.Errorf("%s %s: model %d has %g sizes more than model %d", arch, opt, chosen, more, other)
		}
		if share(arch, opt, tlbL1L2) != share(arch, opt, tlbL2) {
			t.Errorf("%s %s: L1b adds to model %d", arch, opt, tlbL2)
		}
		if less := share(arch, opt, l2) - share(arch, opt, tlbL1L2); arch == "SuperSPARC-II" && (less < 0 || less > 1) {
			t.Errorf("%s %s: model %d has %g sizes more than model %d", arch, opt, l2, less, tlbL1L2)
		}
	}
}

// contradictions returns what cannot be in Figures 20 and 21: a share that falls
// as the error grows, and different fits of the same function.
func contradictions(p profile) (bad []string) {
	for _, arch := range []string{"UltraSPARC-I", "UltraSPARC-II", "SuperSPARC-I", "SuperSPARC-II"} {
		for _, opt := range []string{"none", "O3", "depend-fast"} {
			for _, fit := range []string{"OLS", "WLS"} {
				for model := 1; model <= 9; model++ {
					r := p[key(arch, opt, fit, model)]
					if !slices.IsSorted(r.abs) || !slices.IsSorted(r.rel) {
						bad = append(bad, fmt.Sprintf("%s %s %s model %d: %v, %v fall", arch, opt, fit, model, r.abs, r.rel))
					}
				}
			}
		}
	}
	// On the UltraSPARC-II L2b is a multiple of n², which CPU has: models that
	// differ by L2b alone are the same.
	for _, opt := range []string{"none", "O3", "depend-fast"} {
		for _, fit := range []string{"OLS", "WLS"} {
			for _, pair := range [][2]int{{1, 4}, {3, 5}, {2, 8}} {
				a, b := p[key("UltraSPARC-II", opt, fit, pair[0])], p[key("UltraSPARC-II", opt, fit, pair[1])]
				if !slices.Equal(a.abs, b.abs) || !slices.Equal(a.rel, b.rel) {
					bad = append(bad, fmt.Sprintf("UltraSPARC-II %s %s: models %d and %d are one function, but %v, %v and %v, %v", opt, fit, pair[0], pair[1], a.abs, a.rel, b.abs, b.rel))
				}
			}
		}
	}
	return bad
}

// Figure 20 contradicts itself by one percent in three rows, far below what
// changes a selection.
func TestContradictionsOfFigures20And21(t *testing.T) {
	bad := contradictions(readProfile(t))
	for _, s := range bad {
		t.Log(s)
	}
	if len(bad) != 3 {
		t.Errorf("%d contradictions, want the three that are known", len(bad))
	}
}
