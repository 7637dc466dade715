package callpath

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"presage/perf/trace"
)

// routines returns code of some routines: each has an entry that calls any other, a block
// after the call, and one that returns.
func routines(n int) *code {
	c := &code{plan: new(trace.Plan), routines: n + 1, stub: make([]bool, n+1)}
	c.stub[n] = true
	for r := range int32(n) {
		pc := trace.PC(100 * (r + 1))
		for _, p := range []place{
			{pc: pc, last: pc + 4, next: pc + 8, ends: calls, entry: true},
			{pc: pc + 8, last: pc + 12, next: pc + 16, ends: calls},
			{pc: pc + 16, last: pc + 16, next: pc + 20, ends: returns},
		} {
			p.routine, p.from = r, none
			c.places = append(c.places, p)
			c.plan.Blocks = append(c.plan.Blocks, trace.Block{PC: p.pc, Instructions: 2})
		}
	}
	return c
}

// names returns the routines of a path.
func (w *walker) names(node int32) string {
	var list []string
	for n := node; n > 0; n = w.nodes[n].Parent {
		list = append(list, fmt.Sprint(w.nodes[n].Routine))
	}
	slices.Reverse(list)
	return strings.Join(list, ">")
}

// folded returns the path of a stack of routines: what came after a routine's first call
// in the path is left out.
func folded(stack []int) string {
	var path []string
	for _, r := range stack {
		if i := slices.Index(path, fmt.Sprint(r)); i >= 0 {
			path = path[:i]
		}
		path = append(path, fmt.Sprint(r))
	}
	return strings.Join(path, ">")
}

// TestWalker: random calls and returns lead to the paths that a plain stack has. Each
// frame calls from its two sites in turn, at most twice.
func TestWalker(t *testing.T) {
	const count = 5
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		w := newWalker(routines(count))
		w.thread = &thread{frames: []frame{{routine: none}}, last: none}
		stack, sites := []int{0}, []int{0}
		w.step(0)
		for i := range 3000 {
			top := len(stack) - 1
			switch {
			case sites[top] < 2 && len(stack) < 40 && rng.IntN(5) > 0:
				sites[top]++
				r := rng.IntN(count)
				stack, sites = append(stack, r), append(sites, 0)
				w.step(int32(3 * r))
			case sites[top] < 2: // the call is of code that is not recorded
				sites[top]++
				w.step(int32(3*stack[top] + sites[top]))
			case top == 0:
				stack, sites = []int{0}, []int{0} // main is called once more, by code that is not known
				w.step(0)
			default:
				stack, sites = stack[:top], sites[:top]
				w.step(int32(3*stack[top-1] + sites[top-1]))
			}
			if got, want := w.names(w.top().node), folded(stack); got != want {
				t.Fatalf("seed %d, step %d: path %s, want %s", seed, i, got, want)
			}
		}
		if w.lost > 0 {
			t.Errorf("seed %d: %d times lost", seed, w.lost)
		}
	}
}

// TestLimits: beyond the most frames and paths, paths begin anew, which warnings tell.
func TestLimits(t *testing.T) {
	w := newWalker(routines(3))
	w.depth, w.tree.most = 8, 3
	w.thread = &thread{frames: []frame{{routine: none}}, last: none}
	w.step(0)
	for i := range 100 {
		w.step(int32(3 * ((i + 1) % 3)))
		if len(w.frames) > 8 {
			t.Fatalf("%d frames", len(w.frames))
		}
	}
	if w.lost == 0 || w.joined == 0 || len(w.nodes) > 3+3 || len(w.warnings()) != 2 {
		t.Errorf("lost %d, joined %d, %d paths, warnings %q", w.lost, w.joined, len(w.nodes), w.warnings())
	}
	if got := w.names(w.top().node); got == "" {
		t.Error("no path is left")
	}
}
