package cfg

import "presage/perf/isa"

// loopFactor is the assumed number of iterations of a loop each time it is entered
// (Marin and Mellor-Crummey 2004, section 2.2.1).
const loopFactor = 10

// Weights estimates how often the blocks and edges of a routine are executed per
// entry, from nothing but its graph.
type Weights struct {
	Blocks []float64
	Edges  []float64

	// Leaves are, by block, the weights of transfers out of the routine: of each
	// single one if a block has two.
	Leaves []float64
}

// Weigh estimates frequencies by the heuristic of Marin and Mellor-Crummey
// 2004, section 2.2.1, from which counters need only a plausible order:
//
//   - an entry has the weight one;
//   - the weight of a block is divided equally among its out-edges if none of
//     them leaves a loop;
//   - each loop has a factor of ten;
//   - the weight of a block is the sum of its in-edges';
//   - an edge that leaves loops, of which L is the outermost, has the weight
//     of L's head divided by the number of edges that leave L; what remains of
//     its block's weight is divided equally among the block's other edges.
//
// In the last rule, the weight of L's head is taken here to be the weight with
// which L is entered, before the factor: with the factor the exits of a loop
// would have the weight of all its iterations, and nothing would remain for its
// body. Then the weight that leaves a loop equals the weight that entered it. The
// paper does not say what to do if a block has less weight than its exits
// require; here nothing remains for its other edges.
//
// A call is followed by its return site. A transfer to another routine is an
// out-edge, and leaves the loops around it. Edges that restart the routine are
// rare and add nothing to its entry. For an irreducible loop, the weight of every
// entering edge, wherever it enters, is multiplied by ten. Blocks unreachable
// from any entry have weight zero.
func (r *Routine) Weigh() *Weights {
	w := &weigher{
		Weights: Weights{
			Blocks: make([]float64, len(r.Blocks)),
			Edges:  make([]float64, len(r.Edges)),
			Leaves: make([]float64, len(r.Blocks)),
		},
		r: r, entered: make([]float64, len(r.Loops)), exits: make([]int, len(r.Loops)), back: make([]bool, len(r.Edges)),
	}
	for l := range r.Loops {
		w.exits[l] = len(r.Loops[l].Exit)
		for _, e := range r.Loops[l].Back {
			w.back[e] = true
		}
	}
	for b := range r.Blocks {
		for l := r.Blocks[b].Loop; l >= 0; l = r.Loops[l].Parent {
			w.exits[l] += r.leaving(b)
		}
	}
	for _, b := range r.Entries {
		w.flowInto(b, -1, 1)
	}
	for _, b := range r.forward() {
		w.divide(b)
	}
	return &w.Weights
}

type weigher struct {
	Weights
	r       *Routine
	entered []float64 // by loop: the weight with which it is entered
	exits   []int     // by loop: the number of edges that leave it
	back    []bool    // by edge
}

// leaving returns the number of out-edges of block b that leave the routine other
// than by a return: none to two for a branch; one for all targets of an indirect
// jump.
func (r *Routine) leaving(b int) int {
	block := &r.Blocks[b]
	if block.Exit != TailJump && block.Exit != Unknown {
		return 0
	}
	if last := block.Last(); last.Class == isa.Branch && last.Target != last.Next() {
		return 2 - len(block.Succs)
	}
	return 1
}

// flowInto adds weight that reaches block b from a block of loop from.
func (w *weigher) flowInto(b, from int, weight float64) {
	for l := w.r.Blocks[b].Loop; l >= 0 && !w.r.within(from, l); l = w.r.Loops[l].Parent {
		w.entered[l] += weight
		weight *= loopFactor
	}
	w.Blocks[b] += weight
}

// within reports whether loop inner is loop outer or lies inside it.
func (r *Routine) within(inner, outer int) bool {
	for ; inner >= 0; inner = r.Loops[inner].Parent {
		if inner == outer {
			return true
		}
	}
	return false
}

// leaves returns the outermost loop that contains loop from but not loop to; -1 if
// there is none.
func (r *Routine) leaves(from, to int) int {
	outermost := -1
	for l := from; l >= 0 && !r.within(to, l); l = r.Loops[l].Parent {
		outermost = l
	}
	return outermost
}

