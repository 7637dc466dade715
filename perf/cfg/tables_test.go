package cfg

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"presage/perf/isa"
)

// TestTablesOfCompilers demands that the switches of fixture_test.go resolve to
// all of their cases, and that no jump in them stays open.
func TestTablesOfCompilers(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, flags := range [][]string{{"-O0"}, {"-O1"}, {"-O2"}, {"-O3"}, {"-Os"}, {"-O2", "-Wl,--no-relax"}, {"-O2", "-march=rv64gc_zba_zbb"}, {"-O2", "-fno-pic", "-no-pie", "-mcmodel=medlow"}} {
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			p := analyze(t, build(t, "riscv64-linux-gnu-gcc", "p.c", switches, flags...))
			for name, cases := range map[string]int{"fromZero": 8, "fromHundred": 8, "negative": 8, "masked": 8, "field": 8, "run": 4} {
				r := named(t, p, name)
				if len(r.Open) > 0 {
					t.Errorf("%s: an indirect jump stays open", name)
				}
				jumps := 0
				for b := range r.Blocks {
					if r.Blocks[b].Last().Class != isa.IndirectJump {
						continue
					}
					jumps++
					if got := len(r.Blocks[b].Succs); got > cases || got < cases-1 { // equal cases may be merged
						t.Errorf("%s: %d targets, want %d", name, got, cases)
					}
				}
				if jumps == 0 {
					t.Errorf("%s: no indirect jump", name)
				}
			}
			if n := len(named(t, p, "byPointer").Open); n > 1 {
				t.Errorf("byPointer: %d open jumps", n)
			}
			if r := named(t, p, "__vfprintf_internal"); len(r.Open) > 0 {
				t.Errorf("%s: %d open jumps", r.Name, len(r.Open))
			}
		})
	}
}

// TestTableForms checks forms that the compilers used here do not emit.
func TestTableForms(t *testing.T) {
	const words = "\n.section .rodata\nD: .word A - D, B - D, C - D, A - D\n.word 1\n"
	const jump = "slli a0, a0, 2\nlla a2, D\nadd a0, a0, a2\nlw a0, (a0)\nadd a0, a0, a2\njr a0\nA: nop\nret\nB: nop\nret\nC: nop\nret\n"
	for _, c := range []struct {
		name, code string
		targets    int
		open       bool
	}{
		{"unsigned bound", "li a1, 2\nbgtu a0, a1, A\n" + jump, 3, false},
		{"bound below is too", "li a1, 2\nbltu a1, a0, A\n" + jump, 3, false},
		{"two signed bounds", "li a1, 2\nbgt a0, a1, A\nbltz a0, A\n" + jump, 3, false},
		{"remainder", "li a1, 3\nremu a0, a0, a1\n" + jump, 3, false},
		{"mask", "andi a0, a0, 3\n" + jump, 3, false},
		{"shift", "srliw a0, a0, 30\n" + jump, 3, false},
		{"spilled over a call", "addi sp, sp, -16\nsd a0, 8(sp)\nli a1, 2\nbgtu a0, a1, A\ncall other\nld a0, 8(sp)\n" + jump, 3, false},
		{"a call between", "li a1, 2\nbgtu a0, a1, A\ncall other\n" + jump, 3, true},
		{"no bound", jump, 3, true},
		{"too large a bound", "li a1, 9\nbgtu a0, a1, A\n" + jump, 0, true},
		{"two tables", "beqz a1, 1f\nlla a2, D\nj 2f\n1: lla a2, D\n2: andi a0, a0, 1\nslli a0, a0, 2\nadd a0, a0, a2\nlw a0, (a0)\nadd a0, a0, a2\njr a0\nA: nop\nret\nB: nop\nret\nC: nop\nret\n", 2, false},
		{"small data", ".option norelax\naddi a2, gp, 16\nandi a0, a0, 1\nslli a0, a0, 3\nadd a0, a0, a2\nld a0, (a0)\njr a0\nA: nop\nret\nB: nop\nret\nC: nop\nret\n", 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := assemble(t, ".option norvc\n"+routine("_start", "lla gp, G\ncall f\necall")+routine("other", "ret")+routine("f", c.code)+words+
				".section .data.rel.ro, \"aw\"\n.balign 8\nG: .dword 0, 0, A, B, 0\n")
			r := named(t, a.Program, "f")
			got, open := 0, len(r.Open) > 0
			for b := range r.Blocks {
				if last := r.Blocks[b].Last(); last.Class == isa.IndirectJump {
					got = len(r.Blocks[b].Succs)
				}
			}
			if got != c.targets || open != c.open {
				t.Errorf("%d targets, open %v; want %d, %v\n%s", got, open, c.targets, c.open, a.draw(r))
			}
			if open != errors.Is(errors.Join(a.Warnings...), ErrOpen) {
				t.Errorf("warnings %v", a.Warnings)
			}
		})
	}
}

// TestGoLeavesNothingOpen demands no open jumps in Go programs: Go emits no jump
// tables for this machine, and its linker's trampolines lead to constants.
func TestGoLeavesNothingOpen(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	p := programs[4].analyzed(t)
	var open []string
	for _, r := range p.Routines {
		if len(r.Open) > 0 {
			open = append(open, r.Name)
		}
		if strings.HasPrefix(r.Name, "runtime.morestack") && len(r.Blocks) == 0 {
			t.Errorf("%s is empty", r.Name)
		}
	}
	slices.Sort(open)
	if len(open) > 3 {
		t.Errorf("open: %v", open)
	}
	restarts := 0
	for _, e := range named(t, p, "main.pick").Edges {
		if e.Kind == Restarts {
			restarts++
		}
	}
	if restarts != 1 {
		t.Errorf("%d edges that restart main.pick", restarts)
	}
}

// FuzzAnalyze demands that Analyze never panics, and that its result satisfies
// the laws.
func FuzzAnalyze(f *testing.F) {
	image := fuzzImage(f)
	f.Add([]byte{0x13, 0, 0, 0, 0x67, 0x80, 0, 0}, false)
	f.Add([]byte{0x17, 0x07, 0, 0, 0x07, 0x95, 0x83, 0x27, 0x07, 0, 0xba, 0x97, 0x82, 0x87}, true)
	f.Add(bytes.Repeat([]byte{0xfd, 0xfd}, 700), true) // hundreds of loops, each in the one before
	f.Fuzz(func(t *testing.T, code []byte, bare bool) {
		file := image(code, bare)
		if file == nil {
			return
		}
		p := Analyze(file)
		for _, r := range p.Routines {
			checkRoutine(t, r)
		}
	})
}

func BenchmarkAnalyze(b *testing.B) {
	for _, p := range programs[3:] {
		f := open(b, p.path(b))
		b.Run("program="+p.name, func(b *testing.B) {
			insts := 0
			for b.Loop() {
				insts = 0
				for _, r := range Analyze(f).Routines {
					for i := range r.Blocks {
						insts += len(r.Blocks[i].Insts)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(insts), "ns/instruction")
			b.ReportAllocs()
		})
	}
}
