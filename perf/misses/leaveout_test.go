package misses

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"presage/perf/locality"
	"presage/perf/objfile"
	"presage/perf/subject"
)

// TestOddSizeIsLeftOut: runs that models do not reproduce are left out with a warning, as
// long as there are five others; the largest never is, nor any if the caller chose the
// functions, and other errors stay what they are.
func TestOddSizeIsLeftOut(t *testing.T) {
	other := errors.New("other")
	for _, c := range []struct {
		name string
		odd  []float64 // sizes, off in this order
		err  error     // of another kind, once none is odd
		opt  FitOptions
		left []float64 // sizes of the model; nil: an error
	}{
		{name: "none", left: []float64{14, 17, 20, 24, 28, 32, 40}},
		{name: "the smallest", odd: []float64{14}, left: []float64{17, 20, 24, 28, 32, 40}},
		{name: "two", odd: []float64{14, 20}, left: []float64{17, 24, 28, 32, 40}},
		{name: "three", odd: []float64{14, 20, 17}},
		{name: "the largest", odd: []float64{40}},
		{name: "a basis was chosen", odd: []float64{14}, opt: FitOptions{Basis: "1, n"}},
		{name: "a shape was chosen", odd: []float64{14}, opt: FitOptions{Shape: "free"}},
		{name: "another error", odd: []float64{14}, err: other},
	} {
		runs, prog := new(locality.Runs), &subject.Program{File: new(objfile.File)}
		for _, n := range []float64{14, 17, 20, 24, 28, 32, 40} {
			runs.Runs = append(runs.Runs, locality.Run{Point: subject.Point{"n": n}, Program: prog})
		}
		model, err := withoutOdd(runs, c.opt, func(r *locality.Runs) (*Model, error) {
			m := new(Model)
			for i := range r.Runs {
				m.Points = append(m.Points, r.Runs[i].Point)
			}
			for _, n := range c.odd {
				if i := slices.IndexFunc(m.Points, func(p subject.Point) bool { return p["n"] == n }); i >= 0 {
					return nil, &notReproduced{fmt.Errorf("at %g: %w", n, ErrNotReproduced), i, -0.2}
				}
			}
			return m, c.err
		})
		switch {
		case c.err != nil && !errors.Is(err, c.err), c.err == nil && c.left == nil && !errors.Is(err, ErrNotReproduced):
			t.Errorf("%s: error %v", c.name, err)
		case c.left == nil:
			continue
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var left []float64
		for _, p := range model.Points {
			left = append(left, p["n"])
		}
		if !slices.Equal(left, c.left) || len(model.Warnings) != len(c.odd) || len(model.about) != len(c.odd) {
			t.Errorf("%s: sizes %v, want %v; warnings %q", c.name, left, c.left, model.Warnings)
		}
		for i, n := range c.odd {
			if want := fmt.Sprintf("n=%g is left out: a model of all runs is 20.0%% off", n); !strings.Contains(model.Warnings[i], want) {
				t.Errorf("%s: warning %q, want %q", c.name, model.Warnings[i], want)
			}
		}
	}
}
