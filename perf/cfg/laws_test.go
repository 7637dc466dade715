package cfg

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/isa"
)

// graphOf makes a routine from a graph given by successors, with one instruction
// per block.
func graphOf(succs [][]int, entries ...int) *Routine {
	r := &Routine{Blocks: make([]Block, len(succs)), Entries: entries}
	for b := range succs {
		r.Blocks[b].Insts, r.Blocks[b].Loop = []isa.Inst{{PC: uint64(4 * b), Len: 4}}, -1
		slices.Sort(succs[b])
		for _, to := range slices.Compact(succs[b]) {
			e := len(r.Edges)
			r.Edges = append(r.Edges, Edge{From: b, To: to, Kind: Jumps})
			r.Blocks[b].Succs = append(r.Blocks[b].Succs, e)
			r.Blocks[to].Preds = append(r.Blocks[to].Preds, e)
		}
	}
	r.dominate()
	r.findLoops()
	return r
}

// randomGraph returns the successors of n blocks, all reached from block 0.
func randomGraph(rng *rand.Rand, n, extra int) [][]int {
	succs := make([][]int, n)
	for b := 1; b < n; b++ {
		from := rng.IntN(b)
		succs[from] = append(succs[from], b)
	}
	for range extra {
		from := rng.IntN(n)
		succs[from] = append(succs[from], rng.IntN(n))
	}
	return succs
}

// reaches reports which blocks are reachable from the entries without passing
// through block without.
func reaches(r *Routine, without int) []bool {
	seen := make([]bool, len(r.Blocks))
	work := slices.Clone(r.Entries)
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[b] || b == without {
			continue
		}
		seen[b] = true
		for _, e := range r.Blocks[b].Succs {
			work = append(work, r.Edges[e].To)
		}
	}
	return seen
}

// dominates is the definition: a dominates b if no path from an entry to b
// avoids a.
func dominates(r *Routine) func(a, b int) bool {
	without := make([][]bool, len(r.Blocks))
	for a := range without {
		without[a] = reaches(r, a)
	}
	return func(a, b int) bool { return !without[a][b] }
}

func TestDominatorsByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		n := 1 + rng.IntN(14)
		entries := []int{0}
		if rng.IntN(3) == 0 && n > 2 {
			entries = append(entries, 1+rng.IntN(n-1))
		}
		r := graphOf(randomGraph(rng, n, rng.IntN(2*n)), entries...)
		dom := dominates(r)
		for b := range r.Blocks {
			// The immediate dominator is dominated by all the others.
			want := -1
			for a := range r.Blocks {
				if a != b && dom(a, b) && (want < 0 || dom(want, a)) {
					want = a
				}
			}
			if got := r.Blocks[b].Dominator; got != want {
				t.Fatalf("round %d, block %d: immediate dominator %d, want %d (entries %v, edges %v)", round, b, got, want, entries, r.Edges)
			}
		}
	}
}

// TestLoopsByDefinition compares the loops of reducible graphs with the
// natural loops of their back edges: the edges to a block that dominates their
// source. Loops with the same header are one.
func TestLoopsByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	reducible, irreducible := 0, 0
	for range 2000 {
		n := 2 + rng.IntN(12)
		r := graphOf(randomGraph(rng, n, rng.IntN(n+2)), 0)
		dom := dominates(r)
		if !isReducible(r, dom) {
			irreducible++
			if !slices.ContainsFunc(r.Loops, func(l Loop) bool { return l.Irreducible }) {
				t.Fatalf("no irreducible loop in %v", r.Edges)
			}
			continue
		}
		reducible++
		want := make(map[int][]int)
		for _, e := range r.Edges {
			if dom(e.To, e.From) {
				want[e.To] = append(want[e.To], naturalLoop(r, e)...)
			}
		}
		for h := range want {
			slices.Sort(want[h])
			want[h] = slices.Compact(want[h])
		}
		for _, l := range r.Loops {
			if l.Irreducible || !slices.Equal(l.Blocks, want[l.Header]) {
				t.Fatalf("loop %+v, want blocks %v (edges %v)", l, want[l.Header], r.Edges)
			}
		}
		if len(r.Loops) != len(want) {
			t.Fatalf("%d loops, want %d (edges %v)", len(r.Loops), len(want), r.Edges)
		}
		checkLoops(t, r)
	}
	if reducible < 200 || irreducible < 200 {
		t.Fatalf("%d reducible and %d irreducible graphs are too few of one kind", reducible, irreducible)
	}
}

