package iperf

import (
	"fmt"
	"math"
	"slices"

	"presage/perf/fit"
)

// The content of a file.
type factorsText struct {
	Factors []factorText `yaml:"factors"`
}

type factorText struct {
	Name     string       `yaml:"name"`
	About    string       `yaml:"about"`
	Required bool         `yaml:"required"`
	Models   []modelText  `yaml:"models"`
	Children []factorText `yaml:"children"`
}

type modelText struct {
	Name   string     `yaml:"name"`
	Cost   *float64   `yaml:"cost"`
	Source string     `yaml:"source"`
	Needs  []needText `yaml:"needs"`
	Terms  []termText `yaml:"terms"`
	Sum    []partText `yaml:"sum"`
}

type needText struct {
	If  string `yaml:"if"`
	Why string `yaml:"why"`
}

type termText struct {
	Over  string     `yaml:"over"`
	Value string     `yaml:"value"`
	Cases []caseText `yaml:"cases"`
}

type caseText struct {
	When  string `yaml:"when"`
	Value string `yaml:"value"`
}

type partText struct {
	Model  string `yaml:"model"`
	Weight string `yaml:"weight"`
}

const (
	maxModels  = 1000
	maxDepth   = 30   // of the tree
	maxFormula = 1000 // bytes of a condition
)

// ParseDatabase reads a tree of factors. An error begins with file:line.
func ParseDatabase(file string, data []byte) (*Database, error) {
	return parseDatabase(file, data, &Database{})
}

func parseDatabase(file string, data []byte, base *Database) (*Database, error) {
	var t factorsText
	doc, err := decode(file, data, &t)
	if err != nil {
		return nil, err
	}
	r := &factorReader{document: doc, db: &Database{Factors: filtered(base.Factors, func(*Model) bool { return true })}}
	if len(t.Factors) == 0 {
		doc.fail("$", "no factors: list them under factors:")
	}
	r.db.Factors = r.merge("$.factors", r.db.Factors, t.Factors, 0)
	r.link()
	r.checkNames()
	if doc.err != nil {
		return nil, doc.err
	}
	return r.db, nil
}

// factorReader turns the text of factors into a Database.
type factorReader struct {
	*document
	db   *Database
	sums []pendingSum
}

// pendingSum is a model whose parts are resolved once all models are known.
type pendingSum struct {
	model *Model
	path  string
	parts []partText
}

// merge adds the factors of the text to existing ones.
func (r *factorReader) merge(path string, to []*Factor, from []factorText, depth int) []*Factor {
	if depth > maxDepth {
		r.fail(path, "factors nested more than %d deep", maxDepth)
		return to
	}
	for i := range from {
		t := &from[i]
		at := fmt.Sprintf("%s[%d]", path, i)
		if !r.need(at+".name", t.Name) {
			return to
		}
		f := r.place(&to, t.Name)
		f.Required = f.Required || t.Required
		if t.About != "" {
			f.About = t.About
		}
		for j := range t.Models {
			r.model(fmt.Sprintf("%s.models[%d]", at, j), f, &t.Models[j])
		}
		f.Children = r.merge(at+".children", f.Children, t.Children, depth+1)
		if len(f.Models) == 0 && len(f.Children) == 0 {
			r.fail(at, "factor %s has neither models nor children", f.Name)
		}
	}
	return to
}

// place returns the factor called name: an existing one anywhere in the tree,
// or a new one at the end of the list.
func (r *factorReader) place(list *[]*Factor, name string) *Factor {
	var found *Factor
	find := func(f *Factor) {
		if f.Name == name {
			found = f
		}
	}
	walk(*list, find)
	if found == nil {
		r.db.walk(find)
	}
	if found == nil {
		found = &Factor{Name: name}
		*list = append(*list, found)
	}
	return found
}

