package machine

import (
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/internal/oracle"
	"presage/perf/isa"
)

// llvmInstructions has an instruction of each class that llvm-mca 14 knows. The
// order is that of the report, by which the lines of the two tables are matched.
var llvmInstructions = []struct {
	class isa.Class
	text  string
}{
	{isa.ALU, "add a0, a1, a2"},
	{isa.ALU, "lui a0, 1"},
	{isa.Shift, "sll a0, a1, a2"},
	{isa.Compare, "slt a0, a1, a2"},
	{isa.Multiply, "mul a0, a1, a2"},
	{isa.Divide, "div a0, a1, a2"},
	{isa.Divide, "remw a0, a1, a2"},
	{isa.FPAdd, "fadd.d fa0, fa1, fa2"},
	{isa.FPMultiply, "fmul.d fa0, fa1, fa2"},
	{isa.FPFused, "fmadd.d fa0, fa1, fa2, fa3"},
	{isa.FPDivide, "fdiv.d fa0, fa1, fa2"},
	{isa.FPSqrt, "fsqrt.d fa0, fa1"},
	{isa.FPConvert, "fcvt.d.l fa0, a1"},
	{isa.FPMove, "fmv.x.d a0, fa1"},
	{isa.Load, "ld a0, 0(a1)"},
	{isa.FPLoad, "fld fa0, 0(a1)"},
	{isa.Store, "sd a0, 0(a1)"},
	{isa.FPStore, "fsd fa0, 0(a1)"},
	{isa.Atomic, "amoadd.d a0, a1, (a2)"},
	{isa.Branch, "beq a0, a1, 8"},
	{isa.Jump, "j 8"},
	{isa.IndirectJump, "jr a1"},
	{isa.Call, "jal 8"},
	{isa.Return, "ret"},
	{isa.Nop, "nop"},
	{isa.CSR, "csrr a0, cycle"},
	{isa.SystemCall, "ecall"},
}

// TestU74AsLLVM compares the timings of sifive-u74-llvm14 with those of the tool
// that they were written down from.
func TestU74AsLLVM(t *testing.T) {
	tool := oracle.Need(t, "llvm-mca-14")
	m, err := Find("sifive-u74-llvm14", shipped)
	if err != nil {
		t.Fatal(err)
	}
	var asm strings.Builder
	for _, in := range llvmInstructions {
		fmt.Fprintln(&asm, in.text)
	}
	file := filepath.Join(t.TempDir(), "classes.s")
	if err := os.WriteFile(file, []byte(asm.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tool, "-mtriple=riscv64", "-mcpu=sifive-u74", "-mattr=+m,+a,+f,+d", "-iterations=1", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	report := string(out)
	if want := fmt.Sprintf("Dispatch Width:    %d\n", m.Core.IssueWidth); !strings.Contains(report, want) {
		t.Errorf("no %q", want)
	}
	info := table(t, report, "[6]    Instructions:\n", 3)
	pressure := table(t, report, "Resource pressure by instruction:\n", 4)
	names := []string{"FDiv", "IDiv", "PipeA", "PipeB"} // as the report numbers them
	for i, in := range llvmInstructions {
		timing := m.Core.Classes[in.class]
		if got := info[i][1]; float64(timing.Latency) != got {
			t.Errorf("%s (%v): %v cycles, llvm-mca says %v", in.text, in.class, timing.Latency, got)
		}
		// Of a nop's throughput llvm-mca says what the width allows. It rounds to
		// hundredths.
		if rate, got := m.Core.Throughput(in.class), info[i][2]; math.Abs(1/rate-got) > 0.005 {
			t.Errorf("%s (%v): one in %v cycles, llvm-mca says %v", in.text, in.class, 1/rate, got)
		}
		// Which of two pipes took an instruction that either could is its own affair.
		uses, want := make(map[string]float64), make(map[string]float64)
		for _, u := range timing.Uses {
			uses[strings.Join(u.AnyOf, "|")] += float64(u.Cycles)
		}
		for k, name := range names {
			if pressure[i][k] == 0 {
				continue
			}
			if _, ok := uses["PipeA|PipeB"]; ok && strings.HasPrefix(name, "Pipe") {
				name = "PipeA|PipeB"
			}
			want[name] += pressure[i][k]
		}
		if !maps.Equal(uses, want) {
			t.Errorf("%s (%v): %s", in.text, in.class, cmp.Diff(want, uses))
		}
	}
}

// table returns the first columns of the table after a heading of llvm-mca's: a
// line for each instruction, "-" as 0.
func table(t *testing.T, report, heading string, columns int) [][]float64 {
	t.Helper()
	_, text, ok := strings.Cut(report, heading)
	if !ok {
		t.Fatalf("no %q in %s", heading, report)
	}
	lines := strings.Split(strings.TrimLeft(text, "\n"), "\n")
	if strings.HasPrefix(lines[0], "[") { // the numbers of the columns
		lines = lines[1:]
	}
	if len(lines) < len(llvmInstructions) {
		t.Fatalf("%d lines for %d instructions:\n%s", len(lines), len(llvmInstructions), text)
	}
	rows := make([][]float64, len(llvmInstructions))
	for i := range rows {
		fields := strings.Fields(lines[i])
		if len(fields) < columns {
			t.Fatalf("line %q", lines[i])
		}
		for _, f := range fields[:columns] {
			if f == "-" {
				f = "0"
			}
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatalf("line %q: %v", lines[i], err)
			}
			rows[i] = append(rows[i], v)
		}
	}
	return rows
}
