package host

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"presage/perf/isa"
	"presage/perf/machine"
	"presage/perf/progress"
)

func exact(ns float64) Sample { return Sample{ns, ns, ns} }

// knownProfile is of a machine at 4 GHz whose every number is known: times are
// given in cycles.
func knownProfile() *Profile {
	cycles := func(c float64) Sample { return exact(c / 4) }
	return &Profile{
		Processor: `a "known" core`, System: "none/none", Began: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		PageBytes: 4096, LineBytes: 64, HugePages: true, Cycle: cycles(1),
		Levels: []Level{
			{"L1D", Geometry{1, 48 << 10, 64, 12, "0"}, 46336, 55104, cycles(4.1)},
			{"L2", Geometry{}, 1 << 20, 1246912, cycles(13.6)},
		},
		MemoryNs:     exact(100),
		StreamNs:     cycles(9.2),
		LoopReach:    64,
		LoopHi:       76,
		PatternReach: 4096,
		PatternHi:    8192,
		Outstanding:  11.7,
		Pages:        []Paged{{8, cycles(4), cycles(4)}, {16384, cycles(100), cycles(30)}},
		TLBs:         []Reach{{91, 108, 7.0 / 4, false}, {1448, 1722, 30.0 / 4, true}},
		Operations: []Operation{
			{isa.ALU, cycles(1), cycles(0.26)},
			{isa.Multiply, cycles(3), cycles(1)},
			{isa.Divide, cycles(18.2), cycles(7.1)},
			{isa.FPAdd, cycles(3), cycles(0.5)},
			{isa.FPMultiply, cycles(4), cycles(0.5)},
			{isa.FPDivide, cycles(13), cycles(4)},
			{isa.FPSqrt, cycles(19), cycles(6)},
			{isa.FPFused, cycles(4), cycles(0.5)},
			{Class: isa.Load, Reciprocal: cycles(0.34)},
			{Class: isa.Store, Reciprocal: cycles(1)},
			{Class: isa.Branch, Reciprocal: cycles(0.5)},
		},
		Mixes: []Mix{
			{isa.FPAdd, isa.FPMultiply, cycles(0.52)},  // apart: 0.5, not 1
			{isa.FPDivide, isa.FPSqrt, cycles(9.8)},    // together: 10, not 6
			{isa.FPMultiply, isa.FPFused, cycles(1.0)}, // together: 1
			{isa.FPAdd, isa.FPFused, cycles(0.5)},      // apart
		},
		MixNs: cycles(1 / 5.7), Mispredict: cycles(15.2), WindowLo: 216, WindowHi: 234,
		Warnings: []string{"a: \"doubt\"\nin two lines"},
	}
}

