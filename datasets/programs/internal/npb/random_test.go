package npb

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// next is the definition of the sequence, in numbers of any size.
func next(x *big.Int) *big.Int {
	a := new(big.Int).Exp(big.NewInt(5), big.NewInt(13), nil)
	m := new(big.Int).Exp(big.NewInt(2), big.NewInt(46), nil)
	return a.Mod(a.Mul(a, x), m)
}

func TestRandlcMatchesBigIntegers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		seed := random.Uint64()%modulus | 1
		x, vector := seed, seed
		numbers := make([]float64, 50)
		Vranlc(&vector, numbers)
		want := new(big.Int).SetUint64(seed)
		for i, r := range numbers {
			want = next(want)
			exact := new(big.Rat).SetFrac(want, new(big.Int).Lsh(big.NewInt(1), 46))
			if got := Randlc(&x); new(big.Rat).SetFloat64(got).Cmp(exact) != 0 || got != r || x != want.Uint64() {
				t.Fatalf("seed %d, number %d: Randlc %g, state %d, Vranlc %g, want %v/2^46", seed, i+1, got, x, r, want)
			}
		}
		if vector != x {
			t.Fatalf("seed %d: Vranlc ends in state %d, want %d", seed, vector, x)
		}
	}
}

func TestSkip(t *testing.T) {
	m := new(big.Int).Lsh(big.NewInt(1), 46)
	for _, n := range []uint64{0, 1, 2, 3, 131072, 1<<40 + 12345, 1<<64 - 1} {
		x := uint64(SeedEP)
		Skip(&x, n)
		want := new(big.Int).Exp(big.NewInt(multiplier), new(big.Int).SetUint64(n), m)
		want.Mod(want.Mul(want, big.NewInt(SeedEP)), m)
		if x != want.Uint64() {
			t.Errorf("%d numbers on: state %d, want %v", n, x, want)
		}
	}
}

// The modulus is a power of two, a ≡ 5 mod 8: of the 2⁴⁶ states, the odd ones
// make a sequence of period 2⁴⁴ (Knuth, volume 2, section 3.2.1.2, theorem C).
func TestPeriod(t *testing.T) {
	x := uint64(Seed)
	Skip(&x, 1<<44)
	if x != Seed {
		t.Errorf("after 2^44 numbers the state is %d, want %d", x, Seed)
	}
	if Skip(&x, 1<<43); x == Seed {
		t.Error("the period is 2^43")
	}
}
