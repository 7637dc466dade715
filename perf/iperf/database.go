package iperf

import (
	_ "embed"
	"fmt"
	"slices"

	"presage/perf/fit"
)

// Database is a tree of performance factors.
type Database struct {
	Factors []*Factor
}

// Factor is an aspect of a system that may cost time.
type Factor struct {
	Name, About string
	Required    bool // every complete model has one of its models
	Models      []*Model
	Children    []*Factor
}

// Model is one quantification of a factor.
type Model struct {
	Name   string
	Factor string  // the factor's name
	Cost   float64 // of evaluating it; 1 for each factor in Figure 9
	Source string
	Needs  []Need

	Terms []Formula // each with a coefficient of its own
	Sum   []Part    // or: other models under one coefficient

	At string // file:line
}

// Need is a condition that must hold at one problem size at least for a model
// to apply.
type Need struct {
	If  Condition
	Why string
}

// Part is another model's share of a model: the sum of its terms, weighted.
type Part struct {
	Model  *Model
	Weight fit.Term
}

//go:embed factors.yaml
var defaultFactors []byte

// DefaultDatabase returns the package's factors: those of the report's Figure 6
// and appendix A, and page placement.
func DefaultDatabase() *Database {
	d, err := ParseDatabase("factors.yaml", defaultFactors)
	if err != nil {
		panic("iperf: " + err.Error()) // a test reads the file
	}
	return d
}

// ReportDatabase returns the factors of the report's prototype: those of its
// Figure 6 alone, with D as defined there.
func ReportDatabase() *Database {
	return DefaultDatabase().Without("TLB_overflow", "MEM", "CACHE", "L1b_gcd", "L1nb_gcd", "L1wait", "L2b_gcd", "L2nb_gcd", "pages")
}

// Models returns all models, in the order of the tree.
func (d *Database) Models() []*Model {
	var out []*Model
	d.walk(func(f *Factor) { out = append(out, f.Models...) })
	return out
}

// Model returns the model called name, or nil.
func (d *Database) Model(name string) *Model {
	for _, m := range d.Models() {
		if m.Name == name {
			return m
		}
	}
	return nil
}

func (d *Database) walk(visit func(*Factor)) { walk(d.Factors, visit) }

func walk(factors []*Factor, visit func(*Factor)) {
	for _, f := range factors {
		visit(f)
		walk(f.Children, visit)
	}
}

// Without returns the database without the named models. It panics if a model
// does not exist.
func (d *Database) Without(models ...string) *Database {
	for _, name := range models {
		if d.Model(name) == nil {
			panic(fmt.Sprintf("iperf: no model %q", name))
		}
	}
	return &Database{Factors: filtered(d.Factors, func(m *Model) bool { return !slices.Contains(models, m.Name) })}
}

// filtered returns a copy of the tree with the models for which keep holds.
func filtered(factors []*Factor, keep func(*Model) bool) []*Factor {
	var out []*Factor
	for _, f := range factors {
		g := *f
		g.Models = nil
		for _, m := range f.Models {
			if keep(m) {
				g.Models = append(g.Models, m)
			}
		}
		g.Children = filtered(f.Children, keep)
		out = append(out, &g)
	}
	return out
}

// Extend returns the database with the factors and models of a file added: a
// factor of the same name gets the file's models and children as well, and a
// model of the same name and factor is replaced.
func (d *Database) Extend(file string, data []byte) (*Database, error) {
	return parseDatabase(file, data, d)
}

// evalAt returns the model's terms at one problem size.
func (m *Model) evalAt(s *scope) ([]float64, error) {
	if len(m.Sum) > 0 {
		sum := 0.0
		for _, p := range m.Sum {
			terms, err := p.Model.evalAt(s)
			if err != nil {
				return nil, err
			}
			for _, t := range terms {
				sum += p.Weight.Eval(s.kernel) * t
			}
		}
		return []float64{sum}, nil
	}
	var out []float64
	for i := range m.Terms {
		terms, err := m.Terms[i].eval(s)
		if err != nil {
			return nil, fmt.Errorf("%s: model %s: %w", m.At, m.Name, err)
		}
		out = append(out, terms...)
	}
	return out, nil
}

// missing returns a name that the model's formulas use and s does not define,
// or "".
func (m *Model) missing(s *scope) string {
	for i := range m.Terms {
		if name := m.Terms[i].missing(s); name != "" {
			return name
		}
	}
	for _, p := range m.Sum {
		if name := firstMissing(p.Weight.Params(), s.kernel); name != "" {
			return name
		}
		if name := p.Model.missing(s); name != "" {
			return name
		}
	}
	return ""
}
