// Package damage makes damaged copies of files, to test readers of foreign bytes
// with.
package damage

import (
	"math/rand/v2"
	"slices"
)

// Copies returns n copies of data with a few other bytes each, half of them where
// tables of ELF files are: in the first KiB, and in the last eight. The same data
// give the same copies.
func Copies(data []byte, n int) [][]byte {
	rng := rand.New(rand.NewPCG(uint64(len(data)), 1))
	head, tail := min(1<<10, len(data)), min(8<<10, len(data))
	var all [][]byte
	for i := range n {
		c := slices.Clone(data)
		for range 1 + rng.IntN(4) {
			at := rng.IntN(len(c))
			switch i % 4 {
			case 0:
				at = rng.IntN(head)
			case 1:
				at = len(c) - 1 - rng.IntN(tail)
			}
			c[at] ^= byte(1 + rng.IntN(255))
		}
		if i%16 == 15 {
			c = c[:rng.IntN(len(c))]
		}
		all = append(all, c)
	}
	return all
}
