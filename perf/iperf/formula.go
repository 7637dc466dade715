package iperf

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"presage/perf/fit"
)

// Condition is a conjunction of comparisons, such as
// "footprint <= tlb_entries*page and levels == 2".
type Condition struct {
	text        string
	comparisons []comparison
}

type comparison struct {
	left, right fit.Term
	operator    string
	text        string
}

// operators lists the comparisons; one that begins with another comes first.
var operators = []string{"<=", ">=", "==", "!=", "<", ">"}

// ParseCondition compiles comparisons (<= >= < > == !=) of two expressions of
// package fit each, joined by "and".
func ParseCondition(text string) (Condition, error) {
	c := Condition{text: strings.TrimSpace(text)}
	if len(text) > maxFormula {
		return c, fmt.Errorf("condition of %d bytes, at most %d", len(text), maxFormula)
	}
	for part := range strings.SplitSeq(c.text, " and ") {
		one, err := parseComparison(strings.TrimSpace(part))
		if err != nil {
			return c, err
		}
		c.comparisons = append(c.comparisons, one)
	}
	return c, nil
}

func parseComparison(text string) (comparison, error) {
	c := comparison{text: text}
	at := strings.IndexAny(text, "<>=!")
	if at < 0 {
		return c, fmt.Errorf("condition %q compares nothing: want <=, >=, <, >, == or !=", text)
	}
	i := slices.IndexFunc(operators, func(op string) bool { return strings.HasPrefix(text[at:], op) })
	if i < 0 {
		return c, fmt.Errorf("condition %q has no comparison that is known: want <=, >=, <, >, == or !=", text)
	}
	c.operator = operators[i]
	var errs [2]error
	c.left, errs[0] = fit.ParseTerm(text[:at])
	c.right, errs[1] = fit.ParseTerm(text[at+len(c.operator):])
	return c, errors.Join(errs[:]...)
}

// String returns the text of the condition.
func (c Condition) String() string { return c.text }

// Params returns the names in the condition, in ascending order.
func (c Condition) Params() []string {
	var out []string
	for _, one := range c.comparisons {
		out = append(append(out, one.left.Params()...), one.right.Params()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// holds reports whether all comparisons hold and, if not, returns the first
// that does not.
func (c Condition) holds(v fit.Point) (bool, *comparison) {
	for i := range c.comparisons {
		if !c.comparisons[i].holds(v) {
			return false, &c.comparisons[i]
		}
	}
	return true, nil
}

func (c *comparison) holds(v fit.Point) bool {
	a, b := c.left.Eval(v), c.right.Eval(v)
	switch c.operator {
	case "<=":
		return a <= b
	case ">=":
		return a >= b
	case "<":
		return a < b
	case ">":
		return a > b
	case "==":
		return a == b
	}
	return a != b
}

// Over is the set of things that a formula is evaluated for.
type Over uint8

const (
	Once         Over = iota // one value
	OfLoops                  // a term of its own for each loop
	OfReferences             // one term, added up over groups of references
)

// Formula is one or more terms of a model as functions of the problem size: the
// braces of Figure 6.
type Formula struct {
	Over  Over
	Cases []Case // the first whose condition holds counts; the last has none
}

// Case is a line of a brace.
type Case struct {
	When  *Condition // nil: otherwise
	Value fit.Term
}

// params returns the names in the formula, in ascending order.
func (f *Formula) params() []string {
	var out []string
	for _, c := range f.Cases {
		out = append(out, c.Value.Params()...)
		if c.When != nil {
			out = append(out, c.When.Params()...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// missing returns the first name of the formula that has no value in s, or "".
func (f *Formula) missing(s *scope) string {
	values := s.kernel
	switch f.Over {
	case OfLoops:
		values = s.loops[0]
	case OfReferences:
		values = s.groups[0]
	}
	return firstMissing(f.params(), values)
}

func firstMissing(names []string, values map[string]float64) string {
	for _, name := range names {
		if _, ok := values[name]; !ok {
			return name
		}
	}
	return ""
}

// eval returns the formula's terms at one problem size: one, or one for each
// loop of the kernel.
func (f *Formula) eval(s *scope) ([]float64, error) {
	switch f.Over {
	case OfLoops:
		var out []float64
		for _, v := range s.loops {
			x, err := f.pick(v, s)
			if err != nil {
				return nil, err
			}
			out = append(out, x)
		}
		return out, nil
	case OfReferences:
		sum := 0.0
		for _, v := range s.groups {
			x, err := f.pick(v, s)
			if err != nil {
				return nil, err
			}
			sum += x
		}
		return []float64{sum}, nil
	}
	x, err := f.pick(s.kernel, s)
	return []float64{x}, err
}

func (f *Formula) pick(v map[string]float64, s *scope) (float64, error) {
	for i := range f.Cases {
		c := &f.Cases[i]
		if c.When != nil {
			if ok, _ := c.When.holds(v); !ok {
				continue
			}
		}
		x := c.Value.Eval(v)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return 0, fmt.Errorf("%s is %g at %s", c.Value, x, pointText(s.at))
		}
		return x, nil
	}
	panic("iperf: a formula without a last case") // the reader demands one
}
