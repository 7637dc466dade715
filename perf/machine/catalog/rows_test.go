package catalog

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/machine"
)

func TestList(t *testing.T) {
	list, err := List()
	if err != nil || len(list) < 3 {
		t.Fatalf("%d machines, %v", len(list), err)
	}
	for _, r := range list {
		if m := found(t, r.Machine); m.Title != r.Title || m.Processor != r.Processor || float64(m.Frequency) != r.Frequency {
			t.Errorf("row %+v of %+v", r, m)
		}
	}
}

func TestLevels(t *testing.T) {
	m := found(t, "origin2000")
	rows := Levels(m)
	if len(rows) != len(m.Caches)+len(m.TLBs) {
		t.Fatalf("%d levels", len(rows))
	}
	// The processor is the R10000: 32 KiB of 2 ways, 8 MiB of 2 ways, 64 entries of
	// 32 KiB (two pages).
	for i, want := range []LevelRow{
		{Level: "L1", Kind: "cache", Blocks: 1024, Ways: 2, Block: 32, Capacity: 32 << 10},
		{Level: "L2", Kind: "cache", Blocks: 65536, Ways: 2, Block: 128, Capacity: 8 << 20},
		{Level: "TLB", Kind: "tlb", Blocks: 64, Ways: 64, Block: 32 << 10, Capacity: 2 << 20},
	} {
		r := rows[i]
		if r.Level != want.Level || r.Kind != want.Kind || r.Blocks != want.Blocks || r.Ways != want.Ways || r.Block != want.Block || r.Capacity != want.Capacity || r.Sets*r.Ways != r.Blocks || r.Source == "" {
			t.Errorf("got %+v, want %+v", r, want)
		}
	}
	if rows[2].Latency != 78 {
		t.Errorf("a miss in the TLB takes %g cycles", rows[2].Latency)
	}
}

func TestClasses(t *testing.T) {
	m := found(t, "origin2000")
	byClass := make(map[string]ClassRow)
	for _, r := range Classes(m) {
		byClass[r.Class] = r
	}
	// The divider is free again after 21 cycles, 19 after it began.
	want := ClassRow{"origin2000", "fp divide", 19, 1.0 / 21, "FP multiplier, and FP divide for 21 cycles", "floating point", "fp divide"}
	if diff := cmp.Diff(want, byClass["fp divide"]); diff != "" {
		t.Error(diff)
	}
	if r := byClass["csr"]; r.Queue != "integer" || r.TimedAs != "alu" {
		t.Errorf("csr: %+v", r)
	}
	m.Core.Classes = nil
	if rows := Classes(m); len(rows) != 0 {
		t.Errorf("of a core that is not described: %v", rows)
	}
}

func TestDiff(t *testing.T) {
	a := found(t, "origin2000")
	if rows := Diff(a, a); len(rows) != 0 {
		t.Errorf("a machine differs from itself: %v", rows)
	}
	b := found(t, "origin2000")
	b.Core.Window = 32
	b.Memory.RestartLatency = 0
	b.TLBs = nil
	var rows []string
	for _, r := range Diff(a, b) {
		rows = append(rows, strings.Join([]string{r.Property, r.Unit, r.A, r.B}, "|"))
	}
	want := []string{
		"window||48|32",
		"TLB entries||64|",
		"TLB memory an entry maps|bytes|32768|",
		"TLB ways||full|",
		"TLB replacement||LRU|",
		"TLB miss penalty|cycles|78|",
		"memory restart latency|cycles|92|",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

func TestFindReportsUnknownNames(t *testing.T) {
	for _, name := range []string{"nowhere", "no/such.yaml"} {
		if _, err := Find(name); err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(name, ".yaml")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	names, err := Names()
	if err != nil || !slices.IsSorted(names) || !slices.Contains(names, "origin2000") {
		t.Errorf("%q, %v", names, err)
	}
}

func found(t *testing.T, name string) *machine.Machine {
	t.Helper()
	m, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
