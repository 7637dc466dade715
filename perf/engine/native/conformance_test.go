//go:build linux && amd64

package native

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"presage/perf/engine"
	"presage/perf/engine/enginetest"
	"presage/perf/trace"
)

// TestConformance tests the engine against the contract on a static program, a
// dynamic one and one with threads, with plans that it discovers.
func TestConformance(t *testing.T) {
	trap := compile(t, "int main(void) { return *(volatile int *)8; }", "-O1", "-static")
	for name, c := range map[string]struct {
		file    string
		flags   []string
		threads int
		failing []string
	}{
		"static":  {"work.c", []string{"-O2", "-static"}, 1, []string{"-1"}},
		"dynamic": {"work.c", []string{"-O2"}, 1, []string{"-1"}},
		"threads": {"threads.c", []string{"-O2", "-pthread"}, 5, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "static" {
				t.Skip("slow under the race detector; other tests trace dynamic programs and threads, too")
			}
			source, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			f := compile(t, string(source), c.flags...)
			args := []string{"3000"}
			output, err := exec.Command(f.Path, args...).Output()
			if err != nil {
				t.Fatal(err)
			}
			enginetest.Test(t, Engine{}, enginetest.Subject{
				File: f, Input: engine.Request{Args: args}, Output: string(output), Threads: c.threads,
				Failing: c.failing, FailingStatus: 3, Trap: trap,
			})
		})
	}
}

// TestMissingBlocks runs a loop whose plan lacks every second block: what is executed
// there counts as a part of the block before, and no other block is named.
func TestMissingBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the traced processes, their engine and its threads run in other tests, too")
	}
	source, err := os.ReadFile(filepath.Join("testdata", "bench", "stencil.c"))
	if err != nil {
		t.Fatal(err)
	}
	f := compile(t, string(source), "-O3", "-static")
	r := engine.Request{Args: []string{"12"}}
	d, err := Engine{}.Discover(t.Context(), f, r)
	if err != nil {
		t.Fatal(err)
	}
	whole := len(d.Plan.Blocks)
	for parity := range 2 {
		p := *d.Plan
		p.Blocks = nil
		for i, b := range d.Plan.Blocks {
			if i%2 == parity {
				b.Varies = true
				p.Blocks = append(p.Blocks, b)
			}
		}
		o := new(observed)
		r.Plan, r.Sink = &p, trace.NewDirect(o)
		out, err := Engine{}.Run(t.Context(), f, r)
		if err != nil || uint64(len(o.accesses)) != out.Accesses || len(o.blocks) == 0 {
			t.Fatalf("%+v, %d accesses in %d blocks, error %v", out, len(o.accesses), len(o.blocks), err)
		}
		if most := slices.Max(o.blocks); int(most) >= len(p.Blocks) {
			t.Errorf("block %d is executed, of %d in the plan and %d in all", most, len(p.Blocks), whole)
		}
	}
}
