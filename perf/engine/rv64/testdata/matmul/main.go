// Command matmul multiplies two square matrices and prints the trace of the
// product.
package main

import (
	"flag"
	"fmt"
)

func multiply(c, a, b []float64, n int) {
	for i := range n {
		for k := range n {
			x := a[i*n+k]
			row, out := b[k*n:k*n+n], c[i*n:i*n+n]
			for j := range row {
				out[j] += x * row[j]
			}
		}
	}
}

func main() {
	n := flag.Int("n", 300, "rows and columns")
	flag.Parse()
	a, b, c := make([]float64, *n**n), make([]float64, *n**n), make([]float64, *n**n)
	for i := range a {
		a[i] = float64(i%17) * 0.25
		b[i] = 1 / float64(i%13+1)
	}
	multiply(c, a, b, *n)
	var trace float64
	for i := range *n {
		trace += c[i**n+i]
	}
	fmt.Println(trace)
}
