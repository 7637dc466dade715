package machine

import (
	"fmt"
	"math"

	"presage/perf/cache"
	"presage/perf/isa"
	"presage/perf/pipeline"
)

// Assumptions for values that a description leaves open.
const (
	assumedWindow      = 32 // instructions under way in a core in order
	assumedReturnStack = 16
	assumedOutstanding = 4  // misses under way at once
	assumedMispredict  = 10 // cycles
	assumedEntries     = 4096
	assumedHistory     = 12
	// assumedTAGEEntries and assumedLongHistory are about those of the predictors that
	// won the championships of branch prediction since 2011: a thousand or two in each
	// table, and histories of 640 to 2000 (Seznec, "A new case for the TAGE branch
	// predictor", MICRO 2011, Table 1 and section 6).
	assumedTAGEEntries = 1024
	assumedLongHistory = 640
	fetchAhead         = 4 // fetch buffer, in cycles of fetching
)

// PipelineConfig is a machine as package pipeline simulates it.
type PipelineConfig struct {
	pipeline.Config
	Assumed []string // what the description leaves open, and what is not simulated
}

// Pipeline returns the machine as a configuration for the simulation of time. It
// returns an error if the core is not described, or the latency of memory or of a
// cache is not known.
//
// A load's latency in the first cache is that of its class; each further level
// adds the difference of the levels' latencies. Memory serves a block every
// BackToBackLatency / OutstandingMisses cycles, since that many are in flight,
// each for that latency; if it is not known, the restart latency is used. With
// prefetching, a cache after the first serves a block of a stream in the time that its
// bandwidth says, or else in its latency / OutstandingMisses.
// Prefetching is not simulated and the history alone predicts ends of loops:
// Assumed names StreamLatency and LoopReach.
func (m *Machine) Pipeline() (*PipelineConfig, error) {
	var assumed []string
	c := pipeline.Config{}
	if len(m.Core.Classes) == 0 {
		return nil, fmt.Errorf("machine: %s: the core is not described: its file has no section core", m.Name)
	}
	if m.Memory.RestartLatency == 0 {
		return nil, fmt.Errorf("machine: %s: the latency of memory is not known: give memory.restart_latency", m.Name)
	}
	or := func(v, otherwise int, what string) int {
		if v > 0 {
			return v
		}
		assumed = append(assumed, fmt.Sprintf("assumed: %s %d", what, otherwise))
		return otherwise
	}
	core := &m.Core
	c.InOrder = core.InOrder
	c.FetchWidth, c.DispatchWidth, c.IssueWidth, c.RetireWidth = core.FetchWidth, core.FetchWidth, core.IssueWidth, core.RetireWidth
	c.FetchBuffer = fetchAhead * core.FetchWidth
	c.Window = or(core.Window, assumedWindow, "instructions under way")
	c.LoadQueue, c.StoreQueue = core.LoadQueue, core.StoreQueue
	if !core.InOrder { // a core in order writes results into the registers at once
		c.IntRegisters, c.FloatRegisters = core.IntRegisters, core.FloatRegisters
	}
	for _, q := range core.Queues {
		c.Queues = append(c.Queues, pipeline.Queue(q))
	}
	for _, u := range core.Units {
		c.Units = append(c.Units, pipeline.Unit(u))
	}
	c.Timings = timings(core)
	c.Branch = branch(core, or)
	if core.Branch.LoopReach != 0 {
		assumed = append(assumed, fmt.Sprintf("not simulated: ends of loops foreseen up to %d iterations", core.Branch.LoopReach))
	}
	if m.Memory.StreamLatency != 0 {
		assumed = append(assumed, "not simulated: prefetching of what is read in order")
	}
	if err := m.memory(&c, or); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("machine: %s: %w", m.Name, err)
	}
	return &PipelineConfig{c, assumed}, nil
}