// divide assigns weights to the out-edges of block b, and propagates them.
func (w *weigher) divide(b int) {
	r, block := w.r, &w.r.Blocks[b]
	rest, others := w.Blocks[b], 0
	share := func(to int) (weight float64, exit bool) {
		if l := r.leaves(block.Loop, to); l >= 0 {
			return w.entered[l] / float64(w.exits[l]), true
		}
		return 0, false
	}
	count := func(to, edges int) {
		if weight, exit := share(to); exit {
			rest -= weight * float64(edges)
		} else {
			others += edges
		}
	}
	for _, e := range block.Succs {
		count(w.target(e), 1)
	}
	if n := r.leaving(b); n > 0 {
		count(-1, n)
	}
	rest = max(rest, 0) / float64(max(others, 1))
	give := func(to int) float64 {
		if weight, exit := share(to); exit {
			return weight
		}
		return rest
	}
	if r.leaving(b) > 0 || block.Exit == Returns {
		w.Leaves[b] = give(-1)
	}
	for _, e := range block.Succs {
		w.Edges[e] = give(w.target(e))
		if r.structural(e) && !w.back[e] {
			w.flowInto(r.Edges[e].To, block.Loop, w.Edges[e])
		}
	}
}

// target returns the loop that edge e leads into. A restart leads out of all
// loops.
func (w *weigher) target(e int) int {
	if !w.r.structural(e) {
		return w.r.Blocks[w.r.Edges[e].From].Loop
	}
	return w.r.Blocks[w.r.Edges[e].To].Loop
}

// forward orders the blocks so that every edge except those back to a loop's
// header leads from an earlier to a later block, and the blocks of a loop are
// contiguous: all blocks with an edge into the loop, wherever it enters, precede
// the loop.
func (r *Routine) forward() []int {
	f := &forwarder{r: r, back: make([]bool, len(r.Edges)), members: make([][]int, len(r.Loops)+1)}
	for l := range r.Loops {
		f.members[r.Loops[l].Parent+1] = append(f.members[r.Loops[l].Parent+1], len(r.Blocks)+l)
		for _, e := range r.Loops[l].Back {
			f.back[e] = true
		}
	}
	for b := range r.Blocks {
		f.members[r.Blocks[b].Loop+1] = append(f.members[r.Blocks[b].Loop+1], b)
	}
	f.ahead = make([]int, len(r.Blocks)+len(r.Loops))
	f.after = make([][]int, len(r.Blocks)+len(r.Loops))
	for e := range r.Edges {
		f.require(e)
	}
	f.emit(-1)
	return f.order
}

// forwarder sorts the members of each loop topologically: blocks, and the
// loops directly inside it, which stand for all their blocks. The number of a
// loop as a member is the number of blocks plus its own.
type forwarder struct {
	r       *Routine
	back    []bool
	members [][]int // by loop + 1
	ahead   []int   // by member: how many edges lead to it from others of its loop
	after   [][]int // by member: where its edges lead
	order   []int
}

// require orders the source of edge e before its target, as members of the
// innermost loop around both.
func (f *forwarder) require(e int) {
	r := f.r
	if f.back[e] || !r.structural(e) {
		return
	}
	from, to := r.Edges[e].From, r.Edges[e].To
	outer, inner := r.Blocks[from].Loop, r.Blocks[to].Loop
	for outer >= 0 && !r.within(inner, outer) {
		from, outer = len(r.Blocks)+outer, r.Loops[outer].Parent
	}
	for inner != outer {
		to, inner = len(r.Blocks)+inner, r.Loops[inner].Parent
	}
	f.after[from] = append(f.after[from], to)
	f.ahead[to]++
}

// emit appends the blocks of loop l, -1 for all.
func (f *forwarder) emit(l int) {
	var ready []int
	for _, m := range f.members[l+1] {
		if f.ahead[m] == 0 {
			ready = append(ready, m)
		}
	}
	for len(ready) > 0 {
		m := ready[0]
		ready = ready[1:]
		if m < len(f.r.Blocks) {
			f.order = append(f.order, m)
		} else {
			f.emit(m - len(f.r.Blocks))
		}
		for _, to := range f.after[m] {
			if f.ahead[to]--; f.ahead[to] == 0 {
				ready = append(ready, to)
			}
		}
	}
}
