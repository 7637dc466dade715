package replay

import (
	"slices"
	"strings"

	"presage/perf/cfg"
	"presage/perf/trace"
)

// doubt is a set of reasons for which what a place does is not certain.
type doubt uint16

const (
	drawnAddress  doubt = 1 << iota // no function gives the addresses
	drawnBranch                     // no function gives the branch
	fewSizes                        // a coefficient is not an exact polynomial with sizes to spare
	failsTraining                   // the replay of a size that was run differs from the run
	failsHeldOut                    // so does that of the largest size, fitted without it
	otherAddress                    // differs from the first part of the run at the new size
	otherBranch                     //
	lostBase                        // where the data lie is not known
	untested                        // a branch could go where no run has been
	otherCount                      // was executed more or less often than the polynomial of counts says
	follows                         // comes after a branch of the same routine that is in doubt
	allocates                       // allocates memory, which may be done otherwise at another size
	control                         // beside another doubt: it is about where control goes on
)

var doubtTexts = [...]string{
	"addresses that no affine function of the loops gives",
	"branches that depend on data",
	"coefficients that are no exact polynomial of the size, with two sizes to spare",
	"replays of sizes that were run differ from the runs",
	"a fit without the largest size does not replay that one",
	"addresses differ from the beginning of the run at this size",
	"branches differ from the beginning of the run at this size",
	"it is not known where the data lie at this size",
	"a branch could go where no run has been",
	"executions differ from the polynomial of their number",
	"comes after a branch that is in doubt",
	"memory is allocated while the replay goes on",
}

func (d doubt) any() bool { return d != 0 }

// texts returns the reasons in words.
func (d doubt) texts() []string {
	var list []string
	for i, t := range doubtTexts {
		if d&(1<<i) != 0 {
			list = append(list, t)
		}
	}
	return list
}

// untestedWays reports whether control could go on from a place to where no run has
// been, so that nothing is known of what would happen then. A way that only
// leaves out a loop, such as the one for an empty range, is none: see skipsLoop.
func (p *Place) untestedWays(code *Code) bool {
	if !p.Forks {
		return false
	}
	b := &code.blocks[p.Block]
	r := code.graph.Routines[b.routine]
	from := &r.Blocks[b.index]
	if len(from.Succs) == 0 || from.Exit == cfg.Unknown || b.exit == calls {
		return true // where a computed jump or call could lead is not known
	}
	seen := func(block int) bool { return p.way(code.blockAt(r.Blocks[block].PC())) >= 0 }
	for _, e := range from.Succs {
		to := r.Edges[e].To
		if !seen(to) && !p.skipsLoop(code, r, b.index, to) {
			return true
		}
	}
	return from.Exit == cfg.TailJump && len(p.Next) <= len(from.Succs)
}

// skipsLoop reports whether the way to block out, which was never taken, leaves out
// a loop that the other way leads to, and does nothing else with memory: a loop
// that ran at all sizes also runs at larger ones.
func (p *Place) skipsLoop(code *Code, r *cfg.Routine, from, out int) bool {
	if len(p.Next) != 1 || p.Next[0].Block == noBlock {
		return false
	}
	in := code.blocks[p.Next[0].Block]
	loop := entersLoop(r, from, in.index)
	if loop < 0 || code.graph.Routines[in.routine] != r {
		return false
	}
	return !r.Contains(loop, out) && harmless(code, r, loop, out)
}

// entersLoop returns the loop that control comes to from block at without
// a choice, and that does not contain block from; -1 if there is none.
func entersLoop(r *cfg.Routine, from, at int) int {
	for range len(r.Blocks) {
		if l := r.Blocks[at].Loop; l >= 0 && r.Loops[l].Header == at && !r.Contains(l, from) {
			return l
		}
		next := r.Blocks[at].Succs
		if len(next) != 1 {
			return -1
		}
		at = r.Edges[next[0]].To
	}
	return -1
}

// harmless reports whether control comes from block at, without going through the
// loop, to a block behind it: through blocks without references, calls and choices.
func harmless(code *Code, r *cfg.Routine, loop, at int) bool {
	behind := exitsOf(r, loop)
	for range len(r.Blocks) {
		if behind[at] {
			return true
		}
		if r.Contains(loop, at) || entersLoop(r, at, at) == loop {
			return false
		}
		b := code.blockAt(r.Blocks[at].PC())
		next := r.Blocks[at].Succs
		if b == noBlock || code.blocks[b].refs > 0 || code.blocks[b].exit == calls || len(next) != 1 {
			return b != noBlock && code.blocks[b].exit == returns
		}
		at = r.Edges[next[0]].To
	}
	return false
}

// exitsOf returns the blocks that can be reached from a loop's exits without a
// choice.
func exitsOf(r *cfg.Routine, loop int) map[int]bool {
	behind := make(map[int]bool)
	for _, e := range r.Loops[loop].Exit {
		at := r.Edges[e].To
		for !behind[at] {
			behind[at] = true
			next := r.Blocks[at].Succs
			if len(next) != 1 {
				break
			}
			at = r.Edges[next[0]].To
		}
	}
	return behind
}

// allocators are the routines of C libraries that place data.
var allocators = []string{
	"malloc", "calloc", "realloc", "free", "memalign", "aligned_alloc", "posix_memalign", "valloc", "pvalloc",
	"mmap", "munmap", "mremap", "brk", "sbrk",
}

// allocates reports whether a routine of a C library allocates or frees memory.
func allocatesMemory(routine string) bool {
	name := strings.TrimLeft(strings.TrimPrefix(routine, "__libc_"), "_")
	return slices.Contains(allocators, name) || strings.HasPrefix(routine, "_int_")
}

// contains reports whether context inner is outer or called from it.
func contains(contexts []Context, outer, inner int32) bool {
	for inner > outer { // a context comes after its parent
		inner = contexts[inner].Parent
	}
	return inner == outer
}

// refOf returns the reference of the plan that reference j of a place is.
func (c *Code) refOf(p *Place, j int) trace.RefID { return c.blocks[p.Block].firstRef + trace.RefID(j) }
