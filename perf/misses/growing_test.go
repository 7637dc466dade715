package misses

import (
	"math"
	"slices"
	"strings"
	"testing"

	"presage/perf/internal/order"
	"presage/perf/internal/profiletest"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/subject"
)

// growing are the kernels of growing.c.
var growing = []string{"PRODUCT", "STENCIL", "TABLE", "SORT"}

// pair is a prediction beside the simulation of the same row.
type pair struct {
	Row
	sim float64
}

func (p *pair) err() float64 { return math.Abs(p.Misses-p.sim) / p.sim }

// growingPairs predicts kernels at sizes that no model has seen, and simulates them.
func growingPairs(t *testing.T, opt PredictOptions) []pair {
	t.Helper()
	var machines []*machine.Machine
	var blocks []uint64
	for _, name := range []string{"origin2000", "itanium2", "zen4"} {
		m := profiletest.Machine(t, name)
		machines, blocks = append(machines, m), append(blocks, m.BlockBytes()...)
	}
	slices.Sort(blocks)
	blocks = slices.Compact(blocks)
	at := subject.Sweep("n", 64, 90)
	var out []pair
	for _, name := range growing {
		model, _, prog, run := grown(t, name, blocks, 16, 20, 26, 31, 36, 42)
		for _, m := range machines {
			predicted, err := Predict(t.Context(), model, m, at, opt)
			if err != nil {
				t.Fatal(err)
			}
			simulated, err := Simulate(t.Context(), prog, m, at, SimulateOptions{RunOptions: run})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range predicted {
				for _, s := range simulated {
					if p.Level == s.Level && p.Point["n"] == s.Point["n"] && s.Misses >= 500 && !math.IsNaN(p.Misses) {
						out = append(out, pair{p, s.Misses})
					}
				}
			}
		}
	}
	return out
}

// TestGrowingKernels holds predictions of four kernels at 1.5 and 2.1 times the
// largest training size against simulation in the machines' own geometry. The
// bounds are goals of the method, not what it reaches.
func TestGrowingKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests fit, predict and simulate at once, too")
	}
	const (
		median   = 0.02
		far      = 0.25 // nine in ten rows
		grossly  = 3
		leastIn  = 0.80 // of intervals called 90%
		leastOf  = 30   // rows
		narrower = 4    // ratio of the ends of the median interval
	)
	pairs := growingPairs(t, PredictOptions{})
	if len(pairs) < leastOf {
		t.Fatalf("only %d rows", len(pairs))
	}
	var errs, widths []float64
	inside := 0
	for _, p := range pairs {
		errs = append(errs, p.err())
		widths = append(widths, p.High/math.Max(p.Low, 1))
		if p.Low <= p.sim && p.sim <= p.High {
			inside++
		} else {
			t.Logf("%s %v %s %s: %.0f in [%.0f, %.0f], %.0f simulated; %s", p.Program, p.Point, p.Machine, p.Level, p.Misses, p.Low, p.High, p.sim, p.Warning)
		}
		if ratio := p.Misses / p.sim; (ratio > grossly || ratio < 1/float64(grossly)) && p.Warning == "" {
			t.Errorf("%s %v %s %s: %.0f predicted, %.0f simulated, and no warning", p.Program, p.Point, p.Machine, p.Level, p.Misses, p.sim)
		}
		if p.Doubtful > doubtfulShare && p.Low == p.High {
			t.Errorf("%s %v %s %s: %.0f%% doubtful misses, and no interval", p.Program, p.Point, p.Machine, p.Level, 100*p.Doubtful)
		}
		known := p.Method == string(predict.MethodFullyAssociative)
		if p.at.Sets > 1 {
			known = known || p.Method == MethodCollisions || strings.Contains(p.Method, MethodEvenly)
		}
		if !known {
			t.Errorf("%s: method %q", p.Level, p.Method)
		}
	}
	slices.Sort(errs)
	slices.Sort(widths)
	if m, p90 := order.Quantile(errs, 0.5), order.Quantile(errs, 0.9); m > median || p90 > far {
		t.Errorf("median error %.3f, nine in ten within %.3f; want %g and %g", m, p90, median, far)
	}
	if share := float64(inside) / float64(len(pairs)); share < leastIn {
		t.Errorf("intervals hold %.0f%% of %d rows, want %.0f%%", 100*share, len(pairs), 100*leastIn)
	}
	if w := order.Quantile(widths, 0.5); w > narrower {
		t.Errorf("the median interval spans a factor of %.2f, want at most %g", w, float64(narrower))
	}
}
