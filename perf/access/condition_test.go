package access

import (
	"testing"

	"presage/perf/cfg"
	"presage/perf/isa"
)

// TestConditions tests what two nested loops are left by, and a branch on what is loaded.
func TestConditions(t *testing.T) {
	f := assemble(t, `
	.globl _start
	.type _start, @function
_start:
	li a0, 0
outer:
	li a1, 0
inner:
	addi a1, a1, 1
	blt a1, a0, inner
	addi a0, a0, 2
	li a2, 20
	bne a0, a2, outer
	ld a3, 0(sp)
	beqz a3, _start
	li a7, 93
	ecall
	.size _start, .-_start
`)
	g := cfg.Analyze(f)
	a := Analyze(g)
	type want struct {
		taken   isa.Operator
		first   int64
		strides []int64
	}
	var got []want
	loaded := 0
	for r := range g.Routines {
		for _, c := range a.Conditions(r) {
			if c.Taken == isa.Opaque {
				continue
			}
			first, ok := c.First.Constant()
			if !ok {
				loaded++
				continue
			}
			w := want{taken: c.Taken, first: first}
			for _, s := range c.Strides {
				if n, ok := s.Formula.Constant(); ok && s.Regular() {
					w.strides = append(w.strides, n)
				}
			}
			got = append(got, w)
		}
	}
	if loaded != 1 || len(got) != 2 {
		t.Fatalf("%d branches on what is not known and %v, want 1 and 2 others", loaded, got)
	}
	for k, w := range []want{{isa.Less, 1, []int64{1, -2}}, {isa.NotEqual, -18, []int64{2}}} {
		g := got[k]
		if g.taken != w.taken || g.first != w.first || len(g.strides) < len(w.strides) {
			t.Errorf("branch %d: %v, want %v", k, g, w)
			continue
		}
		for i, s := range w.strides {
			if g.strides[i] != s {
				t.Errorf("branch %d: %v, want %v", k, g, w)
			}
		}
	}
}