func (r *factorReader) model(path string, f *Factor, t *modelText) {
	m := &Model{Name: t.Name, Factor: f.Name, Cost: 1, Source: t.Source, At: r.at(path)}
	r.need(path+".source", t.Source)
	if r.need(path+".name", t.Name) && !validName(t.Name) {
		r.fail(path+".name", "%q is no name for a model: want letters, digits and _", t.Name)
	}
	if t.Cost != nil {
		m.Cost = *t.Cost
	}
	if !(m.Cost >= 0) || math.IsInf(m.Cost, 0) {
		r.fail(path+".cost", "cost %g, want at least 0", m.Cost)
	}
	for i, n := range t.Needs {
		at := fmt.Sprintf("%s.needs[%d]", path, i)
		r.need(at+".if", n.If)
		r.need(at+".why", n.Why)
		m.Needs = append(m.Needs, Need{If: r.condition(at+".if", n.If), Why: n.Why})
	}
	if (len(t.Terms) == 0) == (len(t.Sum) == 0) {
		r.fail(path, "model %s: want either terms or sum", t.Name)
	}
	for i := range t.Terms {
		m.Terms = append(m.Terms, r.formula(fmt.Sprintf("%s.terms[%d]", path, i), &t.Terms[i]))
	}
	if len(t.Sum) > 0 {
		r.sums = append(r.sums, pendingSum{m, path, t.Sum})
	}
	if i := slices.IndexFunc(f.Models, func(o *Model) bool { return o.Name == m.Name }); i >= 0 {
		f.Models[i] = m
		return
	}
	f.Models = append(f.Models, m)
}

func (r *factorReader) formula(path string, t *termText) Formula {
	var f Formula
	switch t.Over {
	case "":
	case "loops":
		f.Over = OfLoops
	case "references":
		f.Over = OfReferences
	default:
		r.fail(path+".over", "over: %q is neither loops nor references", t.Over)
	}
	if (t.Value == "") == (len(t.Cases) == 0) {
		r.fail(path, "a term has either a value or cases")
		return f
	}
	cases := t.Cases
	if t.Value != "" {
		cases = []caseText{{Value: t.Value}}
	}
	for i, c := range cases {
		at := fmt.Sprintf("%s.cases[%d]", path, i)
		if t.Value != "" {
			at = path
		}
		one := Case{Value: r.term(at+".value", c.Value)}
		last := i == len(cases)-1
		switch {
		case last && c.When != "":
			r.fail(at+".when", "the last case has a condition: end with a case for all else")
		case !last && c.When == "":
			r.fail(at, "only the last case has no condition")
		case !last:
			when := r.condition(at+".when", c.When)
			one.When = &when
		}
		f.Cases = append(f.Cases, one)
	}
	return f
}

func (r *factorReader) term(path, text string) fit.Term {
	if !r.need(path, text) {
		return fit.Term{}
	}
	t, err := fit.ParseTerm(text)
	if err != nil {
		r.fail(path, "%v", err)
		return fit.Term{}
	}
	return t
}

func (r *factorReader) condition(path, text string) Condition {
	c, err := ParseCondition(text)
	if err != nil {
		r.fail(path, "%v", err)
	}
	return c
}

// link resolves the parts of models that are sums. A part must not be a sum, so
// there are no cycles.
func (r *factorReader) link() {
	r.relink()
	for _, s := range r.sums {
		for i, p := range s.parts {
			at := fmt.Sprintf("%s.sum[%d]", s.path, i)
			m := r.db.Model(p.Model)
			switch {
			case m == nil:
				r.fail(at+".model", "model %s adds up model %q, which there is not", s.model.Name, p.Model)
			case len(m.Terms) == 0:
				r.fail(at+".model", "model %s adds up model %q, a sum itself: name its parts", s.model.Name, p.Model)
			}
			s.model.Sum = append(s.model.Sum, Part{Model: m, Weight: r.term(at+".weight", p.Weight)})
		}
	}
}

// relink makes the sums of the extended database use the file's replacements of
// their parts.
func (r *factorReader) relink() {
	r.db.walk(func(f *Factor) {
		for i, m := range f.Models {
			if len(m.Sum) == 0 {
				continue
			}
			copied := *m
			copied.Sum = slices.Clone(m.Sum)
			for j := range copied.Sum {
				if replaced := r.db.Model(copied.Sum[j].Model.Name); replaced != nil {
					copied.Sum[j].Model = replaced
				}
			}
			f.Models[i] = &copied
		}
	})
}

func (r *factorReader) checkNames() {
	models := r.db.Models()
	if len(models) > maxModels {
		r.fail("$.factors", "%d models, at most %d", len(models), maxModels)
		return
	}
	seen := make(map[string]*Model)
	for _, m := range models {
		if o := seen[m.Name]; o != nil && r.err == nil {
			r.err = fmt.Errorf("%s: model %s stands at %s too", m.At, m.Name, o.At)
		}
		seen[m.Name] = m
	}
}
