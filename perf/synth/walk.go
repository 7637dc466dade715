package synth

import (
	"math/rand/v2"
	"sort"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/pipeline"
	"presage/perf/trace"
)

// stretch is a part of a walk.
type stretch struct {
	blocks   []trace.BlockID
	wrong    []bool // by block: the transfer to it is mispredicted
	accesses []trace.Access
	outcomes []pipeline.Outcome
}

// walker draws walks.
type walker struct {
	*Program
	model  *Model
	random *rand.Rand

	anywhere lottery          // places, by the instructions executed there and by their misses
	entered  lottery          // where routines are entered by no known call
	sites    map[int]*lottery // where calls of a routine return to; of -1: those of unknown ones
	leaves   map[place]int    // blocks by which a counted loop is left, and which that is
	left     map[place]int    // trips to come, by the block that the loop is left by
	stack    []place          // where calls return to
	drawing  drawing
}

// maxDepth is how many calls deep a walk goes.
const maxDepth = 64

func newWalker(p *Program, m *Model, memory *pipeline.Memory, seed uint64) *walker {
	w := &walker{
		Program: p, model: m, random: rand.New(rand.NewPCG(seed, 0)), sites: make(map[int]*lottery),
		leaves: make(map[place]int), left: make(map[place]int),
	}
	for r, routine := range p.graph.Routines {
		f := &m.Frequencies.Routines[r]
		for l, counted := range m.Counted[r] {
			if b := exitBlock(routine, l, f.Edges); counted && b >= 0 {
				w.leaves[place{r, b}] = l
			}
		}
	}
	w.findPlaces(memory)
	w.findCallers()
	w.drawing = newDrawing(m, w.random)
	return w
}

// findPlaces finds where stretches may begin. A short copy may be a hundredth of the
// instructions and most of the misses, and costs nothing if no stretch comes there: so
// cycles that accesses wait count like instructions, but together no more than these.
func (w *walker) findPlaces(memory *pipeline.Memory) {
	type weighed struct {
		at               place
		executed, waited float64
	}
	var all []weighed
	var sum weighed
	for r, routine := range w.graph.Routines {
		for b, n := range w.model.Frequencies.Routines[r].Blocks {
			if n <= 0 {
				continue
			}
			x := weighed{at: place{r, b}, executed: n * float64(len(routine.Blocks[b].Insts))}
			for _, ref := range w.blocks[w.ids[r][b]].refs {
				x.waited += n * w.model.Access[ref].waits(memory)
			}
			all = append(all, x)
			sum.executed, sum.waited = sum.executed+x.executed, sum.waited+x.waited
		}
	}
	scale := 1.0
	if sum.waited > sum.executed {
		scale = sum.executed / sum.waited
	}
	for _, x := range all {
		w.anywhere.add(x.at, x.executed+scale*x.waited)
	}
}

// findCallers finds where calls return to, and which routines are entered by calls that
// are not known.
func (w *walker) findCallers() {
	known := make(map[place]float64)
	for _, c := range w.calls {
		n := w.model.Frequencies.Routines[c.from.routine].Blocks[c.from.block]
		if w.sites[c.callee.routine] == nil {
			w.sites[c.callee.routine] = &lottery{}
		}
		w.sites[c.callee.routine].add(c.returnTo, n)
		known[c.callee] += n
	}
	for r, routine := range w.graph.Routines {
		f := &w.model.Frequencies.Routines[r]
		for _, b := range routine.Entries {
			n := f.Blocks[b] - known[place{r, b}]
			for _, e := range routine.Blocks[b].Preds {
				n -= f.Edges[e]
			}
			if n > 0.5 && routine.Blocks[b].PC() != w.graph.File.Entry {
				w.entered.add(place{r, b}, n)
			}
		}
	}
}

// lottery draws places by weight.
type lottery struct {
	places []place
	until  []float64 // by place: the weights up to it
}

func (l *lottery) add(p place, weight float64) {
	if weight > 0 {
		l.places, l.until = append(l.places, p), append(l.until, l.sum()+weight)
	}
}

func (l *lottery) sum() float64 {
	if len(l.until) == 0 {
		return 0
	}
	return l.until[len(l.until)-1]
}

// draw draws a place; false if there is none.
func (l *lottery) draw(random *rand.Rand) (place, bool) {
	if l == nil || len(l.places) == 0 {
		return place{}, false
	}
	return l.at(random.Float64()), true
}

// at returns the place up to which a share of the weights lies; there is one at least.
func (l *lottery) at(share float64) place {
	x := share * l.sum()
	return l.places[sort.Search(len(l.until)-1, func(i int) bool { return l.until[i] > x })]
}

// exitBlock returns the block that all executed edges out of a loop leave from, if that
// belongs to no loop inside it, or else -1.
func exitBlock(r *cfg.Routine, loop int, edges []float64) int {
	at := -1
	for _, e := range r.Loops[loop].Exit {
		switch from := r.Edges[e].From; {
		case edges[e] == 0:
		case at >= 0 && from != at, r.Blocks[from].Loop != loop:
			return -1
		default:
			at = from
		}
	}
	return at
}

