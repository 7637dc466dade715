//go:build unix

package rv64

import (
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"testing"

	"presage/perf/cfg"
	"presage/perf/engine"
	"presage/perf/engine/enginetest"
	"presage/perf/isa"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// TestConformance tests the engine, in each mode, against the contract, on a Go
// program with the threads of Go's runtime.
func TestConformance(t *testing.T) {
	const path = "presage/datasets/programs/matmul"
	args := []string{"-n", "24", "-repeat", "3"}
	if testing.Short() {
		args = []string{"-n", "8", "-repeat", "1"}
	}
	f, err := objfile.Open(goBuild(t, path, "linux", "riscv64"))
	if err != nil {
		t.Fatal(err)
	}
	native, err := exec.Command(goBuild(t, path, runtime.GOOS, runtime.GOARCH), args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var a asm
	a.word(ebreakWord)
	s := enginetest.Subject{
		File: f, Input: engine.Request{Args: args}, Plan: planOfBlocks(f), Output: string(native), Threads: 2,
		Failing: []string{"-nonsense"}, FailingStatus: 2, Trap: readFile(t, assemble(a.text, nil, pageBytes)),
	}
	for name, mode := range modes(t) {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && mode == Interpret && hasJIT() {
				t.Skip("slow under the race detector; the translator interprets, too")
			}
			enginetest.Test(t, Engine{Mode: mode}, s)
		})
	}
}

// planOfBlocks plans all basic blocks that static analysis finds, with all their
// references. Where routines share code, a block ends where another begins.
func planOfBlocks(f *objfile.File) *trace.Plan {
	insts := make(map[trace.PC]*isa.Inst)
	starts := make(map[trace.PC]bool)
	for _, r := range cfg.Analyze(f).Routines {
		for b := range r.Blocks {
			starts[trace.PC(r.Blocks[b].Insts[0].PC)] = true
			for i := range r.Blocks[b].Insts {
				in := &r.Blocks[b].Insts[i]
				insts[trace.PC(in.PC)] = in
			}
		}
	}
	kinds := map[isa.MemKind]trace.Kind{isa.MemLoad: trace.Load, isa.MemStore: trace.Store, isa.MemReadModifyWrite: trace.ReadModifyWrite}
	p := new(trace.Plan)
	for _, pc := range slices.Sorted(maps.Keys(insts)) {
		if starts[pc] {
			p.Blocks = append(p.Blocks, trace.Block{PC: pc})
		}
		block := &p.Blocks[len(p.Blocks)-1]
		block.Instructions++
		for k, m := range insts[pc].Mems() {
			block.Refs++
			p.Refs = append(p.Refs, trace.Ref{PC: pc, Operand: uint8(k), Size: m.Size, Kind: kinds[m.Kind], Float: m.Float, Group: trace.GroupID(len(p.Refs))})
		}
	}
	return p
}
