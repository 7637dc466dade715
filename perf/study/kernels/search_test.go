package kernels

import (
	"cmp"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/fit"
	"presage/perf/frame"
	"presage/perf/iperf"
	"presage/perf/subject"
)

// simulatedTimes reads the simulated times of a machine, a level of optimisation
// and a placement of pages.
func simulatedTimes(t *testing.T, machine, level, placement string) []TimeRow {
	t.Helper()
	f, err := os.Open("../../../datasets/iperf/simulated.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	df, err := frame.ReadCSV(f)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Machine   string  `frame:"machine"`
		Level     string  `frame:"level"`
		Placement string  `frame:"placement"`
		N         float64 `frame:"n"`
		Seconds   float64 `frame:"sim_time_sec"`
	}
	all, err := frame.Into[row](df)
	if err != nil {
		t.Fatal(err)
	}
	var times []TimeRow
	for _, r := range all {
		if r.Machine == machine && r.Level == level && r.Placement == placement {
			times = append(times, TimeRow{subject.Point{"n": r.N}, r.Seconds})
		}
	}
	if len(times) == 0 {
		t.Fatalf("no times of %s, %s, %s", machine, level, placement)
	}
	return times
}

func kernelAndSystem(t *testing.T, machine string) (*iperf.Kernel, *iperf.System) {
	t.Helper()
	k, err := FindKernel("increment-ij")
	if err != nil {
		t.Fatal(err)
	}
	s, err := FindSystem(machine, "")
	if err != nil {
		t.Fatal(err)
	}
	return k, s
}

// searched searches among the report's factors, if the options name no others.
func searched(t *testing.T, times []TimeRow, machine string, r iperf.Request, opt SearchOptions) *ModelSearch {
	t.Helper()
	k, s := kernelAndSystem(t, machine)
	if opt.Database == nil {
		opt.Database = iperf.ReportDatabase()
	}
	m, err := SearchModels(t.Context(), times, k, s, r, opt)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// madeOf returns times of an UltraSPARC-I that are known combinations of models,
// with noise of 0.1 ms, three runs a size.
func madeOf(t *testing.T, parts map[string]float64) []TimeRow {
	t.Helper()
	k, s := kernelAndSystem(t, "ultrasparc-1")
	var points []fit.Point
	for n := 8.0; n <= 800; n += 8 {
		points = append(points, fit.Point{"n": n})
	}
	l, err := iperf.Preselect(iperf.ReportDatabase(), k, s, points)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1998, 7))
	var times []TimeRow
	for i, p := range points {
		truth := 5e-3
		for _, c := range l.Curves {
			truth += parts[c.Model.Name] * c.Terms[len(c.Terms)-1][i]
		}
		for range 3 {
			times = append(times, TimeRow{subject.Point(p), truth + 1e-4*rng.NormFloat64()})
		}
	}
	return times
}

