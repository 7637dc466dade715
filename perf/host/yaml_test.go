package host

import (
	"bytes"
	stdcmp "cmp"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"presage/perf/isa"
	"presage/perf/machine"
)

// everything is a description that uses every field.
const everything = `
title: "Everything: a \"test\""
processor: none
notes: |
  two
  lines
core:
  frequency: 1.5 GHz
  order: out
  width: {fetch: 3, issue: 4, retire: 5}
  window: 60
  queues:
    - {name: all, entries: 20, classes: [alu, load, store]}
    - {name: flow, entries: 5, classes: [branch, atomic]} # not where loads wait, on which atomic accesses fall back
  load_queue: 10
  store_queue: 11
  registers: {int: 80, float: 81}
  units: [{name: "a unit", count: 4}, {name: other}]
  classes:
    - {of: [alu, multiply, divide, branch], latency: 1 cycle, uses: [{any_of: ["a unit", other]}]}
    - {of: [fp add, fp multiply, fp divide, fp sqrt, fp fused], latency: 2.5 cycles, uses: [{any_of: ["a unit"], for: 2 cycles}, {any_of: [other]}]}
    - {of: [load, store], latency: 3 cycles, uses: [{any_of: ["a unit"]}]}
  branch: {predictor: tage, entries: 1024, history_bits: 99, loop_reach: 33, pattern_reach: 5000, mispredict_cost: 7 cycles}
  source: [s]
caches:
  - {name: L1, capacity: 3 KiB, block: 64 B, ways: 3, replacement: nmru, write: through, write_allocate: false, bypass_float: true, latency: 3 cycles, source: [s]}
  - {name: L2, capacity: 1 MiB, block: 64 B, ways: full, replacement: random, inclusive: true, source: [s, t]}
  - {name: L3, capacity: 2 MiB, block: 64 B, ways: 16, inclusion: exclusive, bandwidth: 16 B/cycle, source: [s]}
  - {name: L4, capacity: 4 MiB, block: 64 B, ways: 16, inclusion: victim, source: [s]}
tlbs:
  - {name: T, entries: 48, entry_maps: 16 KiB, ways: 4, replacement: nmru, bypass_float: true, miss_penalty: 20 cycles, source: [t]}
memory: {restart_latency: 100 cycles, back_to_back_latency: 150 cycles, stream_latency: 8 cycles, outstanding_misses: 6, bandwidth: 2.25 B/cycle, source: [t]}
prefetch:
  - {name: steps, kind: stride, at: L1, into: L2, degree: 2, distance: 3, entries: 5, confidence: 4, max_stride: 2 KiB, page: 16 KiB, source: [s]}
  - {name: "next one", kind: next line, at: L2, source: [t]}
exposures:
  - {level: L1, share: 0.5, source: [s]}
  - {level: memory, share: 0, source: [t]}
sources:
  s: "one: two # three"
  t: |
    lines
    of text
`

func TestWriteYAMLWritesEverything(t *testing.T) {
	m, err := machine.Parse("everything.yaml", []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	readsBack(t, m)
}

// TestWriteYAMLReadsBack demands that every description that comes with Presage
// is unchanged after being written and read again.
func TestWriteYAMLReadsBack(t *testing.T) {
	shipped := os.DirFS("../../machines")
	names, err := machine.Names(shipped)
	if err != nil || len(names) < 2 {
		t.Fatalf("%d machines, error %v", len(names), err)
	}
	for _, name := range names {
		m, err := machine.Find(name, shipped)
		if err != nil {
			t.Fatal(err)
		}
		readsBack(t, m)
	}
}

// readsBack writes and reads a machine. The order of the classes of a queue means
// nothing: those that fall back on others are added at its end.
func readsBack(t *testing.T, m *machine.Machine) {
	t.Helper()
	var text bytes.Buffer
	if err := WriteYAML(&text, m, "two\nlines"); err != nil {
		t.Fatal(err)
	}
	again, err := machine.Parse(m.Path, text.Bytes())
	if err != nil {
		t.Errorf("%v\n%s", err, &text)
		return
	}
	if diff := cmp.Diff(m, again, cmpopts.EquateEmpty(), cmpopts.SortSlices(stdcmp.Less[isa.Class])); diff != "" {
		t.Errorf("%s (- as read, + as written): %s", m.Name, diff)
	}
}
