package replay

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// What residues say of a degree is what exact fractions say, on points of polynomials
// of every degree, whole or with a point moved.
func TestDegreesAreThoseOfFractions(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for range 20000 {
		x, y := points(rng)
		got := degrees(x, y)
		for d := 0; d <= maxDegree && d+2 <= len(x); d++ {
			if want := newton(x[:d+1], y[:d+1]).through(x[d+1:], y[d+1:]); got[d] != want {
				t.Fatalf("degree %d through %v at %v: %v, want %v", d, y, x, got[d], want)
			}
		}
	}
}

// points are up to forty of a polynomial, one of them moved every other time.
func points(rng *rand.Rand) (x, y []int64) {
	c := [4]int64{}
	for i := range 1 + rng.IntN(4) {
		c[i] = rng.Int64N(2001) - 1000
	}
	at := rng.Int64N(100) - 50
	for range 2 + rng.IntN(39) {
		at += 1 + rng.Int64N(40)
		x, y = append(x, at), append(y, c[0]+at*(c[1]+at*(c[2]+at*c[3])))
	}
	if rng.IntN(2) == 0 {
		y[rng.IntN(len(y))] += []int64{-1, 1, math.MaxInt64 / 2}[rng.IntN(3)]
	}
	return x, y
}

// Products of residues are those of large integers.
func TestTimes(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 2))
	for _, v := range [][2]uint64{{0, 0}, {prime - 1, prime - 1}, {1, prime - 1}} {
		checkTimes(t, v[0], v[1])
	}
	for range 10000 {
		checkTimes(t, rng.Uint64N(prime), rng.Uint64N(prime))
	}
}

func checkTimes(t *testing.T, a, b uint64) {
	t.Helper()
	want := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
	want.Mod(want, big.NewInt(prime))
	if got := times(a, b); got != want.Uint64() {
		t.Fatalf("times(%d, %d) = %d, want %d", a, b, got, want)
	}
}
