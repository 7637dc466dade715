package kernels

import (
	"cmp"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"presage/perf/fit"
	"presage/perf/frame"
	"presage/perf/internal/perftest"
	"presage/perf/iperf"
	"slices"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"
)

func simulatedTimes(t *testing.T, machine, level, placement string) dataframe.DataFrame {
	t.Helper()
	f, err := os.Open("../../../datasets/iperf/simulated.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	df, err := frame.ReadCSV(f)
	for _, want := range [][2]string{{"machine", machine}, {"level", level}, {"placement", placement}} {
		if err == nil {
			df, err = frame.Where(df, want[0], want[1])
		}
	}
	if err != nil || df.Nrow() == 0 {
		t.Fatalf("%d rows, %v", df.Nrow(), err)
	}
	return df
}

func kernelAndSystem(t *testing.T, machine string) (*iperf.Kernel, *iperf.System) {
	t.Helper()
	k, err := FindKernel("increment-ij")
	if err != nil {
		t.Fatal(err)
	}
	s, err := FindSystem(machine)
	if err != nil {
		t.Fatal(err)
	}
	return k, s
}

// searched searches among the report's factors, if the options name no others.
func searched(t *testing.T, df dataframe.DataFrame, machine string, r iperf.Request, opt SearchOptions) *ModelSearch {
	t.Helper()
	k, s := kernelAndSystem(t, machine)
	if opt.Database == nil {
		opt.Database = iperf.ReportDatabase()
	}
	m, err := SearchModels(t.Context(), df, k, s, r, opt)
	if err != nil {
		t.Fatal(err)
	}
	for name, df := range map[string]dataframe.DataFrame{
		"candidates": m.Candidates, "coefficients": m.Coefficients, "pruned": m.Pruned, "reasons": m.Reasons,
		"sensitivities": m.Sensitivities, "predictions": m.Predictions, "peaks": m.Peaks, "curves": m.Curves,
	} {
		if df.Err != nil {
			t.Fatalf("%s: %v", name, df.Err)
		}
	}
	return m
}

// madeOf returns times of an UltraSPARC-I that are known combinations of models,
// with noise of 0.1 ms, three runs a size.
func madeOf(t *testing.T, parts map[string]float64) dataframe.DataFrame {
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
	type row struct {
		N    float64 `frame:"n"`
		Time float64 `frame:"meas_time_sec"`
	}
	rng := rand.New(rand.NewPCG(1998, 7))
	var rows []row
	for i, p := range points {
		truth := 5e-3
		for _, c := range l.Curves {
			truth += parts[c.Model.Name] * c.Terms[len(c.Terms)-1][i]
		}
		for range 3 {
			rows = append(rows, row{p["n"], truth + 1e-4*rng.NormFloat64()})
		}
	}
	return frame.Of(rows)
}

func TestSearchModelsRecovers(t *testing.T) {
	parts := map[string]float64{"CPU": 2e-7, "L1nb": 2e-6, "L2b": 3e-7}
	request := iperf.Request{AbsErr: 1e-3, Share: 0.99, Criterion: iperf.Cheapest}
	m := searched(t, madeOf(t, parts), "ultrasparc-1", request, SearchOptions{})
	if m.Model == nil || m.Model.Name() != "CPU+L1nb+L2b" || m.Reasons.Nrow() != 0 || m.Peaks.Nrow() != 0 {
		t.Fatalf("found %v", m.Candidates)
	}
	names, share := perftest.Text(t, m.Candidates, "model"), perftest.Column(t, m.Candidates, "share")
	chosen := perftest.Text(t, m.Candidates, "chosen")
	at := slices.Index(chosen, "true")
	if names[at] != m.Model.Name() || slices.Contains(chosen[at+1:], "true") || !slices.IsSortedFunc(share, func(a, b float64) int { return cmp.Compare(b, a) }) {
		t.Errorf("candidates %v", m.Candidates)
	}
	// Coefficients are those that the times were made with.
	of, err := frame.Where(m.Coefficients, "model", m.Model.Name())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for i, term := range perftest.Text(t, of, "term") {
		got[term] = perftest.Column(t, of, "coefficient_sec")[i]
	}
	for term, want := range map[string]float64{"CPU[2]": 2e-7, "L1nb": 2e-6, "L2b": 3e-7} {
		if math.Abs(got[term]/want-1) > 0.02 {
			t.Errorf("coefficient of %s is %g, made with %g: %v", term, got[term], want, of)
		}
	}
	// What terms contribute adds up to what is predicted, and shares to 1.
	sum := make(map[float64]float64)
	for i, v := range perftest.Column(t, m.Curves, "pred_time_sec") {
		if !math.IsNaN(v) {
			sum[perftest.Column(t, m.Curves, "n")[i]] += v
		}
	}
	within := 0.0
	for i, p := range perftest.Column(t, m.Predictions, "pred_time_sec") {
		n := perftest.Column(t, m.Predictions, "n")[i]
		if math.Abs(sum[n]-p) > 1e-12 {
			t.Errorf("n = %g: terms add up to %g, predicted are %g", n, sum[n], p)
		}
		if perftest.Text(t, m.Predictions, "within")[i] == "true" {
			within++
		}
	}
	if within/100 != m.Model.Share || within/100 != share[at] {
		t.Errorf("%g of 100 sizes are within the error, the share is %g", within, m.Model.Share)
	}
	total := 0.0
	for _, v := range perftest.Column(t, m.Sensitivities, "time_share") {
		total += v
	}
	if math.Abs(total-1) > 1e-9 || m.Sensitivities.Nrow() != 3 {
		t.Errorf("sensitivities %v", m.Sensitivities)
	}
	// A factor alone with the required one, and the rest without it, are candidates.
	candidate := func(name string) float64 { return share[slices.Index(names, name)] }
	for i, of := range perftest.Text(t, m.Sensitivities, "model") {
		got := [2]float64{perftest.Column(t, m.Sensitivities, "share_alone")[i], perftest.Column(t, m.Sensitivities, "share_left_out")[i]}
		want := map[string][2]float64{
			"L1nb": {candidate("CPU+L1nb"), candidate("CPU+L2b")}, "L2b": {candidate("CPU+L2b"), candidate("CPU+L1nb")},
		}[of]
		if of != "CPU" && (got != want || want[0] == want[1]) || got[1] >= m.Model.Share {
			t.Errorf("%s: shares alone and left out are %v, want %v", of, got, want)
		}
	}
}

// The report's experiment 4, as a notebook does it.
func TestSearchModelsWithoutAnAnswer(t *testing.T) {
	df := simulatedTimes(t, "ultrasparc-2", "O3", "anywhere")
	request := iperf.Request{AbsErr: 0.002, Share: 0.99}
	m := searched(t, df, "ultrasparc-2", request, SearchOptions{})
	if m.Model != nil || m.Shown() != m.NoModel.Best {
		t.Fatalf("a model: %v", m.Candidates)
	}
	if cause, holds := perftest.Text(t, m.Reasons, "cause"), perftest.Text(t, m.Reasons, "holds"); len(cause) != 3 || cause[0] != string(iperf.MissingFactor) || holds[0] != "true" {
		t.Errorf("reasons %v", m.Reasons)
	}
	if n := perftest.Column(t, m.Peaks, "n"); len(n) < 2 || !slices.Contains(n[:2], 512) || !slices.Contains(n[:2], 768) {
		t.Errorf("peaks %v", m.Peaks)
	}
	times, predicted := perftest.Column(t, m.Peaks, "time_sec"), perftest.Column(t, m.Peaks, "pred_time_sec")
	for i, s := range perftest.Column(t, m.Peaks, "spreads") {
		if (times[i] > predicted[i]) != (s > 0) || math.Abs(s) < 3 {
			t.Errorf("peaks %v", m.Peaks)
		}
	}
	if slices.Contains(perftest.Text(t, m.Candidates, "chosen"), "true") {
		t.Errorf("candidates %v", m.Candidates)
	}
	m = searched(t, df, "ultrasparc-2", request, SearchOptions{Database: iperf.DefaultDatabase()})
	if m.Model == nil || !strings.Contains(m.Model.Name(), "pages") {
		t.Errorf("with the page factor: %v", m.Reasons)
	}
	m = searched(t, df, "ultrasparc-2", request, SearchOptions{Database: iperf.DefaultDatabase(), Without: []string{"pages"}})
	if i := slices.Index(perftest.Text(t, m.Pruned, "model"), "L1b"); i < 0 || !strings.Contains(perftest.Text(t, m.Pruned, "reason")[i], "blocking") {
		t.Errorf("the L1 does not block, pruned are %v", m.Pruned)
	}
	if slices.Contains(perftest.Text(t, m.Curves, "model"), "pages") {
		t.Error("a model that was left out has a curve")
	}
}

// A relative request, and what is within it.
func TestSearchModelsRelative(t *testing.T) {
	m := searched(t, simulatedTimes(t, "ultrasparc-1", "none", "anywhere"), "ultrasparc-1", iperf.Request{RelErr: 0.03}, SearchOptions{})
	within := 0.0
	for i, e := range perftest.Column(t, m.Predictions, "rel_err") {
		if ok := perftest.Text(t, m.Predictions, "within")[i] == "true"; ok != (math.Abs(e) <= 0.03) {
			t.Errorf("error %g within the request: %v", e, ok)
		} else if ok {
			within++
		}
	}
	if n := float64(m.Predictions.Nrow()); n != 100 || within/n != m.Shown().Share {
		t.Errorf("%g of %g within, share %g", within, n, m.Shown().Share)
	}
}

// A factor of a file of the user's own: times that rise by a step are explained
// by a step.
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
	df := madeOf(t, map[string]float64{"CPU": 1e-8})
	n, times := perftest.Column(t, df, "n"), perftest.Column(t, df, "meas_time_sec")
	for i := range times {
		if n[i] > 400 {
			times[i] += 0.02
		}
	}
	df = frame.WithFloats(df, "meas_time_sec", times)
	request := iperf.Request{AbsErr: 1e-3, Share: 1, Criterion: iperf.Cheapest}
	if m := searched(t, df, "ultrasparc-1", request, SearchOptions{}); m.Model != nil {
		t.Errorf("without the file: %s", m.Model.Name())
	}
	if m := searched(t, df, "ultrasparc-1", request, SearchOptions{Extend: file}); m.Model == nil || m.Model.Name() != "CPU+step" {
		t.Errorf("with the file: %v", m.Candidates)
	}
}