func TestSearchModelsRecovers(t *testing.T) {
	parts := map[string]float64{"CPU": 2e-7, "L1nb": 2e-6, "L2b": 3e-7}
	request := iperf.Request{AbsErr: 1e-3, Share: 0.99, Criterion: iperf.Cheapest}
	m := searched(t, madeOf(t, parts), "ultrasparc-1", request, SearchOptions{})
	if m.Model == nil || m.Model.Name() != "CPU+L1nb+L2b" || len(m.Reasons)+len(m.Peaks) != 0 {
		t.Fatalf("found %v", m.Candidates)
	}
	at := slices.IndexFunc(m.Candidates, func(r CandidateRow) bool { return r.Chosen })
	chosenTwice := slices.ContainsFunc(m.Candidates[at+1:], func(r CandidateRow) bool { return r.Chosen })
	sorted := slices.IsSortedFunc(m.Candidates, func(a, b CandidateRow) int { return cmp.Compare(b.Share, a.Share) })
	if m.Candidates[at].Model != m.Model.Name() || chosenTwice || !sorted {
		t.Errorf("candidates %v", m.Candidates)
	}
	// Coefficients are those that the times were made with.
	got := map[string]float64{}
	for _, r := range m.Coefficients {
		if r.Model == m.Model.Name() {
			got[r.Term] = r.Coefficient
		}
	}
	for term, want := range map[string]float64{"CPU[2]": 2e-7, "L1nb": 2e-6, "L2b": 3e-7} {
		if math.Abs(got[term]/want-1) > 0.02 {
			t.Errorf("coefficient of %s is %g, made with %g", term, got[term], want)
		}
	}
	// What terms contribute adds up to what is predicted, and shares to 1.
	sum := make(map[float64]float64)
	for _, r := range m.Curves {
		if !math.IsNaN(r.Predicted) {
			sum[r.Point["n"]] += r.Predicted
		}
	}
	within := 0.0
	for _, r := range m.Predictions {
		if n := r.Point["n"]; math.Abs(sum[n]-r.Predicted) > 1e-12 || r.Runs != 3 {
			t.Errorf("n = %g: terms add up to %g, predicted are %g, of %d runs", n, sum[n], r.Predicted, r.Runs)
		}
		if r.Within {
			within++
		}
	}
	if within/100 != m.Model.Share || within/100 != m.Candidates[at].Share {
		t.Errorf("%g of 100 sizes are within the error, the share is %g", within, m.Model.Share)
	}
	total := 0.0
	for _, r := range m.Sensitivities {
		total += r.TimeShare
	}
	if math.Abs(total-1) > 1e-9 || len(m.Sensitivities) != 3 {
		t.Errorf("sensitivities %v", m.Sensitivities)
	}
	// A factor alone with the required one, and the rest without it, are candidates.
	share := func(name string) float64 {
		i := slices.IndexFunc(m.Candidates, func(r CandidateRow) bool { return r.Model == name })
		return m.Candidates[i].Share
	}
	for _, r := range m.Sensitivities {
		got := [2]float64{r.Alone, r.LeftOut}
		want := map[string][2]float64{
			"L1nb": {share("CPU+L1nb"), share("CPU+L2b")}, "L2b": {share("CPU+L2b"), share("CPU+L1nb")},
		}[r.Model]
		if r.Model != "CPU" && (got != want || want[0] == want[1]) || got[1] >= m.Model.Share {
			t.Errorf("%s: shares alone and left out are %v, want %v", r.Model, got, want)
		}
	}
}

// TestSearchModelsWithoutAnAnswer repeats the report's experiment 4, as a notebook does.
func TestSearchModelsWithoutAnAnswer(t *testing.T) {
	times := simulatedTimes(t, "ultrasparc-2", "O3", "anywhere")
	request := iperf.Request{AbsErr: 0.002, Share: 0.99}
	m := searched(t, times, "ultrasparc-2", request, SearchOptions{})
	if m.Model != nil || m.Shown() != m.NoModel.Best {
		t.Fatalf("a model: %v", m.Candidates)
	}
	if len(m.Reasons) != 3 || m.Reasons[0].Cause != string(iperf.MissingFactor) || !m.Reasons[0].Holds {
		t.Errorf("reasons %v", m.Reasons)
	}
	if len(m.Peaks) < 2 || m.Peaks[0].Point["n"]+m.Peaks[1].Point["n"] != 512+768 || math.Abs(m.Peaks[0].Point["n"]-m.Peaks[1].Point["n"]) != 256 {
		t.Errorf("peaks %v", m.Peaks)
	}
	for _, p := range m.Peaks {
		if (p.Time > p.Predicted) != (p.Spreads > 0) || math.Abs(p.Spreads) < 3 {
			t.Errorf("peaks %v", m.Peaks)
		}
	}
	if slices.ContainsFunc(m.Candidates, func(r CandidateRow) bool { return r.Chosen }) {
		t.Errorf("candidates %v", m.Candidates)
	}
	m = searched(t, times, "ultrasparc-2", request, SearchOptions{Database: iperf.DefaultDatabase()})
	if m.Model == nil || !strings.Contains(m.Model.Name(), "pages") {
		t.Errorf("with the page factor: %v", m.Reasons)
	}
	m = searched(t, times, "ultrasparc-2", request, SearchOptions{Database: iperf.DefaultDatabase(), Without: []string{"pages"}})
	if i := slices.IndexFunc(m.Pruned, func(r PrunedRow) bool { return r.Model == "L1b" }); i < 0 || !strings.Contains(m.Pruned[i].Reason, "blocking") {
		t.Errorf("the L1 does not block, pruned are %v", m.Pruned)
	}
	if slices.ContainsFunc(m.Curves, func(r CurveRow) bool { return r.Model == "pages" }) {
		t.Error("a model that was left out has a curve")
	}
}

