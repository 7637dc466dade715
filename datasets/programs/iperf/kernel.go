package main

import "fmt"

// kernelNaive goes through the array row by row and works out each place anew.
//
//go:noinline
func kernelNaive(a []float64, n int) {
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			a[kernelIndex(i, j, n)] = a[kernelIndex(i, j, n)] + 1
		}
	}
}

// kernelIndex returns the place of element (i, j).
//
//go:noinline
func kernelIndex(i, j, n int) int { return i + j*n }

// kernelOptimised goes through the array row by row.
//
//go:noinline
func kernelOptimised(a []float64, n int) {
	for i := range n {
		for k := i; k < len(a); k += n {
			a[k]++
		}
	}
}

// kernelInterchanged goes through the array column by column, which is as it
// lies in memory.
//
//go:noinline
func kernelInterchanged(a []float64, n int) {
	for ; len(a) >= n; a = a[n:] {
		c := a[:n]
		for ; len(c) >= 4; c = c[4:] {
			c[0]++
			c[1]++
			c[2]++
			c[3]++
		}
		for k := range c {
			c[k]++
		}
	}
}

// initialize sets element k to k modulo 1000: small integers, so that adding 1
// is exact.
//
//go:noinline
func initialize(a []float64) {
	for k := range a {
		a[k] = float64(k % 1000)
	}
}

// verify returns the first element that is not by more than initialize made it.
//
//go:noinline
func verify(a []float64, by float64) error {
	for k, got := range a {
		if want := float64(k%1000) + by; got != want {
			return wrong(k, got, want)
		}
	}
	return nil
}

func wrong(k int, got, want float64) error {
	return fmt.Errorf("element %d is %g, want %g", k, got, want)
}
