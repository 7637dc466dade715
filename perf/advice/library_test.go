package advice

import (
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/patterns"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestLibraries: loops of libraries are neither fused nor tiled, and of a library that
// clears memory the loop that comes after is told to set what it uses first.
func TestLibraries(t *testing.T) {
	in := "main/loop@1/loop@2"
	after := func(scope, source string) []patterns.Predicted {
		return []patterns.Predicted{row("L1", patterns.Pattern{Scope: scope, Source: source, Carrier: "main/loop@1", Object: "a"}, 700, 600)}
	}
	steps := []patterns.Predicted{
		row("L1", patterns.Pattern{Scope: "copy/loop@8/loop@9", Source: "copy/loop@8/loop@9", Carrier: "copy/loop@8", Crosses: true, Object: "a"}, 900, 800),
		row("L1", patterns.Pattern{Scope: "copy/loop@8/loop@9", Source: "copy/loop@8/loop@9", Carrier: "copy/loop@8/loop@9", Crosses: true, Object: "a"}, 5000, 0),
	}
	for name, c := range map[string]struct {
		rows  []patterns.Predicted
		want  Kind
		with  string
		ofLib string
	}{
		"cleared":                   {after(in, "memset/loop+0x3e"), Initialise, "memset", "memset/loop+0x3e"},
		"cleared without a loop":    {after(in, "libc.so.6!__memset_avx2_unaligned"), Initialise, "libc.so.6!__memset_avx2_unaligned", "libc.so.6!__memset_avx2_unaligned"},
		"cleared by Go":             {after(in, "runtime.memclrNoHeapPointers/loop+0x10"), Initialise, "runtime.memclrNoHeapPointers", "runtime.memclrNoHeapPointers/loop+0x10"},
		"cleared for a library":     {after("sort/loop@7", "memset/loop+0x3e"), Nothing, "", "sort/loop@7"},
		"copied":                    {after(in, "memcpy/loop+0x3e"), Nothing, "", "memcpy/loop+0x3e"},
		"a library's loop after":    {after("sort/loop@7", "f/loop@9"), Nothing, "", "sort/loop@7"},
		"both of the program":       {after(in, "main/loop@1/loop@3"), Fuse, "main/loop@1/loop@3", "memset"},
		"a library's own steps":     {steps, Nothing, "", "copy/loop@8"},
		"the same, of the program":  {steps, Tile, "", "memset"},
		"no loop of the program":    {after("main", "memset/loop+0x3e"), Nothing, "", "memset/loop+0x3e"},
		"a routine called memsetup": {after(in, "setmem/loop@4"), Fuse, "setmem/loop@4", "memset"},
	} {
		for i := range c.rows {
			c.rows[i].Libraries = map[string]bool{c.ofLib: true}
		}
		got, err := Predicted(small, c.rows)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0].Advice != c.want || got[0].With != c.with || got[0].Text == "" {
			t.Errorf("%s: %+v, want %s with %q", name, got, c.want, c.with)
		}
	}
}

// TestProgramOfTheLibrary: a C++ program whose vectors the library clears and sorts is
// advised on its own loops alone.
func TestProgramOfTheLibrary(t *testing.T) {
	prog := perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-g++"), []string{"-O2", "-g", "-static", perftest.Source(t, "sorted.cpp")}, "sorted")
	st := store.Open(t.TempDir())
	rows, err := Simulate(t.Context(), prog, profiletest.Machine(t, "zen4"), []subject.Point{{"n": 20000}}, patterns.SimulateOptions{
		RunOptions: subject.RunOptions{Args: "{n}", Store: st},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		if i == 0 && (r.Level != "L1" || r.Advice != Initialise || r.With != "memset" || !strings.HasPrefix(r.Where, "main/")) {
			t.Errorf("first comes %s of %s with %s in %s", r.Advice, r.Where, r.With, r.Level)
		}
		if r.Where != "" && !strings.HasPrefix(r.Where, "main/") || r.Advice == Fuse && !strings.HasPrefix(r.With, "main/") {
			t.Errorf("%s: %s of %s with %s: a library's loop", r.Level, r.Advice, r.Where, r.With)
		}
	}
}
