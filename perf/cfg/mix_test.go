package cfg_test

import (
	"context"
	"strings"
	"testing"

	"presage/perf/cfg"
	"presage/perf/engine"
	"presage/perf/engine/rv64"
	"presage/perf/internal/oracle"
	"presage/perf/isa"
	"presage/perf/trace"
)

// mnemonicGroup classifies objdump's mnemonics, without aliases, according to the
// RISC-V specification.
func mnemonicGroup(name string) cfg.ClassGroup {
	name = strings.TrimPrefix(name, "c.")
	plain, _, _ := strings.Cut(name, ".")
	in := func(list string) bool { return strings.Contains(" "+list+" ", " "+plain+" ") }
	switch {
	case in("nop unimp ecall ebreak fence csrrw csrrs csrrc csrrwi csrrsi csrrci frflags fsflags lr sc"), strings.HasPrefix(plain, "amo"), strings.HasPrefix(plain, "v"), plain == "": // "": .4byte, what binutils 2.40 does not know
		return cfg.OtherGroup
	case in("beq bne blt bge bltu bgeu beqz bnez j jal jr jalr"):
		return cfg.BranchGroup
	case in("lb lh lw ld lbu lhu lwu flw fld lwsp ldsp fldsp flwsp"):
		return cfg.LoadGroup
	case in("sb sh sw sd fsw fsd swsp sdsp fsdsp fswsp"):
		return cfg.StoreGroup
	case strings.HasPrefix(plain, "f"):
		return cfg.FloatGroup
	}
	return cfg.IntegerGroup
}

// TestMixAgainstObjdump counts the instructions of every routine that was
// decoded without holes.
func TestMixAgainstObjdump(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	objdump := oracle.Need(t, "riscv64-linux-gnu-objdump")
	for _, exe := range []string{
		compile(t, "gcc", "-O2 -g", source{"k.c", loopsC}),
		compileGo(t, loopsGo),
	} {
		tree := scopesOf(t, exe)
		mixes := tree.InclusiveMixes(nil)
		groups := disassemble(t, objdump, exe)
		routines, unknown := 0, 0
		for i, s := range tree.Scopes {
			if s.Kind != cfg.RoutineScope || len(tree.Program.Routines[s.Routine].Gaps) > 0 {
				continue
			}
			routines++
			r := tree.Program.Routines[s.Routine]
			if strings.HasPrefix(r.Name, "go:textfips") || r.Name == "runtime.etext" {
				continue // markers
			}
			var want [cfg.ClassGroups]uint64
			known := true
			for pc := r.Addr; pc < r.Addr+r.Size; pc += 2 {
				if g, ok := groups[pc]; ok {
					want[min(g, cfg.OtherGroup)]++
					known = known && g <= cfg.OtherGroup
				}
			}
			if !known {
				unknown++
				continue
			}
			var got [cfg.ClassGroups]uint64
			for g, n := range groupsOf(mixes[i]) {
				got[g] = n.Static
			}
			if got != want {
				t.Errorf("%s: %v, objdump %v", r.Name, got, want)
			}
		}
		if routines < 300 || unknown > routines/20 {
			t.Errorf("only %d routines compared, %d with instructions that objdump does not know", routines, unknown)
		}
	}
}

// groupsOf adds the kinds of a mix up to groups of classes.
func groupsOf(m cfg.Mix) (sums [cfg.ClassGroups]cfg.Tally) {
	for k, n := range m {
		g := &sums[cfg.GroupOf(k.Class)]
		g.Static += n.Static
		g.Executed += n.Executed
	}
	return sums
}

// disassemble returns the group of the instruction at each address.
func disassemble(t *testing.T, objdump, exe string) map[uint64]cfg.ClassGroup {
	t.Helper()
	groups := make(map[uint64]cfg.ClassGroup)
	for line := range strings.Lines(execute(t, "", objdump, "-d", "--no-show-raw-insn", "-M", "no-aliases", exe)) {
		addr, rest, ok := strings.Cut(strings.TrimSpace(line), ":\t")
		fields := strings.Fields(rest)
		if !ok || len(fields) == 0 {
			continue
		}
		if pc, ok := parseHex(addr); ok {
			g := mnemonicGroup(fields[0])
			if strings.HasPrefix(fields[0], ".") || strings.HasPrefix(fields[0], "0x") {
				g = cfg.OtherGroup + 1 // objdump does not know it
			}
			if strings.HasSuffix(fields[0], "addi") && strings.HasPrefix(strings.Join(fields[1:], ""), "zero,") {
				g = cfg.OtherGroup // nop, and hints
			}
			groups[pc] = g
		}
	}
	return groups
}