// isReducible reports whether the graph has no cycle once the edges to dominators
// are removed.
func isReducible(r *Routine, dom func(a, b int) bool) bool {
	state := make([]int, len(r.Blocks))
	var cyclic func(b int) bool
	cyclic = func(b int) bool {
		state[b] = 1
		for _, e := range r.Blocks[b].Succs {
			to := r.Edges[e].To
			if dom(to, b) {
				continue
			}
			if state[to] == 1 || state[to] == 0 && cyclic(to) {
				return true
			}
		}
		state[b] = 2
		return false
	}
	return !cyclic(0)
}

// naturalLoop returns the header and the blocks that reach the back edge without
// passing through it.
func naturalLoop(r *Routine, back Edge) []int {
	loop := []int{back.To}
	work := []int{back.From}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if slices.Contains(loop, b) {
			continue
		}
		loop = append(loop, b)
		for _, e := range r.Blocks[b].Preds {
			work = append(work, r.Edges[e].From)
		}
	}
	return loop
}

// checkRoutine checks the invariants of every routine.
func checkRoutine(t *testing.T, r *Routine) {
	t.Helper()
	at := r.Addr
	gaps := r.Gaps
	for b := range r.Blocks {
		block := &r.Blocks[b]
		for len(gaps) > 0 && gaps[0].From == at {
			at, gaps = gaps[0].To, gaps[1:]
		}
		for i := range block.Insts {
			in := &block.Insts[i]
			if in.PC != at {
				t.Fatalf("%s: instruction at %#x where %#x comes next", r.Name, in.PC, at)
			}
			at = in.Next()
			if in.Class.EndsBlock() && i < len(block.Insts)-1 {
				t.Fatalf("%s: %v within a block", r.Name, in)
			}
			if gb, gi := r.BlockAt(in.PC); gb != b || gi != i {
				t.Fatalf("%s: instruction %d of block %d is found as %d of %d", r.Name, i, b, gi, gb)
			}
		}
		for _, e := range block.Succs {
			if r.Edges[e].From != b {
				t.Fatalf("%s: edge %d leaves block %d, not %d", r.Name, e, r.Edges[e].From, b)
			}
		}
		for _, e := range block.Preds {
			if r.Edges[e].To != b {
				t.Fatalf("%s: edge %d arrives at block %d, not %d", r.Name, e, r.Edges[e].To, b)
			}
		}
		if len(block.Succs) == 0 && block.Exit == Stays {
			t.Fatalf("%s: control neither leaves nor stays after %v", r.Name, block.Last())
		}
		if d := block.Dominator; d == b || d >= len(r.Blocks) {
			t.Fatalf("%s: block %d is dominated by %d", r.Name, b, d)
		}
	}
	for len(gaps) > 0 && gaps[0].From == at {
		at, gaps = gaps[0].To, gaps[1:]
	}
	if at != r.Addr+r.Size || len(gaps) > 0 {
		t.Fatalf("%s: blocks and gaps end at %#x with %d gaps left, the routine at %#x", r.Name, at, len(gaps), r.Addr+r.Size)
	}
	leave, arrive := 0, 0
	for b := range r.Blocks {
		leave, arrive = leave+len(r.Blocks[b].Succs), arrive+len(r.Blocks[b].Preds)
	}
	if leave != len(r.Edges) || arrive != len(r.Edges) {
		t.Fatalf("%s: %d edges, of which %d leave and %d arrive", r.Name, len(r.Edges), leave, arrive)
	}
	checkLoops(t, r)
}

