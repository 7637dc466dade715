package main

// matvecSub subtracts a x from y.
//
//go:noinline
func matvecSub(a *block, x, y *[5]float64) {
	for m := range y {
		y[m] = y[m] - a[m]*x[0] - a[m+5]*x[1] - a[m+10]*x[2] - a[m+15]*x[3] - a[m+20]*x[4]
	}
}

// matmulSub subtracts a b from c.
//
//go:noinline
func matmulSub(a, b, c *block) {
	for column := 0; column <= 20; column += 5 {
		x := (*[5]float64)(b[column : column+5])
		y := (*[5]float64)(c[column : column+5])
		for m := range y {
			y[m] = y[m] - a[m]*x[0] - a[m+5]*x[1] - a[m+10]*x[2] - a[m+15]*x[3] - a[m+20]*x[4]
		}
	}
}

// binvcrhs replaces c by b⁻¹ c and r by b⁻¹ r, by Gauss-Jordan elimination
// without pivoting: the blocks are near the identity. It destroys b.
//
//go:noinline
func binvcrhs(b, c *block, r *[5]float64) {
	for p := range 5 {
		e := eliminator(b, p)
		for column := 5*p + 5; column <= 20; column += 5 {
			e.apply((*[5]float64)(b[column:column+5]), p)
		}
		for column := 0; column <= 20; column += 5 {
			e.apply((*[5]float64)(c[column:column+5]), p)
		}
		e.apply(r, p)
	}
}

// binvrhs replaces r by b⁻¹ r. It destroys b.
//
//go:noinline
func binvrhs(b *block, r *[5]float64) {
	for p := range 5 {
		e := eliminator(b, p)
		for column := 5*p + 5; column <= 20; column += 5 {
			e.apply((*[5]float64)(b[column:column+5]), p)
		}
		e.apply(r, p)
	}
}

// elimination is a step of Gauss-Jordan: scale the row of the pivot and take
// multiples of it from the other rows.
type elimination struct{ pivot, k0, k1, k2, k3, k4 float64 }

// eliminator returns the step that makes column p of b a unit vector.
func eliminator(b *block, p int) elimination {
	x := (*[5]float64)(b[5*p : 5*p+5])
	return elimination{1 / x[p], x[0], x[1], x[2], x[3], x[4]}
}

// apply does the step to a column.
func (e *elimination) apply(x *[5]float64, p int) {
	t := x[p] * e.pivot
	x[0] -= e.k0 * t
	x[1] -= e.k1 * t
	x[2] -= e.k2 * t
	x[3] -= e.k3 * t
	x[4] -= e.k4 * t
	x[p] = t
}
