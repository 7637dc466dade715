package fit

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Interval is the closed interval [Lo, Hi].
type Interval struct{ Lo, Hi float64 }

// Func is a fitted function: Σ Coefficients[i]·Terms[i]. Without terms it is
// zero everywhere. It is plain data: encoding/gob and encoding/json store and
// restore it.
type Func struct {
	Terms        []Term
	Coefficients []float64

	// Residuals are data minus function at each point, in units of the data.
	Residuals []float64
	// RMS is the root mean square of the weighted residuals; with relative
	// weights, the typical relative error at the points.
	RMS float64
	// LOO is the root mean square of the weighted leave-one-out residuals: the
	// error at a point of a model fitted without it. It is math.MaxFloat64 if a
	// point alone determines a coefficient.
	LOO float64
	// R2 is the share of the weighted variance that the function explains.
	R2 float64
	// Condition is the condition number of the weighted design with columns
	// scaled to unit length: an upper bound, within a factor of the number of
	// terms.
	Condition float64
	// Domain is the range of each parameter in the data.
	Domain map[string]Interval
	// Spread quantifies how far the function may be off.
	Spread Spread

	Warnings []Warning
}

// Constant returns the function that equals v everywhere.
func Constant(v float64) Func {
	if v == 0 {
		return Func{}
	}
	return Func{Terms: []Term{{&one}}, Coefficients: []float64{v}}
}

// one is the term 1.
var one = compiled{text: "1", eval: constant(1)}

// Eval returns the value of f at p. It panics if p lacks a parameter.
func (f *Func) Eval(p Point) float64 {
	s := 0.0
	for i, t := range f.Terms {
		s += f.Coefficients[i] * t.Eval(p)
	}
	return s
}

// Values evaluates functions at points. A term that several functions share, as those
// of one basis do, is evaluated once a point. It is not for concurrent use.
type Values struct {
	points []Point
	terms  []*compiled
	values [][]float64 // by term and point
	spare  []float64   // of a term whose values are not kept
}

// sharedTerms bounds the terms whose values are kept; further ones are evaluated each
// time. Functions over one basis have MaxTerms at most.
const sharedTerms = MaxTerms

// At returns the values of functions at points.
func At(points ...Point) *Values { return &Values{points: points} }

// Of returns f.Eval(p), to the last bit, with p the first of the points.
func (v *Values) Of(f *Func) float64 {
	s := 0.0
	for i, t := range f.Terms {
		s += f.Coefficients[i] * v.term(t)[0]
	}
	return s
}

// Each sets to, which has an element for each of the points, to the values that Of has
// there, and returns it.
func (v *Values) Each(to []float64, f *Func) []float64 {
	clear(to)
	for i, t := range f.Terms {
		c := f.Coefficients[i]
		for k, x := range v.term(t) {
			to[k] += c * x
		}
	}
	return to
}

// term returns the values of a term at the points, until the next call.
func (v *Values) term(t Term) []float64 {
	for i, known := range v.terms {
		if known == t.code {
			return v.values[i]
		}
	}
	for i, known := range v.terms { // of functions that were stored, each has terms of its own
		if known.text == t.code.text {
			return v.values[i]
		}
	}
	keep := len(v.terms) < sharedTerms
	at := v.spare[:0]
	if keep {
		at = make([]float64, 0, len(v.points))
	}
	for _, p := range v.points {
		at = append(at, t.Eval(p))
	}
	if keep {
		v.terms, v.values = append(v.terms, t.code), append(v.values, at)
	} else {
		v.spare = at
	}
	return at
}

// Check returns a warning for each parameter of p that lies more than a factor
// of ReachLimit outside the data.
func (f *Func) Check(p Point) []Warning { return CheckReach(f.Domain, p) }

// CheckReach returns a warning for each parameter of p that lies above
// ReachLimit times its largest value in domain, below a ReachLimit-th of its
// smallest, or off its only value. Warnings are in ascending order of name.
func CheckReach(domain map[string]Interval, p Point) []Warning {
	var out []Warning
	for _, name := range slices.Sorted(maps.Keys(domain)) {
		x, ok := p[name]
		d := domain[name]
		if ok && (d.Hi > 0 && x > ReachLimit*d.Hi || d.Lo > 0 && x < d.Lo/ReachLimit) {
			out = append(out, warn(Extrapolated, "%s = %g, models were trained on %g to %g", name, x, d.Lo, d.Hi))
		} else if ok && d.Lo == d.Hi && x != d.Lo {
			out = append(out, warn(Extrapolated, "%s = %g, models were trained on %g alone", name, x, d.Lo))
		}
	}
	return out
}

// String writes f as a formula with coefficients of six digits, such as
// "12.5 + 3 n^2".
func (f *Func) String() string {
	var s strings.Builder
	for i, t := range f.Terms {
		c := f.Coefficients[i]
		if c == 0 {
			continue
		}
		switch {
		case s.Len() > 0 && c < 0:
			s.WriteString(" - ")
			c = -c
		case s.Len() > 0:
			s.WriteString(" + ")
		}
		text := t.String()
		number := strconv.FormatFloat(c, 'g', 6, 64)
		switch {
		case text == "1":
			s.WriteString(number)
		case strings.ContainsAny(text, "+-"):
			fmt.Fprintf(&s, "%s (%s)", number, text)
		default:
			fmt.Fprintf(&s, "%s %s", number, text)
		}
	}
	if s.Len() == 0 {
		return "0"
	}
	return s.String()
}

// finite reports whether v is neither infinite nor NaN.
func finite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }
