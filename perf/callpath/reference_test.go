package callpath

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/objfile"
	"presage/perf/subject"
	"presage/perf/trace"
)

// plain follows control by the bits of riscv64 instructions and the symbol table alone:
// a jump that writes ra is a call, one through ra a return, and any other way into
// another routine a jump. It counts accesses by path.
type plain struct {
	file     *objfile.File
	plan     *trace.Plan
	threads  map[int32][]plainFrame
	previous map[int32]trace.PC // the block executed last
	counts   map[string]uint64
}

type plainFrame struct {
	routine string
	ret     uint64
	jumped  bool
}

// leaves returns what the last instruction of a block does: call, return, or neither, and
// the address after it.
func (p *plain) leaves(block trace.PC) (call, ret bool, next uint64) {
	i, _ := slices.BinarySearchFunc(p.plan.Blocks, block, func(b trace.Block, pc trace.PC) int { return int(int64(b.PC) - int64(pc)) })
	at, word := uint64(block), uint32(0)
	for range p.plan.Blocks[i].Instructions {
		code := p.file.Bytes(at, 2)
		word = uint32(binary.LittleEndian.Uint16(code))
		at += 2
		if word&3 == 3 {
			word = binary.LittleEndian.Uint32(p.file.Bytes(at-2, 4))
			at += 2
		}
	}
	const ra = 1
	switch {
	case word&3 != 3 && word&0xf003 == 0x8002 && word>>2&31 == 0: // c.jr
		ret = word>>7&31 == ra
	case word&3 != 3 && word&0xf003 == 0x9002 && word>>2&31 == 0 && word>>7&31 != 0: // c.jalr
		call = true
	case word&0x7f == 0x6f: // jal
		call = word>>7&31 == ra
	case word&0x7f == 0x67: // jalr
		call = word>>7&31 == ra
		ret = word>>7&31 == 0 && word>>15&31 == ra
	}
	return call, ret, at
}

func (p *plain) Observe(b *trace.Batch) {
	for id, accesses := range b.ByBlock(p.plan) {
		pc := p.plan.Blocks[id].PC
		p.step(b.Thread, pc)
		var names []string
		for _, f := range p.threads[b.Thread] {
			if i := slices.Index(names, f.routine); i >= 0 {
				names = names[:i]
			}
			names = append(names, f.routine)
		}
		p.counts[strings.Join(names, " > ")] += uint64(len(accesses))
	}
}

func (p *plain) step(thread int32, pc trace.PC) {
	stack := p.threads[thread]
	r := p.file.Routines[0] // the symbol at or before pc: few have no size
	if i := sort.Search(len(p.file.Routines), func(i int) bool { return p.file.Routines[i].Addr > uint64(pc) }); i > 0 {
		r = p.file.Routines[i-1]
	}
	defer func() { p.previous[thread] = pc }()
	if len(stack) == 0 {
		p.threads[thread] = []plainFrame{{routine: r.Name}}
		return
	}
	call, ret, next := p.leaves(p.previous[thread])
	switch top := stack[len(stack)-1]; {
	case call && uint64(pc) != next:
		stack = append(stack, plainFrame{r.Name, next, false})
	case ret && slices.ContainsFunc(stack, func(f plainFrame) bool { return f.ret == uint64(pc) }):
		for stack[len(stack)-1].ret != uint64(pc) {
			stack = stack[:len(stack)-1]
		}
		for stack[len(stack)-1].jumped {
			stack = stack[:len(stack)-1]
		}
		stack = stack[:len(stack)-1]
	case r.Name == top.routine:
	case !ret && uint64(pc) == r.Addr:
		stack = append(stack, plainFrame{r.Name, top.ret, true})
	default: // longjmp returns to setjmp's caller
		for stack[len(stack)-1].routine != r.Name {
			stack = stack[:len(stack)-1]
		}
	}
	p.threads[thread] = stack
}

// TestPlainReference: accesses by path are those of the plain reference, for a program
// with calls of each kind, but for threads and signals, which it does not know.
func TestPlainReference(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	prog := perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gcc"), []string{"-g", "-O2", "-static", "-DALONE", perftest.Path(t, "perf", "callpath", "testdata", "paths.c")}, "paths")
	all, err := prog.Plan()
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCode(prog, all)
	if err != nil {
		t.Fatal(err)
	}
	in, err := prog.Inputs(nil, subject.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := newCounter(c)
	want := &plain{file: prog.File, plan: c.plan, threads: make(map[int32][]plainFrame), previous: make(map[int32]trace.PC), counts: make(map[string]uint64)}
	if _, err := prog.Run(t.Context(), subject.Request{Inputs: in, Plan: c.plan, Collectors: []trace.Collector{got, want}}); err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]uint64)
	graph := prog.Structure().Graph
	for _, x := range got.found {
		var names []string
		for n := x.Node; n > 0; n = got.walker.nodes[n].Parent {
			names = append(names, graph.Routines[got.walker.nodes[n].Routine].Name)
		}
		slices.Reverse(names)
		counts[strings.Join(names, " > ")] += x.Accesses
	}
	total := uint64(0)
	for path, n := range want.counts {
		if n != counts[path] {
			t.Errorf("%s: %d accesses, want %d", path, counts[path], n)
		}
		total += n
	}
	for path, n := range counts {
		if want.counts[path] == 0 {
			t.Errorf("%s: %d accesses, the reference has no such path", path, n)
		}
	}
	if total < 10000 || len(want.counts) < 20 || got.walker.lost > 0 {
		t.Errorf("%d accesses on %d paths, %d times lost", total, len(want.counts), got.walker.lost)
	}
}
