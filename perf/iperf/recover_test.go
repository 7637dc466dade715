package iperf_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"presage/perf/iperf"
)

// generate returns times that are the given combination of models, in seconds a
// unit of each model's last term, with normal noise of a standard deviation, ten
// runs a size.
func generate(t testing.TB, s *iperf.System, parts map[string]float64, sigma float64, seed uint64) []iperf.Measurement {
	t.Helper()
	l, err := iperf.Preselect(iperf.DefaultDatabase(), kernel(t, "increment-ij"), s, reportSizes())
	if err != nil {
		t.Fatal(err)
	}
	c := curves(t, l)
	r := rand.New(rand.NewPCG(seed, 1))
	var out []iperf.Measurement
	for i, p := range l.Points {
		truth := 1e-3 // the constant of CPU
		for name, weight := range parts {
			terms := c[name].Terms
			if terms == nil {
				t.Fatalf("model %s does not apply: %v", name, l.Pruned)
			}
			truth += weight * terms[len(terms)-1][i]
		}
		var runs []float64
		for range 10 {
			runs = append(runs, math.Max(truth+sigma*r.NormFloat64(), 0))
		}
		out = append(out, iperf.NewMeasurement(p, runs))
	}
	return out
}

// Each set of factors with weights that let each reach some tens of milliseconds.
var truths = []struct {
	system string
	parts  map[string]float64
}{
	{"ultrasparc-1", map[string]float64{"CPU": 2e-7}},
	{"ultrasparc-1", map[string]float64{"CPU": 2e-7, "TLB": 3e-7}},
	{"ultrasparc-1", map[string]float64{"CPU": 2e-7, "L2b": 2e-7}},
	{"ultrasparc-1", map[string]float64{"CPU": 2e-7, "L1nb": 2e-6}},
	{"ultrasparc-1", map[string]float64{"CPU": 2e-7, "TLB": 3e-7, "L1nb": 2e-6, "L2b": 2e-7}},
	{"ultrasparc-2", map[string]float64{"CPU": 1e-7, "L1nb": 1e-6}},
	{"ultrasparc-2", map[string]float64{"CPU": 1e-7, "pages": 2e-7}},
	{"supersparc-1", map[string]float64{"CPU": 5e-7, "L1b": 2e-7, "L2b": 4e-7}},
	{"supersparc-2", map[string]float64{"CPU": 5e-7, "TLB": 4e-7, "L2b": 4e-7}},
}

