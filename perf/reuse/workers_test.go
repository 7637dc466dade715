package reuse_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/internal/perftest"
	"presage/perf/locality"
	"presage/perf/reuse"
	"presage/perf/subject"
	"presage/perf/trace"
)

// TestWorkersOfPrograms: whole programs, cut anywhere, have the distances, carriers,
// objects and sources that one worker finds.
func TestWorkersOfPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("runs programs")
	}
	for _, p := range []struct {
		name, compiler, flags, source string
	}{
		{"stencil", "gcc", "-O2 -DKERNEL=2", "kernels.c"},
		{"sparse", "gcc", "-O2 -DKERNEL=4", "kernels.c"},
		{"carriers", "gcc", "-O1", "carriers.c"},
	} {
		t.Run(p.name, func(t *testing.T) {
			workersOf(t, perftest.Compile(t, p.compiler, p.flags, p.name, p.source), nil)
		})
	}
	t.Run("threads", func(t *testing.T) { // of the Go runtime
		workersOf(t, perftest.Built("blocksort")(t), []string{"-n", "2000"})
	})
}

func workersOf(t *testing.T, prog *subject.Program, args []string) {
	t.Helper()
	plan, err := prog.Plan()
	if err != nil {
		t.Fatal(err)
	}
	by, err := locality.ClassificationOf(prog)
	if err != nil {
		t.Fatal(err)
	}
	in, err := prog.InputsOf(args, subject.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		plan *trace.Plan
		opt  reuse.Options
	}{{plan, reuse.Options{}}, {by.Plan, by.Options}} {
		var cs []*reuse.Collector
		var all []trace.Collector
		for _, size := range []uint64{64, 4096} {
			for _, bytes := range []int{0, 100_000, 3_000_000} { // 0: one worker
				opt := of.opt
				opt.BlockBytes = size
				if bytes > 0 {
					opt.Workers = 3
				}
				if by.Plan.Memory != nil && opt.Nest != nil {
					opt.NewMemory = func() reuse.Memory { return by.Memory() }
				}
				c, err := reuse.NewCut(of.plan, opt, bytes)
				if err != nil {
					t.Fatal(err)
				}
				cs, all = append(cs, c), append(all, c)
			}
		}
		if _, err := prog.Run(t.Context(), subject.Request{Inputs: in, Plan: of.plan, Collectors: all}); err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(cs); i += 3 {
			one := cs[i].Result()
			for _, c := range cs[i+1 : i+3] {
				if diff := cmp.Diff(one, c.Result()); diff != "" {
					t.Fatalf("blocks of %d bytes: -one worker +three:\n%.2000s", one.BlockBytes, diff)
				}
			}
		}
	}
}
