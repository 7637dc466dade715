package catalog

import (
	"presage/perf/frame"
	"presage/perf/internal/perftest"
	"presage/perf/machine"
	"slices"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"
	"github.com/google/go-cmp/cmp"
)

func words(t *testing.T, df dataframe.DataFrame, name string) []string {
	t.Helper()
	v, err := frame.Strings(df, name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestCoreFrame(t *testing.T) {
	df := CoreFrame(found(t, "origin2000"))
	classes := words(t, df, "class")
	i := slices.Index(classes, "fp divide")
	j := slices.Index(classes, "csr")
	if i < 0 || j < 0 {
		t.Fatalf("classes %q", classes)
	}
	// The divider is free again after 21 cycles, 19 after it began.
	if got := [2]float64{perftest.Column(t, df, "latency_cycles")[i], perftest.Column(t, df, "per_cycle")[i]}; got != [2]float64{19, 1.0 / 21} {
		t.Errorf("fp divide: %v", got)
	}
	if got := words(t, df, "units")[i]; got != "FP multiplier, and FP divide for 21 cycles" {
		t.Errorf("fp divide: %q", got)
	}
	got := []string{words(t, df, "queue")[i], words(t, df, "timed_as")[i], words(t, df, "queue")[j], words(t, df, "timed_as")[j]}
	if diff := cmp.Diff([]string{"floating point", "fp divide", "integer", "alu"}, got); diff != "" {
		t.Error(diff)
	}
	m := found(t, "origin2000")
	m.Core.Classes = nil
	if df := CoreFrame(m); df.Err != nil || df.Nrow() != 0 || !slices.Contains(df.Names(), "per_cycle") {
		t.Errorf("of a core that is not described: %v", df)
	}
}

func TestMachineDiff(t *testing.T) {
	a := found(t, "origin2000")
	if df := MachineDiff(a, a); df.Err != nil || df.Nrow() != 0 {
		t.Errorf("a machine differs from itself: %v", df)
	}
	b := found(t, "origin2000")
	b.Core.Window = 32
	b.Memory.RestartLatency = 0
	b.TLBs = nil
	df := MachineDiff(a, b)
	var rows []string
	for i := range df.Nrow() {
		rows = append(rows, strings.Join([]string{
			words(t, df, "property")[i], words(t, df, "unit")[i], words(t, df, "a")[i], words(t, df, "b")[i],
		}, "|"))
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

func found(t *testing.T, name string) *machine.Machine {
	t.Helper()
	m, err := FindMachine(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
