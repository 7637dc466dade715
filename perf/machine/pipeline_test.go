package machine

import (
	"strings"
	"testing"

	"presage/perf/isa"
	"presage/perf/pipeline"
)

func shippedAs(t *testing.T, name string) *Machine {
	t.Helper()
	m, err := Find(name, shipped)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPipelineOfTheOrigin holds what is simulated against the description's
// numbers.
func TestPipelineOfTheOrigin(t *testing.T) {
	c, err := shippedAs(t, "origin2000").Pipeline()
	if err != nil {
		t.Fatal(err)
	}
	if c.InOrder || c.FetchWidth != 4 || c.DispatchWidth != 4 || c.IssueWidth != 5 || c.RetireWidth != 4 || c.Window != 48 || c.IntRegisters != 64 || c.FloatRegisters != 64 {
		t.Errorf("core %+v", c)
	}
	if len(c.Queues) != 3 || c.Queues[2].Entries != 16 || len(c.Units) != 7 {
		t.Errorf("queues %v, units %v", c.Queues, c.Units)
	}
	if got := c.Timings[isa.Divide]; got.Latency != 67 || len(got.Uses) != 1 || got.Uses[0].Cycles != 67 {
		t.Errorf("divide %+v", got)
	}
	if !c.Timings[isa.SystemCall].Serializes || c.Timings[isa.ALU].Serializes {
		t.Error("system calls serialise, and they alone")
	}
	want := pipeline.Branch{Predictor: pipeline.Bimodal, Entries: 2048, Penalty: assumedMispredict, ReturnStack: assumedReturnStack}
	if c.Branch != want {
		t.Errorf("branches %+v, want %+v", c.Branch, want)
	}
	m := c.Memory
	if len(m.Levels) != 2 || m.Levels[0].Latency != 3 || m.Levels[1].Latency != 11 || m.Levels[1].Blocks != 65536 || m.Levels[1].Ways != 2 || m.Levels[0].MSHRs != 4 {
		t.Errorf("levels %+v", m.Levels)
	}
	if m.Latency != 92 || m.Interval != 29 || len(m.TLBs) != 1 || m.TLBs[0].MissPenalty != 78 || m.TLBs[0].Entries != 64 {
		t.Errorf("memory %+v", m)
	}
	if len(c.Assumed) != 1 || !strings.Contains(c.Assumed[0], "wrong prediction") {
		t.Errorf("assumed %v", c.Assumed)
	}
}

func TestPipelineOfItanium(t *testing.T) {
	c, err := shippedAs(t, "itanium2").Pipeline()
	if err != nil {
		t.Fatal(err)
	}
	if !c.InOrder || c.IntRegisters != 0 || !c.Memory.Levels[0].BypassFloat || !c.Memory.TLBs[0].BypassFloat || c.Memory.Levels[1].BypassFloat {
		t.Errorf("%+v", c)
	}
	if !c.Memory.Levels[0].WriteThrough || !c.Memory.Levels[0].NoWriteAllocate {
		t.Errorf("L1D %+v", c.Memory.Levels[0])
	}
}

func TestPipelineNeedsLatencies(t *testing.T) {
	for name, want := range map[string]string{"sifive-u74": "latency of memory", "golden-cove": "latency of memory"} {
		if _, err := shippedAs(t, name).Pipeline(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (&Machine{Name: "bare"}).Pipeline(); err == nil || !strings.Contains(err.Error(), "not described") {
		t.Errorf("no core: %v", err)
	}
}

// TestWhatIsSeenOfACore: what a core was seen to do of loops and streams is read,
// told, compared and taken for the pace of memory, and said not to be simulated.
func TestWhatIsSeenOfACore(t *testing.T) {
	plain := shippedAs(t, "zen4")
	seen := *plain
	seen.Memory.RestartLatency, seen.Memory.OutstandingMisses = 400, 10
	seen.Memory.StreamLatency, seen.Core.Branch.LoopReach = 12, 70
	c, err := seen.Pipeline()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(c.Assumed, "; ")
	if c.Memory.Interval != 12 || seen.MemoryInterval() != 12 || !strings.Contains(all, "not simulated: ends of loops") || !strings.Contains(all, "not simulated: prefetching") {
		t.Errorf("a block each %d cycles, simulated, and %g; assumed %s", c.Memory.Interval, seen.MemoryInterval(), all)
	}
	var properties []string
	for _, d := range Diff(plain, &seen) {
		properties = append(properties, d.Property+" "+d.B)
	}
	if all := strings.Join(properties, "; "); !strings.Contains(all, "memory stream latency 12") || !strings.Contains(all, "branch predictor loop reach 70") {
		t.Errorf("differences %s", all)
	}
	if text := seen.Explain(); !strings.Contains(text, "up to 70 iterations") || !strings.Contains(text, "prefetching leaves 12 cycles") {
		t.Error(text)
	}
	// A stream that is slower than random loads, many of which are under way, is no bound.
	seen.Memory.StreamLatency = 50
	if c, err := seen.Pipeline(); err != nil || c.Memory.Interval != 40 || seen.MemoryInterval() != 40 {
		t.Errorf("a block each %d cycles, simulated, and %g, error %v", c.Memory.Interval, seen.MemoryInterval(), err)
	}
}

// TestPaceOfStreams: the bandwidth of a cache or of memory is the pace of what it serves in
// order; without it, as many misses as can be under way are.
func TestPaceOfStreams(t *testing.T) {
	m := *shippedAs(t, "zen4")
	m.Caches = append([]Cache(nil), m.Caches...)
	m.Memory.RestartLatency, m.Memory.OutstandingMisses = 400, 10
	paces := func() [4]int {
		c, err := m.Pipeline()
		if err != nil {
			t.Fatal(err)
		}
		l := c.Memory.Levels
		return [4]int{l[0].StreamInterval, l[1].StreamInterval, l[2].StreamInterval, c.Memory.Interval}
	}
	if got := paces(); got != [4]int{0, 0, 0, 40} {
		t.Errorf("without prefetching: %d", got)
	}
	m.Memory.StreamLatency = 30
	m.Caches[2].Latency = 52
	if got := paces(); got != [4]int{0, 0, 5, 30} { // of the second cache nothing is taken off
		t.Errorf("without bandwidths: %d", got)
	}
	m.Caches[0].Bandwidth, m.Caches[1].Bandwidth, m.Caches[2].Bandwidth, m.Memory.Bandwidth = 32, 20, 7, 4
	if got := paces(); got != [4]int{0, 3, 9, 16} {
		t.Errorf("with bandwidths: %d", got)
	}
}

func TestForesees(t *testing.T) {
	for _, c := range []struct {
		branch Branch
		want   int
	}{
		{Branch{Predictor: "gshare"}, assumedHistory},
		{Branch{Predictor: "gshare", HistoryBits: 9}, 9},
		{Branch{Predictor: "gshare", HistoryBits: 9, LoopReach: 70}, 70},
		{Branch{Predictor: "bimodal", LoopReach: 70}, 70},
		{Branch{Predictor: "tage"}, assumedLongHistory},
		{Branch{Predictor: "tage", HistoryBits: 200}, 200},
		{Branch{Predictor: "bimodal"}, 1},
		{Branch{Predictor: "static"}, 1},
	} {
		if got := c.branch.Foresees(); got != c.want {
			t.Errorf("%+v foresees %d iterations, want %d", c.branch, got, c.want)
		}
	}
}

// TestTAGE: tables are as described, or as large as the pattern that is learned asks for,
// or as is usual, which is said.
func TestTAGE(t *testing.T) {
	for _, c := range []struct {
		branch           Branch
		entries, history int
		assumed          bool
	}{
		{Branch{Predictor: "tage", Entries: 512, HistoryBits: 200}, 512, 200, false},
		{Branch{Predictor: "tage", PatternReach: 16384, HistoryBits: 200}, 16384 / pipeline.TAGEReach, 200, false},
		{Branch{Predictor: "tage", PatternReach: 20000, HistoryBits: 200}, 2 * 16384 / pipeline.TAGEReach, 200, false},
		{Branch{Predictor: "tage", PatternReach: 20000, Entries: 256, HistoryBits: 200}, 256, 200, false},
		{Branch{Predictor: "tage"}, assumedTAGEEntries, assumedLongHistory, true},
	} {
		m := *shippedAs(t, "zen4")
		m.Core.Branch = c.branch
		p, err := m.Pipeline()
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Contains(strings.Join(p.Assumed, "; "), "entries of each table of the branch predictor")
		if b := p.Branch; b.Predictor != pipeline.TAGE || b.Entries != c.entries || b.HistoryBits != c.history || said != c.assumed {
			t.Errorf("%+v: %d entries, %d directions; assumed %s", c.branch, b.Entries, b.HistoryBits, p.Assumed)
		}
	}
	m := *shippedAs(t, "zen4")
	m.Core.Branch = Branch{Predictor: "tage", PatternReach: 20000}
	if text := m.Explain(); !strings.Contains(text, "tage, patterns of up to 20000 directions learned") {
		t.Error(text)
	}
}
