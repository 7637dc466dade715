package access

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// steps are the keys that distinguish groups of one scope, from coarse to fine. A
// key depends only on what a compiler preserves when a constant of the source
// changes.
var steps = []func(a *Analysis, refs []int) string{
	movementKey, accessKey, linesKey, stridesKey,
}

// ordered is the first step such that groups that agree in those before it can
// be paired by their order.
const ordered = 2

// movementKey encodes how the references of a group move in each loop around them.
// Strides that differ between executables only in their multiple of the size are
// equal here, as are a constant and a variable stride.
func movementKey(a *Analysis, refs []int) string {
	r := &a.All[refs[0]]
	if r.Stack != NotStack {
		return "stack"
	}
	var b strings.Builder
	if !r.InGraph {
		b.WriteString("alone ")
	}
	for _, s := range r.Strides {
		switch {
		case s.Irregular:
			b.WriteByte('i')
		case s.Indirect:
			b.WriteByte('n')
		case len(s.Formula.terms) == 0:
			b.WriteByte('0')
		default:
			b.WriteByte('s')
		}
	}
	return b.String()
}

// accessKey says what kinds of references a group has.
func accessKey(a *Analysis, refs []int) string {
	return distinct(refs, func(i int) string {
		r := &a.All[i]
		return fmt.Sprintf("%d/%d/%t", r.Kind, r.Size, r.Float)
	})
}

// linesKey says where in the source the references are.
func linesKey(a *Analysis, refs []int) string {
	return distinct(refs, func(i int) string {
		if r := &a.All[i]; r.File != "" {
			return fmt.Sprintf("%s:%d", path.Base(r.File), r.Line)
		}
		return ""
	})
}

// stridesKey gives the strides that are constants, and how many references
// there are.
func stridesKey(a *Analysis, refs []int) string {
	var b strings.Builder
	for _, s := range a.All[refs[0]].Strides {
		if v, ok := s.Formula.Constant(); ok {
			fmt.Fprint(&b, v)
		} else {
			fmt.Fprintf(&b, "%d terms", len(s.Formula.terms))
		}
		b.WriteByte(' ')
	}
	fmt.Fprintf(&b, "%d references", len(refs))
	return b.String()
}

// distinct joins the distinct values of a function of the references, in order.
func distinct(refs []int, of func(ref int) string) string {
	var list []string
	for _, i := range refs {
		list = append(list, of(i))
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}
