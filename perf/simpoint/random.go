package simpoint

import "math/rand/v2"

// Purposes of random numbers: each purpose, and each run of k-means, has a
// stream of its own, so that the order of work does not matter.
const (
	purposeProjection = iota + 1
	purposeStart
	purposeStability
)

// stream returns the random numbers for a purpose.
func stream(seed uint64, purpose int, which ...uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, derive(uint64(purpose), which...)))
}

// derive mixes numbers into one (SplitMix64's finaliser after each).
func derive(seed uint64, which ...uint64) uint64 {
	x := seed
	for _, w := range which {
		x += w + 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}
