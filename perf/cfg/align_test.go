package cfg

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestPairing compares with an exhaustive search of all order-preserving pairings.
func TestPairing(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var most func(like [][]float64, from int) float64
	most = func(like [][]float64, from int) float64 { // of columns from there on
		if len(like) == 0 {
			return 0
		}
		best := most(like[1:], from)
		for j := from; j < len(like[0]); j++ {
			best = max(best, like[0][j]+most(like[1:], j+1))
		}
		return best
	}
	for range 3000 {
		rows, columns := rng.IntN(5), rng.IntN(5)
		like := make([][]float64, rows)
		for i := range like {
			like[i] = make([]float64, columns)
			for j := range like[i] {
				like[i][j] = float64(rng.IntN(4))
			}
		}
		sum, last := 0.0, -1
		for i, j := range pairing(like, columns) {
			if j < 0 {
				continue
			}
			if j <= last || like[i][j] == 0 {
				t.Fatalf("%v: row %d is paired with column %d after %d", like, i, j, last)
			}
			sum, last = sum+like[i][j], j
		}
		if want := most(like, 0); sum != want {
			t.Fatalf("%v: %v gives %g, the best is %g", like, pairing(like, columns), sum, want)
		}
	}
}

func TestSourceName(t *testing.T) {
	for name, want := range map[string]string{
		"dot": "dot", "dot.constprop.0": "dot", "dot.isra.0.constprop.12": "dot", "dot.cold": "dot",
		"dot.part.3.cold": "dot", "main.dot": "main.dot", "dot.const": "dot.const", "_ZN1a.isra.0b": "_ZN1a.isra.0b",
	} {
		if got := SourceName(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// nests has two loop nests of constant size, which a compiler keeps for sizes
// above 20 and unrolls for small ones.
const nests = `
double a[N * N], b[N * N];
#ifdef INLINE
__attribute__((always_inline)) static inline
#else
__attribute__((noinline)) static
#endif
void twice(double *x) {
	for (int i = 0; i < 33; i++)
		x[i] *= 2;
}
#ifdef CLONE
void first(void) __asm__("first.isra.0.constprop.3");
#endif
__attribute__((noinline)) void first(void) {
	for (int i = 0; i < 100; i++) {
		for (int k = 0; k < N; k++)
			a[i] += b[k];
		for (int j = 0; j < 1000; j++)
			a[j] -= 1;
	}
}
__attribute__((noinline)) void last(void) {
#ifndef SECOND
	for (int i = 0; i < 50; i++)
		for (int j = 0; j < 50; j++)
			a[i] += b[j];
#endif
#ifndef FIRST
	for (int i = 0; i < 60; i++)
		a[i] -= b[i];
#endif
}
void _start(void) {
	first();
	last();
#ifdef SHIFT
#line 500
#else
#line 600
#endif
	twice(a);
	twice(a + 1);
#line 700
	for (;;) {
		twice(b);
		b[3] = a[4];
	}
}
`

func alignedTree(t *testing.T, flags ...string) *ScopeTree {
	t.Helper()
	return NewScopeTree(analyze(t, build(t, "riscv64-linux-gnu-gcc", "nests.c", nests, append([]string{"-nostdlib", "-ffreestanding"}, flags...)...)))
}

// checkAlignment demands that every scope of every tree is in one aligned scope
// of its kind, whose parent is that of its own parent, unless it was inlined.
func checkAlignment(t *testing.T, a *Alignment) {
	t.Helper()
	for i, tree := range a.Trees {
		seen := make([]int, len(tree.Scopes))
		for n := range a.Scopes {
			for _, s := range a.Scopes[n].In[i] {
				seen[s]++
				scope := &tree.Scopes[s]
				if a.Of[i][s] != n || a.Scopes[n].Kind != scope.Kind {
					t.Errorf("tree %d: %s is %d of kind %s, not %d of kind %s", i, scope.Path, a.Of[i][s], scope.Kind, n, a.Scopes[n].Kind)
				}
				if up := a.Scopes[n].Parent; scope.Parent >= 0 && len(scope.Inlined) == 0 && a.Of[i][scope.Parent] != up {
					t.Errorf("tree %d: %s is in %d, not %d", i, scope.Path, a.Of[i][scope.Parent], up)
				}
			}
		}
		for s, n := range seen {
			if n != 1 {
				t.Errorf("tree %d: %s is in %d aligned scopes", i, tree.Scopes[s].Path, n)
			}
		}
	}
}

// paths names an aligned scope in each tree.
func (a *Alignment) paths(n int) []string {
	out := make([]string, len(a.Trees))
	for i, tree := range a.Trees {
		for _, s := range a.Scopes[n].In[i] {
			out[i] += tree.Scopes[s].Path + ";"
		}
	}
	return out
}

// TestAlignWithItself demands that the scopes of a tree correspond to themselves.
func TestAlignWithItself(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, flags := range []string{"-O1 -g -DN=40", "-O1 -DN=40", "-O1 -g -DN=40 -DINLINE"} {
		tree := alignedTree(t, strings.Fields(flags)...)
		a := Align(tree, tree, tree)
		checkAlignment(t, a)
		if len(a.Scopes) != len(tree.Scopes) || len(a.Scopes) < 9 {
			t.Errorf("%s: %d scopes, want %d", flags, len(a.Scopes), len(tree.Scopes))
		}
		for n := range a.Scopes {
			if p := a.paths(n); p[0] != p[1] || p[0] != p[2] {
				t.Errorf("%s: %v correspond", flags, p)
			}
		}
	}
}

// incomplete lists the scopes within a routine that some tree lacks.
func (a *Alignment) incomplete(routine string) (list []string) {
	for n := range a.Scopes {
		p := a.paths(n)
		if slices.Contains(p, "") && strings.HasPrefix(strings.Join(p, ""), routine) {
			list = append(list, strings.Join(p, ""))
		}
	}
	return list
}

// TestAlignOtherLoops demands that loops with different lines do not match, and
// that among similar loops without lines the one with the same nesting does.
func TestAlignOtherLoops(t *testing.T) {
	both, first, second := alignedTree(t, "-O1", "-g", "-DN=40"), alignedTree(t, "-O1", "-g", "-DN=40", "-DFIRST"), alignedTree(t, "-O1", "-g", "-DN=40", "-DSECOND")
	for _, c := range []struct {
		trees []*ScopeTree
		want  int
	}{{[]*ScopeTree{first, second}, 3}, {[]*ScopeTree{both, second}, 2}, {[]*ScopeTree{both, first}, 1}} {
		a := Align(c.trees...)
		checkAlignment(t, a)
		if got := a.incomplete("last"); len(got) != c.want {
			t.Errorf("without counterpart: %q, want %d", got, c.want)
		}
	}
	a := Align(alignedTree(t, "-O1", "-DN=40"), alignedTree(t, "-O1", "-DN=40", "-DSECOND"))
	checkAlignment(t, a)
	if got := a.incomplete("last"); len(got) != 2 || strings.Count(got[0], "/") != 1 || strings.Count(got[1], "/") != 2 {
		t.Errorf("without lines and counterpart: %q, want the loop nest", got)
	}
}

// TestAlignCopies demands that adjacent copies of one loop are told apart by
// their order if the lines of the calls differ.
func TestAlignCopies(t *testing.T) {
	a := Align(alignedTree(t, "-O1", "-g", "-DN=40", "-DINLINE"), alignedTree(t, "-O1", "-g", "-DN=40", "-DINLINE", "-DSHIFT"))
	checkAlignment(t, a)
	if got := a.incomplete(""); len(got) != 0 {
		t.Errorf("without counterpart: %q", got)
	}
	for n := range a.Scopes {
		for _, p := range a.paths(n) {
			if strings.Count(p, ";") != 1 {
				t.Errorf("%q correspond", a.paths(n))
			}
		}
	}
}

// TestAlignClones demands that a routine matches its compiler-made clone.
func TestAlignClones(t *testing.T) {
	a := Align(alignedTree(t, "-O1", "-DN=40"), alignedTree(t, "-O1", "-DN=50", "-DCLONE"), alignedTree(t, "-O1", "-DN=60"))
	checkAlignment(t, a)
	if got := a.incomplete(""); len(got) != 0 {
		t.Errorf("without counterpart: %q", got)
	}
}

// TestAlignUnrolled aligns trees of which one lacks a loop, because it was
// unrolled, that precedes another in the same loop. Lines, or else the loops'
// references, tell which one is missing.
func TestAlignUnrolled(t *testing.T) {
	for _, flags := range []string{"-O3", "-O3 -g"} {
		short, long := alignedTree(t, append(strings.Fields(flags), "-DN=3")...), alignedTree(t, append(strings.Fields(flags), "-DN=40")...)
		for _, a := range []*Alignment{Align(short, long), Align(long, short)} {
			checkAlignment(t, a)
			var missing []string
			inner := 0
			for n := range a.Scopes {
				p := a.paths(n)
				if p[0] == "" || p[1] == "" {
					missing = append(missing, p[0]+p[1])
				}
				if strings.HasPrefix(p[0], "first/") && strings.Count(p[0], "/") == 2 && p[1] != "" {
					inner++
				}
			}
			if len(missing) != 1 || !strings.HasPrefix(missing[0], "first/") || strings.Count(missing[0], "/") != 2 || inner != 1 {
				t.Errorf("%s: without counterpart: %q, and %d inner loops of first with one; want 1 and 1", flags, missing, inner)
			}
		}
	}
}

// TestAlignInlined demands that all copies of an inlined routine's loop
// correspond to the loop of the routine.
func TestAlignInlined(t *testing.T) {
	apart, inlined := alignedTree(t, "-O1", "-g", "-DN=40"), alignedTree(t, "-O1", "-g", "-DN=40", "-DINLINE")
	for turn, trees := range [][]*ScopeTree{{apart, inlined}, {inlined, apart}} {
		a := Align(trees...)
		checkAlignment(t, a)
		at := slices.IndexFunc(a.Scopes, func(s AlignedScope) bool {
			return s.Kind == LoopScope && s.Has(turn) && strings.HasPrefix(a.Trees[turn].Scopes[s.In[turn][0]].Path, "twice/")
		})
		if at < 0 || len(a.Scopes[at].In[1-turn]) != 3 {
			t.Errorf("the loop of twice corresponds to %v, want three", a.paths(max(0, at)))
		}
	}
}
