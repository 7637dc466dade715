package main

import (
	"bytes"
	"fmt"
	"strings"
)

// functions is how many functions a file declares.
const functions = 3

// writer writes a Go file in which all variables but the record are whole
// numbers, and each is used. Spaces are left out or doubled at random, for the
// formatter to put right.
//
// Constants stay small, so that none overflows and none divides by 0: the left
// operand of every operator begins with a variable.
type writer struct {
	*random
	out   bytes.Buffer
	has   census
	scope []string // variables that can be read
	names int      // that were given to variables
	loops int      // that are around
}

func newWriter(r *random) *writer { return &writer{random: r} }

// file returns a file, and what it is made of.
func (w *writer) file() ([]byte, census) {
	w.line("package p%d", w.below(1000))
	w.comment()
	w.line("type record struct {")
	w.line("  a, b int; name string")
	w.line("next  *record")
	w.line("list []int // %s", w.sentence())
	w.line("}")
	w.has.comments++
	w.line("const (")
	for k := range 5 {
		w.line("k%d%s=%s%d", k, w.space(), w.space(), 1+w.below(100))
	}
	w.line(")")
	for f := range functions {
		w.function(f)
	}
	return w.out.Bytes(), w.has
}

func (w *writer) line(form string, args ...any) { fmt.Fprintf(&w.out, form+"\n", args...) }

// space returns the space that the formatter may change.
func (w *writer) space() string { return w.one([]string{"", " ", "  "}) }

func (w *writer) comment() {
	w.has.comments++
	w.line("// %s", w.sentence())
}

func (w *writer) function(number int) {
	w.has.functions++
	w.line("")
	w.comment()
	w.line("func f%d(a,b int, r *record)%sint {", number, w.space())
	w.line("total:=a")
	w.scope = append(w.scope[:0], "a", "b", "total")
	w.block(2)
	w.line("return total^%s}", w.value(3))
}

// block writes statements, with others in them to some depth, and uses the
// variables that they declare.
func (w *writer) block(depth int) {
	outside := len(w.scope)
	for range 2 + w.below(4) {
		w.statement(depth)
	}
	for _, name := range w.scope[outside:] {
		w.line("total%s+=%s%s", w.space(), w.space(), name)
	}
	w.scope = w.scope[:outside]
}

func (w *writer) statement(depth int) {
	simple := []func(){w.declare, w.assign, w.appendTo, w.literal, w.closure, w.comment, w.leave}
	nested := []func(depth int){w.branch, w.count, w.each, w.choose, w.kinds}
	if depth == 0 || w.below(2) == 0 {
		simple[w.below(len(simple))]()
		return
	}
	nested[w.below(len(nested))](depth - 1)
}

// variable returns the name of a new variable.
func (w *writer) variable() string {
	w.names++
	return fmt.Sprintf("%s%d", w.one(words), w.names)
}

func (w *writer) declare() {
	value, name := w.value(3), w.variable()
	w.line("%s%s:=%s%s", name, w.space(), w.space(), value)
	w.scope = append(w.scope, name)
}

func (w *writer) assign() {
	w.has.comments++
	w.line("%s %s %s // %s", w.one([]string{"total", "r.a", "r.b"}), w.one([]string{"=", "+=", "-=", "^=", "|="}), w.value(3), w.one(words))
}

func (w *writer) appendTo() {
	w.has.calls++
	w.line("r.list=append(r.list,%s, %s)", w.value(2), w.value(1))
}

func (w *writer) literal() {
	w.line("r = &record{a: %s,%sname:%q, next : r,", w.value(2), w.space(), w.sentence())
	w.line("list:[]int{%s,%s},", w.value(1), w.value(1))
	w.line("}")
}

func (w *writer) closure() {
	w.has.functions++
	w.has.calls++
	name := w.variable()
	w.line("%s:=func(x int)int{ return %s*x }", name, w.value(2))
	w.line("total^=%s(%s)", name, w.value(1))
}

// leave ends the loop around it, or this turn, on a condition.
func (w *writer) leave() {
	if w.loops == 0 {
		w.declare()
		return
	}
	w.has.ifs++
	w.line("if %s { %s }", w.condition(1), w.one([]string{"break", "continue"}))
}

