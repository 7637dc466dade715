package npb

// The random numbers of all NAS benchmarks (RNR-94-007, section 2.3): the linear
// congruential sequence
//
//	x(k+1) = a x(k) mod 2⁴⁶, a = 5¹³, r(k) = 2⁻⁴⁶ x(k)
//
// in whole numbers, for which 64 bits are enough: the bits of a product above the
// 64th have no part in its lowest 46. So every r is exact on every machine.
const (
	multiplier = 1220703125
	modulus    = 1 << 46
)

// Seeds that the benchmarks start from.
const (
	Seed   = 314159265 // CG, FT, IS, MG
	SeedEP = 271828183
)

// Randlc moves the sequence on by one and returns the new number, in (0, 1) for
// an odd state.
func Randlc(x *uint64) float64 { return float64(Randi(x)) * (1.0 / modulus) }

// Randi is Randlc without the division: it returns the new state, below 2⁴⁶.
func Randi(x *uint64) uint64 {
	*x = *x * multiplier % modulus
	return *x
}

// Vranlc sets dst to the numbers that as many calls of Randlc would return.
//
//go:noinline
func Vranlc(x *uint64, dst []float64) {
	s := *x
	for i := range dst {
		s = s * multiplier % modulus
		dst[i] = float64(s) * (1.0 / modulus)
	}
	*x = s
}

// Skip moves the sequence on by n, in log2 n steps: x becomes aⁿ x mod 2⁴⁶.
//
//go:noinline
func Skip(x *uint64, n uint64) {
	for power := uint64(multiplier); n > 0; n >>= 1 {
		if n&1 == 1 {
			*x = *x * power % modulus
		}
		power = power * power % modulus
	}
}
