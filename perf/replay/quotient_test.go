package replay

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestQuotients holds quotients against rational numbers of any size, for terms of which
// many, few or none keep results within 64 bits.
func TestQuotients(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	terms := func() int64 {
		switch rng.IntN(8) {
		case 0:
			return []int64{0, 1, -1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1 << 32, 1 << 62}[rng.IntN(8)]
		case 1, 2:
			return int64(rng.Uint64())
		case 3:
			return int64(rng.Uint64()) >> 20
		}
		return rng.Int64N(41) - 20
	}
	draw := func() (quotient, *big.Rat) {
		n, d := terms(), terms()
		if d == 0 {
			d = 1
		}
		return ratio(n, d), big.NewRat(n, d)
	}
	wide, narrow := 0, 0
	check := func(what string, got quotient, want *big.Rat) {
		t.Helper()
		if got.rat().Cmp(want) != 0 {
			t.Fatalf("%s: %v, want %v", what, got.rat(), want)
		}
		if fits := want.Num().IsInt64() && want.Denom().IsInt64(); fits != (got.wide == nil) {
			t.Fatalf("%s: %v is wide: %t, and fits: %t", what, want, got.wide != nil, fits)
		}
		if got.zero() != (want.Sign() == 0) {
			t.Fatalf("%s: %v is zero: %t", what, want, got.zero())
		}
		if got.wide != nil {
			wide++
		} else {
			narrow++
		}
	}
	for range 200000 {
		x, X := draw()
		f, F := draw()
		o, O := draw()
		check("x", x, X)
		y, Y := x.less(f, o), new(big.Rat).Sub(X, new(big.Rat).Mul(F, O))
		check("x - f·o", y, Y)
		check("x - f·o once more", y.less(o, x), new(big.Rat).Sub(Y, new(big.Rat).Mul(O, X)))
		if !f.zero() {
			check("x / f", x.over(f), new(big.Rat).Quo(X, F))
			check("(x - f·o) / f", y.over(f), new(big.Rat).Quo(Y, F))
		}
		n, most := 1+rng.Int64N(64), int64(1)<<rng.IntN(62)
		p := new(big.Rat).Mul(Y, big.NewRat(n, 1))
		want := p.IsInt() && new(big.Rat).Abs(p).Cmp(big.NewRat(most, 1)) <= 0
		if got, ok := y.times(n, most); ok != want || ok && big.NewRat(got, 1).Cmp(p) != 0 {
			t.Fatalf("%v · %d, at most %d: %d, %t", Y, n, most, got, ok)
		}
	}
	if wide < 10000 || narrow < 10000 {
		t.Errorf("%d results were wide and %d were not: too few to tell", wide, narrow)
	}
}