// TestSearchModelsRelative checks a relative request, and which models meet it.
func TestSearchModelsRelative(t *testing.T) {
	m := searched(t, simulatedTimes(t, "ultrasparc-1", "none", "anywhere"), "ultrasparc-1", iperf.Request{RelErr: 0.03}, SearchOptions{})
	within := 0.0
	for _, r := range m.Predictions {
		if r.Within != (math.Abs(r.RelErr) <= 0.03) {
			t.Errorf("error %g within the request: %v", r.RelErr, r.Within)
		}
		if r.Within {
			within++
		}
	}
	if n := float64(len(m.Predictions)); n != 100 || within/n != m.Shown().Share {
		t.Errorf("%g of %g within, share %g", within, n, m.Shown().Share)
	}
}

// TestSearchModelsExtend uses a factor from a user's file: times that rise by a step are
// explained by a step.
func TestSearchModelsExtend(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte(`factors:
  - name: step
    about: something that happens beyond 400
    models:
      - name: step
        cost: 1
        source: this test
        terms:
          - cases:
              - when: n > 400
                value: '1'
              - value: '0'
`), 0o600); err != nil {
		t.Fatal(err)
	}
	times := madeOf(t, map[string]float64{"CPU": 1e-8})
	for i := range times {
		if times[i].Point["n"] > 400 {
			times[i].Seconds += 0.02
		}
	}
	request := iperf.Request{AbsErr: 1e-3, Share: 1, Criterion: iperf.Cheapest}
	if m := searched(t, times, "ultrasparc-1", request, SearchOptions{}); m.Model != nil {
		t.Errorf("without the file: %s", m.Model.Name())
	}
	if m := searched(t, times, "ultrasparc-1", request, SearchOptions{Extend: file}); m.Model == nil || m.Model.Name() != "CPU+step" {
		t.Errorf("with the file: %v", m.Candidates)
	}
}

// TestSearchModelsRuns demands that rows of a size are its runs, in any order.
func TestSearchModelsRuns(t *testing.T) {
	var four, two []TimeRow
	for round, factor := range []float64{9, 1, 2, 4} { // the average leaves 9 and 1 out: 3 n
		for n := 8.0; n <= 80; n += 8 {
			row := TimeRow{subject.Point{"n": n, "round": float64(round)}, n * factor}
			four = append(four, row)
			if round >= 2 {
				two = append(two, row)
			}
		}
	}
	for wantRuns, times := range map[int][]TimeRow{4: four, 2: two} {
		m := searched(t, times, "ultrasparc-1", iperf.Request{RelErr: 0.1}, SearchOptions{})
		if len(m.Predictions) != 10 {
			t.Errorf("%d sizes", len(m.Predictions))
		}
		for _, r := range m.Predictions {
			if n := r.Point["n"]; math.Abs(r.Time-3*n) > 1e-9 || r.Runs != wantRuns || len(r.Point) != 1 {
				t.Errorf("%v: %g s of %d runs, want %g of %d", r.Point, r.Time, r.Runs, 3*n, wantRuns)
			}
		}
	}
}