func parseHex(s string) (v uint64, ok bool) {
	for _, c := range s {
		d := strings.IndexRune("0123456789abcdef", c)
		if d < 0 {
			return 0, false
		}
		v = v<<4 | uint64(d)
	}
	return v, s != ""
}

// blockCounter counts executions of planned blocks.
type blockCounter struct{ counts []uint64 }

func (c *blockCounter) Observe(b *trace.Batch) {
	for _, id := range b.Blocks {
		c.counts[id]++
	}
}

// freestanding needs no C library, so that all of its code is known.
const freestanding = `double a[40], b[40];
__attribute__((noinline)) static double kernel(int n) {
	double s = 0;
	for (int i = 0; i < n; i++) {
		a[i] = i * 0.5 + s;
		for (int j = 0; j < i; j++)
			s += a[i] * b[j] + 1;
	}
	return s;
}
void _start(void) {
	long r = 0;
	for (int n = 1; n < 40; n += 3)
		r += kernel(n) > 100;
	register long a0 __asm__("a0") = r, a7 __asm__("a7") = 93;
	__asm__ volatile("ecall" : : "r"(a0), "r"(a7));
	__builtin_unreachable();
}
`

// TestWeightedMix compares with what the engine executed.
func TestWeightedMix(t *testing.T) {
	for _, flags := range []string{"-O1 -g -nostdlib -Wl,--no-relax", "-O3 -g -nostdlib -Wl,--no-relax -funroll-loops"} {
		tree := scopesOf(t, compile(t, "gcc", flags, source{"f.c", freestanding}))
		p := tree.Program
		plan := &trace.Plan{}
		counts := &cfg.Counts{Routines: make([]cfg.RoutineCounts, len(p.Routines))}
		var at []*uint64
		for i, r := range p.Routines {
			counts.Routines[i].Blocks = make([]uint64, len(r.Blocks))
			for b := range r.Blocks {
				plan.Blocks = append(plan.Blocks, trace.Block{PC: trace.PC(r.Blocks[b].PC()), Instructions: uint32(len(r.Blocks[b].Insts))})
				at = append(at, &counts.Routines[i].Blocks[b])
			}
		}
		counter := &blockCounter{counts: make([]uint64, len(plan.Blocks))}
		sink := trace.NewPipeline(counter)
		result, err := rv64.Engine{}.Run(context.Background(), p.File, engine.Request{Plan: plan, Sink: sink})
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		for i, n := range counter.counts {
			*at[i] = n
		}
		all, own := tree.InclusiveMixes(counts), tree.Mixes(counts)
		if got := all[0].Total().Executed; got != result.Instructions || got < 1000 {
			t.Errorf("%s: %d instructions by the mix, %d executed", flags, got, result.Instructions)
		}
		var sum cfg.Tally
		for _, m := range own {
			sum.Static += m.Total().Static
			sum.Executed += m.Total().Executed
		}
		if sum != all[0].Total() {
			t.Errorf("own mixes add up to %v, not to %v", sum, all[0].Total())
		}
		inner := tree.Find("kernel/loop@f.c:4-7/loop@f.c:6-7")
		if inner < 0 {
			t.Fatalf("no inner loop: %v", loopsOf(tree, "kernel"))
		}
		if n := own[inner][cfg.Kind{Class: isa.FPLoad, Size: 8}].Executed; n == 0 {
			t.Errorf("%s: no load of doubles in the inner loop: %v", flags, own[inner])
		}
		const trips = 3042 // Σ n(n-1)/2 over n = 1, 4, …, 37
		if got := own[inner][cfg.Kind{Class: isa.FPFused}].Executed + own[inner][cfg.Kind{Class: isa.FPMultiply}].Executed; got > trips || got < trips/2 {
			t.Errorf("%s: %d multiplications in the inner loop, want nearly %d", flags, got, trips)
		}
	}
}
