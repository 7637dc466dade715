package softfloat

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const trials = 200_000

// pattern draws a bit pattern: an arbitrary one, or that of a value near one, so
// that operands interact.
func pattern(rng *rand.Rand) uint64 {
	v := rng.Uint64()
	switch rng.IntN(4) {
	case 0:
		return v
	case 1:
		return v&^(0x7ff<<52) | uint64(1023-30+rng.IntN(60))<<52
	case 2:
		return v&^(1<<40-1)&^(0x7ff<<52) | uint64(1023-8+rng.IntN(16))<<52
	}
	return v &^ (0x7fe << 52) // tiny
}

func same64(got uint64, want float64) bool {
	if want != want {
		return got == NaN64
	}
	return got == math.Float64bits(want)
}

func same32(got uint32, want float32) bool {
	if want != want {
		return got == NaN32
	}
	return got == math.Float32bits(want)
}

// TestAgainstHardware compares results rounded to nearest even with Go's
// arithmetic, over all classes of operands.
func TestAgainstHardware(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range trials {
		x, y, z := pattern(rng), pattern(rng), pattern(rng)
		a, b, c := math.Float64frombits(x), math.Float64frombits(y), math.Float64frombits(z)
		check := func(name string, got uint64, want float64) {
			if !same64(got, want) {
				t.Fatalf("%s of %x, %x, %x: %x, want %x", name, x, y, z, got, math.Float64bits(want))
			}
		}
		v, _ := Add64(x, y, NearestEven)
		check("sum", v, a+b)
		v, _ = Add64(x, y^1<<63, NearestEven)
		check("difference", v, a-b)
		v, _ = Mul64(x, y, NearestEven)
		check("product", v, a*b)
		v, _ = Div64(x, y, NearestEven)
		check("quotient", v, a/b)
		v, _ = Sqrt64(x, NearestEven)
		check("root", v, math.Sqrt(a))
		v, _ = FMA64(x, y, z, NearestEven)
		check("fma", v, math.FMA(a, b, c))

		p, q := uint32(x>>32), uint32(y>>32)
		d, e := math.Float32frombits(p), math.Float32frombits(q)
		check32 := func(name string, got uint32, want float32) {
			if !same32(got, want) {
				t.Fatalf("%s of %x, %x: %x, want %x", name, p, q, got, math.Float32bits(want))
			}
		}
		w, _ := Add32(p, q, NearestEven)
		check32("single sum", w, d+e)
		w, _ = Mul32(p, q, NearestEven)
		check32("single product", w, d*e)
		w, _ = Div32(p, q, NearestEven)
		check32("single quotient", w, d/e)
		w, _ = Sqrt32(p, NearestEven)
		check32("single root", w, float32(math.Sqrt(float64(d))))
		w, _ = From64(x, NearestEven)
		check32("narrowed", w, float32(a))
		v, _ = From32(p)
		check("widened", v, float64(d))
		v, _ = Int64To64(int64(x), NearestEven)
		check("signed", v, float64(int64(x)))
		v, _ = Uint64To64(x, NearestEven)
		check("unsigned", v, float64(x))
		w, _ = Int64To32(int64(x), NearestEven)
		check32("single signed", w, float32(int64(x)))
	}
}

// TestAgainstBig compares results and the inexact flag in every rounding mode
// with math/big, where no exponent limit is near.
func TestAgainstBig(t *testing.T) {
	modes := map[Mode]big.RoundingMode{
		NearestEven: big.ToNearestEven, TowardZero: big.ToZero, Down: big.ToNegativeInf,
		Up: big.ToPositiveInf, NearestAway: big.ToNearestAway,
	}
	rng := rand.New(rand.NewPCG(5, 6))
	operand := func() (uint64, *big.Float) {
		v := rng.Uint64()&^(0x7ff<<52) | uint64(1023-30+rng.IntN(60))<<52
		if rng.IntN(2) == 0 {
			v &^= 1<<uint(rng.IntN(52)) - 1 // so that some results are exact
		}
		return v, new(big.Float).SetFloat64(math.Float64frombits(v))
	}
	const exact = 400 // bits, enough for any sum of products of such operands
	for range trials / 10 {
		x, a := operand()
		y, b := operand()
		z, c := operand()
		wide := func() *big.Float { return new(big.Float).SetPrec(exact) }
		product := wide().Mul(a, b)
		for m, mode := range modes {
			check := func(name string, got uint64, f Flags, want *big.Float, rounded bool) {
				r := new(big.Float).SetMode(mode).SetPrec(53).Set(want)
				v, _ := r.Float64()
				inexact := rounded || r.Acc() != big.Exact
				if want.Sign() != 0 && math.Float64bits(v) != got || (f&Inexact != 0) != inexact {
					t.Fatalf("%s of %x, %x, %x in mode %d: %x flags %x, want %x inexact %v", name, x, y, z, m, got, f, math.Float64bits(v), inexact)
				}
			}
			v, f := Add64(x, y, m)
			check("sum", v, f, wide().Add(a, b), false)
			v, f = Mul64(x, y, m)
			check("product", v, f, product, false)
			v, f = FMA64(x, y, z, m)
			check("fma", v, f, wide().Add(product, c), false)
			q := wide().Quo(a, b)
			v, f = Div64(x, y, m)
			check("quotient", v, f, q, q.Acc() != big.Exact)
			if a.Sign() > 0 {
				root := wide().Sqrt(a)
				v, f = Sqrt64(x, m)
				check("root", v, f, root, wide().SetPrec(2*exact).Mul(root, root).Cmp(a) != 0)
			}
		}
	}
}