func TestSearchModelsBadInput(t *testing.T) {
	k, s := kernelAndSystem(t, "ultrasparc-1")
	times := func(third float64) (rows []TimeRow) {
		for i, seconds := range []float64{1, 2, third, 4} {
			rows = append(rows, TimeRow{subject.Point{"n": float64(8 * (i + 1))}, seconds})
		}
		return rows
	}
	absolute := iperf.Request{AbsErr: 1}
	for _, c := range []struct {
		times   []TimeRow
		opt     SearchOptions
		request iperf.Request
		want    string
	}{
		{times(math.NaN()), SearchOptions{}, absolute, "row 3: time_sec is no number"},
		{times(math.Inf(1)), SearchOptions{}, absolute, "row 3: time_sec is no number"},
		{times(-3), SearchOptions{}, absolute, "n=24"},
		{[]TimeRow{{subject.Point{"m": 1}, 1}}, SearchOptions{}, absolute, "row 1: no parameter n"},
		{times(3), SearchOptions{Without: []string{"nothing"}}, absolute, `"nothing"`},
		{times(3), SearchOptions{Extend: "no/such.yaml"}, absolute, "no such file"},
		{times(3), SearchOptions{}, iperf.Request{}, "perf: search models: iperf:"},
	} {
		if _, err := SearchModels(t.Context(), c.times, k, s, c.request, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// TestSearchModelsExtremeTimes takes the longest and the shortest time that can be, with
// which a fit has finite errors, and refuses others, whose squares or weights overflow.
func TestSearchModelsExtremeTimes(t *testing.T) {
	k, s := kernelAndSystem(t, "ultrasparc-1")
	requests := []iperf.Request{{AbsErr: 0.005, Share: 1}, {RelErr: 0.005, Share: 1}}
	for _, c := range []struct {
		seconds float64
		refused bool
	}{{1e12, false}, {1e13, true}, {1e300, true}, {1e308, true}, {math.MaxFloat64, true}, {1e-15, false}, {1e-16, true}, {1e-300, true}, {math.SmallestNonzeroFloat64, true}} {
		for _, request := range requests {
			var times []TimeRow
			for n := 8.0; n < 400; n += 16 {
				times = append(times, TimeRow{subject.Point{"n": n}, 3e-9*n*n + 2e-6})
			}
			times[12].Seconds = c.seconds
			m, err := SearchModels(t.Context(), times, k, s, request, SearchOptions{})
			switch {
			case c.refused:
				if err == nil || !strings.Contains(err.Error(), "the time at n=200 is ") {
					t.Errorf("%g s: %v", c.seconds, err)
				}
			case err != nil || len(m.Candidates) == 0:
				t.Errorf("%g s: %v", c.seconds, err)
			default:
				for _, row := range m.Candidates {
					if !(row.RMS > 0) || math.IsInf(row.RMS, 0) {
						t.Errorf("%g s: %s has an error of %g", c.seconds, row.Model, row.RMS)
					}
				}
			}
		}
	}
}

func TestFindKernel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte(`kernels:
  - name: sum
    title: s = s + a(i)
    source: this test
    params: [n]
    loops:
      - {name: i, trips: n}
    references:
      - {array: a, kind: load, bytes: 8, strides: {i: '8'}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	if k, err := FindKernel(file + ":sum"); err != nil || k.Name != "sum" {
		t.Errorf("%v, %v", k, err)
	}
	for name, want := range map[string]string{file + ":product": "it has sum", "none": "none", "no/such.yaml:sum": "no such file"} {
		if _, err := FindKernel(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
	if _, err := FindSystem("no-such-machine", ""); err == nil {
		t.Error("a system of no machine")
	}
	if s, err := FindSystem("ultrasparc-2", ""); err != nil || !s.Levels[0].NonBlocking || s.Levels[0].SubBlockBytes != 16 {
		t.Errorf("the supplement is missing: %+v, %v", s, err)
	}
}
