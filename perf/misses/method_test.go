package misses

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"presage/perf/fit"
	"presage/perf/internal/profiletest"
	"presage/perf/predict"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// TestMethods: by default a cache counts as fully associative, or its sets as filled evenly
// by sweeps; the binomial formula
// is evaluated on the models as they were fitted.
func TestMethods(t *testing.T) {
	model, m, point := askable(t), profiletest.Machine(t, "origin2000"), subject.Point{"n": 22}
	plain, err := Predict(t.Context(), model, m, []subject.Point{point}, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	binomial, err := Predict(t.Context(), model, m, []subject.Point{point}, PredictOptions{Method: predict.MethodBinomial})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range plain {
		b := binomial[i]
		if evenly := r.at.Sets > 1 && strings.Contains(r.Method, MethodEvenly); evenly && r.Misses >= r.FullyAssoc ||
			!evenly && (r.Method != string(predict.MethodFullyAssociative) && (r.Level != "TLB" || r.Method != MethodScaledPages) || r.Misses != r.FullyAssoc) {
			t.Errorf("%s: %g misses by %q, %g fully associative", r.Level, r.Misses, r.Method, r.FullyAssoc)
		}
		want, err := predict.At(model.byBlock[b.at.BlockBytes], fit.Point(point), b.at.Cache())
		if err != nil {
			t.Fatal(err)
		}
		if sum := want.Program.Total(); math.Abs(b.Misses-sum) > 1e-9*sum {
			t.Errorf("%s: %g misses by %q, want %g", b.Level, b.Misses, b.Method, sum)
		}
		if method := string(predict.MethodBinomial); r.at.Sets > 1 && (b.Method != method || b.Misses == r.Misses) {
			t.Errorf("%s: %g misses by %q, as without it", b.Level, b.Misses, b.Method)
		}
		if touched := model.footprint.Blocks(r.at.BlockBytes, fit.Point(point)); math.Abs(r.Cold-touched) > 1e-6*touched {
			t.Errorf("%s: %g cold misses, %g blocks touched", r.Level, r.Cold, touched)
		}
	}
	if _, err := Predict(t.Context(), model, m, []subject.Point{point}, PredictOptions{Method: "guess"}); err == nil || !strings.Contains(err.Error(), `method "guess"`) {
		t.Errorf("an unknown method: %v", err)
	}
}

// halver is a corrector that halves the misses of some groups.
type halver struct {
	groups int // of the first
	exact  bool
	off    float64
	err    error
	short  bool
}

func (h halver) Replays() bool { return true }

func (h halver) Correct(_ context.Context, of Uncorrected) (*Correction, error) {
	c := &Correction{Groups: make([]GroupCorrection, len(of.Groups)), Warnings: []string{"halved"}}
	for g := range min(h.groups, len(of.Groups)) {
		m := of.Groups[g]
		c.Groups[g] = GroupCorrection{Method: "half", Misses: predict.Misses{Accesses: m.Accesses, Cold: m.Cold / 2, Reuse: m.Reuse / 2}, Exact: h.exact, Off: h.off}
	}
	if h.short {
		c.Groups = c.Groups[1:]
	}
	return c, h.err
}

// TestCorrections: what a Corrector knows replaces the groups' misses and names
// itself; misses that it counted exactly have no interval, others one as wide as it may be
// wrong, by the share that is calibrated.
func TestCorrections(t *testing.T) {
	model, m, at := askable(t), profiletest.Machine(t, "origin2000"), subject.Sweep("n", 22)
	plain, err := Predict(t.Context(), model, m, at, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		by     halver
		method string
	}{
		{halver{groups: model.Groups()}, "half"},
		{halver{groups: model.Groups(), exact: true}, "half"},
		{halver{groups: model.Groups(), off: 0.04}, "half"},
		{halver{}, ""},
	} {
		rows, err := Predict(t.Context(), model, m, at, PredictOptions{Corrector: c.by})
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			want, method := plain[i].Misses, plain[i].Method
			if c.by.groups > 0 {
				want, method = want/2, c.method
			}
			if math.Abs(r.Misses-want) > 1e-9*want || r.Method != method || !strings.Contains(r.Warning, "halved") {
				t.Errorf("%+v: %s: %g misses by %q, want %g by %q (%s)", c.by, r.Level, r.Misses, r.Method, want, method, r.Warning)
			}
			if !(r.Low <= r.Misses && r.Misses <= r.High) {
				t.Errorf("%+v: %s: %g misses outside [%g, %g]", c.by, r.Level, r.Misses, r.Low, r.High)
			}
			if c.by.exact && r.High != r.Low {
				t.Errorf("%s: an interval [%g, %g] of counted misses", r.Level, r.Low, r.High)
			}
			if c.by.groups > 0 && !c.by.exact {
				// What may be wrong displaces as many blocks of the others.
				share := calibratedFew // both caches of the Origin have two ways
				if scaling.OfPages(r.at.BlockBytes) {
					share = calibratedPages
				}
				off := share * (1 + share) * (c.by.off + leastDoubt) * r.Misses
				if math.Abs(r.High-r.Misses-off) > 1e-6*r.Misses || math.Abs(r.Misses-r.Low-off) > 1e-6*r.Misses {
					t.Errorf("%+v: %s: %g misses in [%g, %g], want them within %g", c.by, r.Level, r.Misses, r.Low, r.High, off)
				}
			}
		}
	}
	refused := errors.New("refused")
	if _, err := Predict(t.Context(), model, m, at, PredictOptions{Corrector: halver{err: refused}}); !errors.Is(err, refused) {
		t.Errorf("a corrector's error: %v", err)
	}
	if _, err := Predict(t.Context(), model, m, at, PredictOptions{Corrector: halver{short: true}}); err == nil {
		t.Error("a correction of too few groups is taken")
	}
}
