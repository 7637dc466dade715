package cfg

import (
	"errors"
	"testing"

	"presage/perf/trace"
)

func TestComplete(t *testing.T) {
	a := assemble(t, routine("_start", `
		beqz a0, call
		jr a1
	one:	addi a0, a0, 1
		ret
	two:	beqz a0, one
	pad:	nop
	in:	nop
		ret
	call:	call stuck
	back:	ret`)+routine("stuck", "1: j 1b"))
	before := a.draw(named(t, a.Program, "_start"))
	same(t, before, `
		_start: falls→_start+2 taken→call
		_start+2: (unknown) <_start
		call: (no return) <_start
		gap one..12
		gap back..2`)
	jump := trace.PC(a.at["_start"] + 2)
	pc := func(label string) trace.PC { return trace.PC(a.at[label]) }
	done := a.Complete(&trace.Flow{
		Jumps: []trace.JumpCount{
			{Edge: trace.Edge{From: jump, To: pc("one")}, Count: 0},
			{Edge: trace.Edge{From: jump, To: pc("two")}, Count: 3},
			{Edge: trace.Edge{From: jump, To: pc("stuck")}, Count: 1},
			{Edge: trace.Edge{From: jump + 1, To: pc("two")}, Count: 3}, // no jump
		},
		Arrivals: []trace.Arrival{{PC: 2, Count: 1}, {PC: pc("_start"), Count: 1}, {PC: pc("in"), Count: 1}, {PC: pc("back"), Count: 1}},
	})
	r := named(t, done, "_start")
	same(t, a.draw(r), `
		_start: falls→_start+2 taken→call
		_start+2: observed→two (unknown) <_start
		one: (returns) <two
		two: taken→one falls→pad <_start+2
		pad: falls→in <two
		in: (returns)
		call: call returns→back <_start
		back: (returns) <call`)
	if len(r.Entries) != 2 || r.Blocks[r.Entries[1]].PC() != a.at["in"] {
		t.Errorf("entries %v", r.Entries)
	}
	if len(r.Open) != 1 {
		t.Errorf("%d open jumps", len(r.Open))
	}
	if err := errors.Join(done.Warnings...); !errors.Is(err, ErrObserved) {
		t.Errorf("warnings %v", err)
	}
	if got := a.draw(named(t, a.Program, "_start")); got != before {
		t.Errorf("the program was modified:\n%s", got)
	}
	checkRoutine(t, r)
	if again := a.Complete(&trace.Flow{}); errors.Is(errors.Join(again.Warnings...), ErrObserved) {
		t.Error("nothing was observed, but something completed")
	}
}

// TestCompletePreempted checks that the place where a preempted goroutine resumes
// does not become an entry, which would make the loop irreducible, and that the
// targets of other jumps from outside do.
func TestCompletePreempted(t *testing.T) {
	a := assemble(t, routine("_start", `
	loop:	addi a0, a0, -1
	in:	addi a1, a1, 1
		bnez a0, loop
	out:	addi a2, a2, 1
	on:	ret`)+routine("runtime.asyncPreempt.abi0", "jr t6")+routine("other", "jr t6"))
	jump := func(from, to string) trace.JumpCount {
		return trace.JumpCount{Edge: trace.Edge{From: trace.PC(a.at[from]), To: trace.PC(a.at[to])}, Count: 2}
	}
	r := named(t, a.Complete(&trace.Flow{Jumps: []trace.JumpCount{
		jump("runtime.asyncPreempt.abi0", "loop"), jump("runtime.asyncPreempt.abi0", "in"), jump("runtime.asyncPreempt.abi0", "out"),
		jump("other", "on"),
	}}), "_start")
	if len(r.Entries) != 2 || r.Blocks[r.Entries[1]].PC() != a.at["on"] {
		t.Errorf("entries %v", r.Entries)
	}
	if b := r.startingAt(a.at["in"]); b >= 0 {
		t.Errorf("block %d begins where control only went on", b)
	}
	if len(r.Loops) != 1 || r.Loops[0].Irreducible {
		t.Errorf("loops %+v", r.Loops)
	}
}