// checkLoops demands proper nesting, headers that dominate, and edges of the
// right kind.
func checkLoops(t *testing.T, r *Routine) {
	t.Helper()
	in := make([][]int, len(r.Blocks))   // loops by block, ascending
	within := make([]int, len(r.Blocks)) // the last loop of each, from 1
	for l := range r.Loops {
		loop := &r.Loops[l]
		if loop.Parent >= l || loop.Parent >= 0 && r.Loops[loop.Parent].Depth != loop.Depth-1 || loop.Parent < 0 && loop.Depth != 1 {
			t.Fatalf("%s: loop %d of depth %d is inside %d", r.Name, l, loop.Depth, loop.Parent)
		}
		for _, b := range loop.Blocks {
			in[b] = append(in[b], l)
			within[b] = l + 1
		}
		for _, b := range loop.Blocks {
			// Dominators of all others within the loop lead to its header.
			if d := r.Blocks[b].Dominator; !loop.Irreducible && b != loop.Header && (d < 0 || within[d] != l+1) {
				t.Fatalf("%s: the header %d of loop %d does not dominate block %d", r.Name, loop.Header, l, b)
			}
		}
		for _, e := range loop.Back {
			if r.Edges[e].To != loop.Header || within[r.Edges[e].From] != l+1 {
				t.Fatalf("%s: back edge %v of loop %d", r.Name, r.Edges[e], l)
			}
		}
		if len(loop.Back) == 0 {
			t.Fatalf("%s: loop %d has no back edge", r.Name, l)
		}
	}
	checkExits(t, r, in)
	for b := range in {
		var chain []int
		for l := r.Blocks[b].Loop; l >= 0; l = r.Loops[l].Parent {
			chain = append(chain, l)
		}
		slices.Sort(chain)
		if !slices.Equal(chain, in[b]) {
			t.Fatalf("%s: block %d is in the loops %v, and by its innermost in %v", r.Name, b, in[b], chain)
		}
	}
}

// checkExits demands that the exits of a loop are the edges from its blocks to others; in
// has the loops that each block is in.
func checkExits(t *testing.T, r *Routine, in [][]int) {
	t.Helper()
	exits := make([][]int, len(r.Loops))
	for e, edge := range r.Edges {
		for _, l := range in[edge.From] {
			if _, stays := slices.BinarySearch(in[edge.To], l); !stays && r.structural(e) {
				exits[l] = append(exits[l], e)
			}
		}
	}
	for l := range r.Loops {
		if !slices.Equal(r.Loops[l].Exit, exits[l]) {
			t.Fatalf("%s: loop %d is left by the edges %v, not %v", r.Name, l, r.Loops[l].Exit, exits[l])
		}
	}
}

func TestLawsOnRealPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			prog := p.analyzed(t)
			for _, r := range prog.Routines {
				checkRoutine(t, r)
			}
		})
	}
}

// TestObjdumpAgrees demands that everything in a block is an instruction to
// objdump too, which sweeps sections linearly from their symbols.
func TestObjdumpAgrees(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	objdump := oracle.Need(t, "riscv64-linux-gnu-objdump")
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			path := p.path(t)
			out, err := exec.Command(objdump, "-d", "-z", path).Output()
			if err != nil {
				t.Fatal(err)
			}
			listed := make(map[uint64]int) // bytes
			for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
				pc, rest, ok := strings.Cut(s.Text(), ":\t")
				if !ok {
					continue
				}
				at, err := strconv.ParseUint(strings.TrimSpace(pc), 16, 64)
				code, _, _ := strings.Cut(rest, " ")
				if err == nil {
					listed[at] = len(code) / 2
				}
			}
			wrong, all := "", 0
			prog := p.analyzed(t)
			for _, r := range prog.Routines {
				for b := range r.Blocks {
					for i := range r.Blocks[b].Insts {
						in := &r.Blocks[b].Insts[i]
						if all++; in.Class == isa.Illegal {
							continue // its length is a matter of taste
						}
						if listed[in.PC] != int(in.Len) {
							wrong += fmt.Sprintf("%s: %v is %d bytes to objdump\n", r.Name, in, listed[in.PC])
						}
					}
				}
			}
			if wrong != "" || all < 10000 {
				t.Errorf("of %d instructions some differ:\n%s", all, wrong)
			}
		})
	}
}
