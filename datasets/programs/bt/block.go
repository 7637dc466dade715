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
		k := (*[5]float64)(b[5*p : 5*p+5])
		scale, k0, k1, k2, k3, k4 := 1/k[p], k[0], k[1], k[2], k[3], k[4]
		for column := 5*p + 5; column <= 20; column += 5 {
			eliminate((*[5]float64)(b[column:column+5]), p, scale, k0, k1, k2, k3, k4)
		}
		for column := 0; column <= 20; column += 5 {
			eliminate((*[5]float64)(c[column:column+5]), p, scale, k0, k1, k2, k3, k4)
		}
		eliminate(r, p, scale, k0, k1, k2, k3, k4)
	}
}

// binvrhs replaces r by b⁻¹ r. It destroys b.
//
//go:noinline
func binvrhs(b *block, r *[5]float64) {
	for p := range 5 {
		k := (*[5]float64)(b[5*p : 5*p+5])
		scale, k0, k1, k2, k3, k4 := 1/k[p], k[0], k[1], k[2], k[3], k[4]
		for column := 5*p + 5; column <= 20; column += 5 {
			eliminate((*[5]float64)(b[column:column+5]), p, scale, k0, k1, k2, k3, k4)
		}
		eliminate(r, p, scale, k0, k1, k2, k3, k4)
	}
}

// eliminate does to a column x what makes the column k, with 1/scale in row p, a
// unit vector: scale row p and take k times it from the other rows. Scalars, as
// the compiler keeps no struct of this size in registers.
func eliminate(x *[5]float64, p int, scale, k0, k1, k2, k3, k4 float64) {
	t := x[p] * scale
	x[0] -= k0 * t
	x[1] -= k1 * t
	x[2] -= k2 * t
	x[3] -= k3 * t
	x[4] -= k4 * t
	x[p] = t
}
