package fit

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestParseBasisValues(t *testing.T) {
	b, err := ParseBasis("1, n, n^2, n^3, n*log(n), sqrt(n), max(n, m)/2, -n^2, 2^-n, n**1.5, ceil(n/4), cbrt(m) + exp(0)")
	if err != nil {
		t.Fatal(err)
	}
	const n, m = 6.0, 27.0
	want := []float64{1, 6, 36, 216, n * math.Log(n), math.Sqrt(n), 13.5, -36, math.Pow(2, -6), math.Pow(6, 1.5), 2, 4}
	for i, term := range b.Terms {
		if got := term.Eval(Point{"n": n, "m": m}); math.Abs(got-want[i]) > 1e-12*math.Abs(want[i]) {
			t.Errorf("%s = %g, want %g", term, got, want[i])
		}
	}
	if got := strings.Join(b.Params(), " "); got != "m n" {
		t.Errorf("params %q", got)
	}
	again, err := ParseBasis(b.String())
	if err != nil || again.String() != b.String() {
		t.Errorf("basis %q parsed again: %q, %v", b, again, err)
	}
}

func TestParseBasisErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "column 1: empty term"},
		{"1, , n", "column 3: empty term"},
		{"1, n,", "column 6: empty term"},
		{"1, n, n", "column 6: term n stands twice"},
		{"1, foo(n)", "column 4: unknown function foo"},
		{"1, log(n, 2)", "column 4: function log takes 1 argument(s), not 2"},
		{"1, min(n)", "column 4: function min takes 2 argument(s), not 1"},
		{"1, log", "column 4: function log has no argument"},
		{"n, n > 2", "column 6: operator > is not arithmetic"},
		{"n % 2", "column 3: operator % is not arithmetic"},
		{"not n", "column 1: operator not"},
		{"1, \"a\"", "column 4: unexpected character"},
		{"1, n // 2", "column 6: unexpected //"},
		{"[n]", "column 1: not an arithmetic expression"},
		{"n.x", "not an arithmetic expression"},
		{"1, n*(2", "column"},
		{"1, 2 +", "column"},
		{"é, é +", "column"},
	} {
		_, err := ParseBasis(c.text)
		if !errors.Is(err, ErrBasis) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := ParseBasis("1, n, k^2", "n"); err == nil || !strings.Contains(err.Error(), "column 7: unknown parameter k (there are: n)") {
		t.Errorf("undeclared parameter: %v", err)
	}
}

func TestMonomials(t *testing.T) {
	if got := Monomials(3, "n").String(); got != "1, n, n^2, n^3" {
		t.Errorf("one parameter: %s", got)
	}
	if got := Monomials(2, "a", "b").String(); got != "1, a, b, a^2, a*b, b^2" {
		t.Errorf("two parameters: %s", got)
	}
}

func TestFuncStoresAndRestores(t *testing.T) {
	b, err := ParseBasis("1, n^2, n*log(n)")
	if err != nil {
		t.Fatal(err)
	}
	f := Func{Terms: b.Terms, Coefficients: []float64{12.5, 3, -0.25}, LOO: math.MaxFloat64, Domain: map[string]Interval{"n": {8, 40}}, Warnings: []Warning{{FewPoints, "x"}}}
	if got := f.String(); got != "12.5 + 3 n^2 - 0.25 n*log(n)" {
		t.Errorf("String: %s", got)
	}
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(f); err != nil {
		t.Fatal(err)
	}
	var g, h Func
	if err := gob.NewDecoder(&buf).Decode(&g); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &h); err != nil {
		t.Fatal(err)
	}
	p := Point{"n": 77}
	if g.Eval(p) != f.Eval(p) || h.Eval(p) != f.Eval(p) || f.Eval(p) < 17000 {
		t.Errorf("values %g, gob %g, json %g", f.Eval(p), g.Eval(p), h.Eval(p))
	}
	if g.String() != f.String() || len(g.Warnings) != 1 || g.Domain["n"] != f.Domain["n"] {
		t.Errorf("gob: %+v", g)
	}
	if err := json.Unmarshal([]byte(`{"Terms":["n+*"]}`), &h); !errors.Is(err, ErrBasis) {
		t.Errorf("damaged term: %v", err)
	}
}

func FuzzParseBasis(f *testing.F) {
	for _, s := range []string{"1, n, n^2", "n*log(n), sqrt(n)", "((", "a,b,min(a,b)", "1e400", "n?.x", "let x = 1; x", "é^2", "map(n, #)", "n ?? 2", "1..3", "0x1f", "-+-n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ParseBasis(text)
		if (b == nil) == (err == nil) {
			t.Fatal("basis xor error")
		}
		if err != nil {
			if !errors.Is(err, ErrBasis) || !strings.Contains(err.Error(), "column ") {
				t.Fatalf("error without position: %v", err)
			}
			return
		}
		p := Point{}
		for _, name := range b.Params() {
			p[name] = 3
		}
		again, err := ParseBasis(b.String())
		if err != nil {
			t.Fatalf("%q printed as %q: %v", text, b, err)
		}
		for i, term := range b.Terms {
			v, w := term.Eval(p), again.Terms[i].Eval(p)
			if v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
				t.Fatalf("term %s: %g, parsed again %g", term, v, w)
			}
		}
	})
}