// Rows of a size are its runs, and so are several columns.
func TestSearchModelsRuns(t *testing.T) {
	type row struct {
		N float64 `frame:"n"`
		A float64 `frame:"a_sec"`
		B float64 `frame:"b_sec"`
		C float64 `frame:"c_sec"`
		D float64 `frame:"d_sec"`
	}
	type long struct {
		N    float64 `frame:"n"`
		Time float64 `frame:"sim_time_sec"`
	}
	var wide []row
	var tall []long
	for n := 8.0; n <= 80; n += 8 {
		r := row{n, n * 9, n, n * 2, n * 4} // the average leaves 9 and 1 out: 3 n
		wide = append(wide, r)
		tall = append(tall, long{n, r.A}, long{n, r.B}, long{n, r.C}, long{n, r.D})
	}
	request := iperf.Request{RelErr: 0.1}
	for name, m := range map[string]*ModelSearch{
		"columns": searched(t, frame.Of(wide), "ultrasparc-1", request, SearchOptions{Time: []string{"a_sec", "b_sec", "c_sec", "d_sec"}}),
		"rows":    searched(t, frame.Of(tall), "ultrasparc-1", request, SearchOptions{}),
		"two":     searched(t, frame.Of(wide), "ultrasparc-1", request, SearchOptions{Time: []string{"c_sec", "d_sec"}}),
	} {
		wantRuns := 4.0
		if name == "two" {
			wantRuns = 2
		}
		n, runs := perftest.Column(t, m.Predictions, "n"), perftest.Column(t, m.Predictions, "runs")
		for i, v := range perftest.Column(t, m.Predictions, "time_sec") {
			if math.Abs(v-3*n[i]) > 1e-9 || runs[i] != wantRuns {
				t.Errorf("%s: n = %g: %g s of %g runs, want %g of %g", name, n[i], v, runs[i], 3*n[i], wantRuns)
			}
		}
	}
}

