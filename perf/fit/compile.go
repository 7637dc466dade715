package fit

import (
	"errors"
	"math"
	"slices"
	"strings"
)

// evalFunc computes an expression from the values of its parameters.
type evalFunc = func(params []float64) float64

// function is a function that terms may call: of one argument or of two.
type function struct {
	name   string
	unary  func(float64) float64
	binary func(a, b float64) float64

	// jumps says that it jumps between integers, so that terms that call it are
	// exempt from the restrictions of a Shape.
	jumps bool
}

// functions are those that terms may call, as ParseTerm lists them.
var functions = []function{
	{name: "log", unary: math.Log},
	{name: "log2", unary: math.Log2},
	{name: "log10", unary: math.Log10},
	{name: "exp", unary: math.Exp},
	{name: "sqrt", unary: math.Sqrt},
	{name: "cbrt", unary: math.Cbrt},
	{name: "abs", unary: math.Abs},
	{name: "floor", unary: math.Floor},
	{name: "ceil", unary: math.Ceil},
	{name: "min", binary: math.Min},
	{name: "max", binary: math.Max},
	{name: "gcd", binary: gcd, jumps: true},
}

// functionNamed returns the function of that name, or nil.
func functionNamed(name string) *function {
	for i := range functions {
		if functions[i].name == name {
			return &functions[i]
		}
	}
	return nil
}

// functionNames lists the functions for people.
func functionNames() string {
	var names []string
	for _, f := range functions {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// gcd returns the greatest common divisor of a and b, or 0 if either is not an
// integer of magnitude at most 2^53.
func gcd(a, b float64) float64 {
	const exact = 1 << 53
	if !(math.Abs(a) <= exact && math.Abs(b) <= exact) || a != math.Trunc(a) || b != math.Trunc(b) {
		return 0
	}
	x, y := int64(math.Abs(a)), int64(math.Abs(b))
	for y != 0 {
		x, y = y, x%y
	}
	return float64(x)
}

// parseTerm compiles text, which begins at the given column of the basis.
func parseTerm(text string, column int) (Term, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return Term{}, basisError(column, "empty term")
	}
	column += indexRune(text, trimmed)
	if len(trimmed) > maxTermLength {
		return Term{}, basisError(column, "term of %d bytes, at most %d", len(trimmed), maxTermLength)
	}
	// In other languages # and quotes begin comments and strings, as do // and /*; none
	// has a meaning in a formula.
	if i := strings.IndexAny(trimmed, "#'\"`;"); i >= 0 {
		return Term{}, basisError(column+len([]rune(trimmed[:i])), "unexpected character %q", trimmed[i])
	}
	for _, comment := range []string{"//", "/*"} {
		if i := strings.Index(trimmed, comment); i >= 0 {
			return Term{}, basisError(column+len([]rune(trimmed[:i])), "unexpected %s", comment)
		}
	}
	tree, err := parseFormula(trimmed)
	if err != nil {
		if at := new(formulaError); errors.As(err, &at) {
			return Term{}, basisError(column+at.at, "%s", at.text)
		}
		return Term{}, basisError(column, "%v", err)
	}
	c := compiler{column: column}
	c.collect(tree)
	slices.Sort(c.params)
	c.params = slices.Compact(c.params)
	eval, err := c.compile(tree)
	if err != nil {
		return Term{}, err
	}
	return Term{&compiled{text: trimmed, params: c.params, jumps: c.jumps, eval: eval}}, nil
}

// compiler turns a syntax tree into nested closures: trees are small, and a
// closure reads its parameters by position instead of by name.
type compiler struct {
	column int
	params []string
	jumps  bool // calls a function that jumps between integers
}

// collect lists the names of parameters in n; those of functions are not among them.
func (c *compiler) collect(n *node) {
	if n.name != "" && !n.called {
		c.params = append(c.params, n.name)
	}
	for _, x := range n.of {
		c.collect(x)
	}
}

func (c *compiler) fail(n *node, format string, args ...any) error {
	return basisError(c.column+n.at, format, args...)
}

func (c *compiler) compile(n *node) (evalFunc, error) {
	switch {
	case n.called:
		return c.call(n)
	case n.name != "":
		if functionNamed(n.name) != nil {
			return nil, c.fail(n, "function %s has no argument", n.name)
		}
		i, _ := slices.BinarySearch(c.params, n.name)
		return func(p []float64) float64 { return p[i] }, nil
	case n.op != "":
		return c.operator(n)
	}
	return constant(n.value), nil
}

func constant(v float64) evalFunc { return func([]float64) float64 { return v } }

func (c *compiler) operator(n *node) (evalFunc, error) {
	x, err := c.compile(n.of[0])
	if err != nil {
		return nil, err
	}
	if len(n.of) == 1 {
		if n.op == "+" {
			return x, nil
		}
		return func(p []float64) float64 { return -x(p) }, nil
	}
	y, err := c.compile(n.of[1])
	if err != nil {
		return nil, err
	}
	switch n.op {
	case "+":
		return func(p []float64) float64 { return x(p) + y(p) }, nil
	case "-":
		return func(p []float64) float64 { return x(p) - y(p) }, nil
	case "*":
		return func(p []float64) float64 { return x(p) * y(p) }, nil
	case "/":
		return func(p []float64) float64 { return x(p) / y(p) }, nil
	}
	return raise(x, y, n.of[1]), nil
}

// raise returns x to the power y. Small integer powers, which most terms
// consist of, are multiplications.
func raise(x, y evalFunc, exponent *node) evalFunc {
	if exponent.integer {
		switch exponent.value {
		case 2:
			return func(p []float64) float64 { v := x(p); return v * v }
		case 3:
			return func(p []float64) float64 { v := x(p); return v * v * v }
		}
	}
	return func(p []float64) float64 { return math.Pow(x(p), y(p)) }
}

func (c *compiler) call(n *node) (evalFunc, error) {
	f, args := functionNamed(n.name), n.of
	if f == nil {
		return nil, c.fail(n, "unknown function %s (there are: %s)", n.name, functionNames())
	}
	want := 1
	if f.binary != nil {
		want = 2
	}
	if len(args) != want {
		return nil, c.fail(n, "function %s takes %d argument(s), not %d", n.name, want, len(args))
	}
	c.jumps = c.jumps || f.jumps
	x, err := c.compile(args[0])
	if err != nil {
		return nil, err
	}
	if g := f.unary; g != nil {
		return func(p []float64) float64 { return g(x(p)) }, nil
	}
	y, err := c.compile(args[1])
	if err != nil {
		return nil, err
	}
	g := f.binary
	return func(p []float64) float64 { return g(x(p), y(p)) }, nil
}
