package access

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/cfg"
	"presage/perf/trace"
)

// subject returns a Subject for an analysed program; each reference is executed
// once.
func subject(a *Analysis) Subject {
	s := Subject{Analysis: a, Groups: a.Groups(nil), Scopes: cfg.NewScopeTree(a.Program)}
	s.Accesses = make([]uint64, len(s.Groups.Refs))
	for g, refs := range s.Groups.Refs {
		s.Accesses[g] = uint64(len(refs))
	}
	return s
}

// checkMatching demands that every group is in exactly one set, and that Of agrees.
func checkMatching(t *testing.T, m *Matching) {
	t.Helper()
	for i, sub := range m.Subjects {
		seen := make([]int, len(sub.Groups.Refs))
		for s := range m.Sets {
			for _, g := range m.Sets[s].Groups[i] {
				seen[g]++
				if m.Of[i][g] != s {
					t.Errorf("subject %d: group %d is in set %d and in %d", i, g, s, m.Of[i][g])
				}
			}
		}
		for g, n := range seen {
			if n != 1 {
				t.Errorf("subject %d: group %d is in %d sets", i, g, n)
			}
		}
	}
	for s := range m.Sets {
		for i := range m.Subjects {
			if n := len(m.Sets[s].Groups[i]); m.Sets[s].Kind != Unmatched && n == 0 && m.has(s, i) {
				t.Errorf("set %d, %s, has no group of subject %d", s, m.Sets[s].Kind, i)
			}
		}
	}
}

// has reports whether a subject has the scope of a set.
func (m *Matching) has(set, subject int) bool {
	return m.Alignment.Scopes[m.Sets[set].Scope].Has(subject)
}

// TestMatchWithItself demands that an executable's groups are paired with
// themselves, and that nothing is lost when it is matched with another compilation
// of the same source, or when the executed code differs.
func TestMatchWithItself(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	s := subject(analyze(t, compile(t, "kernels.c", "-O2")))
	m := Match(s, s, s)
	checkMatching(t, m)
	if len(m.Sets) != len(s.Groups.Refs) {
		t.Fatalf("%d sets of %d groups", len(m.Sets), len(s.Groups.Refs))
	}
	for i, set := range m.Sets {
		if g := []trace.GroupID{trace.GroupID(i)}; set.Kind != Paired || !slices.Equal(set.Groups[0], g) || !slices.Equal(set.Groups[1], g) || !slices.Equal(set.Groups[2], g) {
			t.Fatalf("set %d is %s, %v", i, set.Kind, set.Groups)
		}
	}
	all := []Subject{s, subject(analyze(t, compile(t, "kernels.c", "-O3", "-funroll-loops", "-g0"))), arraysSubject(t, "-O1 -DN=20")}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 4 {
		some := make([]Subject, 2+rng.IntN(2))
		for i := range some {
			some[i] = all[rng.IntN(len(all))]
			some[i].Accesses = make([]uint64, len(some[i].Accesses))
			for g := range some[i].Accesses {
				some[i].Accesses[g] = uint64(rng.IntN(3) * rng.IntN(1000))
			}
		}
		checkMatching(t, Match(some...))
	}
}

// arrays is a loop over arrays with different rows, the lines of which come in
// another order, or the inner loop of which has but one iteration more.
const arrays = `
double a[N][N], b[N][2 * N], c[N][4 * N];
float d[N][N];
__attribute__((noinline)) void walk(void) {
	for (int i = 0; i < N; i++) {
#ifdef OTHER
#line 30
		c[i][1] = 0;
#line 20
		b[i][1] = 0;
#line 10
		a[i][1] = 0;
#else
#line 10
		a[i][1] = 0;
#line 20
		b[i][1] = 0;
#line 30
		c[i][1] = 0;
#endif
#line 40
		d[i][1] = 0;
	}
#line 50
	for (int i = 0; i < N; i++) {
#ifdef MORE
		a[i][2] = 0;
		a[1][i] = 0;
		b[i][2] = 0;
#else
		a[i][2] = 0;
#endif
		d[i][2] = 0;
	}
}
__attribute__((noinline)) void more(void) {
	for (int i = 0; i < N; i++) {
		a[i][3] = 0;
#ifdef INNER
		for (int k = 0; k < 2 * N; k++)
			b[i][k] = 0;
#endif
	}
}
void _start(void) { walk(); more(); for (;;); }
`

func arraysSubject(t *testing.T, flags string) Subject {
	t.Helper()
	source := filepath.Join(t.TempDir(), "arrays.c")
	write(t, source, arrays)
	return subject(analyze(t, compile(t, source, append(strings.Fields(flags), "-nostdlib", "-ffreestanding", "-fno-tree-loop-distribution")...)))
}

