package iperf_test

import (
	"math"
	"testing"

	"presage/machines"
	"presage/perf/fit"
	"presage/perf/iperf"
)

// sparcs are the report's machines, by the name of their description.
var sparcs = map[string]string{
	"ultrasparc-1": "UltraSPARC-I", "ultrasparc-2": "UltraSPARC-II",
	"supersparc-1": "SuperSPARC-I", "supersparc-2": "SuperSPARC-II",
}

func system(t testing.TB, name string) *iperf.System {
	t.Helper()
	s, err := iperf.FindSystem(name, machines.Files)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func kernel(t testing.TB, name string) *iperf.Kernel {
	t.Helper()
	k, err := iperf.FindKernel(name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// sizes returns n = step i for i = 1 to count.
func sizes(step, count int) []fit.Point {
	var out []fit.Point
	for i := 1; i <= count; i++ {
		out = append(out, fit.Point{"n": float64(step * i)})
	}
	return out
}

// reportSizes are those of the report: n = 8 i, i = 1 to 100.
func reportSizes() []fit.Point { return sizes(8, 100) }

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

func curves(t testing.TB, l *iperf.Lattice) map[string]iperf.Curve {
	t.Helper()
	out := make(map[string]iperf.Curve)
	for _, c := range l.Curves {
		out[c.Model.Name] = c
	}
	return out
}
