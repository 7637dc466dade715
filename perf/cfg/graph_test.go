package cfg

import (
	"errors"
	"testing"
)

// TestExample checks the graph that the package's documentation draws.
func TestExample(t *testing.T) {
	a := assemble(t, ".option norvc\n.globl _start\n"+routine("_start", `
		li a0, 0
		beqz a1, B3
	B1:	add a0, a0, a1
		jal f
	B2:	addi a1, a1, -1
		bnez a1, B1
	B3:	ret`)+routine("f", "ret"))
	same(t, a.draw(named(t, a.Program, "_start")), `
		_start: falls→B1 taken→B3
		B1: call returns→B2 <_start @B1
		B2: taken→B1 falls→B3 <B1 @B1
		B3: (returns) <_start`)
	if len(a.Warnings) > 0 {
		t.Error(a.Warnings)
	}
}

func TestShapes(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"nested", `
			O:	mv t0, a0
			I:	addi t0, t0, -1
				bnez t0, I
			T:	addi a1, a1, -1
				bnez a1, O
			X:	ret`, `
			O: falls→I @O
			I: taken→I falls→T <O @I @O
			T: taken→O falls→X <I @O
			X: (returns) <T`},
		{"irreducible", `
				beqz a0, N
			M:	addi a1, a1, 1
			N:	addi a1, a1, -1
				bnez a1, M
			X:	ret`, `
			f: falls→M taken→N
			M: falls→N <f @M!
			N: taken→M falls→X <f @M!
			X: (returns) <N`},
		{"self", `
				li a1, 3
			S:	addi a1, a1, -1
				bnez a1, S
			X:	ret`, `
			f: falls→S
			S: taken→S falls→X <f @S
			X: (returns) <S`},
		{"two back edges to one header are one loop", `
			H:	beqz a0, X
			P:	bnez a1, H
			Q:	j H
			X:	ret`, `
			H: falls→P taken→X @H
			P: taken→H falls→Q <H @H
			Q: jumps→H <P @H
			X: (returns) <H`},
		{"data among the code", `
				lla a0, D
				lw a0, (a0)
				j X
			D:	.word 0xffffffff
			X:	ret`, `
			f: jumps→X
			X: (returns) <f
			gap D..4`},
		{"branch out of the routine", `
				beqz a0, other
			R:	bnez a0, elsewhere
			S:	ret`, `
			f: falls→R (tail jump)
			R: falls→S (tail jump) <f
			S: (returns) <R`},
		{"tail call", `
				j other`, `
			f: (tail jump)`},
		{"calls of what never returns", `
				beqz a0, R
			Q:	call stuck
				.word 0xffffffff
			R:	call turns
				.word 0xffffffff`, `
			f: falls→Q taken→R
			Q: (no return) <f
			R: (no return) <f
			gap Q+8..4
			gap R+8..4`},
		{"a trap", `
				bnez a0, R
			Q:	ebreak
			R:	ld a0, 8(zero)
			S:	ret`, `
			f: falls→Q taken→R
			Q: (traps) <f
			R: (traps) <f
			gap S..2`},
		{"a system call returns", `
				ecall
			R:	ret`, `
			f: falls→R
			R: (returns) <f`},
		{"a pointer called last", `
				jr a0`, `
			f: (unknown)`},
		{"a jump to a constant address", `
				lla t1, other
				jr t1`, `
			f: (tail jump)`},
		{"a call through a register to what never returns", `
				lla t1, stuck
				jalr t1
				.word 0xffffffff`, `
			f: (no return)
			gap f+10..4`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := assemble(t, routine("_start", "call f\nbeqz a0, _start\n1: j 1b")+routine("f", c.body)+
				routine("other", "ret")+routine("elsewhere", "ret")+
				routine("stuck", "1: j 1b")+
				// Two that call each other and never leave.
				routine("turns", "call returns\nj comesBack")+routine("comesBack", "call turns\nret")+routine("returns", "ret"))
			want := c.want
			if _, ok := a.labels[a.at["f"]]; ok {
				// f may share its address with its first label.
				delete(a.labels, a.at["f"])
				a.labels[a.at["f"]] = firstWord(want)
			}
			same(t, a.draw(named(t, a.Program, "f")), want)
		})
	}
}

func firstWord(s string) string {
	for i, c := range s {
		if c != ' ' && c != '\t' && c != '\n' {
			for j := i; ; j++ {
				if s[j] == ':' {
					return s[i:j]
				}
			}
		}
	}
	return ""
}

func TestOverlappingInstructions(t *testing.T) {
	// The branch leads into the middle of the lui, where its upper half is
	// an instruction of its own.
	a := assemble(t, ".option norvc\n"+routine("_start", `
		beqz a0, . + 6
	M:	lui a1, 0x10
	X:	ret`))
	r := named(t, a.Program, "_start")
	if !errors.Is(errors.Join(a.Warnings...), ErrOverlap) {
		t.Errorf("no warning of %v in %v", ErrOverlap, a.Warnings)
	}
	seen := make(map[uint64]bool)
	for _, b := range r.Blocks {
		for _, in := range b.Insts {
			for pc := in.PC; pc < in.Next(); pc++ {
				if seen[pc] {
					t.Errorf("%#x is part of two instructions", pc)
				}
				seen[pc] = true
			}
		}
	}
}

func TestUndecoded(t *testing.T) {
	a := assemble(t, routine("_start", `
		nop
		.word 0xffffffff
		ret`))
	if !errors.Is(errors.Join(a.Warnings...), ErrUndecoded) {
		t.Errorf("no warning of %v in %v", ErrUndecoded, a.Warnings)
	}
	if b := named(t, a.Program, "_start").Blocks; len(b) != 1 || b[0].Exit != Traps {
		t.Errorf("%d blocks, the first %v", len(b), b[0].Exit)
	}
}

// TestEntries demands that jumps into a routine from elsewhere make entries,
// which no block dominates.
func TestEntries(t *testing.T) {
	a := assemble(t, routine("_start", "call f\nj M")+routine("f", "beqz a0, X\nM: addi a0, a0, 1\nX: ret"))
	r := named(t, a.Program, "f")
	if len(r.Entries) != 2 || a.name(r.Blocks[r.Entries[1]].PC()) != "M" || r.Blocks[r.Entries[1]].Dominator != -1 {
		t.Errorf("entries %v of\n%s", r.Entries, a.draw(r))
	}
	if d := r.Blocks[2].Dominator; d != -1 {
		t.Errorf("X, reached from two entries, is dominated by block %d", d)
	}
}
