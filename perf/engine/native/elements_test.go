//go:build linux && amd64

package native

import (
	"debug/elf"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/cpu"

	"presage/perf/engine"
	"presage/perf/trace"
)

// TestElements checks the accesses of instructions that choose elements by masks,
// indices, signs and bit numbers against those that the processor's manual says they
// make.
func TestElements(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the traced processes, their engine and its threads run in other tests, too")
	}
	if !cpu.X86.HasAVX2 {
		t.Skip("the processor has no AVX2")
	}
	source, err := os.ReadFile("testdata/elements.c")
	if err != nil {
		t.Fatal(err)
	}
	want := []reference{
		{'M', 1024 - 32, 8},
		{'L', 2048 + 12, 4},
		{'M', 3000 - 4, 2},
		{'L', 4096 + 77, 1},
		{'S', 8192, 4},
		{'S', 8200, 4},
		{'S', 8220, 4},
		{'L', 8256, 4},
		{'L', 8264, 4},
		{'L', 8284, 4},
		{'L', 16400, 4},
		{'L', 16400 - 20, 4},
		{'L', 16400 + 360, 4},
		{'S', 20481, 1},
		{'S', 20483, 1},
		{'S', 20495, 1},
	}
	flags := []string{"-O1", "-static", "-no-pie"}
	if cpu.X86.HasAVX512F {
		flags = append(flags, "-DWIDE", "-mavx512f", "-mavx512bw")
		want = append(want,
			reference{'L', 24576, 4}, reference{'L', 24584, 4}, reference{'L', 24636, 4},
			reference{'S', 24704, 4}, reference{'S', 24712, 4}, reference{'S', 24764, 4},
			reference{'S', 28672, 4}, reference{'S', 28676, 4}, reference{'S', 28680, 4},
			reference{'L', 28928, 4}, reference{'L', 28932, 4}, reference{'L', 28936, 4},
			reference{'L', 32776, 4}, reference{'L', 32776 - 20, 4}, reference{'L', 32776 + 72, 4},
			reference{'S', 40960, 4}, reference{'S', 40960 + 8000, 4}, reference{'L', 41024, 4},
			reference{'S', 49216, 64}, reference{'L', 49152, 64})
	}
	f := compile(t, string(source), flags...)
	area := symbol(t, f.Path, "area")
	d, err := Engine{}.Discover(t.Context(), f, engine.Request{})
	if err != nil {
		t.Fatal(err)
	}
	c := &recorded{plan: d.Plan}
	if _, err := (Engine{}).Run(t.Context(), f, engine.Request{Plan: d.Plan, Sink: trace.NewDirect(c)}); err != nil {
		t.Fatal(err)
	}
	var got []reference
	work := f.RoutineAt(symbol(t, f.Path, "work"))
	for i, r := range c.list {
		const lowest = 1 << chunkBits // the trace's address of address 0
		offset := r.addr - lowest - area
		if pc := uint64(d.Plan.Refs[c.ids[i]].PC); offset < 65536 && pc >= work.Addr && pc < work.End() {
			got = append(got, reference{r.kind, offset, r.size})
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("accesses\n%v, want\n%v", got, want)
	}
}

// symbol returns the address of a symbol.
func symbol(t *testing.T, path, name string) uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Name == name {
			return s.Value
		}
	}
	t.Fatalf("%s has no symbol %s", path, name)
	return 0
}
