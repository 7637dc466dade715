package fit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrBasis is wrapped by every error about the text of a basis.
var ErrBasis = errors.New("bad basis")

// Point gives a value to each named parameter, such as {"n": 50}.
type Point = map[string]float64

// MaxTerms is the largest number of terms of a basis.
const MaxTerms = 64

// maxTermLength bounds the text of one term, in bytes.
const maxTermLength = 1000

// Term is one basis function: an expression over named parameters, such as
// n*log(n). Only its text is stored; decoding compiles it again. The zero Term
// must not be evaluated.
type Term struct{ code *compiled }

type compiled struct {
	text   string
	params []string // in ascending order
	jumps  bool     // between integers: its shape is not restricted
	eval   func(params []float64) float64
}

// ParseTerm compiles one expression. It may use + - * / ^ (power, also written
// **), parentheses, numbers, parameter names and the functions log (natural),
// log2, log10, exp, sqrt, cbrt, abs, floor, ceil, min, max and gcd. gcd is 0
// unless both arguments are integers; a term with gcd describes alignment and
// is exempt from the restrictions of a Shape.
func ParseTerm(text string) (Term, error) { return parseTerm(text, 0) }

// String returns the text of the term.
func (t Term) String() string {
	if t.code == nil {
		return ""
	}
	return t.code.text
}

// Params returns the names of the parameters that t depends on, in ascending
// order. It is empty for a constant.
func (t Term) Params() []string { return slices.Clone(t.code.params) }

// Eval returns the value of t at p, which may be infinite or NaN outside the
// term's domain. It panics if p lacks a parameter of t.
func (t Term) Eval(p Point) float64 {
	var buf [4]float64
	v := buf[:0]
	for _, name := range t.code.params {
		x, ok := p[name]
		if !ok {
			panic(fmt.Sprintf("fit: no value for parameter %s of term %s", name, t.code.text))
		}
		v = append(v, x)
	}
	return t.code.eval(v)
}

// MarshalText returns the text of t.
func (t Term) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText compiles the text of a term.
func (t *Term) UnmarshalText(text []byte) error {
	u, err := ParseTerm(string(text))
	if err == nil {
		*t = u
	}
	return err
}

// MarshalBinary is MarshalText, for encoding/gob.
func (t Term) MarshalBinary() ([]byte, error) { return t.MarshalText() }

// UnmarshalBinary is UnmarshalText, for encoding/gob.
func (t *Term) UnmarshalBinary(text []byte) error { return t.UnmarshalText(text) }

// Basis is an ordered list of basis functions. Between two models that explain
// the data equally well, a fit prefers the one with earlier terms, so list
// terms from slow to fast growth.
type Basis struct{ Terms []Term }

// ParseBasis compiles a comma-separated list of terms, such as "1, n, n^2, n^3,
// n*log(n), sqrt(n)". If params are named, the terms may use no others; if not,
// every name in the text is a parameter. Errors wrap ErrBasis and give the
// column, counted in characters from 1.
func ParseBasis(text string, params ...string) (*Basis, error) {
	b := &Basis{}
	column := 0
	for _, part := range splitTerms(text) {
		t, err := parseTerm(part, column)
		if err != nil {
			return nil, err
		}
		for _, name := range t.code.params {
			if len(params) > 0 && !slices.Contains(params, name) {
				return nil, basisError(column+max(0, indexRune(part, name)), "unknown parameter %s (there are: %s)", name, strings.Join(params, ", "))
			}
		}
		for _, u := range b.Terms {
			if u.code.text == t.code.text {
				return nil, basisError(column, "term %s stands twice", t.code.text)
			}
		}
		b.Terms = append(b.Terms, t)
		if len(b.Terms) > MaxTerms {
			return nil, basisError(column, "more than %d terms", MaxTerms)
		}
		column += len([]rune(part)) + 1
	}
	return b, nil
}

// Monomials returns the default basis over the given parameters: every product
// of their powers up to a total degree, by ascending degree, such as 1, n, n^2,
// n^3 for one parameter and degree 3. It panics without parameters, or if there
// are more than MaxTerms products.
func Monomials(degree int, params ...string) *Basis {
	if len(params) == 0 || degree < 0 {
		panic("fit: monomials need a parameter and a degree of at least 0")
	}
	var terms []string
	for d := 0; d <= degree; d++ {
		terms = append(terms, monomials(d, params)...)
	}
	b, err := ParseBasis(strings.Join(terms, ", "), params...)
	if err != nil {
		panic("fit: " + err.Error())
	}
	return b
}

// monomials lists the products of powers of total degree exactly d.
func monomials(d int, params []string) []string {
	if d == 0 {
		return []string{"1"}
	}
	if len(params) == 1 {
		return []string{power(params[0], d)}
	}
	var out []string
	for k := d; k >= 0; k-- {
		for _, rest := range monomials(d-k, params[1:]) {
			switch {
			case k == 0:
				out = append(out, rest)
			case rest == "1":
				out = append(out, power(params[0], k))
			default:
				out = append(out, power(params[0], k)+"*"+rest)
			}
		}
	}
	return out
}

func power(name string, k int) string {
	if k == 1 {
		return name
	}
	return fmt.Sprintf("%s^%d", name, k)
}

// Params returns the names of all parameters of the basis, in ascending order.
func (b *Basis) Params() []string {
	var out []string
	for _, t := range b.Terms {
		out = append(out, t.code.params...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// String returns text that ParseBasis turns into the same basis.
func (b *Basis) String() string {
	s := make([]string, len(b.Terms))
	for i, t := range b.Terms {
		s[i] = t.code.text
	}
	return strings.Join(s, ", ")
}

// splitTerms cuts text at the commas that stand outside parentheses.
func splitTerms(text string) []string {
	var out []string
	depth, start := 0, 0
	for i, c := range text {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, text[start:i])
				start = i + 1
			}
		}
	}
	return append(out, text[start:])
}

func indexRune(text, name string) int {
	i := strings.Index(text, name)
	if i < 0 {
		return 0
	}
	return len([]rune(text[:i]))
}

func basisError(column int, format string, args ...any) error {
	return fmt.Errorf("fit: %w: column %d: %s", ErrBasis, column+1, fmt.Sprintf(format, args...))
}
