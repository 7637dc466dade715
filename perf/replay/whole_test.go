package replay

import (
	"math/big"
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
				d := direction{vector: make([]*big.Rat, depth), rise: new(big.Rat)}
				for k := range v {
					d.vector[k] = big.NewRat(v[k]-a.origin[k], 1)
				}
				for _, r := range a.rows {
					d.subtract(&r, new(big.Rat).Set(d.vector[r.pivot]))
				}
				spanned := !slices.ContainsFunc(d.vector, func(x *big.Rat) bool { return x.Sign() != 0 })
				if a.leaves(v) == spanned {
					t.Fatalf("%v leaves the rows of %+v: %t", v, a, a.leaves(v))
				}
				if !spanned {
					outside++
				} else {
					inside++
					exact := a.exactly(v).Cmp(big.NewRat(y, 1)) == 0
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
