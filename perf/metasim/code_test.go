package metasim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/metasim"
	"presage/perf/trace"
)

// TestCodeOfSharedBlocks takes two routines that share their tail: a block ends
// where another begins, and each instruction is in exactly one block.
func TestCodeOfSharedBlocks(t *testing.T) {
	insts := func(pcs ...uint64) (list []isa.Inst) {
		for _, pc := range pcs {
			in := isa.Inst{PC: pc}
			if pc%8 == 0 {
				in.AddMem(isa.Mem{Kind: isa.MemLoad, Size: 8, Base: isa.NoReg, Index: isa.NoReg})
			}
			list = append(list, in)
		}
		return list
	}
	p := &cfg.Program{Routines: []*cfg.Routine{
		{Name: "f", Blocks: []cfg.Block{{Insts: insts(0, 4, 8, 12, 16)}, {Insts: insts(32, 36)}}},
		{Name: "g", Blocks: []cfg.Block{{Insts: insts(8, 12, 16)}, {Insts: insts(20)}, {Insts: insts(32, 36)}}},
	}}
	code, err := metasim.CodeOf(p)
	if err != nil {
		t.Fatal(err)
	}
	want := []metasim.Block{
		{PC: 0, Instructions: 2, Refs: 1, Routine: "f"},
		{PC: 8, Instructions: 3, Refs: 2, Routine: "g"},
		{PC: 20, Instructions: 1, Routine: "g"},
		{PC: trace.PC(32), Instructions: 2, Refs: 1, Routine: "f"},
	}
	if d := cmp.Diff(want, code.Blocks); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := metasim.CodeOf(&cfg.Program{}); err == nil {
		t.Error("no code: no error")
	}
}
