package cfg

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/engine/rv64"
	"presage/perf/internal/oracle"
	"presage/perf/isa"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// sequence is a collector of the pairs of blocks that a program executes in
// succession.
type sequence struct {
	executed map[trace.BlockID]bool
	next     map[[2]trace.BlockID]bool
	last     map[int32]trace.BlockID // by thread
	batch    trace.Batch
}

func (s *sequence) Exchange(full *trace.Batch) *trace.Batch {
	if full != nil {
		last, ok := s.last[full.Thread]
		for _, id := range full.Blocks {
			s.executed[id] = true
			if ok {
				s.next[[2]trace.BlockID{last, id}] = true
			}
			last, ok = id, true
		}
		if ok {
			s.last[full.Thread] = last
		}
	}
	s.batch.Reset()
	return &s.batch
}

// run executes a program and records the order of its blocks. The blocks cover
// every half-word of code that could be an instruction, so that nothing goes
// unnoticed.
func run(t *testing.T, f *objfile.File, blocks []trace.Block) *sequence {
	t.Helper()
	const room = 1 << 14 // events a batch
	s := &sequence{executed: make(map[trace.BlockID]bool), next: make(map[[2]trace.BlockID]bool), last: make(map[int32]trace.BlockID)}
	s.batch = trace.Batch{Accesses: make([]trace.Access, 0, room), Blocks: make([]trace.BlockID, 0, room)}
	var out bytes.Buffer
	_, err := rv64.Engine{}.Run(context.Background(), f, engine.Request{Plan: &trace.Plan{Blocks: blocks}, Sink: s, Stdout: &out, Stderr: &out, MaxInstructions: 1 << 28})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	return s
}

// everywhere plans a block at every half-word of the executable sections that
// either begins a block or is in none.
func everywhere(f *objfile.File, p *Program) []trace.Block {
	var list []trace.Block
	for i := range f.Sections {
		s := &f.Sections[i]
		for pc := s.Addr; s.Execute && pc < s.Addr+s.Size; pc += 2 {
			if r := p.RoutineAt(pc); r != nil && r.startingAt(pc) < 0 && inBlock(r, pc) {
				continue
			}
			list = append(list, trace.Block{PC: trace.PC(pc), Instructions: 1})
		}
	}
	return list
}

func inBlock(r *Routine, pc uint64) bool {
	i, ok := slices.BinarySearchFunc(r.Blocks, pc, func(b Block, pc uint64) int {
		if pc < b.PC() {
			return 1
		} else if pc >= b.End() {
			return -1
		}
		return 0
	})
	return ok && i >= 0
}

// TestEngineAgrees runs programs and demands that the graphs have all executed
// code, that control follows only their edges, and that calls return only where
// the graphs say so.
func TestEngineAgrees(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			prog := p.analyzed(t)
			f := prog.File
			blocks := everywhere(f, prog)
			s := run(t, f, blocks)
			// Only a run can reveal the targets of open jumps, and returns to
			// places other than return sites.
			flow := new(trace.Flow)
			for pair := range s.next {
				from, to := uint64(blocks[pair[0]].PC), blocks[pair[1]].PC
				if !prog.knows(uint64(to)) && prog.uncertain(from) {
					flow.Arrivals = append(flow.Arrivals, trace.Arrival{PC: to, Count: 1})
				}
			}
			done := prog
			if len(flow.Arrivals) > 0 {
				done = prog.Complete(flow)
				t.Logf("completed: %v", done.Warnings)
			}
			known := 0
			for id := range s.executed {
				pc := uint64(blocks[id].PC)
				if prog.knows(pc) {
					known++
				} else if r := done.RoutineAt(pc); r == nil || !inBlock(r, pc) {
					t.Errorf("%#x in %s was executed and is in no block", pc, nameOf(r))
				}
			}
			wrong := 0
			for pair := range s.next {
				if why := unforeseen(prog, uint64(blocks[pair[0]].PC), uint64(blocks[pair[1]].PC)); why != "" && wrong < 20 {
					wrong++
					t.Error(why)
				}
			}
			if known < 500 {
				t.Errorf("only %d blocks were executed", known)
			}
		})
	}
}

func (p *Program) knows(pc uint64) bool {
	r := p.RoutineAt(pc)
	return r != nil && r.startingAt(pc) >= 0
}

// uncertain reports whether control may go anywhere after the block at pc: it
// ends in a return or an open jump.
func (p *Program) uncertain(pc uint64) bool {
	r := p.RoutineAt(pc)
	if r == nil || r.startingAt(pc) < 0 {
		return false
	}
	e := r.Blocks[r.startingAt(pc)].Exit
	return e == Unknown || e == Returns
}