func (w *writer) branch(depth int) {
	w.has.ifs++
	w.line("if %s {", w.condition(2))
	w.block(depth)
	if w.below(2) == 0 {
		w.has.ifs++
		w.line("}else if %s{", w.condition(1))
		w.block(depth)
	}
	if w.below(2) == 0 {
		w.line("}else{")
		w.block(depth)
	}
	w.line("}")
}

func (w *writer) count(depth int) {
	name := w.variable()
	w.line("for %s:=0; %s%s<%d; %s++ {", name, name, w.space(), 2+w.below(50), name)
	w.loop(name, depth)
}

func (w *writer) each(depth int) {
	name := w.variable()
	w.line("for _,%s := range r.list {", name)
	w.line("total += %s", name)
	w.loop(name, depth)
}

// loop writes what is in a loop over name.
func (w *writer) loop(name string, depth int) {
	w.has.loops++
	w.loops++
	w.scope = append(w.scope, name)
	w.block(depth)
	w.scope = w.scope[:len(w.scope)-1]
	w.loops--
	w.line("}")
}

func (w *writer) choose(depth int) {
	w.has.switches++
	w.line("switch %s {", w.left(2)) // the formatter would take parentheses away
	for k := range 2 + w.below(2) {
		w.line("case %d,%s%d:", 2*k, w.space(), 2*k+1)
		w.block(depth)
	}
	w.line("default:")
	w.block(0)
	w.line("}")
}

func (w *writer) kinds(int) {
	w.has.switches++
	w.has.calls += 3
	name := w.variable()
	w.line("switch %s:=any(%s).(type){", name, w.value(2))
	w.line("case int:\ntotal+=%s", name)
	w.line("case string, []int:\ntotal+=len(r.name)\n_=%s", name)
	w.line("case *record:\ntotal-=%s.a+len(%s.list)", name, name)
	w.line("}")
}

// value returns an expression for a whole number.
func (w *writer) value(depth int) string {
	if depth == 0 {
		return w.leaf()
	}
	switch w.below(7) {
	case 0:
		w.has.calls++
		return fmt.Sprintf("f%d(%s,%s, r)", w.below(functions), w.value(depth-1), w.value(depth-1))
	case 1:
		w.has.calls++
		return fmt.Sprintf("%s(%s,%s%s)", w.one([]string{"min", "max"}), w.value(depth-1), w.space(), w.one(w.scope))
	case 2:
		return w.operation(w.left(depth-1), w.one([]string{"/", "%", "<<", ">>"}), fmt.Sprint(1+w.below(9)))
	case 3:
		return "(-" + w.left(depth-1) + ")"
	}
	right := w.value(depth - 1)
	if right[0] != '(' && strings.ContainsAny(right, "+-*/%<>&|^") {
		right = "(" + right + ")"
	}
	return w.operation(w.left(depth-1), w.one([]string{"+", "-", "*", "&", "|", "^", "&^"}), right)
}

// left returns an expression that begins with a variable.
func (w *writer) left(depth int) string {
	if depth == 0 {
		return w.read()
	}
	return w.operation(w.left(depth-1), w.one([]string{"+", "-", "*", "|"}), w.leaf())
}

func (w *writer) operation(left, operator, right string) string {
	return left + w.space() + operator + w.space() + right
}

func (w *writer) leaf() string {
	switch w.below(4) {
	case 0:
		return fmt.Sprint(w.below(1000))
	case 1:
		return fmt.Sprintf("k%d", w.below(5))
	}
	return w.read()
}

// read returns a variable, or a part of one.
func (w *writer) read() string {
	switch w.below(8) {
	case 0:
		return w.one([]string{"r.a", "r.b", "r.next.a", "r.next.next.b"})
	case 1:
		return "r.list[" + w.one(w.scope) + "]"
	case 2:
		w.has.calls++
		return "len(r.list)"
	}
	return w.one(w.scope)
}

func (w *writer) condition(depth int) string {
	if depth == 0 || w.below(3) == 0 {
		return w.operation(w.left(1), w.one([]string{"<", "<=", "==", "!=", ">", ">="}), w.leaf())
	}
	if w.below(3) == 0 {
		return "!(" + w.condition(depth-1) + ")"
	}
	return w.operation(w.condition(depth-1), w.one([]string{"&&", "||"}), w.condition(depth-1))
}
