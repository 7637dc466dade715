// Command stencil relaxes a cube with a 7-point stencil and prints its sum.
package main

import (
	"flag"
	"fmt"
)

func sweep(to, from []float64, n int) {
	const c0, c1 = 0.4, 0.1
	for i := 1; i < n-1; i++ {
		for j := 1; j < n-1; j++ {
			at := (i*n + j) * n
			for k := at + 1; k < at+n-1; k++ {
				to[k] = c0*from[k] + c1*(from[k-1]+from[k+1]+from[k-n]+from[k+n]+from[k-n*n]+from[k+n*n])
			}
		}
	}
}

func main() {
	n := flag.Int("n", 100, "points a side")
	steps := flag.Int("steps", 6, "sweeps")
	flag.Parse()
	a, b := make([]float64, *n**n**n), make([]float64, *n**n**n)
	for i := range a {
		a[i] = float64(i%7) * 0.5
	}
	for range *steps {
		sweep(b, a, *n)
		a, b = b, a
	}
	var sum float64
	for _, v := range a {
		sum += v
	}
	fmt.Println(sum)
}