// Fetching returns Pipeline with the machine's prefetchers. It returns ErrNoPrefetchers if
// the description has none.
func (m *Machine) Fetching() (*PipelineConfig, error) {
	if len(m.Prefetchers) == 0 {
		return nil, fmt.Errorf("%w for %s: list them under the key prefetch of its file", ErrNoPrefetchers, m.Name)
	}
	c, err := m.Pipeline()
	if err != nil {
		return nil, err
	}
	for i := range m.Prefetchers {
		c.Memory.Prefetchers = append(c.Memory.Prefetchers, m.Prefetchers[i].Prefetcher)
	}
	for i := range m.Caches {
		if l := &m.Caches[i]; l.Inclusive || l.Filling != cache.OnMiss {
			c.Assumed = append(c.Assumed, fmt.Sprintf("not simulated: that %s is %s", l.Name, l.Inclusion()))
		}
	}
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("machine: %s: %w", m.Name, err)
	}
	return c, nil
}

func timings(core *Core) map[isa.Class]pipeline.Timing {
	all := make(map[isa.Class]pipeline.Timing, len(core.Classes))
	for class, t := range core.Classes {
		out := pipeline.Timing{Latency: whole(t.Latency), Serializes: class == isa.SystemCall || class == isa.Fence}
		for _, u := range t.Uses {
			out.Uses = append(out.Uses, pipeline.Use{AnyOf: u.AnyOf, Cycles: max(1, whole(u.Cycles))})
		}
		all[class] = out
	}
	return all
}

func whole(c Cycles) int { return int(math.Round(float64(c))) }

// Mispredict returns the cost of a misprediction and whether it is an
// assumption. It is 0 for a core that predicts all branches correctly, or
// without a description of branches.
func (c *Core) Mispredict() (cost Cycles, assumed bool) {
	switch c.Branch.Predictor {
	case "", "perfect":
		return 0, false
	}
	if c.Branch.MispredictCost == 0 {
		return assumedMispredict, true
	}
	return c.Branch.MispredictCost, false
}

// Foresees returns the largest number of iterations of a loop whose end is
// predicted: that of the description, or else the history of a gshare or tage
// predictor, or else 1, which is no loop.
func (b *Branch) Foresees() int {
	switch {
	case b.LoopReach != 0:
		return b.LoopReach
	case b.HasHistory():
		return b.History()
	}
	return 1
}

// History returns the number of branches that a predictor with history
// remembers, assumed if the description does not give it.
func (b *Branch) History() int {
	switch {
	case b.HistoryBits != 0:
		return b.HistoryBits
	case b.Predictor == "tage":
		return assumedLongHistory
	}
	return assumedHistory
}

// HasHistory reports whether predictions depend on the latest directions of all branches.
func (b *Branch) HasHistory() bool { return b.Predictor == "gshare" || b.Predictor == "tage" }

// tageEntries returns the entries of each table of a tage predictor; of one that was
// observed, so many that it learns as long a pattern (pipeline.TAGEReach for each). 0: not
// known.
func (b *Branch) tageEntries() int {
	if b.Entries != 0 || b.PatternReach == 0 {
		return b.Entries
	}
	n := 1
	for n < pipeline.MaxTAGEEntries && n*pipeline.TAGEReach < b.PatternReach {
		n *= 2
	}
	return n
}

func branch(core *Core, or func(v, otherwise int, what string) int) pipeline.Branch {
	b := pipeline.Branch{}
	switch core.Branch.Predictor {
	case "bimodal":
		b.Predictor = pipeline.Bimodal
	case "gshare":
		b.Predictor = pipeline.Gshare
	case "tage":
		b.Predictor = pipeline.TAGE
	case "static":
		b.Predictor = pipeline.Static
	default:
		b.Predictor = pipeline.Perfect
		return b
	}
	switch b.Predictor {
	case pipeline.TAGE:
		b.Entries = or(core.Branch.tageEntries(), assumedTAGEEntries, "entries of each table of the branch predictor")
	case pipeline.Bimodal, pipeline.Gshare:
		b.Entries = or(core.Branch.Entries, assumedEntries, "counters of the branch predictor")
	}
	if core.Branch.HasHistory() {
		b.HistoryBits = or(core.Branch.HistoryBits, core.Branch.History(), "bits of branch history")
	}
	b.Penalty = or(whole(core.Branch.MispredictCost), assumedMispredict, "cycles of a wrong prediction")
	b.ReturnStack = assumedReturnStack
	return b
}

