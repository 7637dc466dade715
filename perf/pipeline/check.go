package pipeline

import (
	"errors"
	"fmt"
	"math"

	"presage/perf/cache"
	"presage/perf/isa"
)

const (
	// maxBits is how many units, issue slots and ports there may be in all: a
	// cycle's reservations are the bits of a word.
	maxBits   = 64
	maxUses   = 4
	maxLevels = 6
	maxTLBs   = 3
	maxTime   = 1 << 24 // of a latency, a penalty or an interval
)

// Check reports what makes c impossible to simulate.
func (c *Config) Check() error {
	for _, check := range []func() error{c.checkWidths, c.checkUnits, c.checkTimings, c.checkQueues, c.checkBranch, c.checkMemory, c.checkFetch} {
		if err := check(); err != nil {
			return fmt.Errorf("pipeline: %w", err)
		}
	}
	return nil
}

func (c *Config) checkWidths() error {
	for _, n := range []struct {
		what  string
		value int
	}{
		{"FetchWidth", c.FetchWidth},
		{"DispatchWidth", c.DispatchWidth},
		{"IssueWidth", c.IssueWidth},
		{"RetireWidth", c.RetireWidth},
		{"FetchBuffer", c.FetchBuffer},
		{"TakenPerCycle", c.TakenPerCycle},
		{"LoadQueue", c.LoadQueue},
		{"StoreQueue", c.StoreQueue},
	} {
		if n.value < 0 || n.value > math.MaxInt32 {
			return fmt.Errorf("%s is %d; 0 stands for no limit", n.what, n.value)
		}
	}
	if c.Window < 1 || c.Window > 1<<20 {
		return fmt.Errorf("the Window is %d instructions; it must be from 1 to %d", c.Window, 1<<20)
	}
	if c.OrderedCompletion && !c.InOrder {
		return fmt.Errorf("there is OrderedCompletion without InOrder: out of order, results are not written in program order")
	}
	return nil
}

// checkRegisters reports too few registers for the programs of a target.
func (c *Config) checkRegisters(t *isa.Target) error {
	for _, r := range []struct {
		what  string
		count int
		names []string
	}{{"IntRegisters", c.IntRegisters, t.IntegerNames}, {"FloatRegisters", c.FloatRegisters, t.FloatNames}} {
		if r.count != 0 && r.count <= len(r.names) {
			return fmt.Errorf("pipeline: %s is %d; %d hold the architectural state, so there must be more (0: no limit)", r.what, r.count, len(r.names))
		}
	}
	return nil
}

func (c *Config) checkUnits() error {
	bits := c.IssueWidth + c.Memory.Ports + c.Memory.StoresPerCycle
	names := make(map[string]bool)
	for _, u := range c.Units {
		switch {
		case u.Name == "":
			return fmt.Errorf("a unit has no name")
		case names[u.Name]:
			return fmt.Errorf("two units are called %q", u.Name)
		case u.Count < 1 || u.Count > maxBits:
			return fmt.Errorf("there are %d units %q, want 1 to %d", u.Count, u.Name, maxBits)
		}
		names[u.Name] = true
		bits += u.Count
	}
	if bits > maxBits {
		return fmt.Errorf("issue width, ports, stores a cycle and units come to %d, at most %d can be simulated", bits, maxBits)
	}
	return nil
}

func (c *Config) checkTimings() error {
	names := make(map[string]bool)
	for _, u := range c.Units {
		names[u.Name] = true
	}
	for _, class := range isa.Classes() {
		t, ok := c.Timings[class]
		if !ok {
			continue
		}
		if t.Latency < 0 || t.Latency > maxTime {
			return fmt.Errorf("class %v has the latency %d, want 0 to %d", class, t.Latency, maxTime)
		}
		if len(t.Uses) > maxUses-2 { // beside an issue slot and a port
			return fmt.Errorf("class %v uses %d kinds of units, at most %d can be simulated", class, len(t.Uses), maxUses-2)
		}
		for _, u := range t.Uses {
			if u.Cycles < 1 || u.Cycles > maxTime {
				return fmt.Errorf("class %v uses a unit for %d cycles, want 1 to %d", class, u.Cycles, maxTime)
			}
			if len(u.AnyOf) == 0 {
				return fmt.Errorf("class %v has a use that names no unit", class)
			}
			for _, name := range u.AnyOf {
				if !names[name] {
					return fmt.Errorf("class %v uses %q, which is no unit", class, name)
				}
			}
		}
	}
	return nil
}