// evenly draws n places, or none if there is none: at equal distances among the weights,
// from a random one on, so that none that has such a part of them is left out.
func (l *lottery) evenly(n int, random *rand.Rand) []place {
	if len(l.places) == 0 {
		return nil
	}
	list := make([]place, n)
	from := random.Float64()
	for i := range list {
		list[i] = l.at((float64(i) + from) / float64(n))
	}
	return list
}

// stretches draws stretches of some instructions, which begin evenly among those that are
// executed, in the order of the code.
func (w *walker) stretches(n, instructions int) []*stretch {
	var walk []*stretch
	for _, at := range w.anywhere.evenly(n, w.random) {
		walk = append(walk, w.stretch(at, instructions))
	}
	return walk
}

// stretch draws a stretch of some instructions from a place on. Where the program ends, it
// begins anew: so late code is executed no more often than early code.
func (w *walker) stretch(at place, instructions int) *stretch {
	out, ok := &stretch{}, true
	w.stack = w.stack[:0]
	clear(w.left)
	wrong := false
	for done := 0; done < instructions; {
		if !ok || w.ids[at.routine][at.block] == notExecuted {
			if at, ok = w.begin(); !ok {
				break
			}
		}
		id := w.ids[at.routine][at.block]
		out.blocks, out.wrong = append(out.blocks, id), append(out.wrong, wrong)
		w.drawing.block(w.Program, id, out)
		done += w.blocks[id].instructions
		at, wrong, ok = w.next(at)
	}
	return out
}

// begin returns where the program begins or, if that is not known, a place that is
// drawn.
func (w *walker) begin() (place, bool) {
	w.stack = w.stack[:0]
	if at, ok := w.at[w.graph.File.Entry]; ok {
		return at, true
	}
	return w.anywhere.draw(w.random)
}

// next draws the block after one, and whether the transfer to it is mispredicted.
func (w *walker) next(at place) (to place, wrong, ok bool) {
	b := w.blockAt(at)
	switch {
	case b.Last().Class == isa.Call:
		return w.call(at)
	case b.Exit == cfg.Returns:
		to, ok = w.back(at.routine)
		return to, false, ok
	}
	r, f := w.graph.Routines[at.routine], &w.model.Frequencies.Routines[at.routine]
	total := 0.0
	may := w.ways(at, r)
	for _, e := range b.Succs {
		if may(e) {
			total += f.Edges[e]
		}
	}
	away := 0.0 // to another routine
	if b.Exit == cfg.TailJump {
		for _, e := range b.Succs {
			away += f.Edges[e]
		}
		away = max(0, f.Blocks[at.block]-away)
	}
	x := w.random.Float64() * (total + away)
	for _, e := range b.Succs {
		if !may(e) || f.Edges[e] == 0 {
			continue
		}
		if x -= f.Edges[e]; x < 0 {
			return place{at.routine, r.Edges[e].To}, w.random.Float64() < w.model.Wrong[at.routine][e], true
		}
	}
	if last := b.Last(); away > 0 && last.HasTarget {
		to, ok = w.at[last.Target]
	}
	return to, false, ok
}

// ways reports which edges from a place can be taken: where a counted loop is left,
// those that leave it after its number of trips, and before that the others.
func (w *walker) ways(at place, r *cfg.Routine) func(e int) bool {
	loop, ok := w.leaves[at]
	if !ok {
		return func(int) bool { return true }
	}
	edges := w.model.Frequencies.Routines[at.routine].Edges
	leaving, staying := 0.0, 0.0
	for _, e := range r.Blocks[at.block].Succs {
		if r.Contains(loop, r.Edges[e].To) {
			staying += edges[e]
		} else {
			leaving += edges[e]
		}
	}
	if leaving == 0 || staying == 0 {
		return func(int) bool { return true }
	}
	left, entered := w.left[at]
	if !entered { // the walk began within the loop
		left = 1 + int(w.random.Float64()*(staying/leaving+1))
	}
	left--
	out := left <= 0
	if out {
		left = int(staying/leaving + 1 + w.random.Float64()) // of the next time
	}
	w.left[at] = left
	return func(e int) bool { return r.Contains(loop, r.Edges[e].To) != out }
}

// call goes to the callee: of a call whose target is not known, to a routine whose
// callers are not known. It goes past a call if there is none.
func (w *walker) call(at place) (to place, wrong, ok bool) {
	site := returnSite(w.graph.Routines[at.routine], at.block)
	last := w.blockAt(at).Last()
	callee, known := w.at[last.Target]
	if !last.HasTarget {
		callee, known = w.entered.draw(w.random)
	}
	if known && len(w.stack) < maxDepth {
		if site >= 0 {
			w.stack = append(w.stack, place{at.routine, site})
		}
		return callee, false, true
	}
	return place{at.routine, site}, false, site >= 0
}

// back returns from a routine: to where the walk called it or else, in proportion, to
// one of the places that call it or, if they are not known, that call something
// unknown, or to anywhere.
func (w *walker) back(routine int) (place, bool) {
	if n := len(w.stack); n > 0 {
		to := w.stack[n-1]
		w.stack = w.stack[:n-1]
		return to, true
	}
	for _, from := range []*lottery{w.sites[routine], w.sites[-1], &w.anywhere} {
		if to, ok := from.draw(w.random); ok {
			return to, true
		}
	}
	return place{}, false
}
