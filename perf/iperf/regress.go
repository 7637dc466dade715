package iperf

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"

	"presage/perf/leastsquares"
)

// Method is a criterion of fits (the report's Figure 10).
type Method uint8

const (
	// OLS minimises the sum of squared absolute errors.
	OLS Method = iota
	// WLS minimises the sum of squared relative errors.
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

// Collinear reports a column that is a combination of others, so that no fit
// can separate their shares of the time. Its coefficient is 0 and the others
// carry its share.
type Collinear struct {
	Column string
	Of     []string
}

func (c Collinear) String() string {
	return fmt.Sprintf("%s is a combination of %s at these sizes: its share of the time is among theirs", c.Column, strings.Join(c.Of, ", "))
}

// dependent is the share of a column's length up to which the part independent
// of earlier columns counts as rounding.
const dependent = 1e-10

// regress fits y by the columns, with rows divided by y for WLS. Columns that
// are combinations of earlier ones get the coefficient 0 and are reported. It
// panics if a time is not above 0 for WLS.
func regress(columns []Column, y []float64, method Method) (coef []float64, collinear []Collinear) {
	weights := rowWeights(y, method)
	coef = make([]float64, len(columns))
	scaled, lengths := make([][]float64, len(columns)), make([]float64, len(columns))
	for j := range columns {
		scaled[j] = weighted(columns[j].Values, weights)
		lengths[j] = floats.Norm(scaled[j], 2)
		if lengths[j] > 0 {
			floats.Scale(1/lengths[j], scaled[j])
		}
	}
	s := leastsquares.Solve(scaled, weighted(y, weights), dependent)
	for i, j := range s.Kept {
		coef[j] = s.Coefficients[i] / lengths[j]
	}
	for _, j := range s.Aside {
		collinear = append(collinear, explainColumn(columns, &s, j))
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

// explainColumn lists the columns that column j is a combination of.
func explainColumn(columns []Column, s *leastsquares.Solution, j int) Collinear {
	c := Collinear{Column: columns[j].String()}
	for i, v := range s.Combination(j) {
		if math.Abs(v) > 1e-6 {
			c.Of = append(c.Of, columns[s.Kept[i]].String())
		}
	}
	if len(c.Of) == 0 {
		c.Of = []string{"nothing (it is 0)"}
	}
	return c
}
