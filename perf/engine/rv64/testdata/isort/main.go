// Command isort sorts pseudo-random integers by shell sort and prints a
// checksum of their order.
package main

import (
	"flag"
	"fmt"
)

func shellSort(v []uint64) {
	gap := 1
	for gap < len(v)/3 {
		gap = 3*gap + 1
	}
	for ; gap > 0; gap /= 3 {
		for i := gap; i < len(v); i++ {
			x, j := v[i], i
			for j >= gap && v[j-gap] > x {
				v[j] = v[j-gap]
				j -= gap
			}
			v[j] = x
		}
	}
}

func main() {
	n := flag.Int("n", 400_000, "integers")
	flag.Parse()
	v := make([]uint64, *n)
	x := uint64(88172645463325252)
	for i := range v {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		v[i] = x
	}
	shellSort(v)
	var sum uint64
	for i, x := range v {
		sum = sum*31 + x ^ uint64(i)
	}
	fmt.Println(sum)
}
