package iperf

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Method is how coefficients are fitted (the report's Figure 10).
type Method uint8

const (
	// OLS makes the sum of squared absolute errors least.
	OLS Method = iota
	// WLS makes the sum of squared relative errors least.
	WLS
)

func (m Method) String() string {
	if m == WLS {
		return "WLS"
	}
	return "OLS"
}

// Column is a term of a complete model at the measured sizes.
type Column struct {
	Model  *Model
	Term   int // of the model
	Values []float64
}

func (c *Column) String() string {
	if n := len(c.Model.Terms); n > 1 || c.Term > 0 {
		return fmt.Sprintf("%s[%d]", c.Model.Name, c.Term)
	}
	return c.Model.Name
}

// Collinear says that a column is a combination of others, so that no fit can
// tell how much of the time is its own. Its coefficient is 0 and the others
// carry what it explains.
type Collinear struct {
	Column string
	Of     []string
}

func (c Collinear) String() string {
	return fmt.Sprintf("%s is a combination of %s at these sizes: its share of the time is among theirs", c.Column, strings.Join(c.Of, ", "))
}

// dependent is the share of a column's length, at most, that is left beyond the
// columns before it where it is a combination of them: rounding.
const dependent = 1e-10

// regress fits y by the columns. Rows are divided by y for WLS. Columns that are
// combinations of earlier ones get the coefficient 0 and are reported. It panics
// if a time is not above 0 for WLS.
func regress(columns []Column, y []float64, method Method) (coef []float64, collinear []Collinear) {
	weights := rowWeights(y, method)
	rows := len(y)
	coef = make([]float64, len(columns))
	var kept []int      // columns of the fit
	var basis []float64 // orthonormal, of the columns kept
	var scaled [][]float64
	for j := range columns {
		x := weighted(columns[j].Values, weights)
		length := norm(x)
		if length > 0 {
			for i := range x {
				x[i] /= length
			}
		}
		scaled = append(scaled, x)
		rest := remainder(x, basis, rows)
		left := norm(rest)
		if length == 0 || left <= dependent || len(kept) == rows {
			collinear = append(collinear, explainColumn(columns, scaled, kept, j))
			continue
		}
		for i := range rest {
			rest[i] /= left
		}
		basis = append(basis, rest...)
		kept = append(kept, j)
	}
	b := solve(scaled, kept, weighted(y, weights))
	for i, j := range kept {
		coef[j] = b[i] / norm(weighted(columns[j].Values, weights))
	}
	return coef, collinear
}

func rowWeights(y []float64, method Method) []float64 {
	w := make([]float64, len(y))
	for i, t := range y {
		w[i] = 1
		if method == WLS {
			if !(t > 0) {
				panic("iperf: a relative error needs a time above 0")
			}
			w[i] = 1 / t
		}
	}
	return w
}

func weighted(x, w []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] * w[i]
	}
	return out
}

func norm(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s = math.Hypot(s, v)
	}
	return s
}

// remainder returns x less its projection on the orthonormal vectors, twice, so
// that rounding of the first pass is removed.
func remainder(x, basis []float64, rows int) []float64 {
	r := append([]float64(nil), x...)
	for range 2 {
		for b := 0; b < len(basis); b += rows {
			q := basis[b : b+rows]
			dot := 0.0
			for i := range q {
				dot += q[i] * r[i]
			}
			for i := range q {
				r[i] -= dot * q[i]
			}
		}
	}
	return r
}

// solve returns the least-squares coefficients of y over the kept columns, by QR
// decomposition.
func solve(columns [][]float64, kept []int, y []float64) []float64 {
	if len(kept) == 0 {
		return nil
	}
	a := mat.NewDense(len(y), len(kept), nil)
	for c, j := range kept {
		a.SetCol(c, columns[j])
	}
	var qr mat.QR
	qr.Factorize(a)
	var x mat.VecDense
	if err := qr.SolveVecTo(&x, false, mat.NewVecDense(len(y), y)); err != nil {
		// Ill-conditioned, not singular: kept columns are independent. The
		// solution is there; sensitivity analysis tells of near collinearity.
		var condition mat.Condition
		if !asCondition(err, &condition) {
			panic(fmt.Sprintf("iperf: least squares: %v", err))
		}
	}
	out := make([]float64, len(kept))
	for i := range out {
		out[i] = x.AtVec(i)
	}
	return out
}

func asCondition(err error, target *mat.Condition) bool {
	c, ok := err.(mat.Condition)
	*target = c
	return ok && !math.IsInf(float64(c), 1)
}

// explainColumn names the columns that column j is a combination of.
func explainColumn(columns []Column, scaled [][]float64, kept []int, j int) Collinear {
	c := Collinear{Column: columns[j].String()}
	for i, v := range solve(scaled, kept, scaled[j]) {
		if math.Abs(v) > 1e-6 {
			c.Of = append(c.Of, columns[kept[i]].String())
		}
	}
	if len(c.Of) == 0 {
		c.Of = []string{"nothing (it is 0)"}
	}
	return c
}
