package iperf_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"presage/perf/fit"
	"presage/perf/iperf"
)

// The definitions of section 4.1, tried one by one: nothing that meets the
// request comes before what is selected.
func TestSelectAgainstDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		var all []iperf.Candidate
		for range r.IntN(8) {
			all = append(all, iperf.Candidate{Cost: float64(1 + r.IntN(3)), Share: float64(70+r.IntN(11)) / 100})
		}
		request := iperf.Request{AbsErr: 1, Share: float64(70+r.IntN(11)) / 100, Criterion: iperf.Criterion(r.IntN(2))}
		got := iperf.Select(all, request)
		for i, c := range all {
			if c.Share < request.Share-1e-12 {
				if got == i {
					t.Fatalf("%v of %v does not meet %v", c, all, request)
				}
				continue
			}
			if got < 0 {
				t.Fatalf("nothing of %v meets %v", all, request)
			}
			b := all[got]
			precise, cheap := c.Share-b.Share, b.Cost-c.Cost
			if request.Criterion == iperf.Cheapest {
				precise, cheap = cheap, precise
			}
			if precise > 1e-12 || math.Abs(precise) <= 1e-12 && (cheap > 1e-12 || math.Abs(cheap) <= 1e-12 && i < got) {
				t.Fatalf("%v: selected %v of %v, but %v comes first", request, b, all, c)
			}
		}
	}
}

func TestSearchRefusals(t *testing.T) {
	s, k, db := system(t, "ultrasparc-1"), kernel(t, "copy"), iperf.DefaultDatabase()
	var times []iperf.Measurement
	for i := range 10 {
		times = append(times, iperf.Measurement{Point: fit.Point{"n": float64(100 * (i + 1))}, Time: float64(i + 1)})
	}
	good := iperf.Request{RelErr: 0.1, Share: 0.5}
	for _, r := range []iperf.Request{{}, {AbsErr: 1, RelErr: 1}, {AbsErr: -1}, {AbsErr: 1, Share: 90}, {AbsErr: math.NaN()}, {AbsErr: 1, Criterion: 7}} {
		if _, err := iperf.Search(t.Context(), times, k, s, db, r, iperf.Options{}); err == nil {
			t.Errorf("request %+v was taken", r)
		}
	}
	if _, err := iperf.Search(t.Context(), times[:2], k, s, db, good, iperf.Options{}); err == nil {
		t.Error("two times were taken")
	}
	if _, err := iperf.Search(t.Context(), times, k, s, db, good, iperf.Options{Without: []string{"x"}}); err == nil {
		t.Error("an unknown model was left out")
	}
	zero := append([]iperf.Measurement{{Point: fit.Point{"n": 1}}}, times...)
	if _, err := iperf.Search(t.Context(), zero, k, s, db, good, iperf.Options{}); err == nil {
		t.Error("a time of 0 was taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := iperf.Search(ctx, times, k, s, db, good, iperf.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled search: %v", err)
	}
	a, err := iperf.Search(t.Context(), times, k, s, db, good, iperf.Options{Without: []string{"TLB_overflow"}})
	for _, c := range a.Candidates {
		if slices.ContainsFunc(c.Models, func(m *iperf.Model) bool { return m.Name == "TLB_overflow" }) {
			t.Errorf("%s has the model that was left out", c.Name())
		}
	}
	if err != nil || a.Model == nil {
		t.Fatalf("linear times of a copy: %v, %v", a, err)
	}
	if got, err := a.Model.Predict(k, s, fit.Point{"n": 1500}); err != nil || math.Abs(got-15) > 0.5 {
		t.Errorf("predicted %g s at n = 1500 (%v), want 15", got, err)
	}
}

// The report's appendix A.4: without the smallest and largest of the runs.
func TestNewMeasurement(t *testing.T) {
	m := iperf.NewMeasurement(fit.Point{"n": 1}, []float64{9, 1, 2, 100, 4, 0})
	if m.Time != 4 || len(m.Runs) != 6 || m.Runs[0] != 9 {
		t.Errorf("%+v, want the mean of 1, 2, 4, 9", m)
	}
}

// A curve that is 0 at all sizes explains nothing.
func TestZeroCurveIsPruned(t *testing.T) {
	l, err := iperf.Preselect(iperf.DefaultDatabase(), kernel(t, "increment-ij"), system(t, "ultrasparc-1"), sizes(8, 5))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(l.Pruned, func(p iperf.Pruned) bool { return p.Model == "L1nb" })
	if i < 0 || l.Pruned[i].Reason != "is 0 at all measured sizes" {
		t.Errorf("pruned: %v", l.Pruned)
	}
}

