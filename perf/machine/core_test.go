package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/isa"
)

// withCore is small with a core of its own.
var withCore = strings.Replace(small, "core:\n  frequency: 2.5 GHz\n  source: [made]\n", coreYAML, 1)

const coreYAML = `core:
  frequency: 2.5 GHz
  order: out
  width: {fetch: 4, issue: 3, retire: 4}
  window: 40
  queues:
    - {name: main, entries: 16, classes: [alu, load]}
  load_queue: 8
  registers: {int: 64, float: 80}
  units:
    - name: A
      count: 2
    - name: B
  classes:
    - of: [alu, multiply]
      latency: 1 cycle
      uses: [{any_of: [A, B]}]
    - of: [fp add, fp multiply, fp fused]
      latency: 4 cycles
      uses: [{any_of: [A], for: 2 cycles}, {any_of: [B]}]
    - of: [fp divide]
      latency: 12.5 cycles
      uses: [{any_of: [B], for: 10 cycles}]
    - of: [load, store, branch]
      latency: 3 cycles
      uses: [{any_of: [B]}]
  branch:
    predictor: gshare
    entries: 1024
    history_bits: 10
    loop_reach: 17
    mispredict_cost: 9 cycles
  source: [made]
`

func parseCore(t *testing.T) *Machine {
	t.Helper()
	if withCore == small {
		t.Fatal("no core in the small machine to replace")
	}
	m, err := Parse("small.yaml", []byte(withCore))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestParseCore(t *testing.T) {
	c := parseCore(t).Core
	arithmetic := Timing{Latency: 1, Uses: []Use{{[]string{"A", "B"}, 1}}}
	fp := Timing{Latency: 4, Uses: []Use{{[]string{"A"}, 2}, {[]string{"B"}, 1}}}
	divide := Timing{Latency: 12.5, Uses: []Use{{[]string{"B"}, 10}}}
	memory := Timing{Latency: 3, Uses: []Use{{[]string{"B"}, 1}}}
	want := Core{
		FetchWidth: 4, IssueWidth: 3, RetireWidth: 4, Window: 40,
		Queues: []Queue{{"main", 16, []isa.Class{
			isa.ALU, isa.Load, isa.Nop, isa.Shift, isa.Compare, isa.FPLoad, isa.Atomic,
			isa.SystemCall, isa.Breakpoint, isa.Fence, isa.CSR,
		}}},
		LoadQueue: 8, IntRegisters: 64, FloatRegisters: 80,
		Units: []Unit{{"A", 2}, {"B", 1}},
		Classes: map[isa.Class]Timing{
			isa.ALU: arithmetic, isa.Multiply: arithmetic, isa.Nop: arithmetic, isa.Shift: arithmetic, isa.Compare: arithmetic,
			isa.SystemCall: arithmetic, isa.Breakpoint: arithmetic, isa.Fence: arithmetic, isa.CSR: arithmetic,
			isa.FPAdd: fp, isa.FPMultiply: fp, isa.FPFused: fp, isa.FPConvert: fp, isa.FPMove: fp,
			isa.FPDivide: divide, isa.FPSqrt: divide, isa.Divide: divide,
			isa.Load: memory, isa.FPLoad: memory, isa.Atomic: memory, isa.Store: memory, isa.FPStore: memory,
			isa.Branch: memory, isa.Jump: memory, isa.IndirectJump: memory, isa.Call: memory, isa.Return: memory,
		},
		FallsBack: map[isa.Class]isa.Class{
			isa.Nop: isa.ALU, isa.Shift: isa.ALU, isa.Compare: isa.ALU, isa.Divide: isa.FPDivide, isa.FPSqrt: isa.FPDivide,
			isa.FPConvert: isa.FPAdd, isa.FPMove: isa.FPAdd, isa.FPLoad: isa.Load, isa.FPStore: isa.Store, isa.Atomic: isa.Load,
			isa.Jump: isa.Branch, isa.IndirectJump: isa.Branch, isa.Call: isa.Branch, isa.Return: isa.Branch,
			isa.SystemCall: isa.ALU, isa.Breakpoint: isa.ALU, isa.Fence: isa.ALU, isa.CSR: isa.ALU,
		},
		Branch: Branch{Predictor: "gshare", Entries: 1024, HistoryBits: 10, LoopReach: 17, MispredictCost: 9},
		Source: []string{"made"},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}

// TestParseCoreErrors changes one place of withCore at a time.
func TestParseCoreErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"window: 40", "windows: 40", `small.yaml:7:3: unknown field "windows"`},
		{"order: out", "order: sideways", `small.yaml:5:10: order: "sideways" is neither in nor out`},
		{"  order: out\n", "", "order is missing"},
		{"issue: 3, ", "", "width.issue is missing"},
		{"issue: 3", "issue: -3", "-3 is impossible"},
		{"issue: 3", "issue: 4", "small.yaml:6:28: 4 instructions a cycle cannot begin on 3 units"},
		{"issue: 3", "issue: three", "small.yaml:6:28:"},
		{"window: 40", "window: 3", "small.yaml:7:11: a window of 3 is less than a cycle's instructions"},
		{"  window: 40\n", "", "window is missing"},
		{"order: out", "order: in", "small.yaml:7:11: a core that executes in order has no window"},
		{"order: out\n  width: {fetch: 4, issue: 3, retire: 4}\n  window: 40", "order: in\n  width: {fetch: 4, issue: 3, retire: 4}", "has no queues"},
		{"entries: 16", "entries: 41", "small.yaml:9:29: a queue of 41 cannot fill: the window is 40"},
		{"entries: 16", "entries: 0", "entries is missing"},
		{"classes: [alu, load]", "classes: []", "classes is missing"},
		{"[alu, load]", "[alu, loads]", `small.yaml:9:48: there is no class of instructions "loads"; there are nop, alu, shift`},
		{"[alu, load]", "[alu, alu]", `small.yaml:9:48: class "alu" waits in queue "main" already`},
		{"[alu, load]", "[alu, vector]", `class "vector" waits in queue "main" but has no timing`},
		{"{name: main, ", "{", "name is missing"},
		{"load_queue: 8", "load_queue: 0", "small.yaml:10:15: 0 is impossible: want a number from 1"},
		{"int: 64", "int: 16", "small.yaml:11:20: 16 registers leave none to rename"},
		{"float: 80", "float: 1", "small.yaml:11:31: 1 registers leave none to rename"},
		{"load_queue: 8", "load_queue: 99999999", "small.yaml:10:15: 99999999 is impossible"},
		{"count: 2", "count: 0", "small.yaml:14:14: 0 units are impossible"},
		{"- name: B", "- name: A", `small.yaml:15:13: unit "A" is listed twice`},
		{"- name: B", "- name: B\n    - name: C", `small.yaml:16:13: no class of instructions uses unit "C"`},
		{"[{any_of: [A, B]}]", "[{any_of: [A, C]}]", `small.yaml:19:27: no unit is called "C"`},
		{"[{any_of: [A, B]}]", "[{any_of: [A, A]}]", `unit "A" is named twice`},
		{"[{any_of: [A, B]}]", "[{any_of: []}]", "any_of is missing"},
		{"[{any_of: [A, B]}]", "[" + strings.Repeat("{any_of: [A]}, ", 9) + "]", "9 uses are more than"},
		{"for: 2 cycles", "for: 2", `"2" has no unit; want one of cycles`},
		{"for: 2 cycles", "for: 0 cycles", `"0 cycles" is not positive`},
		{"latency: 1 cycle\n", "latency: 20000 cycles\n", "20000 cycles are impossible for an instruction"},
		{"      latency: 1 cycle\n", "", "latency is missing"},
		{"of: [alu, multiply]", "of: [alu, illegal]", `there is no class of instructions "illegal"`},
		{"of: [alu, multiply]", "of: []", "of is missing"},
		{"of: [alu, multiply]", "of: [alu]", "no timing for multiply: add it under classes:"},
		{"of: [fp divide]", "of: [fp divide, alu]", `small.yaml:23:23: class "alu" is timed twice`},
		{"predictor: gshare", "predictor: oracle", `small.yaml:30:16: predictor: "oracle" is none of bimodal, gshare, tage, static, perfect`},
		{"gshare\n    entries: 1024\n    history_bits: 10", "tage\n    history_bits: 5000", "a tage predictor combines 24 to 4096 directions, not 5000"},
		{"gshare\n    entries: 1024\n    history_bits: 10", "tage\n    history_bits: -1", "24 to 4096 directions, not -1"},
		{"loop_reach: 17", "pattern_reach: 4096", "a gshare predictor learns no patterns by their length"},
		{"gshare\n    entries: 1024\n    history_bits: 10", "tage\n    pattern_reach: -1", "-1 is impossible"},
		{"loop_reach: 17", "loop_reach: -1", "small.yaml:33:17: -1 is impossible"},
		{"gshare\n    entries: 1024\n    history_bits: 10\n", "static\n", "a static predictor learns no ends of loops"},
		{"predictor: gshare", "predictor: bimodal", "a bimodal predictor has no history"},
		{"predictor: gshare", "predictor: static", "a static predictor has no entries"},
		{"    predictor: gshare\n", "", "predictor is missing"},
		{"entries: 1024", "entries: 1000", "small.yaml:31:14: 1000 entries are not a power of two"},
		{"history_bits: 10", "history_bits: 11", "11 bits of history cannot index 1024 entries"},
		{"history_bits: 10", "history_bits: -1", "-1 bits of history"},
		{"mispredict_cost: 9 cycles", "mispredict_cost: 9 ns", `unknown unit "ns"`},
		{"  source: [made]\ncaches", "caches", "source is missing"},
		{"    source: [made]\n  - name: L2", "    latency: 2 cycles\n    source: [made]\n  - name: L2", "2 cycles are neither the latency of a load (3) nor that of an fp load (3)"},
	} {
		if !strings.Contains(withCore, c.old) {
			t.Fatalf("no %q to replace", c.old)
		}
		_, err := Parse("small.yaml", []byte(strings.Replace(withCore, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "small.yaml:") {
			t.Errorf("%q for %q:\n got %v\nwant %s", c.new, c.old, err, c.want)
		}
	}
}

func TestExposures(t *testing.T) {
	text := func(list string) string {
		return strings.Replace(small, "sources:", "exposures:\n"+list+"sources:", 1)
	}
	m, err := Parse("small.yaml", []byte(text("  - {level: L1, share: 0.5, source: [made]}\n  - {level: TLB, share: 0, source: [made]}\n")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Exposure{{"L1", 0.5, []string{"made"}}, {"TLB", 0, []string{"made"}}}, m.Exposures); diff != "" {
		t.Error(diff)
	}
	for _, c := range []struct{ list, want string }{
		{"  - {level: L3, share: 1, source: [made]}\n", `small.yaml:32:13: no misses of "L3" can be waited for; there are L1, memory, TLB`},
		{"  - {level: L2, share: 1, source: [made]}\n", `no misses of "L2" can be waited for`}, // its misses are those to memory
		{"  - {level: L1, share: 1.5, source: [made]}\n", "small.yaml:32:24: a share of 1.5 is impossible"},
		{"  - {level: L1, share: .nan, source: [made]}\n", "a share of NaN is impossible"},
		{"  - {level: L1, source: [made]}\n", "share is missing"},
		{"  - {share: 1, source: [made]}\n", "level is missing"},
		{"  - {level: L1, share: 1}\n", "source is missing"},
		{"  - {level: L1, share: 1, source: [made]}\n  - {level: L1, share: 1, source: [made]}\n", `small.yaml:33:13: the share of "L1" is given twice`},
		{"  - {level: L1, share: 50%, source: [made]}\n", "small.yaml:32:"},
	} {
		_, err := Parse("small.yaml", []byte(text(c.list)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.list, err, c.want)
		}
	}
	if _, err := Parse("small.yaml", []byte(strings.Replace(small, "name: L1", "name: memory", 1))); err == nil || !strings.Contains(err.Error(), "no name for a cache") {
		t.Errorf("a cache called memory: %v", err)
	}
}

// TestShippedMachines: every description that comes with Presage is valid, and
// describes its core.
func TestShippedMachines(t *testing.T) {
	names, err := Names(shipped)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 14 || !slices.IsSorted(names) || !slices.Contains(names, "origin2000") {
		t.Errorf("found %v", names)
	}
	for _, name := range names {
		m, err := Find(name, shipped)
		if err != nil {
			t.Error(err)
			continue
		}
		checkMachine(t, m)
		if !m.Core.Described() || len(m.Core.Source) == 0 {
			t.Errorf("%s: the core is not described", name)
		}
		for _, class := range isa.Classes() {
			if _, ok := m.Core.Classes[class]; ok == (class == isa.Illegal || class == isa.Vector) {
				t.Errorf("%s: class %v timed: %t", name, class, ok)
			}
		}
		if strings.TrimSpace(m.Notes) == "" {
			t.Errorf("%s: no notes about what is not described", name)
		}
	}
}

// checkMachine holds what Parse accepted against what its users rely on.
func checkMachine(t *testing.T, m *Machine) {
	t.Helper()
	c := &m.Core
	units := make(map[string]bool)
	for _, u := range c.Units {
		units[u.Name] = true
		if u.Count < 1 {
			t.Errorf("%s: %d units %q", m.Name, u.Count, u.Name)
		}
	}
	for class, timing := range c.Classes {
		if timing.Latency <= 0 {
			t.Errorf("%s: class %v has a latency of %v", m.Name, class, timing.Latency)
		}
		for _, u := range timing.Uses {
			if u.Cycles <= 0 || len(u.AnyOf) == 0 || slices.ContainsFunc(u.AnyOf, func(name string) bool { return !units[name] }) {
				t.Errorf("%s: class %v uses %v", m.Name, class, u)
			}
		}
		if rate := c.Throughput(class); !(rate > 0) || rate > float64(c.Width()) {
			t.Errorf("%s: %v instructions %v a cycle of at most %d", m.Name, rate, class, c.Width())
		}
	}
	for class, as := range c.FallsBack {
		if diff := cmp.Diff(c.Classes[as], c.Classes[class]); diff != "" {
			t.Errorf("%s: class %v as %v: %s", m.Name, class, as, diff)
		}
	}
	for _, class := range requiredClasses {
		if _, ok := c.Classes[class]; c.Described() && !ok {
			t.Errorf("%s: class %v has no timing", m.Name, class)
		}
	}
	if d := Diff(m, m); len(d) != 0 {
		t.Errorf("%s differs from itself: %v", m.Name, d)
	}
	if text := m.Explain(); !strings.Contains(text, m.Title) {
		t.Errorf("%s: explained without its title: %s", m.Name, text)
	}
}

// TestPenaltyFormula is the formula of the 2004 paper, section 3.2: an L1 miss
// costs 50% of 8 cycles, an L2 miss 100% of 81 cycles, a TLB miss 78 cycles.
func TestPenaltyFormula(t *testing.T) {
	m, err := Find("origin2000", shipped)
	if err != nil {
		t.Fatal(err)
	}
	share := make(map[string]float64)
	for _, e := range m.Exposures {
		share[e.Level] = e.Share
	}
	got := []float64{
		share["L1"] * float64(m.Caches[1].Latency-m.Caches[0].Latency),
		share[MemoryLevel] * float64(m.Memory.RestartLatency-m.Caches[1].Latency),
		share[TLBLevel] * float64(m.TLBs[0].MissPenalty),
	}
	if diff := cmp.Diff([]float64{0.5 * 8, 81, 78}, got); diff != "" {
		t.Error(diff)
	}
}

// TestFigure5 is Figure 5 of Hsu and Kremer (1998): sets, block size and ways of
// each cache, entries and page size of the fully associative TLBs.
func TestFigure5(t *testing.T) {
	figure := map[string]string{
		"ultrasparc-2": "512/32/1 32768/64/1 64/8192",
		"ultrasparc-1": "512/32/1 8192/64/1 64/8192",
		"supersparc-2": "128/32/4 8192/128/1 64/4096",
		"supersparc-1": "128/32/4 8192/128/1 64/4096",
	}
	for name, want := range figure {
		m, err := Find(name, shipped)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range m.Caches {
			got = append(got, fmt.Sprintf("%d/%d/%d", c.Sets(), c.BlockBytes, c.Ways))
		}
		for _, b := range m.TLBs {
			got = append(got, fmt.Sprintf("%d/%d", b.Entries, b.EntryBytes))
			if b.Ways != 0 {
				t.Errorf("%s: TLB of %d ways", name, b.Ways)
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: got %s, want %s", name, text, want)
		}
		if n := m.Memory.OutstandingMisses; n != 1 {
			t.Errorf("%s: %d misses at once of a level 2 that blocks", name, n)
		}
	}
}

// TestCoresInTheirSources holds round numbers of the sources that the files name
// against the files: order, widths to fetch, issue and retire, window, queues,
// registers, latencies of load, fp add, fp multiply, fp divide.
func TestCoresInTheirSources(t *testing.T) {
	want := map[string]string{
		"alpha-ev68":        "out 4/6/8 80 [20 15] 72+72 3 4 4 15",
		"apple-m1":          "out 8/14/8 623 [] 380+434 4 3 4 10",
		"golden-cove":       "out 6/12/8 512 [112 72 48] 0+0 5 3 4 14",
		"itanium2":          "in 6/6/6 0 [] 128+128 1 4 4 28",
		"neoverse-n1":       "out 4/8/4 128 [] 0+0 4 2 3 15",
		"origin2000":        "out 4/5/4 48 [16 16 16] 64+64 2 2 2 19",
		"power3":            "out 8/8/4 32 [] 48+56 2 4 4 18",
		"sifive-u74":        "in 0/2/0 0 [] 0+0 2 7 7 56",
		"sifive-u74-llvm14": "in 0/2/0 0 [] 0+0 3 7 7 56",
		"supersparc-1":      "in 0/3/0 0 [] 0+0 1 3 3 9",
		"supersparc-2":      "in 0/3/0 0 [] 0+0 1 3 3 9",
		"ultrasparc-1":      "in 4/4/0 0 [] 0+0 2 3 3 22",
		"ultrasparc-2":      "in 4/4/0 0 [] 0+0 2 3 3 22",
		"zen4":              "out 6/14/9 320 [96 64] 224+192 4 3 3 13",
	}
	got := make(map[string]string)
	for name := range want {
		m, err := Find(name, shipped)
		if err != nil {
			t.Fatal(err)
		}
		c := &m.Core
		var queues []int
		for _, q := range c.Queues {
			queues = append(queues, q.Entries)
		}
		got[name] = fmt.Sprintf("%s %d/%d/%d %d %v %d+%d", order(c), c.FetchWidth, c.IssueWidth, c.RetireWidth, c.Window, queues, c.IntRegisters, c.FloatRegisters)
		for _, class := range []isa.Class{isa.Load, isa.FPAdd, isa.FPMultiply, isa.FPDivide} {
			got[name] += fmt.Sprintf(" %v", float64(c.Classes[class].Latency))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWidth(t *testing.T) {
	for _, c := range []struct {
		core Core
		want int
	}{
		{Core{FetchWidth: 6, IssueWidth: 14, RetireWidth: 9}, 6},
		{Core{FetchWidth: 8, IssueWidth: 8, RetireWidth: 4}, 4},
		{Core{IssueWidth: 2}, 2},
		{Core{}, 0},
	} {
		if got := c.core.Width(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.core, got, c.want)
		}
	}
}

func TestDiff(t *testing.T) {
	a, b := parseCore(t), parseCore(t)
	b.Core.Classes[isa.FPDivide] = Timing{Latency: 20, Uses: []Use{{[]string{"B"}, 10}}}
	b.Core.Window = 0
	b.Memory.OutstandingMisses = 7
	b.Core.Units = append(b.Core.Units, Unit{"C", 1})
	want := []Difference{
		{"window", "", "40", ""},
		{"fp divide latency", "cycles", "12.5", "20"},
		{"unit C", "", "", "1"},
		{"memory outstanding misses", "", "", "7"},
	}
	if diff := cmp.Diff(want, Diff(a, b)); diff != "" {
		t.Error(diff)
	}
	back := Diff(b, a)
	if len(back) != len(want) {
		t.Errorf("%d differences one way, %d the other", len(want), len(back))
	}
	for _, d := range back {
		if !slices.Contains(want, Difference{d.Property, d.Unit, d.B, d.A}) {
			t.Errorf("only one way: %v", d)
		}
	}
}

func TestExplain(t *testing.T) {
	got := parseCore(t).Explain()
	for _, want := range []string{
		"Small (small)", "out of order, up to 40 in flight", "4 fetched, 3 begin to execute, 4 retire",
		"Units: 2 x A, B.", "gshare, 1024 counters, 10 bits of history, ends of loops foreseen up to 17 iterations; a wrong one costs 9 cycles",
		"fp add, fp multiply, fp fused  4     1    A for 2 cycles, and B",
		"fp sqrt as fp divide", "L1: 32 KiB in blocks of 64 B, 8-way, NMRU replacement, writes through, no allocation; a hit takes unknown time.",
		"takes 200 cycles, in a sequence of such unknown time", "all latencies in full", "made: up",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	m, err := Parse("small.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if text := m.Explain(); !strings.Contains(text, "The core is not described") {
		t.Errorf("a machine without a core: %s", text)
	}
}
