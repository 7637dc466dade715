// Command relax relaxes a mesh of n by n by n points: a kernel for tests of replay, in Go, which
// runs for long enough to be interrupted by signals of the runtime.
package main

import (
	"fmt"
	"os"
	"strconv"
)

const steps = 6

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	from, to, late := make([]float64, n*n*n), make([]float64, n*n*n), make([]float64, 8*n*n)
	for i := range from {
		from[i] = float64(i % 7)
	}
	for range steps {
		kernel(n, from, to)
		kernel(n, to, from)
	}
	sum(n, from, late)
	fmt.Println(late[8*n])
}

//go:noinline
func kernel(n int, from, to []float64) {
	for i := 1; i < n-1; i++ {
		for j := 1; j < n-1; j++ {
			at := (i*n + j) * n
			row, above, below := from[at:at+n], from[at-n:at], from[at+n:at+2*n]
			front, back, out := from[at-n*n:at-n*n+n], from[at+n*n:at+n*n+n], to[at:at+n]
			for k := 1; k < len(row)-1; k++ {
				out[k] = (row[k-1] + row[k+1] + above[k] + below[k] + front[k] + back[k]) / 6
			}
		}
	}
}

// sum is the first to access late.
//
//go:noinline
func sum(n int, from, late []float64) {
	for i := range n {
		for j := range n {
			for k := range n {
				late[8*(j*n+k)] += from[(i*n+j)*n+k]
			}
		}
	}
}
