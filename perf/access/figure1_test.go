package access

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/trace"
)

// TestFigure1 checks the formulas of the matrix multiply of Figure 1 of the 2005
// paper. Registers are RISC-V's, with the arguments A, B, C, N in a0 to a3. The
// paper's compiler kept N as a word; here, too, it is used without extension.
func TestFigure1(t *testing.T) {
	type formulas struct{ First, K, J, I string }
	want := map[string]formulas{
		"A[i,k]":   {"a0", "16", "0", "8*a3"},
		"A[i,k+1]": {"a0 + 8", "16", "0", "8*a3"},
		"B[k,j]":   {"a1", "16*a3", "8", "0"},
		"B[k+1,j]": {"a1 + 8*a3", "16*a3", "8", "0"},
	}
	for _, level := range []string{"-O0", "-O1", "-O2", "-O3"} {
		t.Run(level, func(t *testing.T) {
			a := analyze(t, compile(t, "matmul.c", level))
			got := make(map[string]formulas)
			groups, group := a.Groups(nil), make(map[string]trace.GroupID)
			for i, r := range a.All {
				if r.Routine != "mm" || r.Stack != NotStack || len(r.Strides) != 3 {
					continue
				}
				f := formulas{r.First.String(), r.Strides[0].String(), r.Strides[1].String(), r.Strides[2].String()}
				for name, w := range want {
					if w.First == f.First {
						got[name] = f
						group[name] = groups.Of[i]
					}
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			// Similar access patterns (section 2.1): one group each.
			if group["A[i,k]"] != group["A[i,k+1]"] || group["B[k,j]"] != group["B[k+1,j]"] || group["A[i,k]"] == group["B[k,j]"] {
				t.Errorf("groups %v", group)
			}
			checkResult(t, a, level)
		})
	}
}

// checkResult checks C[i,j], which is stored to in the j-loop.
func checkResult(t *testing.T, a *Analysis, level string) {
	i := slices.IndexFunc(a.All, func(r Reference) bool {
		return r.Routine == "mm" && r.Kind.Writes() && r.Stack == NotStack && len(r.Strides) == 2
	})
	if i < 0 {
		t.Fatalf("no store in the j-loop at %s", level)
	}
	if got, want := describe(&a.All[i]), a.All[i].String()+": first a2, strides 8 8*a3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
