package replay

import "math/bits"

// prime is a Mersenne prime, modulo which products take two additions and a shift.
const prime = 1<<61 - 1

// degrees reports for each degree whether a polynomial of that degree can go through
// all points. What it denies is certain, and costs a hundredth of exact fractions; what
// it grants holds modulo a prime and is left to them. A polynomial of degree d goes
// through points if and only if their divided differences of order d+1 are 0.
func degrees(x, y []int64) (fits [maxDegree + 1]bool) {
	var room [2 * 32]uint64
	numer, denom := room[:0:32], room[32:32:64] // of the differences, as fractions
	for i := range y {
		numer, denom = append(numer, residue(y[i])), append(denom, 1)
	}
	for order := 1; order <= maxDegree+1 && order < len(x); order++ {
		fits[order-1] = true
		for i := range len(x) - order {
			n := times(numer[i+1], denom[i]) + prime - times(numer[i], denom[i+1])
			numer[i] = n % prime
			denom[i] = times(times(denom[i], denom[i+1]), residue(x[i+order]-x[i]))
			fits[order-1] = fits[order-1] && numer[i] == 0
		}
	}
	return fits
}

// residue returns v modulo the prime.
func residue(v int64) uint64 {
	if v %= prime; v < 0 {
		v += prime
	}
	return uint64(v)
}

// times returns the product of residues.
func times(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	sum := lo&prime + (lo>>61 | hi<<3)
	if sum >= prime {
		sum -= prime
	}
	return sum
}
