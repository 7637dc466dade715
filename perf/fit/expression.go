package fit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// node is a part of a term: a number, a parameter, a call, or an operator with one or
// two operands. Where neither is set it is a number.
type node struct {
	at      int    // column within the term, in characters from 0
	op      string // "-" or "+" before the only operand, or between two
	name    string // of a parameter, or of a function that is called
	called  bool
	value   float64
	integer bool // value was written as an integer
	of      []*node
}

// The grammar of terms, the lowest precedence first, as most languages have it: a
// power binds tighter than a sign before it and takes a sign after it, and powers of
// powers group from the right.
//
//	sum     = product {("+" | "-") product}
//	product = signed {("*" | "/") signed}
//	signed  = ("+" | "-") signed | power
//	power   = operand [("^" | "**") signed]
//	operand = number | name | name "(" sum {"," sum} ")" | "(" sum ")"

// maxDepth bounds how deep signs, powers and parentheses nest.
const maxDepth = 250

// formula reads the text of a term.
type formula struct {
	text  string
	tok   token
	next  int // byte after tok
	col   int // of next, in characters
	depth int
}

// token is a number, a name or an operator; empty at the end of the text.
type token struct {
	text string
	at   int // column, in characters
	kind tokenKind
}

type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenNumber
	tokenName
	tokenOperator
)

// formulaError is an error at a column of a term, in characters from 0.
type formulaError struct {
	at   int
	text string
}

func (e *formulaError) Error() string { return e.text }

func (f *formula) fail(at int, format string, args ...any) error {
	return &formulaError{at, fmt.Sprintf(format, args...)}
}

// parseFormula reads a whole term. Its error is a formulaError.
func parseFormula(text string) (*node, error) {
	f := &formula{text: text}
	if err := f.advance(); err != nil {
		return nil, err
	}
	n, err := f.sum()
	if err == nil && f.tok.kind != tokenEnd {
		err = f.unexpected()
	}
	return n, err
}

// words are operators of other languages that are spelt as names.
var words = []string{"not", "and", "or", "in"}

// unexpected returns an error about the token at hand.
func (f *formula) unexpected() error {
	t := f.tok
	switch {
	case t.kind == tokenEnd:
		return f.fail(t.at, "the term ends where a number, a parameter or a parenthesis is wanted")
	case t.kind == tokenOperator && strings.ContainsAny(t.text[:1], "[]{}.,?:"):
		return f.fail(t.at, "not an arithmetic expression: unexpected %s", t.text)
	case t.kind == tokenOperator && t.text != "(" && t.text != ")":
		return f.fail(t.at, "operator %s is not arithmetic", t.text)
	}
	return f.fail(t.at, "unexpected %s", t.text)
}

// is reports whether the token at hand is one of some operators.
func (f *formula) is(ops ...string) bool {
	for _, op := range ops {
		if f.tok.kind == tokenOperator && f.tok.text == op {
			return true
		}
	}
	return false
}

func (f *formula) sum() (*node, error) { return f.chain(f.product, "+", "-") }

func (f *formula) product() (*node, error) { return f.chain(f.signed, "*", "/") }

// chain reads operands between operators of one precedence, which group from the left.
func (f *formula) chain(operand func() (*node, error), ops ...string) (*node, error) {
	left, err := operand()
	for err == nil && f.is(ops...) {
		op := f.tok
		if err = f.advance(); err != nil {
			break
		}
		var right *node
		if right, err = operand(); err == nil {
			left = &node{at: op.at, op: op.text, of: []*node{left, right}}
		}
	}
	return left, err
}

func (f *formula) signed() (*node, error) {
	if f.depth++; f.depth > maxDepth {
		return nil, f.fail(f.tok.at, "nested more than %d deep", maxDepth)
	}
	defer func() { f.depth-- }()
	if !f.is("+", "-") {
		return f.power()
	}
	op := f.tok
	if err := f.advance(); err != nil {
		return nil, err
	}
	x, err := f.signed()
	if err != nil {
		return nil, err
	}
	return &node{at: op.at, op: op.text, of: []*node{x}}, nil
}

func (f *formula) power() (*node, error) {
	base, err := f.operand()
	if err != nil || !f.is("^", "**") {
		return base, err
	}
	op := f.tok
	if err := f.advance(); err != nil {
		return nil, err
	}
	exponent, err := f.signed()
	if err != nil {
		return nil, err
	}
	return &node{at: op.at, op: "^", of: []*node{base, exponent}}, nil
}