// describeSet lists the groups of a set as the sizes and lines of their
// references.
func describeSet(m *Matching, s MatchedSet) string {
	var parts []string
	for i, groups := range s.Groups {
		var list []string
		for _, g := range groups {
			for _, r := range m.Subjects[i].Groups.Refs[g] {
				ref := &m.Subjects[i].Analysis.All[r]
				list = append(list, fmt.Sprintf("%d@%d", ref.Size, ref.Line))
			}
		}
		parts = append(parts, strings.Join(list, " "))
	}
	return s.Kind.String() + " " + strings.Join(parts, " | ")
}

// TestMatchByLines demands that references with equal movement are matched by
// line, whatever their order in the code.
func TestMatchByLines(t *testing.T) {
	m := Match(arraysSubject(t, "-O1 -DN=20"), arraysSubject(t, "-O1 -DN=30 -DOTHER"))
	checkMatching(t, m)
	var got []string
	for _, s := range m.Sets {
		got = append(got, describeSet(m, s))
	}
	for _, want := range []string{"paired 8@10 | 8@10", "paired 8@20 | 8@20", "paired 8@30 | 8@30", "paired 4@40 | 4@40"} {
		if !slices.Contains(got, want) {
			t.Errorf("no set %q in %q", want, got)
		}
	}
}

// TestMatchMerges demands that, without lines, a loop that has more references of
// one kind in one executable has these merged, and those of another kind paired.
func TestMatchMerges(t *testing.T) {
	m := Match(arraysSubject(t, "-O1 -g0 -DN=20"), arraysSubject(t, "-O1 -g0 -DN=30 -DMORE"))
	checkMatching(t, m)
	kinds := make(map[string]int)
	for _, s := range m.Sets {
		kinds[describeSet(m, s)]++
	}
	// The first loop's, that of more, and the return address that _start saves;
	// the second loop's d; its others.
	if kinds["paired 8@0 | 8@0"] != 5 || kinds["paired 4@0 | 4@0"] != 2 || kinds["merged 8@0 | 8@0 8@0 8@0"] != 1 {
		t.Errorf("got %v", kinds)
	}
}

// TestMatchFolds demands that a loop that only one executable has is folded with
// the references around it, which in the other correspond to both.
func TestMatchFolds(t *testing.T) {
	m := Match(arraysSubject(t, "-O1 -g0 -DN=20 -DINNER"), arraysSubject(t, "-O1 -g0 -DN=30"))
	checkMatching(t, m)
	folded := 0
	for _, s := range m.Sets {
		switch s.Kind {
		case Folded:
			folded++
			if got, want := describeSet(m, s), "folded 8@0 8@0 | 8@0"; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		case Paired:
		default:
			t.Errorf("%q", describeSet(m, s))
		}
	}
	if folded != 1 {
		t.Errorf("%d folded sets, want 1", folded)
	}
}

// made is a subject of references that no graph holds, which stand for those of
// one loop: each is executed so often, and comes from a line.
func made(refs ...[2]int) Subject {
	s := Subject{Analysis: &Analysis{}, Groups: &Groups{}, Scopes: cfg.NewScopeTree(&cfg.Program{})}
	for i, r := range refs {
		s.Analysis.All = append(s.Analysis.All, Reference{Size: 8, Routine: "f", File: "f.c", Line: r[0]})
		s.Groups.Refs = append(s.Groups.Refs, []int{i})
		s.Accesses = append(s.Accesses, uint64(r[1]))
	}
	return s
}

// TestMatchSteps demands that groups without a counterpart in a step join those
// that have one, unless they are negligible, and that groups never executed count
// only where that helps.
func TestMatchSteps(t *testing.T) {
	const many = 100_000
	for _, c := range []struct {
		name     string
		subjects []Subject
		want     []string
	}{
		{
			"a line more",
			[]Subject{made([2]int{10, many}, [2]int{20, many}), made([2]int{10, many})},
			[]string{"merged 8@10 8@20 | 8@10"},
		},
		{
			"a line more, hardly executed",
			[]Subject{made([2]int{10, many}, [2]int{20, 5}), made([2]int{10, many})},
			[]string{"paired 8@10 | 8@10", "unmatched 8@20 | "},
		},
		{
			"other lines, as many",
			[]Subject{made([2]int{10, many}, [2]int{20, many}), made([2]int{10, many}, [2]int{21, many})},
			[]string{"paired 8@10 | 8@10", "paired 8@20 | 8@21"},
		},
		{
			"one line more often",
			[]Subject{made([2]int{10, many}, [2]int{10, many}), made([2]int{10, many})},
			[]string{"merged 8@10 8@10 | 8@10"},
		},
		{
			"one line more often, not executed",
			[]Subject{made([2]int{10, 0}, [2]int{10, many}), made([2]int{10, many})},
			[]string{"paired 8@10 8@10 | 8@10"},
		},
		{
			"one of three lacks it",
			[]Subject{made([2]int{10, many}), made([2]int{10, many}), made()},
			[]string{"unmatched 8@10 | 8@10 | "},
		},
	} {
		m := Match(c.subjects...)
		checkMatching(t, m)
		var got []string
		for _, s := range m.Sets {
			got = append(got, describeSet(m, s))
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
