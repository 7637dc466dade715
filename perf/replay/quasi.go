package replay

// moduli are the residue classes of sizes in which functions of them are looked for that
// differ in what they add: those of the fractions of its size that a program computes with.
var moduli = []int64{2, 3, 4, 5, 6, 8, 10}

// quasi returns the value at n of the quasi-polynomial that goes through all sizes: one
// polynomial for each residue class, with one leading coefficient, as it is where a fraction
// of the size is rounded, n+n/4 or n*(n/2). So other classes confirm what n's own class has
// one size to spare for. With fewer, such functions are often found where there are none, as
// in remainders, whose period and that of the classes beat; and a leading coefficient of zero
// is none, since constants by class are had by many functions.
func (s *Series) quasi(n int64) (Value, bool) {
	for _, m := range moduli {
		for degree := 1; degree <= maxDegree; degree++ {
			if v, ok := s.quasiOf(n, m, degree); ok && v.Exact() {
				return v, true
			}
		}
	}
	return Value{}, false
}

// quasiOf is quasi with classes modulo m, of a degree.
func (s *Series) quasiOf(n, m int64, degree int) (Value, bool) {
	x, y := s.class(n%m, m)
	if len(x) < degree+2 {
		return Value{}, false
	}
	own := newton(x[:degree+1], y[:degree+1])
	lead, shown, alone := own.coef[degree], 0, 0
	if lead.Sign() == 0 {
		return Value{}, false
	}
	for class := range m {
		x, y := s.class(class, m)
		if len(x) > 0 && len(x) <= degree {
			alone++
		}
		for k := 0; k+degree < len(x); k++ {
			if newton(x[k:k+degree+1], y[k:k+degree+1]).coef[degree].Cmp(lead) != 0 {
				return Value{}, false
			}
			shown++
		}
	}
	at := own.at(n)
	if !at.IsInt() || !at.Num().IsInt64() || alone > 1 {
		return Value{}, false
	}
	return Value{At: at.Num().Int64(), Degree: degree, Modulus: 1, Spare: shown - 1}, true
}

// class returns the sizes that leave a remainder when divided by m, and their values.
func (s *Series) class(remainder, m int64) (x, y []int64) {
	for i, size := range s.Sizes {
		if size%m == remainder {
			x, y = append(x, size), append(y, s.Values[i])
		}
	}
	return x, y
}