// memory sets the data path of c.
func (m *Machine) memory(c *pipeline.Config, or func(v, otherwise int, what string) int) error {
	outstanding, assumed := m.Memory.Outstanding()
	if assumed {
		or(0, outstanding, "misses under way at once")
	}
	mem := &c.Memory
	for i := range m.Caches {
		l := &m.Caches[i]
		if l.Latency == 0 {
			return fmt.Errorf("machine: %s: the latency of %s is not known: give it one", m.Name, l.Name)
		}
		mem.Levels = append(mem.Levels, pipeline.Level{
			Name: l.Name, Blocks: l.Blocks, BlockBytes: l.BlockBytes, Ways: l.Ways, Latency: whole(l.Latency), MSHRs: outstanding,
			StreamInterval: m.streamInterval(i, outstanding), WriteThrough: l.WriteThrough, NoWriteAllocate: l.NoWriteAllocate, BypassFloat: l.BypassFloat,
		})
	}
	for i := range m.TLBs {
		t := &m.TLBs[i]
		mem.TLBs = append(mem.TLBs, pipeline.TLB{
			Name: t.Name, Entries: t.Entries, EntryBytes: t.EntryBytes, Ways: t.Ways, MissPenalty: whole(t.MissPenalty), BypassFloat: t.BypassFloat,
		})
	}
	mem.Latency = whole(m.Memory.RestartLatency)
	mem.Interval = max(1, whole(m.memoryInterval(outstanding)))
	return nil
}

// streamInterval returns how long a cache is busy with a block that is read in order: by
// its bandwidth or, if that is not known, as long as it takes with as many misses under
// way as there can be. It is 0 for the first cache, which load units limit, and where
// prefetching is not known to take anything off: there the simulated misses under way are
// the limit.
func (m *Machine) streamInterval(i, outstanding int) int {
	c, stream := &m.Caches[i], m.Memory.StreamLatency
	switch {
	case i == 0 || stream == 0:
		return 0
	case c.Bandwidth > 0:
		return max(1, int(math.Round(float64(m.Caches[i-1].BlockBytes)/float64(c.Bandwidth))))
	case stream >= c.Latency:
		return 0
	}
	return max(1, whole(c.Latency/Cycles(outstanding)))
}

// Outstanding returns how many misses can be under way at once, and whether that is an
// assumption.
func (m *Memory) Outstanding() (n int, assumed bool) {
	if m.OutstandingMisses > 0 {
		return m.OutstandingMisses, false
	}
	return assumedOutstanding, true
}

// MemoryInterval returns the time in which memory serves a block of a sequence;
// 0 if its latency is not known. As many loads as can be outstanding are in
// flight, each for the time of one in a sequence; a measured stream with one
// block per load, or a measured bandwidth, is used if it is faster.
func (m *Machine) MemoryInterval() Cycles {
	outstanding, _ := m.Memory.Outstanding()
	return m.memoryInterval(outstanding)
}

func (m *Machine) memoryInterval(outstanding int) Cycles {
	each := max(m.Memory.BackToBackLatency, m.Memory.RestartLatency) / Cycles(outstanding)
	if stream := m.Memory.StreamLatency; stream != 0 {
		each = min(each, stream)
	}
	if n := len(m.Caches); n > 0 && m.Memory.Bandwidth != 0 {
		each = min(each, Cycles(float64(m.Caches[n-1].BlockBytes)/float64(m.Memory.Bandwidth)))
	}
	return each
}
