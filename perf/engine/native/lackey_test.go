//go:build linux && amd64

package native

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/internal/oracle"
	"presage/perf/trace"
)

// reference is an access as valgrind's lackey prints it.
type reference struct {
	kind byte // 'L', 'S' or 'M'
	addr uint64
	size uint64
}

// lackey records the accesses of a program with valgrind. Sizes that are not powers
// of two are split as package trace does.
func lackey(t *testing.T, path string) []reference {
	t.Helper()
	tool := oracle.Need(t, "valgrind")
	out := filepath.Join(t.TempDir(), "trace")
	err := exec.Command(tool, "--tool=lackey", "--trace-mem=yes", "--log-file="+out, path).Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []reference
	for lines := bufio.NewScanner(f); lines.Scan(); {
		text := lines.Text()
		if len(text) < 4 || text[0] != ' ' || !strings.ContainsRune("LSM", rune(text[1])) {
			continue
		}
		r := reference{kind: text[1]}
		if _, err := fmt.Sscanf(text[3:], "%x,%d", &r.addr, &r.size); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		for left := r.size; left > 0; left -= r.size {
			for r.size = 128; r.size > left; {
				r.size /= 2
			}
			list = append(list, r)
			r.addr += r.size
		}
	}
	return list
}

// recorded keeps the accesses of a run.
type recorded struct {
	plan *trace.Plan
	list []reference
	ids  []trace.RefID
}

func (c *recorded) Observe(b *trace.Batch) {
	for _, a := range b.Accesses {
		r := c.plan.Refs[a.Ref()]
		kind := byte('L')
		switch r.Kind {
		case trace.Store:
			kind = 'S'
		case trace.ReadModifyWrite:
			kind = 'M'
		}
		c.list = append(c.list, reference{kind, a.Addr(), a.Size()})
		c.ids = append(c.ids, a.Ref())
	}
}

// TestLackey compares every access with valgrind's record: kind, size and order, and
// addresses up to a constant for the stack and one for everything else.
func TestLackey(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the traced processes, their engine and its threads run in other tests, too")
	}
	source, err := os.ReadFile("testdata/accesses.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []string{"-O0", "-O1", "-O2", "-O3"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			f := compile(t, string(source), level, "-DWIDE", "-static", "-nostdlib", "-fno-stack-protector", "-ffreestanding", "-fno-tree-loop-distribute-patterns")
			want := lackey(t, f.Path)
			d, err := Engine{}.Discover(t.Context(), f, engine.Request{})
			if err != nil {
				t.Fatal(err)
			}
			c := &recorded{plan: d.Plan}
			if _, err := (Engine{}).Run(t.Context(), f, engine.Request{Plan: d.Plan, Sink: trace.NewDirect(c)}); err != nil {
				t.Fatal(err)
			}
			sameReferences(t, c, want)
		})
	}
}

// reorder puts the two loads of a comparison of strings in valgrind's order.
func reorder(c *recorded) {
	for i := 1; i < len(c.list); i++ {
		a, b := c.plan.Refs, c.ids
		if x, y := a[b[i-1]], a[b[i]]; x.PC == y.PC && x.Operand == 0 && y.Operand == 1 && x.Kind == trace.Load && y.Kind == trace.Load && x.Size == y.Size {
			c.list[i-1], c.list[i] = c.list[i], c.list[i-1]
			i++
		}
	}
}

func sameReferences(t *testing.T, c *recorded, want []reference) {
	t.Helper()
	reorder(c)
	var shifts [2]uint64
	var seen [2]bool
	for i := 0; i < len(want); i++ {
		w := want[i]
		if i >= len(c.list) {
			t.Fatalf("%d accesses recorded, valgrind has %d", len(c.list), len(want))
		}
		got, where := c.list[i], 0
		if w.addr >= 1<<32 {
			where = 1
		}
		if !seen[where] {
			seen[where], shifts[where] = true, w.addr-got.addr
		}
		got.addr += shifts[where]
		whole := w
		for n := i + 1; whole.size < got.size && n < len(want) && want[n].kind == w.kind && want[n].addr == whole.addr+whole.size; n++ {
			whole.size += want[n].size // valgrind splits the vectors of a multiply-add
		}
		switch {
		case got == w:
		case got == whole:
			n := 0
			for size := uint64(0); size < got.size; n++ {
				size += want[i+n].size
			}
			want = slices.Delete(want, i+1, i+n)
		case got.kind == 'M' && w.kind == 'L' && i+1 < len(want) && want[i+1].kind != 'L' && want[i+1].addr == w.addr && want[i+1].size == w.size:
			want = slices.Delete(want, i+1, i+2) // valgrind splits atomic instructions
		default:
			for k := i - 4; k < i+5; k++ {
				t.Logf("%d: %c %#x,%d at %#x   %c %#x,%d", k, c.list[k].kind, c.list[k].addr, c.list[k].size, uint64(c.plan.Refs[c.ids[k]].PC), want[k].kind, want[k].addr, want[k].size)
			}
			t.Fatalf("access %d of %d, at pc %#x: %c %#x,%d, valgrind has %c %#x,%d", i, len(want), uint64(c.plan.Refs[c.ids[i]].PC), got.kind, got.addr, got.size, w.kind, w.addr, w.size)
		}
	}
	if len(c.list) != len(want) || !seen[0] || !seen[1] {
		t.Fatalf("%d accesses recorded, valgrind has %d", len(c.list), len(want))
	}
	t.Logf("%d accesses are the same", len(want))
}
