// Loops over Go's slices and arrays, among goroutines, maps and sorting.
package main

import (
	"fmt"
	"sort"
)

type particle struct {
	x, y, z float64
	id      int
}

//go:noinline
func rows(a, b, c [][]float64) {
	for i := range a {
		for j := range b[0] {
			s := 0.0
			for k := range b {
				s += a[i][k] * b[k][j]
			}
			c[i][j] = s
		}
	}
}

//go:noinline
func flat(a, b, c []float64, n int) {
	for i := range n {
		for j := range n {
			s := 0.0
			for k := range n {
				s += a[i*n+k] * b[k*n+j]
			}
			c[i*n+j] = s
		}
	}
}

//go:noinline
func stencil(a, b []float64, n int) {
	for i := 1; i < n-1; i++ {
		for j := 1; j < n-1; j++ {
			for k := 1; k < n-1; k++ {
				b[(i*n+j)*n+k] = a[(i*n+j)*n+k-1] + a[(i*n+j)*n+k+1] + a[((i-1)*n+j)*n+k] + a[((i+1)*n+j)*n+k]
			}
		}
	}
}

//go:noinline
func slices(a []float64, n int) (s float64) {
	for i := range n {
		for _, v := range a[i*n:][:n] {
			s += v
		}
	}
	return s
}

//go:noinline
func structs(p []particle) {
	for i := range p {
		p[i].x += p[i].y
		p[i].id = i
	}
}

//go:noinline
func downward(a []int) (s int) {
	for i := len(a) - 1; i >= 0; i -= 2 {
		s += a[i]
	}
	return s
}

//go:noinline
func arrays(g *[16][16]int32) (s int32) {
	for range 10 {
		for i := range g {
			for j := range g[i] {
				s += g[j][i]
			}
		}
	}
	return s
}

//go:noinline
func appended(n int) (x []int) {
	for i := range n {
		x = append(x, i*i)
	}
	return x
}

//go:noinline
func spmv(row, column []int, v, x, y []float64) {
	for i := 0; i+1 < len(row); i++ {
		s := 0.0
		for k := row[i]; k < row[i+1]; k++ {
			s += v[k] * x[column[k]]
		}
		y[i] = s
	}
}

func square(n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
		for j := range m[i] {
			m[i][j] = float64(i + j)
		}
	}
	return m
}

func main() {
	const n = 24
	a, b, c := square(n), square(n), square(n)
	rows(a, b, c)
	x, y, z := make([]float64, n*n*n), make([]float64, n*n*n), make([]float64, n*n*n)
	flat(x, y, z, n)
	stencil(x, y, n)
	total := slices(x, n)
	structs(make([]particle, 1000))
	ints := appended(2000)
	s := downward(ints)
	var g [16][16]int32
	s += int(arrays(&g))
	row, column := []int{0}, []int(nil)
	for i := range n {
		for j := i % 3; j < n; j += 2 {
			column = append(column, j)
		}
		row = append(row, len(column))
	}
	spmv(row, column, x, y, z)
	sort.Ints(ints)
	m := map[int]int{}
	for i := range 1000 {
		m[i*i%77]++
	}
	values := make(chan int)
	go func() {
		for i := range 100 {
			values <- i
		}
		close(values)
	}()
	for v := range values {
		s += v
	}
	fmt.Println(c[3][4], s, len(m), total)
}
