package isa

import (
	"slices"
	"strings"
	"testing"
)

func TestClassesHaveNames(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range Classes() {
		if s := c.String(); s == "" || seen[s] {
			t.Errorf("class %d has no name of its own: %q", c, s)
		} else {
			seen[s] = true
		}
	}
	if got := Class(200).String(); got != "Class(200)" {
		t.Errorf("Class(200) is %q", got)
	}
}

func TestControlFlow(t *testing.T) {
	for _, c := range Classes() {
		if !c.FallsThrough() && !c.EndsBlock() {
			t.Errorf("%v neither falls through nor ends a block", c)
		}
	}
	for _, c := range []Class{Branch, Call, SystemCall} {
		if !c.FallsThrough() || !c.EndsBlock() {
			t.Errorf("%v must fall through and end a block", c)
		}
	}
}

func TestRegisters(t *testing.T) {
	for r, want := range map[Reg]string{0: "x0", 63: "x63", F0: "f0", F0 + 31: "f31", S0: "s0", NoReg: "none", Loaded: "loaded", 200: "Reg(200)"} {
		if got := r.String(); got != want {
			t.Errorf("Reg %d is %q, want %q", uint8(r), got, want)
		}
	}
}

func TestDefsAndUses(t *testing.T) {
	var i Inst
	i.AddDef(NoReg)
	i.AddDef(5)
	i.AddUse(7)
	i.AddUse(NoReg)
	i.AddUse(7)
	i.AddUse(F0 + 8)
	if !slices.Equal(i.Defs(), []Reg{5}) || !slices.Equal(i.Uses(), []Reg{7, F0 + 8}) {
		t.Errorf("defs %v, uses %v", i.Defs(), i.Uses())
	}
	i.Op, i.PC = "OP", 16
	i.AddMem(Mem{Kind: MemLoad, Size: 8, Base: 7, Index: NoReg, Disp: -8})
	if got, want := i.String(), "0x10: OP [x5] = [x7 f8] mem64[-8+x7]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := testing.AllocsPerRun(10, func() { _ = i.Defs(); _ = i.Uses() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if strings.Contains(i.String(), "->") {
		t.Error("a target where there is none")
	}
}

func TestOperatorsHaveNames(t *testing.T) {
	seen := make(map[string]bool)
	for o := Opaque; o < operators; o++ {
		if s := o.String(); s == "" || seen[s] {
			t.Errorf("operator %d has no name of its own: %q", o, s)
		} else {
			seen[s] = true
		}
	}
	if got := Operator(99).String(); got != "Operator(99)" {
		t.Errorf("Operator(99) is %q", got)
	}
}