func TestSearchModelsBadTables(t *testing.T) {
	type row struct {
		Machine string  `frame:"machine"`
		Date    string  `frame:"date"`
		N       float64 `frame:"n"`
		Time    float64 `frame:"sim_time_sec"`
	}
	rows := []row{{"a", "x", 8, 1}, {"a", "y", 16, 2}, {"a", "z", 24, 3}, {"a", "z", 32, 4}}
	good := frame.Of(rows)
	rows[2].Machine = "b"
	mixed := frame.Of(rows)
	k, s := kernelAndSystem(t, "ultrasparc-1")
	request := iperf.Request{AbsErr: 1}
	if _, err := SearchModels(t.Context(), good, k, s, request, SearchOptions{}); err != nil {
		t.Errorf("dates differ, which they may: %v", err)
	}
	for _, c := range []struct {
		df   dataframe.DataFrame
		opt  SearchOptions
		r    iperf.Request
		want string
	}{
		{mixed, SearchOptions{}, request, `machine "a" and "b"`},
		{good.Drop("n"), SearchOptions{}, request, `no column "n"`},
		{good.Drop("sim_time_sec"), SearchOptions{}, request, "the table has 0"},
		{frame.WithFloats(good, "time_sec", []float64{1, 2, 3, 4}), SearchOptions{}, request, "the table has 2"},
		{good, SearchOptions{Time: []string{"x_sec"}}, request, `no column "x_sec"`},
		{good, SearchOptions{Time: []string{"machine"}}, request, "text"},
		{frame.WithFloats(good, "sim_time_sec", []float64{1, 2, math.NaN(), 4}), SearchOptions{}, request, "row 3: sim_time_sec is no number"},
		{frame.WithFloats(good, "sim_time_sec", []float64{1, 2, -3, 4}), SearchOptions{}, request, "n=24"},
		{good, SearchOptions{Without: []string{"nothing"}}, request, `"nothing"`},
		{good, SearchOptions{Extend: "no/such.yaml"}, request, "no such file"},
		{good, SearchOptions{}, iperf.Request{}, "perf: search models: iperf:"},
	} {
		if _, err := SearchModels(t.Context(), c.df, k, s, c.r, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %s", err, c.want)
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
	if _, err := FindSystem("no-such-machine"); err == nil {
		t.Error("a system of no machine")
	}
	if s, err := FindSystem("ultrasparc-2"); err != nil || !s.Levels[0].NonBlocking || s.Levels[0].SubBlockBytes != 16 {
		t.Errorf("the supplement is missing: %+v, %v", s, err)
	}
}
