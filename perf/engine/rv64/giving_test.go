//go:build unix

package rv64

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// watchedTape is what a run recorded, and what memory it asked for.
type watchedTape struct {
	accesses []trace.Access
	blocks   []trace.BlockID
	changes  []trace.Change
	at       []int // by change: how many accesses were before
}

func (r *watchedTape) Observe(b *trace.Batch) {
	for _, c := range b.Changes {
		r.changes, r.at = append(r.changes, c), append(r.at, len(r.accesses))
	}
	r.accesses, r.blocks = append(r.accesses, b.Accesses...), append(r.blocks, b.Blocks...)
}

// TestAllocations runs a program of which the allocators are watched and not, in all modes:
// what is recorded is the same, memory is given at the addresses that the program then
// accesses, and of calls within others only the outer one is told.
func TestAllocations(t *testing.T) {
	f, err := objfile.Open(program{name: "vectors", tool: "riscv64-linux-gnu-g++", args: []string{"-static", "-O1"}, after: []string{"testdata/cpp/vectors.cc"}}.build(t))
	if err != nil {
		t.Fatal(err)
	}
	memory := new(trace.MemoryPlan)
	for _, r := range f.Routines {
		switch r.Name {
		case "malloc", "__libc_malloc":
			memory.Allocators = append(memory.Allocators, trace.Allocator{PC: trace.PC(r.Addr), Role: trace.Malloc})
		case "free", "__libc_free":
			memory.Allocators = append(memory.Allocators, trace.Allocator{PC: trace.PC(r.Addr), Role: trace.Free})
		case "_Znwm":
			memory.Allocators = append(memory.Allocators, trace.Allocator{PC: trace.PC(r.Addr), Role: trace.Malloc})
		case "_ZdlPvm", "_ZdlPv":
			memory.Allocators = append(memory.Allocators, trace.Allocator{PC: trace.PC(r.Addr), Role: trace.Free})
		}
	}
	slices.SortFunc(memory.Allocators, func(a, b trace.Allocator) int { return cmp.Compare(a.PC, b.PC) })
	memory.Allocators = slices.Compact(memory.Allocators)
	plain := planAll(f)
	watched := *plain
	watched.Memory = memory
	var first *watchedTape
	for name, mode := range modes(t) {
		record := func(plan *trace.Plan) *watchedTape {
			r := new(watchedTape)
			if _, err := run(context.Background(), f, options{Request: engine.Request{Plan: plan, Sink: trace.NewDirect(r)}, mode: mode, heat: 3}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return r
		}
		without, with := record(plain), record(&watched)
		if !slices.Equal(without.accesses, with.accesses) || !slices.Equal(without.blocks, with.blocks) {
			t.Errorf("%s: %d accesses and %d blocks without watching allocators, %d and %d with, or others", name, len(without.accesses), len(without.blocks), len(with.accesses), len(with.blocks))
		}
		checkAllocations(t, with)
		if first == nil {
			first = with
		}
		if len(first.changes) != len(with.changes) {
			t.Errorf("%s: %d changes, in the other mode %d", name, len(with.changes), len(first.changes))
		}
	}
}

// checkAllocations finds the program's own vectors: each of ten times as long as the one
// before, and given back before the next is asked for.
func checkAllocations(t *testing.T, r *watchedTape) {
	t.Helper()
	var given []trace.Change
	for i, c := range r.changes {
		switch c.Kind {
		case trace.Allocated:
			given = append(given, c)
		case trace.Freed:
			if n := len(given); n == 0 || !wasGiven(given, c.Addr) {
				t.Errorf("memory at %#x is given back and was not given", c.Addr)
			}
		}
		if i > 0 && r.at[i] < r.at[i-1] {
			t.Error("changes are out of order")
		}
	}
	for _, n := range []uint64{800, 8000, 80000, 800000} {
		found := false
		for _, c := range given {
			found = found || c.Size == n && len(c.Callers) == 1
		}
		if !found {
			t.Errorf("no vector of %d bytes was given", n)
		}
	}
	for i := range given[1:] {
		if given[i].Addr == given[i+1].Addr && given[i].Size == given[i+1].Size && r.at[i] == r.at[i+1] {
			t.Errorf("memory at %#x is told twice", given[i].Addr)
		}
	}
}

func wasGiven(given []trace.Change, addr uint64) bool {
	for i := range given {
		if given[i].Addr == addr {
			return true
		}
	}
	return false
}
