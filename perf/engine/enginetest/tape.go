package enginetest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"presage/perf/engine"
	"presage/perf/trace"
)

// access is a record of the trace with its thread.
type access struct {
	trace.Access
	thread int32
}

// execution is one execution of a block.
type execution struct {
	id     trace.BlockID
	thread int32
}

// tape is a collector that keeps everything and checks each batch's invariants.
type tape struct {
	plan     *trace.Plan
	accesses []access
	blocks   []execution
	starts   []uint64
	bad      []error // the first few violations

	outcome *engine.Outcome
	output  string
}

// Observe implements trace.Collector.
func (tp *tape) Observe(b *trace.Batch) {
	if n := len(tp.starts); n > 0 && b.Start < tp.starts[n-1] {
		tp.wrong("a batch starts at %d after one at %d", b.Start, tp.starts[n-1])
	}
	if len(b.Accesses)+len(b.Blocks) == 0 {
		tp.wrong("an empty batch at %d", b.Start)
	}
	if b.Thread < 0 {
		tp.wrong("a batch of thread %d", b.Thread)
	}
	tp.starts = append(tp.starts, b.Start)
	for _, a := range b.Accesses {
		if int(a.Ref()) >= len(tp.plan.Refs) {
			tp.wrong("reference %d of %d", a.Ref(), len(tp.plan.Refs))
		} else if r := tp.plan.Refs[a.Ref()]; uint64(r.Size) != a.Size() {
			tp.wrong("%d bytes at %#x by reference %+v", a.Size(), a.Addr(), r)
		}
		tp.accesses = append(tp.accesses, access{a, b.Thread})
	}
	for _, id := range b.Blocks {
		tp.blocks = append(tp.blocks, execution{id, b.Thread})
	}
	if len(tp.plan.Blocks) > 0 {
		tp.pair(b)
	}
}

// runs checks the runs of batches, which a tape sees expanded.
type runs struct{ tape *tape }

// TakesRuns implements trace.RunCollector.
func (runs) TakesRuns() bool { return true }

// Observe implements trace.Collector.
func (r runs) Observe(b *trace.Batch) {
	if err := b.Check(r.tape.plan); err != nil {
		r.tape.wrong("a batch at %d: %w", b.Start, err)
	}
}

var _ trace.RunCollector = runs{}

// pair checks that each access in a batch belongs to the block that made it.
func (tp *tape) pair(b *trace.Batch) {
	varies := slices.ContainsFunc(tp.plan.Blocks, func(b trace.Block) bool { return b.Varies })
	if varies != (len(b.Counts) > 0) || varies && len(b.Counts) != len(b.Blocks) {
		tp.wrong("%d blocks with %d counts; some vary: %t", len(b.Blocks), len(b.Counts), varies)
		return
	}
	// Report accesses outside every block rather than panic.
	owned := 0
	for i, id := range b.Blocks {
		if varies {
			owned += int(b.Counts[i])
		} else {
			owned += int(tp.plan.Blocks[id].Refs)
		}
	}
	if owned < len(b.Accesses) {
		tp.wrong("a batch at %d has %d accesses, its blocks have %d", b.Start, len(b.Accesses), owned)
		return
	}
	for id, accesses := range b.ByBlock(tp.plan) {
		block := tp.plan.Blocks[id]
		if block.Varies && len(accesses) < int(block.Refs) {
			tp.wrong("block %+v with %d accesses", block, len(accesses))
		}
		for _, a := range accesses {
			pc := tp.plan.Refs[a.Ref()].PC
			if pc < block.PC || int(id)+1 < len(tp.plan.Blocks) && pc >= tp.plan.Blocks[id+1].PC {
				tp.wrong("an access at pc %#x is recorded with block %+v", uint64(pc), block)
			}
		}
	}
}

// enough is the number of violations that a tape keeps.
const enough = 5

func (tp *tape) wrong(format string, args ...any) {
	if len(tp.bad) < enough {
		tp.bad = append(tp.bad, fmt.Errorf(format, args...))
	}
}

// threads returns how many threads recorded something.
func (tp *tape) threads() int {
	seen := make(map[int32]bool)
	for _, b := range tp.blocks {
		seen[b.thread] = true
	}
	return len(seen)
}

// same reports differences between two runs.
func (tp *tape) same(t *testing.T, what string, o *tape) {
	t.Helper()
	a, b := *tp.outcome, *o.outcome
	a.Elapsed, b.Elapsed = 0, 0
	if !reflect.DeepEqual(a, b) || tp.output != o.output {
		t.Errorf("%s: %+v, before %+v", what, b, a)
	}
	if !slices.Equal(tp.starts, o.starts) {
		t.Errorf("%s: batches start elsewhere", what)
	}
	tp.sameEvents(t, what, o)
}

func (tp *tape) sameEvents(t *testing.T, what string, o *tape) {
	t.Helper()
	if !slices.Equal(tp.accesses, o.accesses) || !slices.Equal(tp.blocks, o.blocks) {
		t.Errorf("%s: %d accesses and %d blocks, not the %d and %d of the whole run", what, len(o.accesses), len(o.blocks), len(tp.accesses), len(tp.blocks))
	}
}

// begins reports an error unless o is a prefix of tp.
func (tp *tape) begins(t *testing.T, what string, o *tape) {
	t.Helper()
	if len(o.accesses) > len(tp.accesses) || len(o.blocks) > len(tp.blocks) {
		t.Errorf("%s: %d accesses and %d blocks, more than %d and %d", what, len(o.accesses), len(o.blocks), len(tp.accesses), len(tp.blocks))
		return
	}
	(&tape{accesses: tp.accesses[:len(o.accesses)], blocks: tp.blocks[:len(o.blocks)]}).sameEvents(t, what, o)
}

// followedBy returns the concatenation of two parts of a run.
func (tp *tape) followedBy(o *tape) *tape {
	return &tape{accesses: slices.Concat(tp.accesses, o.accesses), blocks: slices.Concat(tp.blocks, o.blocks)}
}