// OLS makes absolute errors least, WLS relative ones.
func TestFigure10(t *testing.T) {
	s := system(t, "ultrasparc-1")
	times := generate(t, s, map[string]float64{"CPU": 2e-7, "L2b": 2e-7}, 0, 1)
	db := iperf.ReportDatabase().Without("L2b", "L2nb", "L1b", "L1nb", "TLB", "PAGING")
	find := func(r iperf.Request) *iperf.Evaluation {
		a, err := iperf.Search(t.Context(), times, kernel(t, "increment-ij"), s, db, r, iperf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return a.Model
	}
	ols, wls := find(iperf.Request{AbsErr: 1}), find(iperf.Request{RelErr: 100})
	if ols.Method != iperf.OLS || wls.Method != iperf.WLS {
		t.Fatalf("methods %v, %v", ols.Method, wls.Method)
	}
	squares := func(v []float64) (sum float64) {
		for _, x := range v {
			sum += x * x
		}
		return sum
	}
	if squares(ols.AbsErr) >= squares(wls.AbsErr) || squares(wls.RelErr) >= squares(ols.RelErr) {
		t.Errorf("squares of absolute errors %g (OLS), %g; of relative ones %g, %g (WLS)", squares(ols.AbsErr), squares(wls.AbsErr), squares(ols.RelErr), squares(wls.RelErr))
	}
}

// The report's section 4.1.2: leaving computation out hurts most, and the TLB's
// curve is nearly that of computation, which a warning says.
func TestSensitivity(t *testing.T) {
	s := system(t, "ultrasparc-1")
	times := generate(t, s, map[string]float64{"CPU": 2e-7, "TLB": 3e-7, "L1nb": 2e-6, "L2b": 2e-7}, 1e-4, 2)
	request := iperf.Request{AbsErr: 0.005}
	a, err := iperf.Search(t.Context(), times, kernel(t, "increment-ij"), s, iperf.ReportDatabase(), request, iperf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	full := &a.Candidates[len(a.Candidates)-1]
	if full.Name() != "CPU+TLB+L1nb+L2b" {
		t.Fatalf("the last candidate is %s", full.Name())
	}
	all := a.Lattice.Sensitivities(full, times, request)
	by := make(map[string]iperf.Sensitivity)
	total := 0.0
	for _, x := range all {
		by[x.Model.Name] = x
		total += x.TimeShare
	}
	if math.Abs(total-1) > 1e-9 {
		t.Errorf("shares of time add up to %g", total)
	}
	for i, p := range full.Predicted {
		sum := 0.0
		for _, x := range all {
			sum += x.Curve[i]
		}
		if math.Abs(sum-p) > 1e-12 {
			t.Fatalf("curves add up to %g, predicted %g", sum, p)
		}
	}
	if by["TLB"].Collinearity() == nil || by["L1nb"].Collinearity() != nil {
		t.Errorf("warnings: TLB %v, L1nb %v", by["TLB"].Collinearity(), by["L1nb"].Collinearity())
	}
	for _, name := range []string{"TLB", "L1nb", "L2b"} {
		x := by[name]
		if x.LeftOut.RMS <= full.RMS || x.Alone.Name() != "CPU+"+name {
			t.Errorf("%s: left out %g, in %g; alone %s", name, x.LeftOut.RMS, full.RMS, x.Alone.Name())
		}
	}
	if cpu := by["CPU"]; cpu.Alone.Name() != "CPU" || cpu.LeftOut.Name() != "TLB+L1nb+L2b" {
		t.Errorf("CPU: alone %s, left out %s", cpu.Alone.Name(), cpu.LeftOut.Name())
	}
}

// On the UltraSPARC-II L2b is a multiple of CPU's n²: reported, not dropped.
func TestCollinearFactorsAreReported(t *testing.T) {
	s := system(t, "ultrasparc-2")
	times := generate(t, s, map[string]float64{"CPU": 1e-7}, 1e-4, 2)
	a, err := iperf.Search(t.Context(), times, kernel(t, "increment-ij"), s, iperf.ReportDatabase(), iperf.Request{AbsErr: 1e-3}, iperf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range a.Candidates {
		if c.Name() == "CPU+L2b" && (len(c.Collinear) != 1 || c.Collinear[0].Column != "L2b" || c.Collinear[0].Of[0] != "CPU[2]") {
			t.Errorf("collinear: %v", c.Collinear)
		}
	}
	if a.Model.Name() != "CPU" {
		t.Errorf("selected %s", a.Model.Name())
	}
}