func nameOf(r *Routine) string {
	if r == nil {
		return "no routine"
	}
	return r.Name
}

// unforeseen says why block to may not directly follow block from within a
// routine; "" if it may. (Successors of returns and calls are checked at the
// call.)
func unforeseen(p *Program, from, to uint64) string {
	r := p.RoutineAt(from)
	if r == nil || p.RoutineAt(to) != r {
		return ""
	}
	b, next := r.startingAt(from), r.startingAt(to)
	if b < 0 || next < 0 {
		return ""
	}
	block := &r.Blocks[b]
	switch block.Last().Class {
	case isa.Return, isa.Call, isa.SystemCall: // a recursion, a callee that is not traced, a signal
		return ""
	}
	for _, e := range block.Succs {
		if r.Edges[e].To == next {
			return ""
		}
	}
	if block.Exit == Unknown || block.Exit == TailJump && slices.Contains(r.Entries, next) {
		return ""
	}
	return fmt.Sprintf("%s: %v was followed by %#x", r.Name, block.Last(), to)
}

// TestReturnsAreFound demands that the graph has every call returning that did
// return, and none that is known never to return.
func TestReturnsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			prog := p.analyzed(t)
			f := prog.File
			var sites []trace.Block
			back := make(map[uint64]bool)
			for _, r := range prog.Routines {
				for b := range r.Blocks {
					if last := r.Blocks[b].Last(); last.Class == isa.Call {
						sites = append(sites, trace.Block{PC: trace.PC(last.Next()), Instructions: 1})
					}
				}
				for _, e := range r.Edges {
					if e.Kind == CallReturn {
						back[r.Blocks[e.To].PC()] = true
					}
				}
			}
			reached := reachedByFalling(prog)
			s := run(t, f, sites)
			returned := 0
			for _, id := range slices.Sorted(maps.Keys(s.executed)) {
				pc := uint64(sites[id].PC)
				if returned++; !back[pc] && !reached[pc] {
					t.Errorf("%#x in %s is returned to", pc, nameOf(prog.RoutineAt(pc)))
				}
			}
			if returned < 100 {
				t.Errorf("only %d returns were observed", returned)
			}
			never(t, prog)
		})
	}
}

// reachedByFalling returns the places that control reaches other than by a return.
func reachedByFalling(p *Program) map[uint64]bool {
	list := make(map[uint64]bool)
	for _, r := range p.Routines {
		for _, e := range r.Edges {
			if e.Kind != CallReturn {
				list[r.Blocks[e.To].PC()] = true
			}
		}
		for _, b := range r.Entries {
			list[r.Blocks[b].PC()] = true
		}
	}
	return list
}

// noReturn lists routines documented not to return.
var noReturn = []string{
	"exit", "_exit", "__GI_exit", "abort", "__assert_fail", "__stack_chk_fail", "__libc_fatal", "longjmp", "leave",
	"runtime.gopanic", "runtime.throw", "runtime.fatal", "runtime.panicIndex", "runtime.goPanicIndex", "runtime.panicdivide",
	"runtime.abort.abi0", "runtime.fatalthrow",
}

func never(t *testing.T, p *Program) {
	t.Helper()
	found := 0
	for _, r := range p.Routines {
		if !slices.Contains(noReturn, r.Name) {
			continue
		}
		found++
		for b := range r.Blocks {
			if e := r.Blocks[b].Exit; e == Returns {
				t.Errorf("%s returns at %#x", r.Name, r.Blocks[b].Last().PC)
			}
		}
	}
	if found == 0 {
		t.Error("no routine is known not to return")
	}
	for _, r := range p.Routines {
		for b := range r.Blocks {
			last := r.Blocks[b].Last()
			if last.Class != isa.Call || !last.HasTarget {
				continue
			}
			to := p.RoutineAt(last.Target)
			if to != nil && to.Addr == last.Target && slices.Contains(noReturn, to.Name) && r.Blocks[b].Exit != NoReturn {
				t.Errorf("%s: the call of %s at %#x comes back", r.Name, to.Name, last.PC)
			}
		}
	}
}

// TestProgramsAreRight compares the programs' output under the engine and qemu.
func TestProgramsAreRight(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	qemu := oracle.Need(t, "qemu-riscv64")
	for _, p := range programs[:3] {
		out, err := exec.Command(qemu, p.path(t)).Output()
		if err != nil || !strings.Contains(string(out), " ") {
			t.Errorf("%s: %v, %q", p.name, err, out)
		}
	}
}
