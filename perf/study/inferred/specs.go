package inferred

import (
	"fmt"
	"slices"
	"strings"

	"presage/perf/infer"
)

// Spec is one of the best specs of the last generation of the search over all
// applications, as text. See SpecOf.
type Spec struct {
	Rank         int     `frame:"rank"`               // 1 for the best
	Error        float64 `frame:"mean_of_medians"`    // of the applications' median relative errors
	Genes        string  `frame:"genes"`              // a digit for each variable, after genesPrefix
	Interactions string  `frame:"interactions"`       // i-j by number of the variable, with ^powers unless these are 1
	Variables    string  `frame:"variables,optional"` // names that the numbers stand for, joined by spaces; "" in older recordings
}

// genesPrefix begins Spec.Genes, so that no reader takes them for a number.
const genesPrefix = "g"

// decode returns the spec that a row describes.
func (s Spec) decode() (infer.Spec, error) {
	var spec infer.Spec
	genes, ok := strings.CutPrefix(s.Genes, genesPrefix)
	if !ok {
		return spec, fmt.Errorf("perf: infer: the genes %q do not begin with %q", s.Genes, genesPrefix)
	}
	for _, g := range genes {
		spec.Genes = append(spec.Genes, infer.Gene(g-'0'))
	}
	for _, text := range strings.Fields(s.Interactions) {
		x := infer.Interaction{PowerI: 1, PowerJ: 1}
		pair, powers, raised := strings.Cut(text, "^")
		if _, err := fmt.Sscanf(pair, "%d-%d", &x.I, &x.J); err != nil {
			return spec, fmt.Errorf("perf: infer: %q is no interaction: %w", text, err)
		}
		if raised {
			if _, err := fmt.Sscanf(powers, "%d-%d", &x.PowerI, &x.PowerJ); err != nil {
				return spec, fmt.Errorf("perf: infer: %q has no powers: %w", text, err)
			}
		}
		spec.Interactions = append(spec.Interactions, x)
	}
	return spec, spec.Check(len(spec.Genes))
}

// SpecOf returns the spec that a row describes, of some variables. It returns an
// error if the row was recorded for others, or for these in another order, as genes
// and interactions go by number. Older recordings do not name their variables.
func (s Spec) SpecOf(variables []string) (infer.Spec, error) {
	spec, err := s.decode()
	if err != nil {
		return spec, err
	}
	if recorded := strings.Fields(s.Variables); len(recorded) > 0 && !slices.Equal(recorded, variables) {
		return spec, fmt.Errorf("perf: infer: the spec of rank %d is of the variables %s, not of %s; record the study anew", s.Rank, strings.Join(recorded, " "), strings.Join(variables, " "))
	}
	return spec, spec.Check(len(variables))
}

// specRow returns the row of a candidate for variables of these names.
func specRow(rank int, c infer.Candidate, variables ...string) Spec {
	var genes strings.Builder
	genes.WriteString(genesPrefix)
	for _, g := range c.Spec.Genes {
		fmt.Fprintf(&genes, "%d", g)
	}
	var pairs []string
	for _, x := range c.Spec.Interactions {
		text := fmt.Sprintf("%d-%d", x.I, x.J)
		if x.PowerI+x.PowerJ > 2 {
			text += fmt.Sprintf("^%d-%d", x.PowerI, x.PowerJ)
		}
		pairs = append(pairs, text)
	}
	return Spec{rank, c.Error, genes.String(), strings.Join(pairs, " "), strings.Join(variables, " ")}
}

// Transformation is how many specs transform a variable in each way.
type Transformation struct {
	Symbol    string `frame:"symbol"`
	Variable  string `frame:"variable"`
	Commonest string `frame:"commonest"`
	Excluded  int    `frame:"unused"`
	Linear    int    `frame:"linear"`
	Quadratic int    `frame:"quadratic"`
	Cubic     int    `frame:"cubic"`
	Spline    int    `frame:"spline"`
}

// Transformations counts the transformations of each variable in some specs, as
// Table 3 of 2012 does for the commonest.
func Transformations(specs []Spec, variables []string) ([]Transformation, error) {
	counts := make([][infer.Spline + 1]int, len(variables))
	for _, s := range specs {
		spec, err := s.SpecOf(variables)
		if err != nil {
			return nil, err
		}
		for v, g := range spec.Genes {
			counts[v][g]++
		}
	}
	symbol := symbols()
	var rows []Transformation
	for v, name := range variables {
		n, best := counts[v], infer.Excluded
		for g := range n {
			if n[g] > n[best] {
				best = infer.Gene(g)
			}
		}
		rows = append(rows, Transformation{symbol[name], name, best.String(), n[0], n[1], n[2], n[3], n[4]})
	}
	return rows, nil
}

// Interaction is in how many specs two variables interact, by symbol.
type Interaction struct {
	X     string `frame:"x"`
	Y     string `frame:"y"`
	Count int    `frame:"models"`
}

// Interactions counts the specs in which each pair of variables interacts, as
// Figure 4 of 2012. Pairs that never do have no row.
func Interactions(specs []Spec, variables []string) ([]Interaction, error) {
	counts := make(map[[2]int]int)
	for _, s := range specs {
		spec, err := s.SpecOf(variables)
		if err != nil {
			return nil, err
		}
		seen := make(map[[2]int]bool) // a pair may interact in several powers
		for _, x := range spec.Interactions {
			if pair := [2]int{x.I, x.J}; !seen[pair] {
				seen[pair] = true
				counts[pair]++
			}
		}
	}
	symbol := symbols()
	var rows []Interaction
	for i := range variables {
		for j := range variables {
			if n := counts[[2]int{i, j}]; n > 0 {
				rows = append(rows, Interaction{symbol[variables[i]], symbol[variables[j]], n})
			}
		}
	}
	return rows, nil
}
