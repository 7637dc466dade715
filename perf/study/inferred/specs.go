package inferred

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/infer"
)

// Spec returns the spec that a row stands for. genesPrefix makes numbers of
// genes text in CSV files.
func (s Spec) Spec() (infer.Spec, error) {
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

// SpecOf returns the spec that a row stands for, of some variables. It reports
// an error if the row was recorded of others, or of these in another order: genes
// and interactions go by number. Rows of older recordings do not say of which.
func (s Spec) SpecOf(variables []string) (infer.Spec, error) {
	spec, err := s.Spec()
	if err != nil {
		return spec, err
	}
	if recorded := strings.Fields(s.Variables); len(recorded) > 0 && !slices.Equal(recorded, variables) {
		return spec, fmt.Errorf("perf: infer: the spec of rank %d is of the variables %s, not of %s; record the study anew", s.Rank, strings.Join(recorded, " "), strings.Join(variables, " "))
	}
	return spec, spec.Check(len(variables))
}

// genesPrefix begins InferSpec.Genes, so that no reader takes them for a number.
const genesPrefix = "g"

// inferSpec returns the row of a candidate, of variables of these names.
func inferSpec(rank int, c infer.Candidate, variables ...string) Spec {
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

// Transformations tells how often each variable has each transformation in
// some specs, as Table 3 of 2012 does for the commonest: a row for each
// variable, with its symbol, a column for each gene, and the commonest.
func Transformations(specs []Spec, variables []string) (dataframe.DataFrame, error) {
	type row struct {
		Symbol    string `frame:"symbol"`
		Variable  string `frame:"variable"`
		Commonest string `frame:"commonest"`
		Excluded  int    `frame:"unused"`
		Linear    int    `frame:"linear"`
		Quadratic int    `frame:"quadratic"`
		Cubic     int    `frame:"cubic"`
		Spline    int    `frame:"spline"`
	}
	counts := make([][infer.Spline + 1]int, len(variables))
	for _, s := range specs {
		spec, err := s.SpecOf(variables)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		for v, g := range spec.Genes {
			counts[v][g]++
		}
	}
	symbols := inferSymbols()
	var rows []row
	for v, name := range variables {
		n, best := counts[v], infer.Excluded
		for g := range n {
			if n[g] > n[best] {
				best = infer.Gene(g)
			}
		}
		rows = append(rows, row{symbols[name], name, best.String(), n[0], n[1], n[2], n[3], n[4]})
	}
	return frame.Of(rows), nil
}

// Interactions tells in how many of some specs each pair of variables
// interacts, by symbol, as Figure 4 of 2012; pairs that never do have no row.
func Interactions(specs []Spec, variables []string) (dataframe.DataFrame, error) {
	type row struct {
		X     string `frame:"x"`
		Y     string `frame:"y"`
		Count int    `frame:"models"`
	}
	counts := make(map[[2]int]int)
	for _, s := range specs {
		spec, err := s.SpecOf(variables)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		seen := make(map[[2]int]bool) // a pair may interact in several powers
		for _, x := range spec.Interactions {
			if pair := [2]int{x.I, x.J}; !seen[pair] {
				seen[pair] = true
				counts[pair]++
			}
		}
	}
	symbols := inferSymbols()
	var rows []row
	for i := range variables {
		for j := range variables {
			if n := counts[[2]int{i, j}]; n > 0 {
				rows = append(rows, row{symbols[variables[i]], symbols[variables[j]], n})
			}
		}
	}
	return frame.Of(rows), nil
}
