package replay

import (
	"fmt"
	"slices"
	"strings"

	"presage/perf/trace"
)

// elsewhere tells what a run executes outside of what is followed, which is its first thread: on
// other threads, and while a signal interrupts it, at times that the clock decides about. Of Go
// programs, whose runtime has threads of its own and interrupts by a signal what runs for 10 ms,
// interruptions are known by name; other programs' handlers of signals are not told from routines.
// Replays leave all of it out.
type elsewhere struct {
	code    *Code
	borders []border        // by block; nil: nothing interrupts that is known
	resume  []trace.BlockID // of the interruptions under way, the block that ends each, the run's own; noBlock: one of its own

	accesses uint64 // by all that is left out
	all      uint64
	refs     map[trace.RefID]bool // that make them
}

// border says whether an interruption begins or ends with a block.
type border uint8

const (
	none border = iota
	begins
	ends
	startsOver // ends with a call of moreStack
)

// moreStack is how routines of Go's runtime are called, by way of which a routine starts over: with
// more room on the stack, or once others have run, who had waited for 10 ms.
const moreStack = "runtime.morestack"

// interrupting are routines that only the runtime's signals come to. When they end, the run goes on
// where it was, or in another of them.
var interrupting = []string{"runtime.sigtramp", "runtime.asyncPreempt"}

const (
	// maxElsewhere is the share of a run's accesses that may be left out.
	maxElsewhere = 0.01
	// freely is how many of a run may be in any case; soon is how many must be before it ends
	// for it to be given up: when it begins, a runtime collects garbage.
	freely = 1 << 16
	soon   = 1 << 22
)

func newElsewhere(code *Code) *elsewhere {
	e := &elsewhere{code: code, refs: make(map[trace.RefID]bool)}
	for i := range code.blocks {
		b := &code.blocks[i]
		r := code.graph.Routines[b.routine]
		of := none
		switch last := r.Blocks[b.index].Last(); {
		case b.exit == calls && last.HasTarget && code.calls(last.Target, moreStack):
			of = startsOver
		case !slices.Contains(interrupting, strings.TrimSuffix(r.Name, ".abi0")):
		case b.index == 0:
			of = begins
		case b.exit != calls && len(r.Blocks[b.index].Succs) == 0:
			of = ends
		}
		if of == none {
			continue
		}
		if e.borders == nil {
			e.borders = make([]border, len(code.blocks))
		}
		e.borders[i] = of
	}
	return e
}

// calls reports whether at an address stands a routine whose name begins so.
func (c *Code) calls(target uint64, name string) bool {
	r := c.graph.File.RoutineAt(target)
	return r != nil && strings.HasPrefix(r.Name, name)
}

// thread takes note of a batch. It reports whether it is of another thread.
func (e *elsewhere) thread(b *trace.Batch) bool {
	e.all += uint64(len(b.Accesses))
	if b.Thread == 0 {
		return false
	}
	e.leaveOut(b.Accesses)
	return true
}

// interrupts takes note of an execution of the first thread. It reports whether that belongs to an
// interruption.
func (e *elsewhere) interrupts(x execution) bool {
	if e.borders == nil {
		return false
	}
	n := len(e.resume)
	switch border := e.borders[x.block]; {
	case border == begins:
		e.resume = append(e.resume, noBlock)
	case border == startsOver:
		e.resume = append(e.resume, e.entry(x.block))
	case n == 0:
		return false
	case border == ends && e.resume[n-1] == noBlock, x.block == e.resume[n-1]:
		e.resume = e.resume[:n-1]
	}
	e.accesses += uint64(x.strays)
	e.leaveOut(x.accesses)
	return true
}

// entry returns the first block of the routine of a block.
func (e *elsewhere) entry(id trace.BlockID) trace.BlockID {
	r := e.code.graph.Routines[e.code.blocks[id].routine]
	return e.code.blockAt(r.Blocks[0].PC())
}

func (e *elsewhere) leaveOut(accesses []trace.Access) {
	e.accesses += uint64(len(accesses))
	for _, a := range accesses {
		e.refs[a.Ref()] = true
	}
}

// trouble says why a run cannot be followed that left out at least so many accesses; empty: it can.
func (e *elsewhere) trouble(least uint64) string {
	if share := float64(e.accesses) / float64(e.all); e.accesses > least && share > maxElsewhere {
		return fmt.Sprintf("the program has threads: %.2g%% of the accesses are not those of the first", 100*share)
	}
	return ""
}
