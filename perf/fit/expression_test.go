package fit

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// precedences of the operators; a sign's is between those of products and powers.
var precedences = map[string]int{"+": 1, "-": 1, "*": 2, "/": 2, "^": 4}

const ofSigns = 3

// randomFormula returns a tree of at most so many levels.
func randomFormula(r *rand.Rand, depth int) *node {
	switch k := r.IntN(8); {
	case depth == 0 || k == 0:
		return &node{value: float64(r.IntN(100)), integer: true}
	case k == 1:
		return &node{value: float64(r.IntN(100)) + 0.5}
	case k == 2:
		return &node{name: []string{"n", "m_1", "é"}[r.IntN(3)]}
	case k == 3:
		return &node{name: "min", called: true, of: []*node{randomFormula(r, depth-1), randomFormula(r, depth-1)}}
	case k == 4:
		return &node{op: []string{"+", "-"}[r.IntN(2)], of: []*node{randomFormula(r, depth-1)}}
	}
	return &node{op: []string{"+", "-", "*", "/", "^"}[r.IntN(5)], of: []*node{randomFormula(r, depth-1), randomFormula(r, depth-1)}}
}

// text writes a tree with parentheses around each operator, or only where its place
// takes an operator of at least a precedence.
func (n *node) text(all bool, least int) string {
	var s string
	own := 5
	switch {
	case n.called:
		return "min(" + n.of[0].text(all, 0) + ", " + n.of[1].text(all, 0) + ")"
	case n.name != "":
		return n.name
	case len(n.of) == 1:
		own = ofSigns
		s = n.op + n.of[0].text(all, own)
	case n.op == "^":
		own = precedences[n.op]
		s = n.of[0].text(all, own+1) + "^" + n.of[1].text(all, ofSigns)
	case n.op != "":
		own = precedences[n.op]
		s = n.of[0].text(all, own) + " " + n.op + n.of[1].text(all, own+1)
	default:
		return fmtFloat(n.value)
	}
	if all || own < least {
		return "(" + s + ")"
	}
	return s
}

func fmtFloat(v float64) string {
	f := Func{Terms: []Term{{&one}}, Coefficients: []float64{v}}
	if v == 0 {
		return "0"
	}
	return f.String()
}

// anywhere clears the columns of a tree.
func (n *node) anywhere() *node {
	n.at = 0
	for _, x := range n.of {
		x.anywhere()
	}
	return n
}

// TestFormulasAreReadAsWritten: trees come back from their text, with parentheses
// around all operators or only around those whose precedence asks for them.
func TestFormulasAreReadAsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		want := randomFormula(r, 5)
		for _, all := range []bool{true, false} {
			text := want.text(all, 0)
			got, err := parseFormula(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if !reflect.DeepEqual(got.anywhere(), want) {
				t.Fatalf("%s is read as %s", text, got.text(true, 0))
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]node{
		"7": {value: 7, integer: true}, "007": {value: 7, integer: true}, "0x1F": {value: 31, integer: true}, "1_000": {value: 1000, integer: true},
		"2.": {value: 2}, ".5": {value: 0.5}, "1e3": {value: 1000}, "25e-2": {value: 0.25}, "1e+2": {value: 100},
		"9223372036854775808": {value: 1 << 63},
	} {
		got, err := parseFormula(text)
		if err != nil || !reflect.DeepEqual(*got.anywhere(), want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"1e", "1e400", "2n", "0x", "0x1p3", "1..3", "1.2.3"} {
		if n, err := parseFormula(text); err == nil {
			t.Errorf("%s is read as %+v", text, n)
		}
	}
}

// TestFormulasOfManyLevels: a stranger's text is refused before the stack overflows.
func TestFormulasOfManyLevels(t *testing.T) {
	for _, text := range []string{strings.Repeat("(", 900), strings.Repeat("-", 900) + "n", "n" + strings.Repeat("^n", 400)} {
		if _, err := parseFormula(text); err == nil || !strings.Contains(err.Error(), "nested") {
			t.Errorf("%.20s…: %v", text, err)
		}
	}
}
