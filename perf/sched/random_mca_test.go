package sched

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"presage/perf/access"
	"presage/perf/isa"
	"presage/perf/isa/rv64"
	"presage/perf/machine"
)

// operation is an instruction as this test's generic ones and an assembler
// have it: x and f stand for registers, the first one is written.
type operation struct {
	class isa.Class
	text  string
}

// synthetic makes random instructions, and the assembly that means the same.
type synthetic struct {
	*rand.Rand
	registers int
	dialect   map[byte]string // register names: 'x' and 'f' to the prefix
	first     map[byte]int    // number of the first register used
}

func (s *synthetic) instruction(op operation) (isa.Inst, string) {
	in := isa.Inst{Class: op.class, Op: op.text}
	var b strings.Builder
	written := false
	for i := 0; i < len(op.text); i++ {
		c := op.text[i]
		if c != '%' {
			b.WriteByte(c)
			continue
		}
		i++
		kind := op.text[i]
		n := s.first[kind] + s.IntN(s.registers)
		reg := isa.Reg(n)
		if kind == 'f' {
			reg += isa.F0
		}
		fmt.Fprintf(&b, "%s%d", s.dialect[kind], n)
		if !written && op.class != isa.Store && op.class != isa.FPStore {
			in.AddDef(reg)
		} else {
			in.AddUse(reg)
		}
		written = true
	}
	return in, b.String()
}

// dependences finds those through registers, by looking for the last write
// before each read, around the loop.
func dependences(insts []isa.Inst) *access.Dependences {
	d := &access.Dependences{Target: rv64.Target()}
	n := len(insts)
	var list []*isa.Inst
	for to := range insts {
		list = append(list, &insts[to])
		for _, u := range insts[to].Uses() {
			for back := 1; back <= n; back++ {
				from := (to - back + n) % n
				if slices.Contains(insts[from].Defs(), u) {
					d.Edges = append(d.Edges, access.Dependence{From: from, To: to, Distance: b2i(back > to)})
					break
				}
			}
		}
	}
	d.Nodes = access.Nodes(list)
	return d
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// a57 is Arm's Cortex-A57 as llvm-mca 14 describes it, for the operations used
// here.
func a57() *machine.Core {
	v := on(5, 1, "W", "X")
	return &machine.Core{
		FetchWidth: 3, IssueWidth: 100, Window: 128,
		Units: []machine.Unit{
			{Name: "B", Count: 1},
			{Name: "I", Count: 2},
			{Name: "L", Count: 1},
			{Name: "M", Count: 1},
			{Name: "S", Count: 1},
			{Name: "W", Count: 1},
			{Name: "X", Count: 1},
		},
		Classes: describe(map[string]machine.Timing{
			"alu": on(1, 1, "I"), "multiply": on(5, 1, "M"), "load": on(4, 1, "L"), "fp load": on(5, 1, "L"),
			"fp add": v, "fp multiply": v, "fp divide": on(32, 32, "W"), "store": on(1, 1, "S"), "fp store": on(1, 1, "S"),
		}),
	}
}

// TestRandomAgainstMCA compares the time of random loop bodies on an in-order
// and an out-of-order core with llvm-mca's. Those that differ do so by no more
// than a cycle. The likely reasons, from its documentation and the bodies, not
// from tracing it: llvm-mca alternates between free units, here the unit that
// others need less goes first; and of two ready instructions it prefers the one
// with more users, here the older one goes first.
func TestRandomAgainstMCA(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, c := range []struct {
		name    string
		core    *machine.Core
		opt     Options
		flags   []string
		ops     []operation
		dialect map[byte]string
		first   map[byte]int
	}{
		{"in order", described(t, "sifive-u74-llvm14"), Options{OrderedWrites: true}, mcaU74, []operation{
			{isa.ALU, "add %x, %x, %x"},
			{isa.ALU, "add %x, %x, %x"},
			{isa.Multiply, "mul %x, %x, %x"},
			{isa.Load, "ld %x, 0(%x)"},
			{isa.FPLoad, "fld %f, 0(%x)"},
			{isa.FPAdd, "fadd.d %f, %f, %f"},
			{isa.FPMultiply, "fmul.d %f, %f, %f"},
			{isa.FPFused, "fmadd.d %f, %f, %f, %f"},
			{isa.FPDivide, "fdiv.d %f, %f, %f"},
			{isa.Store, "sd %x, 0(%x)"},
			{isa.FPStore, "fsd %f, 0(%x)"},
		}, map[byte]string{'x': "x", 'f': "f"}, map[byte]int{'x': 10, 'f': 10}},
		{"out of order", a57(), Options{}, []string{"-mtriple=aarch64", "-mcpu=cortex-a57"}, []operation{
			{isa.ALU, "add %x, %x, %x"},
			{isa.ALU, "add %x, %x, %x"},
			{isa.Multiply, "mul %x, %x, %x"},
			{isa.Load, "ldr %x, [%x]"},
			{isa.FPLoad, "ldr %f, [%x]"},
			{isa.FPAdd, "fadd %f, %f, %f"},
			{isa.FPMultiply, "fmul %f, %f, %f"},
			{isa.FPDivide, "fdiv %f, %f, %f"},
		}, map[byte]string{'x': "x", 'f': "d"}, map[byte]int{'x': 1, 'f': 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := New(c.core, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			rnd := rand.New(rand.NewPCG(5, 6))
			const rounds = 30
			sum, exact := 0.0, 0
			for range rounds {
				g := synthetic{Rand: rnd, registers: 2 + rnd.IntN(8), dialect: c.dialect, first: c.first}
				insts := make([]isa.Inst, 2+rnd.IntN(14))
				var body strings.Builder
				for i := range insts {
					var line string
					insts[i], line = g.instruction(c.ops[rnd.IntN(len(c.ops))])
					fmt.Fprintln(&body, line)
				}
				want := mca(t, body.String(), c.flags...)
				got := s.ScheduleLoop(dependences(insts))
				off := math.Abs(got.Cycles - want)
				sum += off / want
				if off < 0.005*want {
					exact++
				}
				if off > max(1, mcaTolerance*want) {
					t.Errorf("%.2f cycles, llvm-mca %.2f: %v\n%s", got.Cycles, want, got.Bounds, body.String())
				}
			}
			t.Logf("%d of %d alike, off by %.2f%% on average", exact, rounds, 100*sum/rounds)
			if exact < rounds*8/10 {
				t.Errorf("only %d of %d are as llvm-mca has them", exact, rounds)
			}
		})
	}
}
