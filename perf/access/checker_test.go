package access

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/trace"
)

// flags returns the flags of a routine's references in loops, without stack
// traffic, in order of address: irregular !, indirect *, both !*, or regular,
// over all levels.
func flags(a *Analysis, routine string) string {
	var list []string
	for _, r := range a.All {
		if r.Routine != routine || r.Stack != NotStack || len(r.Strides) == 0 {
			continue
		}
		var irregular, indirect bool
		for _, s := range r.Strides {
			irregular = irregular || s.Irregular
			indirect = indirect || s.Indirect
		}
		switch {
		case irregular && indirect:
			list = append(list, "!*")
		case irregular:
			list = append(list, "!")
		case indirect:
			list = append(list, "*")
		default:
			list = append(list, "regular")
		}
	}
	return strings.Join(list, " ")
}

// TestFlags checks the two flags of section 2.1 on loops that are known not to
// be regular.
func TestFlags(t *testing.T) {
	a := analyze(t, compile(t, "kernels.c", "-O1"))
	for routine, want := range map[string]string{
		"list":       "!* !*",                   // p->v and p->next of a linked list
		"compress":   "regular !",               // *b++ on a condition
		"halves":     "! regular ! ! regular !", // a[i>>1]; a[i/2], whose rounding to zero looks at the sign
		"rows":       "regular * *",             // r[i][j] of an array of pointers
		"swapping":   "regular ! ! !",           // the constant .5; a and b, in the outer loop
		"either":     "! regular",               // *p, choice[i]
		"accelerate": "! !",
		"triad":      "regular regular regular",
		"wander":     "regular !", // cursor, which what is called changes, and a[cursor]
	} {
		if got := flags(a, routine); got != want {
			t.Errorf("%s: %s, want %s", routine, got, want)
		}
	}
	// Of spmv x[column[k]] is indirect in the inner loop; that loop begins at
	// row[i], so that in the outer one v, column and x are indirect.
	if got := flags(a, "spmv"); strings.Count(got, "*") != 3 {
		t.Errorf("spmv: %s", got)
	}
}

// TestCheckerFindsWrongStrides changes formulas, one at a time, and has the
// checker find each.
func TestCheckerFindsWrongStrides(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	a := analyze(t, compile(t, "matmul.c", "-O2"))
	if s := run(t, a); s.Disagree > 0 {
		t.Fatalf("%d comparisons disagree\n%s", s.Disagree, worst(a, s, 3))
	}
	for i := range a.All {
		if a.All[i].Routine != "mm" || len(a.All[i].Strides) != 3 {
			continue
		}
		right := a.All[i].Strides
		for level := range right {
			wrong := slices.Clone(right)
			terms := slices.Clone(wrong[level].Formula.Terms())
			if len(terms) == 0 {
				terms = []Term{{Symbol{}, 8, 1}}
			} else {
				terms[0].Num *= 2
			}
			wrong[level].Formula = Formula{terms}
			a.All[i].Strides = wrong
			s := run(t, a)
			// Of two strides that contradict each other the one seen first
			// counts as right, so that this need not be the one found.
			if s.Disagree == 0 || a.All[s.References[0].Index].Routine != "mm" {
				t.Errorf("%v at level %d: %d disagree\n%s", &a.All[i], level, s.Disagree, worst(a, s, 2))
			}
		}
		a.All[i].Strides = right
	}
}

func TestAnalyzeIsDeterministic(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	exe := buildGo(t)
	one, two := analyze(t, exe), analyze(t, exe)
	if d := cmp.Diff(one.All, two.All); d != "" {
		t.Errorf("%.2000s", d)
	}
}

// TestStackTraffic checks the classes of a routine's traffic with the stack, and
// that a plan leaves it out.
func TestStackTraffic(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	a := analyze(t, compile(t, "matmul.c", "-O1"))
	uses := make(map[StackUse]int)
	for _, r := range a.All {
		if r.Routine == "mm" {
			uses[r.Stack]++
		}
	}
	if uses[NotStack] != 5 || uses[SavedReg] == 0 || uses[SavedReg]%2 != 0 || uses[Spill]+uses[StackArg] > 0 {
		t.Errorf("uses of the stack at -O1: %v", uses)
	}
	for _, stack := range []bool{false, true} {
		groups := a.Groups(nil)
		p, err := groups.Plan(a, PlanOptions{Stack: stack})
		if err != nil || p.Check() != nil {
			t.Fatal(err, p.Check())
		}
		n, at := 0, 0
		for i, r := range a.All {
			if !stack && r.Stack != NotStack {
				continue
			}
			if got := p.Refs[at]; got.PC != r.PC || int(got.Operand) != r.Operand || got.Group != groups.Of[i] {
				t.Fatalf("reference %d of the plan is %+v, want %v in group %d", at, got, r, groups.Of[i])
			}
			if at++; r.Stack != NotStack {
				n++
			}
		}
		if at != len(p.Refs) || stack != (n > 0) {
			t.Errorf("with Stack %t, %d of %d planned references are the stack's, and %d were expected", stack, n, len(p.Refs), at)
		}
	}
}

// TestCheckerSurvivesOddTraces feeds batches that no run produces.
func TestCheckerSurvivesOddTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	a := analyze(t, compile(t, "matmul.c", "-O1"))
	c := NewChecker(a)
	all := trace.Batch{}
	for i := range c.Plan().Blocks {
		all.Blocks = append(all.Blocks, trace.BlockID(len(c.Plan().Blocks)-1-i))
	}
	for i := range c.Plan().Refs {
		all.Accesses = append(all.Accesses, trace.Tag(trace.RefID(i), 8)|trace.Access(8*i))
	}
	c.Observe(&all)
	c.Observe(&trace.Batch{Blocks: all.Blocks, Thread: 1})
	s := c.Result()
	if s.Unaligned == 0 || s.Accesses+s.Unaligned != uint64(len(all.Accesses)) {
		t.Errorf("%d accesses and %d unaligned ones, of %d", s.Accesses, s.Unaligned, len(all.Accesses))
	}
}

func BenchmarkAnalyze(b *testing.B) {
	exe := buildGo(b)
	for b.Loop() {
		b.ReportMetric(float64(len(analyze(b, exe).All)), "refs")
	}
}
