package subject

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArguments(t *testing.T) {
	p := Point{"n": 20, "tol": 0.001}
	for template, want := range map[string][]string{
		"":                                   {"-n", "20", "-tol", "0.001"},
		"-n {n} --tol={tol}":                 {"-n", "20", "--tol=0.001"},
		`-n {n}x{n} -t {tol} "two words" ''`: {"-n", "20x20", "-t", "0.001", "two words", ""},
	} {
		got, err := p.Arguments(template)
		if err != nil {
			t.Errorf("%q: %v", template, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", template, diff)
		}
	}
	for _, template := range []string{"-n {n}", "-n {n} -t {tol} {k}", "'{n} {tol}"} {
		if args, err := p.Arguments(template); err == nil {
			t.Errorf("%q: no error, but %q", template, args)
		}
	}
	if got, err := (Point{"n": 1e6}).Arguments("{n}"); err != nil || got[0] != "1000000" {
		t.Errorf("a million is %q, %v", got, err)
	}
}

func TestRange(t *testing.T) {
	if got := Range(20, 50, 6); !slices.Equal(got, []float64{20, 26, 32, 38, 44, 50}) {
		t.Errorf("20:50:6 is %v", got)
	}
	if got := Range(0, 1, 0.1); len(got) != 11 {
		t.Errorf("0:1:0.1 has %d values", len(got))
	}
	if got := Range(0, 0.3, 0.1); !slices.Equal(got, []float64{0, 0.1, 0.2, 0.3}) {
		t.Errorf("0:0.3:0.1 is %v", got)
	}
	if got := Range(5, 5, 1); !slices.Equal(got, []float64{5}) {
		t.Errorf("5:5:1 is %v", got)
	}
	if got := Range(10, 4, -3); !slices.Equal(got, []float64{10, 7, 4}) {
		t.Errorf("10:4:-3 is %v", got)
	}
	for _, r := range [][3]float64{{1, 2, 0}, {1, 2, -1}, {1, math.NaN(), 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v: no panic", r)
				}
			}()
			Range(r[0], r[1], r[2])
		}()
	}
}

func TestPointString(t *testing.T) {
	if got := (Point{"n": 20, "k": 1.5}).String(); got != "k=1.5 n=20" {
		t.Errorf("got %q", got)
	}
}
