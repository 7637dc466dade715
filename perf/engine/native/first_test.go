//go:build linux && amd64

package native

import (
	"slices"
	"testing"

	"presage/perf/engine"
	"presage/perf/trace"
)

// counted collects the iterations of runs.
type counted struct{ runs []uint32 }

func (*counted) TakesRuns() bool { return true }

func (c *counted) Observe(b *trace.Batch) {
	for _, r := range b.Runs {
		c.runs = append(c.runs, r.Count)
	}
}

// TestFirstIteration: the first iteration of a loop, to which control comes from elsewhere,
// is in the run of the others.
func TestFirstIteration(t *testing.T) {
	const rows, columns = 40, 1234
	f := compile(t, `int a[40][1234];
int main() {
	int s = 0;
	for (int i = 0; i < 40; i++)
		for (int k = 0; k < 1234; k++)
			s += a[i][k] ^ i;
	return s == 1;
}`, "-O1", "-static")
	r := engine.Request{}
	found, err := Engine{}.Discover(t.Context(), f, r)
	if err != nil {
		t.Fatal(err)
	}
	for _, varies := range []bool{false, true} {
		c := new(counted)
		plan := *found.Plan
		plan.Blocks = slices.Clone(plan.Blocks)
		for i := range plan.Blocks {
			plan.Blocks[i].Varies = plan.Blocks[i].Varies || varies
		}
		r.Plan, r.Sink = &plan, trace.NewDirect(c)
		out, err := Engine{}.Run(t.Context(), f, r)
		if err != nil || out.ExitCode != 0 {
			t.Fatalf("%+v, %v", out, err)
		}
		whole := 0
		for _, n := range c.runs {
			if n == columns {
				whole++
			}
		}
		if whole < rows-3 { // a few are divided between batches
			t.Errorf("varies: %t: %d of %d runs have %d iterations: %d", varies, whole, len(c.runs), columns, c.runs)
		}
	}
}