func (f *formula) operand() (*node, error) {
	t := f.tok
	switch {
	case f.is("("):
		if err := f.advance(); err != nil {
			return nil, err
		}
		n, err := f.sum()
		if err != nil {
			return nil, err
		}
		return n, f.expect(")")
	case t.kind == tokenNumber:
		n, err := f.number()
		if err != nil {
			return nil, err
		}
		return n, f.advance()
	case t.kind == tokenName:
		for _, w := range words {
			if t.text == w {
				return nil, f.fail(t.at, "operator %s is not arithmetic", w)
			}
		}
		if err := f.advance(); err != nil {
			return nil, err
		}
		n := &node{at: t.at, name: t.text}
		if !f.is("(") {
			return n, nil
		}
		n.called = true
		return n, f.arguments(n)
	}
	return nil, f.unexpected()
}

// arguments reads those of a call, with their parentheses.
func (f *formula) arguments(n *node) error {
	if err := f.advance(); err != nil {
		return err
	}
	for !f.is(")") {
		if len(n.of) > 0 {
			if err := f.expect(","); err != nil {
				return err
			}
		}
		arg, err := f.sum()
		if err != nil {
			return err
		}
		n.of = append(n.of, arg)
	}
	return f.advance()
}

func (f *formula) expect(op string) error {
	if f.is(op) {
		return f.advance()
	}
	return f.fail(f.tok.at, "%s is missing", op)
}

// number returns the value of the token at hand. Integers may have a base, as in 0x1f,
// and numbers underscores between their digits.
func (f *formula) number() (*node, error) {
	t := f.tok
	digits, base := strings.ReplaceAll(t.text, "_", ""), 10
	if len(digits) > 1 && digits[0] == '0' && strings.ContainsAny(digits[1:2], "xXoObB") {
		base = 0
	}
	if v, err := strconv.ParseInt(digits, base, 64); err == nil {
		return &node{at: t.at, value: float64(v), integer: true}, nil
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || base == 0 {
		return nil, f.fail(t.at, "%s is no number", t.text)
	}
	return &node{at: t.at, value: v}, nil
}

// advance reads the next token.
func (f *formula) advance() error {
	for f.next < len(f.text) {
		r, size := utf8.DecodeRuneInString(f.text[f.next:])
		if !unicode.IsSpace(r) {
			break
		}
		f.next, f.col = f.next+size, f.col+1
	}
	rest := f.text[f.next:]
	f.tok = token{at: f.col}
	if rest == "" {
		return nil
	}
	r, size := utf8.DecodeRuneInString(rest)
	length := size
	switch {
	case '0' <= r && r <= '9' || r == '.' && len(rest) > 1 && '0' <= rest[1] && rest[1] <= '9':
		f.tok.kind, length = tokenNumber, numberLength(rest)
	case ofName(r):
		f.tok.kind, length = tokenName, len(rest)
		if i := strings.IndexFunc(rest, func(r rune) bool { return !ofName(r) }); i >= 0 {
			length = i
		}
	case r == utf8.RuneError && size <= 1:
		return f.fail(f.col, "the text is no UTF-8")
	case strings.ContainsRune("+-*/%^()[]{},.<>=!&|?:@~\\", r):
		f.tok.kind = tokenOperator
		for _, long := range []string{"**", "==", "!=", "<=", ">=", "&&", "||", "??", "?."} {
			if strings.HasPrefix(rest, long) {
				length = len(long)
			}
		}
	default:
		return f.fail(f.col, "unexpected character %q", r)
	}
	f.tok.text = rest[:length]
	f.next, f.col = f.next+length, f.col+utf8.RuneCountInString(f.tok.text)
	return nil
}

// ofName reports whether a name of a parameter may hold r. A name does not begin with a
// digit, as numbers do.
func ofName(r rune) bool {
	return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// numberLength returns the length of the number that text begins with, or of what a
// number must not be followed by at once.
func numberLength(text string) int {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf || c == '.' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		case (c == '+' || c == '-') && (text[i-1] == 'e' || text[i-1] == 'E') && !strings.HasPrefix(text, "0x") && !strings.HasPrefix(text, "0X"):
		default:
			return i
		}
	}
	return len(text)
}