func (c *Config) checkQueues() error {
	home := make(map[isa.Class]string)
	for _, q := range c.Queues {
		if q.Entries < 1 || q.Entries > math.MaxInt32 {
			return fmt.Errorf("queue %q has %d entries, want at least 1", q.Name, q.Entries)
		}
		for _, class := range q.Classes {
			if other, taken := home[class]; taken {
				return fmt.Errorf("class %v is in the queues %q and %q; it can wait in one only", class, other, q.Name)
			}
			home[class] = q.Name
		}
	}
	if len(c.Queues) > math.MaxInt8 {
		return fmt.Errorf("there are %d queues, at most %d can be simulated", len(c.Queues), math.MaxInt8)
	}
	return nil
}

// mostEntries returns how many entries a table of a predictor may have.
func (b *Branch) mostEntries() int {
	if b.Predictor == TAGE {
		return MaxTAGEEntries
	}
	return 1 << 28
}

// mostHistory returns how many directions a predictor may combine.
func (b *Branch) mostHistory() int {
	if b.Predictor == TAGE {
		return MaxTAGEHistory
	}
	return 32
}

func (c *Config) checkBranch() error {
	b := &c.Branch
	if b.Predictor > TAGE {
		return fmt.Errorf("the branch predictor is number %d, which is none", b.Predictor)
	}
	if most := b.mostEntries(); b.Predictor >= Bimodal && (b.Entries < 1 || b.Entries&(b.Entries-1) != 0 || b.Entries > most) {
		return fmt.Errorf("the branch predictor has %d entries; a %v predictor needs a power of two up to %d", b.Entries, b.Predictor, most)
	}
	if most := b.mostHistory(); b.HistoryBits < 0 || b.HistoryBits > most {
		return fmt.Errorf("the branch predictor has %d history bits, want 0 to %d", b.HistoryBits, most)
	}
	if b.Predictor == TAGE && b.HistoryBits != 0 && b.HistoryBits < MinTAGEHistory {
		return fmt.Errorf("the branch predictor has %d history bits: tage has at least %d, or 0 for %d", b.HistoryBits, MinTAGEHistory, longestHistory)
	}
	for _, n := range []struct {
		what  string
		value int
	}{{"Penalty", b.Penalty}, {"TakenBubble", b.TakenBubble}, {"ReturnStack", b.ReturnStack}, {"Targets", b.Targets}} {
		if n.value < 0 || n.value > maxTime {
			return fmt.Errorf("the branches' %s is %d, want 0 to %d", n.what, n.value, maxTime)
		}
	}
	return nil
}

func (c *Config) checkMemory() error {
	m := &c.Memory
	for _, n := range []struct {
		what  string
		value int
	}{
		{"Latency", m.Latency},
		{"Interval", m.Interval},
		{"WriteInterval", m.WriteInterval},
		{"Ports", m.Ports},
		{"StoresPerCycle", m.StoresPerCycle},
		{"ForwardLatency", m.ForwardLatency},
		{"Prefetch.Degree", m.Prefetch.Degree},
		{"Prefetch.Streams", m.Prefetch.Streams},
	} {
		if n.value < 0 || n.value > maxTime {
			return fmt.Errorf("the memory's %s is %d, want 0 to %d", n.what, n.value, maxTime)
		}
	}
	if len(m.Levels) > maxLevels || len(m.TLBs) > maxTLBs {
		return fmt.Errorf("there are %d levels of cache and %d TLBs, at most %d and %d can be simulated", len(m.Levels), len(m.TLBs), maxLevels, maxTLBs)
	}
	if err := m.checkLevels(); err != nil {
		return err
	}
	if m.Prefetch.Degree > 0 && (m.Prefetch.Level < 0 || m.Prefetch.Level >= len(m.Levels)) {
		return fmt.Errorf("the prefetcher fills level %d, and there are %d levels", m.Prefetch.Level, len(m.Levels))
	}
	if err := m.checkPrefetchers(); err != nil {
		return err
	}
	for _, t := range m.TLBs {
		if err := checkGeometry("TLB "+t.Name, t.Entries, t.EntryBytes, t.Ways); err != nil {
			return err
		}
		if t.MissPenalty < 0 || t.MissPenalty > maxTime {
			return fmt.Errorf("TLB %q has the miss penalty %d, want 0 to %d", t.Name, t.MissPenalty, maxTime)
		}
	}
	return nil
}

