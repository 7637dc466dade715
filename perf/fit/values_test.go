package fit

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Values are those of Eval to the last bit: of functions that share terms, of functions
// whose terms were parsed apart, as those of a stored model, and beyond the number of
// terms that are kept.
func TestValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	points := []Point{{"n": 3.7}, {"n": 120}, {"n": 0.01}}
	shared := Monomials(3, "n")
	var all []Func
	for i := range 3 * sharedTerms {
		f := Func{Terms: shared.Terms[i%3:]}
		if i%2 == 1 {
			f.Terms = nil
			for _, text := range []string{"n", fmt.Sprintf("n^1.%d", i), "log(n)", fmt.Sprintf("n + %d", i)} {
				term, err := ParseTerm(text)
				if err != nil {
					t.Fatal(err)
				}
				f.Terms = append(f.Terms, term)
			}
		}
		for range f.Terms {
			f.Coefficients = append(f.Coefficients, rng.NormFloat64())
		}
		all = append(all, f)
	}
	at, first := At(points...), At(points[0])
	got := make([]float64, len(points))
	for i := range all {
		at.Each(got, &all[i])
		for k, p := range points {
			if want := all[i].Eval(p); got[k] != want {
				t.Fatalf("function %d at %v: %v, Eval has %v", i, p, got[k], want)
			}
		}
		if got, want := first.Of(&all[i]), all[i].Eval(points[0]); got != want {
			t.Fatalf("function %d: %v, Eval has %v", i, got, want)
		}
	}
}