// Times made from known factors and noise give the factors back, as the cheapest
// model that is as precise as the noise allows, and their weights.
func TestRecoversFactors(t *testing.T) {
	const sigma = 1e-4 // a run; the mean of eight is within 2e-4 practically always
	for i, truth := range truths {
		s := system(t, truth.system)
		times := generate(t, s, truth.parts, sigma, uint64(i))
		db := iperf.DefaultDatabase().Without("TLB_overflow", "CACHE", "MEM")
		a, err := iperf.Search(t.Context(), times, kernel(t, "increment-ij"), s, db,
			iperf.Request{AbsErr: 3e-4, Share: 1, Criterion: iperf.Cheapest}, iperf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if a.Model == nil {
			t.Errorf("%s %v: %v", truth.system, truth.parts, a.NoModel)
			continue
		}
		var names []string
		for name := range truth.parts {
			names = append(names, name)
		}
		slices.Sort(names)
		got := strings.Split(a.Model.Name(), "+")
		slices.Sort(got)
		if !slices.Equal(got, names) {
			t.Errorf("%s: times of %v are explained by %v", truth.system, names, got)
			continue
		}
		for j, c := range a.Model.Columns {
			if c.Model.Name == "CPU" || len(a.Model.Collinear) > 0 {
				continue // CPU has three terms, which share n² with the others
			}
			if want := truth.parts[c.Model.Name]; math.Abs(a.Model.Coefficients[j]/want-1) > 0.02 {
				t.Errorf("%s %v: weight of %s is %g, want %g", truth.system, names, c.Model.Name, a.Model.Coefficients[j], want)
			}
		}
	}
}

// The report's section 4.4: on the UltraSPARC-II peaks come from page placement,
// which its factors do not have. That is no model, with peaks where there are
// some; with the factor there is a model, and it has the factor.
func TestMissingFactorIsFoundMissingThenFound(t *testing.T) {
	s := system(t, "ultrasparc-2")
	times := generate(t, s, map[string]float64{"CPU": 1e-7, "pages": 2e-7}, 1e-4, 7)
	request := iperf.Request{AbsErr: 5e-4, Share: 0.95}
	a, err := iperf.Search(t.Context(), times, kernel(t, "increment-ij"), s, iperf.ReportDatabase(), request, iperf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if a.NoModel == nil {
		t.Fatalf("the report's factors explain page conflicts: %s", a.Model.Name())
	}
	if first := a.NoModel.Reasons[0]; first.Cause != iperf.MissingFactor || !first.Holds {
		t.Errorf("want a missing factor, got: %v", a.NoModel)
	}
	var at []float64
	for _, p := range a.NoModel.Peaks {
		at = append(at, p.Point["n"])
	}
	for _, n := range []float64{512, 640, 768} {
		if !slices.Contains(at, n) {
			t.Errorf("no peak at n = %g is reported: %v", n, a.NoModel)
		}
	}
	a, err = iperf.Search(t.Context(), times, kernel(t, "increment-ij"), s, iperf.DefaultDatabase(), request, iperf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if a.Model == nil || !considers(a.Model, "pages") {
		t.Errorf("with the factor: %v, %v", a.Model, a.NoModel)
	}
}

func TestNoiseIsTheReason(t *testing.T) {
	s := system(t, "ultrasparc-1")
	times := generate(t, s, map[string]float64{"CPU": 2e-7, "TLB": 3e-7}, 5e-3, 3)
	a, err := iperf.Search(t.Context(), times, kernel(t, "increment-ij"), s, iperf.DefaultDatabase(), iperf.Request{AbsErr: 1e-3, Share: 0.9}, iperf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := a.NoModel
	if n == nil {
		t.Fatal("a model from noise")
	}
	if first := n.Reasons[0]; first.Cause != iperf.Noisy || !first.Holds || n.Reasons[1].Holds {
		t.Errorf("want noise alone, got %v", n)
	}
	if n.Noise.Sizes != 100 || math.Abs(n.Noise.Sigma/5e-3-1) > 0.1 {
		t.Errorf("noise %+v, want a deviation near 0.005 s at 100 sizes", n.Noise)
	}
}

// Without repeated runs, residuals without a pattern mean that less error was
// asked for than there is.
func TestTightRequestIsTheReason(t *testing.T) {
	s := system(t, "ultrasparc-1")
	times := generate(t, s, map[string]float64{"CPU": 2e-7, "TLB": 3e-7}, 2e-3, 5)
	for i := range times {
		times[i].Runs = nil
	}
	a, err := iperf.Search(t.Context(), times, kernel(t, "increment-ij"), s, iperf.DefaultDatabase(), iperf.Request{AbsErr: 1e-4, Share: 0.9}, iperf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := a.NoModel
	if n == nil {
		t.Fatal("a model within a tenth of the noise")
	}
	if first := n.Reasons[0]; first.Cause != iperf.TooTight || !first.Holds {
		t.Errorf("want a request too tight, got %v", n)
	}
	again, err := iperf.Search(t.Context(), times, kernel(t, "increment-ij"), s, iperf.DefaultDatabase(), iperf.Request{AbsErr: n.Achievable, Share: 0.9}, iperf.Options{})
	if err != nil || again.Model == nil {
		t.Errorf("no model within the error %g that is said to be achievable (%v)", n.Achievable, err)
	}
}

// considers reports whether a complete model has a model of the factor.
func considers(e *iperf.Evaluation, factor string) bool {
	return slices.ContainsFunc(e.Models, func(m *iperf.Model) bool { return m.Factor == factor })
}
