package main

import (
	"fmt"
	"io"
	"math"
)

// verify returns the first row in which C x = repeat A (B x) does not hold.
//
//go:noinline
func verify(p *problem) error {
	bound := rounding(p.n, p.repeat)
	for v := range checks {
		apply(p.y[v], p.b, p.x[v])
		apply(p.z[v], p.a, p.y[v])
		apply(p.w[v], p.c, p.x[v])
		for i, got := range p.w[v] {
			want := float64(p.repeat) * p.z[v][i]
			if diff := math.Abs(got-want) / want; !(diff <= bound) { // NaN is no agreement
				return fmt.Errorf("row %d of C times vector %d is %.17g, but of %d A B it is %.17g: a relative difference of %.3g, more than rounding (%.3g)",
					i, v, got, p.repeat, want, diff, bound)
			}
		}
	}
	return nil
}

// rounding bounds the relative difference between the two sides of the check. A
// sum of m products of positive numbers is off by a share of at most m+1 unit
// roundoffs, to first order, in any order and with products rounded or not. C
// takes m = repeat n, and each of the three products with a vector n. The terms
// of higher order are below 1e-3 of this, which the few added cover.
func rounding(n, repeat int) float64 {
	const unit = 0x1p-53
	return unit * float64(repeat*n+3*n+8) * (1 + 1e-3)
}

// apply sets dst = m v for a square matrix m.
//
//go:noinline
func apply(dst, m, v []float64) {
	n := len(v)
	for i := range dst {
		sum := 0.0
		for j, e := range m[i*n:][:n] {
			sum += e * v[j]
		}
		dst[i] = sum
	}
}

// report prints the problem and what was computed, in few enough digits that it
// does not matter whether the machine rounds x*y + z once or twice.
//
//go:noinline
func report(w io.Writer, p *problem) {
	n := p.n
	trace, sum, squares, largest := 0.0, 0.0, 0.0, 0.0
	for i := range n {
		row := p.c[i*n:][:n]
		trace += row[i]
		for _, e := range row {
			sum += e
			squares += e * e
			largest = max(largest, e)
		}
	}
	fmt.Fprintf(w, "matmul: n %d, block %d, repeat %d, %d elements in three matrices\n", n, p.block, p.repeat, 3*n*n)
	fmt.Fprintf(w, "product: sum %.9e, trace %.9e, norm %.9e, largest %.9e\n", sum, trace, math.Sqrt(squares), largest)
	fmt.Fprintf(w, "corners: %.9e %.9e %.9e %.9e\n", p.c[0], p.c[n-1], p.c[(n-1)*n], p.c[n*n-1])
}
