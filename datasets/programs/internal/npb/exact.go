package npb

// coefficients are the C(m,1..13) of the exact solution, a row a component, with
// the values that the serial sources of NPB 3.0 set.
var coefficients = [5][13]float64{
	{2, 0, 0, 4, 5, 3, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
	{1, 0, 0, 0, 1, 2, 3, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
	{2, 2, 0, 0, 0, 2, 3, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
	{2, 2, 0, 0, 0, 2, 3, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
	{5, 4, 3, 2, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
}

// Exact sets u to the exact solution at a point of the unit cube: for each of
// the five conserved variables (density, three of momentum, energy) a quartic
// in each coordinate,
//
//	u_m = C1 + Σ_d (C(1+d) x + C(4+d) x² + C(7+d) x³ + C(10+d) x⁴),  x = xi, eta, zeta
func Exact(u *[5]float64, xi, eta, zeta float64) {
	for m := range u {
		c := &coefficients[m]
		u[m] = c[0] +
			xi*(c[1]+xi*(c[4]+xi*(c[7]+xi*c[10]))) +
			eta*(c[2]+eta*(c[5]+eta*(c[8]+eta*c[11]))) +
			zeta*(c[3]+zeta*(c[6]+zeta*(c[9]+zeta*c[12])))
	}
}
