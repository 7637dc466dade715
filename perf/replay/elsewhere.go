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
	borders []border // by block; nil: nothing interrupts that is known
	depth   int      // of the interruptions under way

	accesses uint64 // by all that is left out
	all      uint64
	refs     map[trace.RefID]bool // that make them
}

// border says whether an interruption begins or ends with a block.
type border uint8

const (
	begins border = 1 + iota
	ends
)

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
	e := &elsewhere{refs: make(map[trace.RefID]bool)}
	for i := range code.blocks {
		b := &code.blocks[i]
		r := code.graph.Routines[b.routine]
		if !slices.Contains(interrupting, strings.TrimSuffix(r.Name, ".abi0")) {
			continue
		}
		if e.borders == nil {
			e.borders = make([]border, len(code.blocks))
		}
		switch {
		case b.index == 0:
			e.borders[i] = begins
		case b.exit != calls && len(r.Blocks[b.index].Succs) == 0:
			e.borders[i] = ends
		}
	}
	return e
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
	border := e.borders[x.block]
	if border == begins {
		e.depth++
	}
	if e.depth == 0 {
		return false
	}
	if border == ends {
		e.depth--
	}
	e.accesses += uint64(x.strays)
	e.leaveOut(x.accesses)
	return true
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
