package inferred

import (
	"slices"
	"strings"
	"testing"

	"presage/perf/frame"
	"presage/perf/infer"
)

// TestSpecs: specs come back from their text, and tables count them.
func TestSpecs(t *testing.T) {
	want := infer.Spec{Genes: []infer.Gene{4, 0, 1}, Interactions: []infer.Interaction{{I: 0, J: 1, PowerI: 1, PowerJ: 1}, {I: 0, J: 2, PowerI: 3, PowerJ: 1}}}
	row := specRow(1, infer.Candidate{Spec: want})
	got, err := row.decode()
	if err != nil || !got.Equal(want) {
		t.Fatalf("%+v becomes %+v, error %v", row, got, err)
	}
	names := []string{"control", "taken", "ports"}
	table, err := Transformations([]Spec{row, row}, names)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Transformation{
		{Symbol: "x1", Variable: "control", Commonest: "spline, 3 knots", Spline: 2},
		{Symbol: "x2", Variable: "taken", Commonest: "un-used", Excluded: 2},
		{Symbol: "y13", Variable: "ports", Commonest: "linear", Linear: 2},
	}; !slices.Equal(table, want) {
		t.Errorf("%+v", table)
	}
	pairs, err := Interactions([]Spec{row, row}, names)
	if err != nil || !slices.Equal(pairs, []Interaction{{"x1", "x2", 2}, {"x1", "y13", 2}}) {
		t.Errorf("%+v, error %v", pairs, err)
	}
	for _, bad := range []Spec{{Genes: "012"}, {Genes: "g09"}, {Genes: "g00", Interactions: "0"}, {Genes: "g00", Interactions: "0-1^x"}, {Genes: "g00", Interactions: "1-0"}} {
		if _, err := bad.decode(); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
}

// TestSpecKnowsItsVariables: a spec is read for the variables that it was recorded
// for, in their order.
func TestSpecKnowsItsVariables(t *testing.T) {
	want := infer.Spec{Genes: []infer.Gene{4, 0, 1}, Interactions: []infer.Interaction{{I: 0, J: 2, PowerI: 1, PowerJ: 1}}}
	names := []string{"control", "taken", "ports"}
	row := specRow(1, infer.Candidate{Spec: want}, names...)
	if got, err := row.SpecOf(names); err != nil || !got.Equal(want) {
		t.Errorf("%+v, error %v", got, err)
	}
	for _, others := range [][]string{{"taken", "control", "ports"}, {"control", "taken"}, nil} {
		if _, err := row.SpecOf(others); err == nil || !strings.Contains(err.Error(), "control taken ports") {
			t.Errorf("%v: error %v", others, err)
		}
		if _, err := Transformations([]Spec{row}, others); err == nil {
			t.Errorf("%v: a table of transformations, and no error", others)
		}
		if _, err := Interactions([]Spec{row}, others); err == nil {
			t.Errorf("%v: a table of interactions, and no error", others)
		}
	}
	row.Variables = "" // an older recording
	if got, err := row.SpecOf([]string{"a", "b", "c"}); err != nil || !got.Equal(want) {
		t.Errorf("%+v, error %v", got, err)
	}
	if _, err := row.SpecOf(names[:2]); err == nil {
		t.Error("three genes of two variables, and no error")
	}
	if got, err := frame.Into[Spec](frame.Of([]Spec{row}).Drop("variables")); err != nil || !slices.Equal(got, []Spec{row}) {
		t.Errorf("without the column: %+v, error %v", got, err)
	}
	for _, set := range []Set{Paper, LimitSet} {
		for _, name := range Variables(set) {
			if len(strings.Fields(name)) != 1 {
				t.Errorf("%s: the name %q is not one word", set, name)
			}
		}
	}
}