// checkLevels checks the caches, from the processor to memory.
func (m *Memory) checkLevels() error {
	last := Level{Name: "the processor", Latency: -1}
	for _, l := range m.Levels {
		if err := checkGeometry("level "+l.Name, l.Blocks, l.BlockBytes, l.Ways); err != nil {
			return err
		}
		switch {
		case l.BlockBytes < last.BlockBytes:
			return fmt.Errorf("level %q has blocks of %d bytes, smaller than those of %q above it", l.Name, l.BlockBytes, last.Name)
		case l.Latency <= last.Latency || l.Latency > maxTime:
			return fmt.Errorf("level %q has the latency %d; it must be more than the %d of %q above it, and at most %d", l.Name, l.Latency, last.Latency, last.Name, maxTime)
		case l.MSHRs < 0 || l.MSHRs > 1<<16 || l.Interval < 0 || l.Interval > maxTime:
			return fmt.Errorf("level %q has %d MSHRs and the interval %d; 0 stands for no limit", l.Name, l.MSHRs, l.Interval)
		}
		last = l
	}
	if n := len(m.Levels); n > 0 && m.Latency <= last.Latency {
		return fmt.Errorf("memory has the latency %d; it must be more than the %d of %q", m.Latency, last.Latency, last.Name)
	}
	if len(m.Levels) > 0 && last.BypassFloat {
		return fmt.Errorf("level %q is the last one, so floating-point data cannot bypass it", last.Name)
	}
	return nil
}

func (c *Config) checkFetch() error {
	i := &c.ICache
	if *i == (ICache{}) {
		return nil
	}
	if i.Next < 0 || i.Next > len(c.Memory.Levels) {
		return fmt.Errorf("the ICache's Next is %d, and there are %d levels", i.Next, len(c.Memory.Levels))
	}
	if i.Next < len(c.Memory.Levels) && c.Memory.Levels[i.Next].BlockBytes < i.BlockBytes {
		return fmt.Errorf("the ICache has blocks of %d bytes, larger than those of level %q, which its misses go to", i.BlockBytes, c.Memory.Levels[i.Next].Name)
	}
	return checkGeometry("ICache", i.Blocks, i.BlockBytes, i.Ways)
}

func checkGeometry(what string, blocks, bytes uint64, ways int) error {
	switch {
	case bytes == 0 || bytes&(bytes-1) != 0 || bytes > 1<<30:
		return fmt.Errorf("%s has blocks of %d bytes, want a power of two up to %d", what, bytes, 1<<30)
	case blocks == 0 || blocks > 1<<30:
		return fmt.Errorf("%s has %d blocks, want 1 to %d", what, blocks, 1<<30)
	case ways < 0 || uint64(ways) > blocks || ways > 0 && blocks%uint64(ways) != 0:
		return fmt.Errorf("%s has %d blocks in sets of %d ways, want a divisor of them, or 0 for fully associative", what, blocks, ways)
	}
	return nil
}

func (o *Options) check() error {
	last := uint64(0)
	for i, w := range o.Windows {
		if w.To <= w.From || w.From < last {
			return fmt.Errorf("pipeline: window %d, [%d, %d), is empty or begins before the end of the one before, %d", i, w.From, w.To, last)
		}
		last = w.To
	}
	return nil
}

// checkPrefetchers returns an error unless the prefetchers suit the levels.
func (m *Memory) checkPrefetchers() error {
	if len(m.Prefetchers) == 0 {
		return nil
	}
	if m.Prefetch.Degree > 0 {
		return errors.New("prefetchers are described twice")
	}
	c := cache.Config{Prefetching: &cache.Prefetching{Prefetchers: m.Prefetchers}}
	for _, l := range m.Levels {
		c.Levels = append(c.Levels, cache.Level{Name: l.Name, Blocks: l.Blocks, BlockBytes: l.BlockBytes, Ways: l.Ways})
	}
	return c.Check()
}
