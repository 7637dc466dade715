package replay

import (
	"math/rand"
	"slices"
	"testing"
)

// TestIntegersDecideAsQuotientsDo holds what rows in integers say of points against the
// quotients that they stand for, of points in dependent directions, with functions that
// are no multiples of 1/8, and some points off.
func TestIntegersDecideAsQuotientsDo(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	inside, outside, off := 0, 0, 0
	for range 2000 {
		depth := 2 + rng.Intn(4)
		den := int64(1 + rng.Intn(12))
		slopes := make([]int64, depth)
		for k := range slopes {
			slopes[k] = int64(rng.Intn(9) - 4)
		}
		var a affine
		for range 40 {
			v := make([]int64, depth)
			for k := range v {
				v[k] = int64(rng.Intn(7))
			}
			v[depth-1] = v[0] * int64(1+rng.Intn(2)) // now and then beyond the plane of before
			sum := int64(0)
			for k := range v {
				sum += slopes[k] * v[k]
			}
			if sum%den != 0 {
				continue
			}
			y := sum / den
			if rng.Intn(16) == 0 {
				y++
			}
			if a.points && a.whole != nil {
				d := direction{rise: integer(0)}
				for k := range v {
					d.vector = append(d.vector, integer(v[k]-a.origin[k]))
				}
				for i := range a.rows {
					d.subtract(&a.rows[i], d.vector[a.rows[i].pivot])
				}
				spanned := !slices.ContainsFunc(d.vector, func(x quotient) bool { return !x.zero() })
				if a.leaves(v) == spanned {
					t.Fatalf("%v leaves the rows of %+v: %t", v, a, a.leaves(v))
				}
				if !spanned {
					outside++
				} else {
					inside++
					exact := a.exactly(v) == integer(y)
					if !exact {
						off++
					}
					if got := a.whole.rise(&a, v) == (y-a.value)*a.whole.den; got != exact {
						t.Fatalf("%v → %d agrees with %+v: %t", v, y, a, got)
					}
				}
			}
			if !a.add(v, y) {
				break
			}
		}
	}
	if inside < 1000 || outside < 1000 || off < 100 {
		t.Fatalf("%d points inside, %d outside, %d off: too few to tell", inside, outside, off)
	}
}
