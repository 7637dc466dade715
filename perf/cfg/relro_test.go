//go:build linux && amd64

package cfg_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/cfg"
	"presage/perf/internal/oracle"
	"presage/perf/isa"
	"presage/perf/objfile"
)

// TestNilUntilStart checks that a tail call through a pointer which is nil in the
// file, in memory that is read-only once the program has started, is a jump to an
// unknown target: the program's start sets it. One through a nil constant traps.
func TestNilUntilStart(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	gcc := oracle.Need(t, "gcc")
	exe := filepath.Join(t.TempDir(), "hooks")
	cmd := exec.Command(gcc, "-O2", "-x", "c", "-", "-o", exe)
	cmd.Stdin = strings.NewReader(`
asm(".section .data.rel.ro,\"aw\"\n.globl late\nlate: .quad 0\n.section .rodata\n.globl never\nnever: .quad 0\n.text\n"
    ".globl start_late\n.type start_late,@function\nstart_late: jmp *late(%rip)\n.size start_late,.-start_late\n"
    ".globl start_never\n.type start_never,@function\nstart_never: jmp *never(%rip)\n.size start_never,.-start_never\n");
int main(void) { return 0; }
`)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := objfile.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	p := cfg.Analyze(f)
	plan := cfg.PlaceCounters(p).Plan
	found := 0
	for name, want := range map[string]cfg.Exit{"start_late": cfg.Unknown, "start_never": cfg.Traps} {
		i := slices.IndexFunc(p.Routines, func(r *cfg.Routine) bool { return r.Name == name })
		if i < 0 {
			t.Fatalf("no routine %s", name)
		}
		b := &p.Routines[i].Blocks[0]
		if b.Last().Class != isa.IndirectJump || b.Exit != want {
			t.Errorf("%s ends with %v: %v, want %v", name, b.Last().Class, b.Exit, want)
		}
		// An engine counts its transfers by destination: control cannot just go on.
		for _, e := range plan.Edges {
			if uint64(e.From) == b.Last().PC {
				t.Errorf("%s: the plan has the edge %+v", name, e)
			}
		}
		for _, pc := range plan.Jumps {
			if uint64(pc) == b.Last().PC {
				found++
			}
		}
	}
	if found != 2 {
		t.Errorf("%d of 2 jumps are counted", found)
	}
}
