package iperf

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"presage/perf/fit"
)

// Curve is a model evaluated at the measured sizes (the report's Figure 7).
type Curve struct {
	Model *Model
	Terms [][]float64 // [term][size]
}

// Pruned is the reason why pre-selection dropped a model or, with Model empty,
// a factor.
type Pruned struct {
	Factor, Model string
	Reason        string
}

func (p Pruned) String() string {
	if p.Model == "" {
		return fmt.Sprintf("factor %s: %s", p.Factor, p.Reason)
	}
	return fmt.Sprintf("model %s: %s", p.Model, p.Reason)
}

// Lattice is the factor tree after pre-selection: the models left to combine,
// and the reasons why others are not.
type Lattice struct {
	Points []fit.Point
	Curves []Curve // in the order of the tree
	Pruned []Pruned

	// Warnings are doubts about the kernel's analysis.
	Warnings []error

	factors []*Factor // the pruned tree
}

// Preselect prunes the tree of factors given the kernel, the system and the
// sizes (section 3.2), and evaluates the rest.
func Preselect(db *Database, k *Kernel, s *System, points []fit.Point) (*Lattice, error) {
	if len(points) == 0 {
		return nil, fmt.Errorf("iperf: no sizes to choose factors for")
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	scopes := make([]*scope, len(points))
	l := &Lattice{Points: points}
	for i, p := range points {
		var err error
		if scopes[i], err = newScope(k, s, p); err != nil {
			return nil, err
		}
	}
	if scopes[0].deeper {
		l.Warnings = append(l.Warnings, fmt.Errorf("kernel %s: a loop outside the two innermost reuses blocks, which the formulas do not count", k.Name))
	}
	kept := make(map[*Model]bool)
	var failed error
	db.walk(func(f *Factor) {
		var mine []Curve
		for _, m := range f.Models {
			c, reason, err := consider(m, s, scopes, mine)
			if err != nil && failed == nil {
				failed = err
			}
			if reason != "" {
				l.Pruned = append(l.Pruned, Pruned{f.Name, m.Name, reason})
				continue
			}
			kept[m] = true
			mine = append(mine, c)
		}
		l.Curves = append(l.Curves, mine...)
	})
	if failed != nil {
		return nil, failed
	}
	l.factors = l.pruneFactors(filtered(db.Factors, func(m *Model) bool { return kept[m] }))
	return l, nil
}

// consider evaluates a model, or returns the reason why it does not apply.
func consider(m *Model, s *System, scopes []*scope, others []Curve) (c Curve, reason string, err error) {
	if reason := unmet(m, s, scopes); reason != "" {
		return c, reason, nil
	}
	if name := m.missing(scopes[0]); name != "" {
		return c, fmt.Sprintf("uses %s, which is not known of %s", name, s.Name), nil
	}
	c.Model = m
	zero := true
	for i, sc := range scopes {
		terms, err := m.evalAt(sc)
		if err != nil {
			return c, "", fmt.Errorf("iperf: %w", err)
		}
		if c.Terms == nil {
			c.Terms = make([][]float64, len(terms))
			for t := range terms {
				c.Terms[t] = make([]float64, len(scopes))
			}
		}
		for t, v := range terms {
			c.Terms[t][i] = v
			zero = zero && v == 0
		}
	}
	if zero {
		return c, "is 0 at all measured sizes", nil
	}
	for _, o := range others {
		if proportional(&c, &o) {
			return c, fmt.Sprintf("has the same curve as %s at all measured sizes", o.Model.Name), nil
		}
	}
	return c, "", nil
}

// unmet describes a need of a model that holds at no size or, if each holds at
// some, that no size meets them all.
func unmet(m *Model, s *System, scopes []*scope) string {
	together := false
	for _, sc := range scopes {
		all := true
		for _, need := range m.Needs {
			if firstMissing(need.If.Params(), sc.kernel) == "" {
				ok, _ := need.If.holds(sc.kernel)
				all = all && ok
			}
		}
		together = together || all
	}
	for _, need := range m.Needs {
		if name := firstMissing(need.If.Params(), scopes[0].kernel); name != "" {
			return fmt.Sprintf("%s: %s is not known of %s", need.Why, name, s.Name)
		}
		some := false
		for _, sc := range scopes {
			ok, _ := need.If.holds(sc.kernel)
			some = some || ok
		}
		if !some {
			last := scopes[len(scopes)-1]
			_, c := need.If.holds(last.kernel)
			return fmt.Sprintf("%s: %s does not hold (%s)", need.Why, c.text, values(c, last.kernel))
		}
	}
	if !together {
		return "there is no measured size at which all that it needs holds"
	}
	return ""
}

// values formats the names of a comparison with their values.
func values(c *comparison, v map[string]float64) string {
	one := Condition{comparisons: []comparison{*c}}
	var parts []string
	for _, name := range one.Params() {
		parts = append(parts, name+" = "+strconv.FormatFloat(v[name], 'g', 6, 64))
	}
	return strings.Join(parts, ", ")
}

// sameCurve is the relative difference up to which curves count as equal:
// rounding.
const sameCurve = 1e-12

// proportional reports whether two curves of one term each are multiples of
// each other, so that no fit can distinguish them.
func proportional(a, b *Curve) bool {
	if len(a.Terms) != 1 || len(b.Terms) != 1 {
		return false
	}
	x, y := a.Terms[0], b.Terms[0]
	var ratio float64
	for i := range x {
		if y[i] != 0 && x[i] != 0 {
			ratio = x[i] / y[i]
			break
		}
	}
	for i := range x {
		if math.Abs(x[i]-ratio*y[i]) > sameCurve*math.Abs(x[i])+sameCurve*math.Abs(ratio*y[i]) {
			return false
		}
	}
	return ratio != 0
}

// pruneFactors drops factors without a model or child left.
func (l *Lattice) pruneFactors(factors []*Factor) []*Factor {
	var out []*Factor
	for _, f := range factors {
		f.Children = l.pruneFactors(f.Children)
		switch {
		case len(f.Models) == 0 && len(f.Children) == 0:
			l.Pruned = append(l.Pruned, Pruned{Factor: f.Name, Reason: "no model of it or of a factor below it applies"})
			continue
		case len(f.Models) == 0:
			l.Pruned = append(l.Pruned, Pruned{Factor: f.Name, Reason: "no model stands for it: its children do"})
		}
		out = append(out, f)
	}
	return out
}

// curve returns the curve of a model that was kept.
func (l *Lattice) curve(m *Model) *Curve {
	for i := range l.Curves {
		if l.Curves[i].Model == m {
			return &l.Curves[i]
		}
	}
	return nil
}
