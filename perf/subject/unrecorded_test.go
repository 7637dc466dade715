package subject_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/subject"
	"presage/perf/trace"
)

// hidden executes a load eight times that a sweep over the code misses: two bytes
// before it, which are jumped over, look like the beginning of an instruction of
// four. It saves and restores a register, besides.
const hidden = `
	.globl _start
	.type _start, @function
_start:
	addi sp, sp, -16
	sd s0, 8(sp)
	la s0, datum
	li t0, 8
1:	j 2f
	.half 0xffff
2:	.insn i 0x03, 3, a0, s0, 0
	addi t0, t0, -1
	bnez t0, 1b
	ld s0, 8(sp)
	li a0, 0
	li a7, 93
	ecall
	.size _start, .-_start
	.data
	.balign 8
datum:	.dword 5
`

// TestUnrecorded: references that no plan could have are told with their share of
// the accesses; those that a plan leaves out are not among them.
func TestUnrecorded(t *testing.T) {
	source := filepath.Join(t.TempDir(), "hidden.s")
	if err := os.WriteFile(source, []byte(hidden), 0o666); err != nil {
		t.Fatal(err)
	}
	prog := perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gcc"), []string{"-static", "-nostdlib", "-march=rv64gc", "-Wl,--no-relax", source}, "hidden")
	for _, c := range []struct {
		plan     func() (*trace.Plan, error)
		accesses uint64 // recorded
		want     string
	}{
		{prog.Plan, 3, ", 8 times: 72.7% of the accesses"}, // the register's and that of the datum's address
		{prog.DataPlan, 1, ", 8 times: 88.9% of the accesses"},
		{func() (*trace.Plan, error) { return new(trace.Plan), nil }, 0, ""},
	} {
		plan, err := c.plan()
		if err != nil {
			t.Fatal(err)
		}
		res, err := subject.Run(t.Context(), prog, nil, subject.RecordOptions{Plan: plan})
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(res.Warnings, "; ")
		if res.Accesses != c.accesses || (text == "") != (c.want == "") || !strings.HasSuffix(text, c.want) {
			t.Errorf("%d accesses, want %d; warnings %q, want …%q", res.Accesses, c.accesses, text, c.want)
		}
	}
}