func readBack(t *testing.T, p *Profile) *machine.Machine {
	t.Helper()
	text, err := p.YAML()
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.Parse("known.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m
}

// TestMachineOfKnownProfile demands that the description, read back, has the
// known numbers.
func TestMachineOfKnownProfile(t *testing.T) {
	m := readBack(t, knownProfile())
	type cacheRow struct {
		Name    string
		Bytes   machine.Bytes
		Block   uint64
		Ways    int
		Latency machine.Cycles
		Source  string
	}
	var caches []cacheRow
	for _, c := range m.Caches {
		caches = append(caches, cacheRow{c.Name, c.Capacity(), c.BlockBytes, c.Ways, c.Latency, strings.Join(c.Source, " ")})
	}
	wantCaches := []cacheRow{{"L1D", 48 << 10, 64, 12, 4, "chase system"}, {"L2", 1 << 20, 64, 0, 14, "chase"}}
	if diff := cmp.Diff(wantCaches, caches); diff != "" {
		t.Errorf("caches: %s", diff)
	}
	if len(m.TLBs) != 2 || m.TLBs[0].Entries != 96 || m.TLBs[0].MissPenalty != 7 || m.TLBs[1].Entries != 1536 || m.TLBs[1].MissPenalty != 30 || m.TLBs[1].EntryBytes != 4096 {
		t.Errorf("TLBs %+v", m.TLBs)
	}
	if m.Frequency != 4e9 || m.Memory.RestartLatency != 400 || m.Memory.OutstandingMisses != 12 || m.Memory.StreamLatency != 9 {
		t.Errorf("frequency %v, memory %+v", m.Frequency, m.Memory)
	}
	c := m.Core
	if c.InOrder || c.Window != 216 || c.IssueWidth != 6 || c.Branch.MispredictCost != 15 || c.Branch.LoopReach != 64 || c.Branch.Predictor != "tage" || c.Branch.PatternReach != 4096 {
		t.Errorf("core %+v", c)
	}
	wantUnits := []machine.Unit{
		{Name: "ALU", Count: 4},
		{Name: "multiplier", Count: 1},
		{Name: "divider", Count: 1},
		{Name: "FP adder", Count: 2},
		{Name: "FP multiplier", Count: 2},
		{Name: "FP divider", Count: 1},
		{Name: "load", Count: 3},
		{Name: "store", Count: 1},
		{Name: "branch", Count: 2},
	}
	if diff := cmp.Diff(wantUnits, c.Units); diff != "" {
		t.Errorf("units: %s", diff)
	}
	one := func(unit string, busy machine.Cycles) []machine.Use {
		return []machine.Use{{AnyOf: []string{unit}, Cycles: busy}}
	}
	for class, want := range map[isa.Class]machine.Timing{
		isa.ALU:        {Latency: 1, Uses: one("ALU", 1)},
		isa.Divide:     {Latency: 18, Uses: one("divider", 7)},
		isa.FPDivide:   {Latency: 13, Uses: one("FP divider", 4)},
		isa.FPSqrt:     {Latency: 19, Uses: one("FP divider", 6)},
		isa.FPFused:    {Latency: 4, Uses: one("FP multiplier", 1)},
		isa.FPMultiply: {Latency: 4, Uses: one("FP multiplier", 1)},
		isa.Load:       {Latency: 4, Uses: one("load", 1)},
		isa.Store:      {Latency: 1, Uses: one("store", 1)},
	} {
		if diff := cmp.Diff(want, c.Classes[class]); diff != "" {
			t.Errorf("%v: %s", class, diff)
		}
	}
	for _, want := range []string{`Warning: a: "doubt"`, "LRU"} {
		if !strings.Contains(m.Notes, want) {
			t.Errorf("notes lack %q: %s", want, m.Notes)
		}
	}
	for name, text := range m.Sources {
		if said := name == saidSource; said == strings.HasPrefix(text, "measured: ") {
			t.Errorf("source %s: %s", name, text)
		}
	}
}

// TestMachineOfOtherProfiles checks variants of the known machine, each with
// its expected differences.
func TestMachineOfOtherProfiles(t *testing.T) {
	t.Run("shared units", func(t *testing.T) {
		p := knownProfile()
		for i := range p.Mixes {
			p.Mixes[i].Pair = exact(4) // longer than any sum: all shared
		}
		m := readBack(t, p)
		want := []machine.Use{{AnyOf: []string{"FP"}, Cycles: 1}}
		for _, class := range []isa.Class{isa.FPAdd, isa.FPMultiply, isa.FPFused} {
			if diff := cmp.Diff(want, m.Core.Classes[class].Uses); diff != "" {
				t.Errorf("%v: %s", class, diff)
			}
		}
	})
	t.Run("no fused multiply-add", func(t *testing.T) {
		p := knownProfile()
		p.Operations = append(p.Operations[:7:7], p.Operations[8:]...)
		p.Mixes = p.Mixes[:2]
		got := readBack(t, p).Core.Classes[isa.FPFused]
		want := machine.Timing{Latency: 7, Uses: []machine.Use{{AnyOf: []string{"FP multiplier"}, Cycles: 1}, {AnyOf: []string{"FP adder"}, Cycles: 1}}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("in order", func(t *testing.T) {
		p := knownProfile()
		p.InOrder, p.WindowLo, p.WindowHi = true, 0, 0
		if c := readBack(t, p).Core; !c.InOrder || c.Window != 0 {
			t.Errorf("core %+v", c)
		}
	})
	t.Run("no window found", func(t *testing.T) {
		p := knownProfile()
		p.WindowLo, p.WindowHi = 0, 18
		if m := readBack(t, p); m.Frequency != 4e9 || len(m.Core.Classes) != 0 {
			t.Errorf("a core without a window is described: %+v", m.Core)
		}
	})
	t.Run("no TLB", func(t *testing.T) {
		p := knownProfile()
		p.TLBs = nil
		if m := readBack(t, p); len(m.TLBs) != 0 {
			t.Errorf("TLBs %+v", m.TLBs)
		}
	})
}

// chased makes the latencies of a known machine.
func chased(k known) *calibration {
	c := &calibration{Profile: &Profile{Cycle: exact(0.25), LineBytes: 64}, largest: 256 << 20}
	for _, bytes := range sizes(firstBytes, c.largest, 64, 4) {
		c.Latencies = append(c.Latencies, Latency{false, bytes, exact(k.at(float64(bytes), true))})
	}
	return c
}

// TestFindLevels finds levels with and without the system's description of
// them.
func TestFindLevels(t *testing.T) {
	k := machines[0]
	said := []Geometry{{1, 48 << 10, 64, 12, "0"}, {2, 1 << 20, 64, 16, "0"}, {3, 32 << 20, 64, 16, "0-1"}}
	for _, geometry := range [][]Geometry{said, nil} {
		c := chased(k)
		c.Geometry = geometry
		c.findLevels()
		if len(c.Levels) != 3 || len(c.Warnings) != 0 {
			t.Fatalf("levels %+v, warnings %q", c.Levels, c.Warnings)
		}
		for i, l := range c.Levels {
			if l.Load.Min != k.latency[i] || float64(l.DetectedLo) > k.capacity[i] || float64(l.DetectedHi) <= k.capacity[i] {
				t.Errorf("level %d is %+v, want %g ns and %g bytes", i, l, k.latency[i], k.capacity[i])
			}
		}
		if c.MemoryNs.Min != k.latency[3] {
			t.Errorf("memory %g ns, want %g", c.MemoryNs.Min, k.latency[3])
		}
	}

	crowded := chased(known{[]float64{48 << 10, 1 << 20, 8 << 20}, k.latency})
	crowded.Geometry = said
	crowded.findLevels()
	if l := crowded.Levels[2]; l.DetectedLo != 8<<20 || l.Load.Min != k.latency[2] || !strings.Contains(strings.Join(crowded.Warnings, ""), "others use the rest") {
		t.Errorf("a shared cache of which a quarter is left: %+v, warnings %q", l, crowded.Warnings)
	}

	// A busy third level, whose latency doubles within it: no plateau.
	slope := chased(k)
	slope.Geometry = said
	for i, l := range slope.Latencies {
		if b := float64(l.Bytes); b > 1<<20 && b <= 32<<20 {
			slope.Latencies[i].Load = exact(12 * math.Pow(b/(1<<20), 0.35))
		}
	}
	slope.findLevels()
	if l := slope.Levels[1]; l.DetectedLo != 1<<20 || len(slope.Warnings) != 0 {
		t.Errorf("before a slope: %+v, warnings %q", l, slope.Warnings)
	}

	close := chased(known{[]float64{512 << 10, 896 << 10}, []float64{1, 4, 50}})
	close.Geometry = []Geometry{{1, 512 << 10, 64, 8, ""}, {2, 896 << 10, 64, 7, ""}}
	close.findLevels()
	if l := close.Levels; l[0].Load.Min != 1 || l[1].Load.Min != 4 {
		t.Errorf("a second level of less than twice the first: %+v", l)
	}

	odd := chased(k)
	odd.Geometry = []Geometry{said[0], said[2]}
	odd.findLevels()
	if !strings.Contains(strings.Join(odd.Warnings, ""), "no cache of the system explains") {
		t.Errorf("a step that the system does not explain goes unsaid: %q", odd.Warnings)
	}
}

// TestFindReaches finds the steps of the difference, with one disturbed point
// in either curve.
func TestFindReaches(t *testing.T) {
	c := chased(machines[0])
	for n := 8; n <= 16<<10; n += n / 4 {
		d, s := 1.0, 1.0
		if n > 96 {
			s += 2
		}
		if n > 1536 {
			s += 20
		}
		if n > 800 {
			d, s = d+3, s+3
		}
		if n > 300 && n < 380 {
			d *= 5
		}
		if n > 500 && n < 600 {
			s *= 5
		}
		c.Pages = append(c.Pages, Paged{n, exact(s), exact(d)})
	}
	c.findReaches()
	if len(c.TLBs) != 2 {
		t.Fatalf("TLBs %+v, want two", c.TLBs)
	}
	for i, want := range []struct {
		entries int
		ns      float64
	}{{96, 2}, {1536, 20}} {
		r := c.TLBs[i]
		if r.Lo > want.entries || r.Hi <= want.entries || math.Abs(r.Penalty-want.ns) > 1e-9 || r.Rising {
			t.Errorf("TLB %+v, want %d entries and %g ns", r, want.entries, want.ns)
		}
	}
}

func TestFindWindow(t *testing.T) {
	profile := func(window int) *calibration {
		c := &calibration{Profile: &Profile{Parallel: []Parallel{{1, exact(100)}}}}
		for n := 0; n < 600; n += fillerOps {
			filler := float64(n) / 10
			pair := 100 + filler
			if n > window {
				pair = 200 + filler
			}
			if n == 90 {
				pair *= 3 // disturbed
			}
			c.Windows = append(c.Windows, Window{n, exact(pair), exact(filler)})
		}
		c.findWindow()
		return c
	}
	if c := profile(224); c.InOrder || c.WindowLo != 216 || c.WindowHi != 234 {
		t.Errorf("a window of 224: in order %v, from %d to %d", c.InOrder, c.WindowLo, c.WindowHi)
	}
	if c := profile(-1); !c.InOrder {
		t.Errorf("a core that overlaps nothing is not in order")
	}
	if c := profile(1000); c.InOrder || c.WindowHi != 0 {
		t.Errorf("a window beyond what was tried: %d", c.WindowHi)
	}
}

// TestCalibrateHere calibrates this host with as little effort as possible:
// every number must be finite and positive, and the description readable. The
// host's speed does not matter.
func TestCalibrateHere(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	parts := 0
	p, err := Calibrate(t.Context(), Options{Quick: true, MaxBytes: 16 << 20, Progress: func(progress.Report) { parts++ }})
	if err != nil {
		t.Fatal(err)
	}
	good := func(what string, s Sample) {
		for _, v := range []float64{s.Min, s.Median, s.Max} {
			if !(v > 0) || math.IsInf(v, 0) {
				t.Errorf("%s takes %v ns", what, s)
			}
		}
	}
	good("a cycle", p.Cycle)
	for _, l := range p.Latencies {
		good("a load", l.Load)
	}
	for _, b := range p.Bandwidths {
		good(b.Kind, b.Byte)
	}
	for _, q := range p.Pages {
		good("a page", q.Sparse)
		good("a page", q.Dense)
	}
	for _, w := range p.Windows {
		good("a pair", w.Pair)
	}
	for _, op := range p.Operations {
		good(op.Class.String(), op.Reciprocal)
	}
	good("a load in order", p.StreamNs)
	for _, l := range p.Loops {
		good("a loop", l.Execution)
	}
	if n := p.PatternReach; n < 0 || n > maxPattern || p.PatternHi != 0 && p.PatternHi <= n {
		t.Errorf("patterns learned up to %d, not of %d", n, p.PatternHi)
	}
	if p.LoopReach < 0 || p.LoopReach > maxIterations || p.IssueWidth() < 0.5 {
		t.Errorf("loops foreseen up to %d, %g instructions a cycle", p.LoopReach, p.IssueWidth())
	}
	if parts < 5 || len(p.Loops) == 0 || len(p.Latencies) == 0 || len(p.Operations) < 10 || p.Outstanding < 1 {
		t.Errorf("parts are missing: %+v", p)
	}
	if len(p.Levels) > 0 {
		readBack(t, p)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Calibrate(ctx, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Calibrate(t.Context(), Options{MaxBytes: 4096}); err == nil || !strings.Contains(err.Error(), "want at least") {
		t.Errorf("4 KiB: %v", err)
	}
}
