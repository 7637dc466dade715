package pipeline_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/isa"
	isarv "presage/perf/isa/rv64"
	"presage/perf/pipeline"
)

// mcaVersion is the version of llvm-mca whose model of the SiFive U74 is u74.
const mcaVersion = "14."

// u74 is the SiFive U74 as llvm-mca 14 models it (llvm-mca -mcpu=sifive-u74
// shows latencies and resources): two instructions a cycle in order, results
// written in program order, pipe A for memory, pipe B for branches,
// multiplication, division and floating point, either for other integer work.
// A division holds pipe B to its end. No window, no caches, no mispredictions.
func u74() pipeline.Config {
	use := func(cycles int, names ...string) pipeline.Use { return pipeline.Use{AnyOf: names, Cycles: cycles} }
	on := func(latency int, uses ...pipeline.Use) pipeline.Timing {
		return pipeline.Timing{Latency: latency, Uses: uses}
	}
	return pipeline.Config{
		InOrder: true, OrderedCompletion: true, IssueWidth: 2, Window: 1 << 12,
		Units: []pipeline.Unit{{Name: "A", Count: 1}, {Name: "B", Count: 1}, {Name: "IDiv", Count: 1}, {Name: "FDiv", Count: 1}},
		Timings: map[isa.Class]pipeline.Timing{
			isa.ALU: on(3, use(1, "A", "B")), isa.Shift: on(3, use(1, "A", "B")), isa.Compare: on(3, use(1, "A", "B")),
			isa.Nop:      on(3, use(1, "A", "B")),
			isa.Multiply: on(3, use(1, "B")),
			isa.Divide:   on(16, use(16, "B"), use(15, "IDiv")),
			isa.Load:     on(3, use(1, "A")), isa.FPLoad: on(2, use(1, "A")),
			isa.Store: on(1, use(1, "A")), isa.FPStore: on(1, use(1, "A")),
			isa.FPAdd: on(7, use(1, "B")), isa.FPMultiply: on(7, use(1, "B")), isa.FPFused: on(7, use(1, "B")),
			isa.FPDivide: on(56, use(56, "B"), use(55, "FDiv")),
			isa.Branch:   on(1, use(1, "B")), isa.Jump: on(1, use(1, "B")),
		},
	}
}

// mcaLoops are bodies of loops without misses.
var mcaLoops = []struct{ name, body string }{
	{"daxpy", "fld fa4,0(a0); fld fa3,0(a1); fmadd.d fa4,fa4,fa5,fa3; fsd fa4,0(a1); addi a0,a0,8; addi a1,a1,8; bne a0,a2,."},
	{"daxpy, four at a time", `fld fa0,0(a0); fld fa1,8(a0); fld fa2,16(a0); fld fa3,24(a0); fld ft0,0(a1); fld ft1,8(a1); fld ft2,16(a1); fld ft3,24(a1);
		fmadd.d fa0,fa0,fa5,ft0; fmadd.d fa1,fa1,fa5,ft1; fmadd.d fa2,fa2,fa5,ft2; fmadd.d fa3,fa3,fa5,ft3;
		fsd fa0,0(a1); fsd fa1,8(a1); fsd fa2,16(a1); fsd fa3,24(a1); addi a0,a0,32; addi a1,a1,32; bne a0,a2,.`},
	{"dot", "fld fa4,0(a0); fld fa3,0(a1); addi a0,a0,8; addi a1,a1,8; fmadd.d fa5,fa4,fa3,fa5; bne a0,a2,."},
	{"stencil", "fld fa4,-8(a0); fld fa3,0(a0); fld fa2,8(a0); fadd.d fa4,fa4,fa2; fmadd.d fa4,fa3,fa5,fa4; fsd fa4,0(a1); addi a0,a0,8; addi a1,a1,8; bne a0,a2,."},
	{"spmv", "lw a5,0(a1); fld fa4,0(a0); slli a5,a5,3; add a5,a5,a3; fld fa3,0(a5); addi a0,a0,8; addi a1,a1,4; fmadd.d fa5,fa4,fa3,fa5; bne a0,a2,."},
	{"sum of integers", "ld a5,0(a0); addi a0,a0,8; add a4,a4,a5; bne a0,a2,."},
	{"copy", "ld a4,0(a0); ld a5,8(a0); sd a4,0(a1); sd a5,8(a1); addi a0,a0,16; addi a1,a1,16; bne a0,a2,."},
	{"hash", "lbu a5,0(a0); addi a0,a0,1; xor a4,a4,a5; mul a4,a4,a3; bne a0,a2,."},
	{"pointer chase", "ld a0,0(a0); addi a1,a1,1; bne a0,a2,."},
	{"chained divisions", "fdiv.d fa0,fa1,fa0; fadd.d fa2,fa2,fa0; addi a0,a0,1; bne a0,a2,."},
	{"integer division", "div a4,a4,a5; add a3,a3,a4; addi a0,a0,1; bne a0,a2,."},
	{"Horner", "fmadd.d fa0,fa0,fa1,fa2; fmadd.d fa0,fa0,fa1,fa3; fmadd.d fa0,fa0,fa1,fa4; addi a0,a0,1; bne a0,a2,."},
	{"independent integers", "add a0,a5,a6; xor a1,a5,a6; mul a2,a5,a6; sll a3,a5,a6; sub a4,a5,a6; and t0,a5,a6"},
}

