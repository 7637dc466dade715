package walltime

import (
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/machine"
)

func TestFitPower(t *testing.T) {
	sizes := []float64{10, 20, 40, 80}
	var seconds []float64
	for _, n := range sizes {
		seconds = append(seconds, 0.5+3e-2*math.Pow(n, 1.7))
	}
	p := fitPower(sizes, seconds, 0.5)
	if math.Abs(p.k-1.7) > 1e-9 || math.Abs(p.at(200)/(0.5+3e-2*math.Pow(200, 1.7))-1) > 1e-9 {
		t.Errorf("%+v, want the exponent 1.7", p)
	}
	if p := fitPower(sizes, []float64{0.4, 0.5, 0.6, 0.8}, 0.5); !math.IsNaN(p.k) {
		t.Errorf("%+v from a single time longer than the start", p)
	}
}

func TestSummaries(t *testing.T) {
	f := &Findings{Rows: []Row{{Error: math.NaN(), MedianError: math.NaN(), PowerError: math.NaN()}}}
	for i := range 11 {
		sign := float64(1 - i%2*2)
		f.Rows = append(f.Rows, Row{Error: sign * float64(i) / 10, PowerError: 2})
	}
	got := f.Summaries()
	if s := got[0]; s.Rows != 11 || math.Abs(s.Median-0.5) > 1e-12 || math.Abs(s.P90-0.9) > 1e-12 || s.Worst != 1 {
		t.Errorf("%+v", s)
	}
	if s := got[2]; s.Median != 2 || s.Worst != 2 {
		t.Errorf("%+v", s)
	}
}

// TestPrograms checks that the study's programs are sound: sizes, sources, and that
// each compiles and does more at a larger size.
func TestPrograms(t *testing.T) {
	const dir = "../../../datasets/native"
	all := Programs()
	if len(all) < 12 {
		t.Errorf("%d programs, want 12", len(all))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	sources := slices.DeleteFunc(files, func(f string) bool { return compilers[filepath.Ext(f)] == "" })
	if err != nil || len(sources) != len(all) {
		t.Errorf("sources %v of %d programs, %v", sources, len(all), err)
	}
	for i := range all {
		p := &all[i]
		if err := p.check(); err != nil {
			t.Error(err)
		}
		if len(p.Judge) < 4 {
			t.Errorf("%s is judged at %d sizes", p.Name, len(p.Judge))
		}
		oracle.Need(t, compilers[filepath.Ext(p.Source)])
		exe := filepath.Join(t.TempDir(), p.Name)
		plain := *p
		plain.Flags = slices.DeleteFunc(slices.Clone(p.Flags), func(f string) bool { return strings.HasPrefix(f, "-march") }) // runs anywhere
		if err := plain.Compile(t.Context(), dir, exe); err != nil {
			t.Error(err)
			continue
		}
		if out, err := exec.Command(exe, "50").Output(); err != nil || !strings.HasPrefix(strings.TrimSpace(string(out)), "50 ") {
			t.Errorf("%s 50: %q, %v", p.Name, out, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	m := machineAtHand(t)
	unknown := *m
	unknown.Frequency = 0
	for name, o := range map[string]Options{
		"no machine":             {},
		"frequency is not known": {Machine: &unknown},
		"ascending":              {Machine: m, Programs: []Program{{Name: "x", Source: "x.c", Train: []float64{1, 2, 3}, Judge: []float64{2}}}},
		"three sizes":            {Machine: m, Programs: []Program{{Name: "x", Source: "x.c", Train: []float64{1, 2}, Judge: []float64{4}}}},
		"ends in .c":             {Machine: m, Programs: []Program{{Name: "x", Source: "x.go", Train: []float64{1, 2, 3}, Judge: []float64{4}}}},
	} {
		if f, err := o.Run(t.Context()); err == nil || f != nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func machineAtHand(t *testing.T) *machine.Machine {
	t.Helper()
	m, err := machine.Load("../../../datasets/native/host.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRepeatsOfRounds(t *testing.T) {
	for _, repeats := range []int{1, 2, 5, 7, 15} {
		n, sum := min(rounds, repeats), 0
		for round := range n {
			k := repeatsOf(round, n, repeats)
			if sum += k; k < repeats/n || k > repeats/n+1 {
				t.Errorf("%d repeats in %d rounds: %d in one", repeats, n, k)
			}
		}
		if sum != repeats {
			t.Errorf("%d repeats in %d rounds: %d in all", repeats, n, sum)
		}
	}
}