// mcaTolerance bounds the difference in cycles an iteration, by share. There
// was none when this was written.
const mcaTolerance = 0.01

func TestLLVMMCA(t *testing.T) {
	mca, as, objcopy := needMCA(t), oracle.Need(t, "riscv64-linux-gnu-as"), oracle.Need(t, "riscv64-linux-gnu-objcopy")
	for _, loop := range mcaLoops {
		t.Run(loop.name, func(t *testing.T) {
			source := filepath.Join(t.TempDir(), "loop.s")
			if err := os.WriteFile(source, []byte(strings.ReplaceAll(loop.body, ";", "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			want := mcaCycles(t, mca, source, "-mtriple=riscv64", "-mcpu=sifive-u74", "-mattr=+m,+a,+f,+d")
			got := cyclesPerIteration(t, assemble(t, as, objcopy, source), u74())
			t.Logf("%.2f cycles an iteration, llvm-mca %.2f", got, want)
			if math.Abs(got-want) > mcaTolerance*want {
				t.Errorf("%.2f cycles an iteration, llvm-mca %.2f", got, want)
			}
		})
	}
}

// needMCA returns the path of the llvm-mca version whose models the tests copy.
func needMCA(t *testing.T) string {
	t.Helper()
	mca := oracle.Need(t, "llvm-mca-14")
	if out, err := exec.Command(mca, "--version").CombinedOutput(); err != nil || !strings.Contains(string(out), "version "+mcaVersion) {
		t.Skipf("skipped: llvm-mca is not version %s, whose models the test states: %s", mcaVersion, out)
	}
	return mca
}

// cyclesPerIteration simulates a loop whose stores write nothing that its loads
// read, as llvm-mca takes it to be.
func cyclesPerIteration(t *testing.T, insts []isa.Inst, c pipeline.Config) float64 {
	t.Helper()
	cycles := func(n int) float64 {
		s := place(t, nil, insts)
		for i := range n {
			var addrs []uint64
			for j := range insts {
				addrs = append(addrs, uint64(0x10000+4096*j+16*(i%8)))
			}
			s.run(0, addrs...)
		}
		return float64(s.simulate(t, c).Cycles)
	}
	return (cycles(300) - cycles(100)) / 200
}

// mcaCycles returns llvm-mca's cycles for an iteration of the loop in source.
func mcaCycles(t *testing.T, mca, source string, processor ...string) float64 {
	t.Helper()
	total := func(n int) float64 {
		out, err := exec.Command(mca, append(processor, fmt.Sprint("-iterations=", n), source)...).CombinedOutput()
		if err != nil {
			t.Fatalf("llvm-mca: %v\n%s", err, out)
		}
		m := regexp.MustCompile(`Total Cycles:\s+(\d+)`).FindSubmatch(out)
		if m == nil {
			t.Fatalf("llvm-mca tells no cycles:\n%s", out)
		}
		cycles, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		return cycles
	}
	return (total(300) - total(100)) / 200
}

// assemble returns the instructions in an assembler file.
func assemble(t *testing.T, as, objcopy, source string) []isa.Inst {
	t.Helper()
	object, binary := source+".o", source+".bin"
	for _, cmd := range []*exec.Cmd{
		exec.Command(as, "-march=rv64g", "-o", object, source),
		exec.Command(objcopy, "-O", "binary", "-j", ".text", object, binary),
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	code, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	var insts []isa.Inst
	decoder := isarv.NewDecoder()
	for pc := uint64(0); pc < uint64(len(code)); {
		in, err := decoder.Decode(code[pc:], pc)
		if err != nil {
			t.Fatal(err)
		}
		insts = append(insts, in)
		pc = in.Next()
	}
	// The loop's branch is foreseen, as all of this core's are; it leads from
	// the block's end to the same block's beginning, not to itself.
	if last := &insts[len(insts)-1]; last.HasTarget {
		last.HasTarget = false
	}
	return insts
}
