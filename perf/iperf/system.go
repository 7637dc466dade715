package iperf

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"presage/perf/machine"
)

// System is the part of a machine and its operating system that factors depend
// on. A number that is 0 is not known, unless its comment says otherwise.
type System struct {
	Name   string
	Levels []Level // caches for data, from the processor to memory
	TLB    TLB

	// Placement is the operating system's placement of pages.
	Placement Placement

	MemoryBytes   uint64  // main memory that a program can have
	MemoryLatency float64 // seconds that a load from memory takes
	Frequency     float64 // Hz

	// IterationSeconds is the time of an iteration of the kernel's innermost loop that
	// waits for nothing. Where it is not known, Search takes it from the times.
	IterationSeconds float64
}

// Level is a cache.
type Level struct {
	Name          string
	Sets          uint64
	BlockBytes    uint64
	SubBlockBytes uint64 // what a miss fetches; 0: the whole block
	Ways          uint64

	NonBlocking bool // accesses go on while a miss is under way
	// Physical means that the set comes from the physical address of the page,
	// and not from the program's address.
	Physical bool

	WriteThrough    bool // stores go on to the next level at once
	NoWriteAllocate bool // a store that misses does not bring the block in

	LatencyCycles float64 // of a load that hits here
}

func (l *Level) subBlock() uint64 {
	if l.SubBlockBytes == 0 {
		return l.BlockBytes
	}
	return l.SubBlockBytes
}

// TLB is the translation buffer for data.
type TLB struct {
	Entries     uint64
	PageBytes   uint64
	Unified     bool // holds code as well
	MissSeconds float64
}

// Placement is a policy of page placement.
type Placement uint8

const (
	// Anywhere: a page's place is independent of its address ("the conventional
	// uncoloring scheme", section 4.4).
	Anywhere Placement = iota
	// Coloured: pages are placed so that physically indexed caches see the
	// program's own addresses.
	Coloured
	// Fragmented: pages take frames in the order in which they are first touched,
	// from a list of free fragments: runs of neighbouring frames, each run anywhere.
	// Formulas take it for Anywhere, whose independent places it does not have.
	Fragmented
)

// placements are their names.
var placements = []string{Anywhere: "anywhere", Coloured: "coloured", Fragmented: "fragmented"}

// ParsePlacement returns the placement of a name that String gives.
func ParsePlacement(name string) (Placement, error) {
	i := slices.Index(placements, name)
	if i < 0 {
		return 0, fmt.Errorf("iperf: placement %q: want one of %s", name, strings.Join(placements, ", "))
	}
	return Placement(i), nil
}

func (p Placement) String() string {
	if int(p) < len(placements) {
		return placements[p]
	}
	return fmt.Sprintf("Placement(%d)", uint8(p))
}

// NewSystem returns a machine as factors see it, with a supplement. A nil
// supplement means blocking caches without sub-blocks, the first indexed by
// virtual addresses and the others by physical ones.
func NewSystem(m *machine.Machine, add *Supplement) (*System, error) {
	s := &System{Name: m.Title, Frequency: float64(m.Frequency)}
	for i := range m.Caches {
		c := &m.Caches[i]
		ways := uint64(c.Ways)
		if ways == 0 {
			ways = c.Blocks
		}
		s.Levels = append(s.Levels, Level{
			Name: c.Name, Sets: c.Sets(), BlockBytes: c.BlockBytes, Ways: ways,
			Physical: i > 0, LatencyCycles: float64(c.Latency),
			WriteThrough: c.WriteThrough, NoWriteAllocate: c.NoWriteAllocate,
		})
	}
	if len(m.TLBs) > 0 {
		t := &m.TLBs[0]
		s.TLB = TLB{Entries: t.Entries, PageBytes: t.EntryBytes}
		if m.Frequency > 0 {
			s.TLB.MissSeconds = float64(t.MissPenalty) / float64(m.Frequency)
		}
	}
	if m.Frequency > 0 {
		s.MemoryLatency = float64(m.Memory.RestartLatency) / float64(m.Frequency)
	}
	if add != nil {
		if err := s.supplement(m.Name, add); err != nil {
			return nil, err
		}
	}
	return s, s.Check()
}

func (s *System) level(name string) *Level {
	for i := range s.Levels {
		if s.Levels[i].Name == name {
			return &s.Levels[i]
		}
	}
	return nil
}

// Check returns an error for an impossible geometry.
func (s *System) Check() error {
	for i := range s.Levels {
		l := &s.Levels[i]
		fail := func(format string, args ...any) error {
			return fmt.Errorf("iperf: system %q: cache %s %s", s.Name, l.Name, fmt.Sprintf(format, args...))
		}
		switch {
		case !validName(l.Name):
			return fail("has a name that formulas cannot use: want letters, digits and _")
		case l.Sets == 0 || l.Ways == 0 || l.Sets > 1<<31 || l.Ways > 1<<31:
			return fail("has %d sets of %d ways, want 1 to 2^31", l.Sets, l.Ways)
		case !powerOfTwo(l.BlockBytes) || l.BlockBytes > 1<<30:
			return fail("has blocks of %d bytes, want a power of two up to 1 GiB", l.BlockBytes)
		case !powerOfTwo(l.subBlock()) || l.subBlock() > l.BlockBytes:
			return fail("has sub-blocks of %d bytes in blocks of %d", l.SubBlockBytes, l.BlockBytes)
		case s.level(l.Name) != l:
			return fail("has the name of another")
		}
	}
	if t := s.TLB; t.Entries > 0 && !powerOfTwo(t.PageBytes) {
		return fmt.Errorf("iperf: system %q: the TLB maps pages of %d bytes, want a power of two", s.Name, t.PageBytes)
	}
	return nil
}

func powerOfTwo(v uint64) bool { return v != 0 && v&(v-1) == 0 }

// facts returns the values of the names that formulas may use of the system;
// unknown ones are left out.
func (s *System) facts() map[string]float64 {
	f := map[string]float64{
		"levels":   float64(len(s.Levels)),
		"coloured": truth(s.Placement == Coloured),
	}
	known := func(name string, v float64) {
		if v > 0 && !math.IsInf(v, 0) {
			f[name] = v
		}
	}
	known("memory_bytes", float64(s.MemoryBytes))
	known("memory_latency", s.MemoryLatency)
	known("frequency", s.Frequency)
	known("iteration_time", s.IterationSeconds)
	known("tlb_entries", float64(s.TLB.Entries))
	known("page", float64(s.TLB.PageBytes))
	known("tlb_latency", s.TLB.MissSeconds)
	if s.TLB.Entries > 0 {
		f["tlb_unified"] = truth(s.TLB.Unified)
	}
	for i := range s.Levels {
		l := &s.Levels[i]
		f[l.Name+"_sets"] = float64(l.Sets)
		f[l.Name+"_block"] = float64(l.BlockBytes)
		f[l.Name+"_subblock"] = float64(l.subBlock())
		f[l.Name+"_ways"] = float64(l.Ways)
		f[l.Name+"_nonblocking"] = truth(l.NonBlocking)
		f[l.Name+"_physical"] = truth(l.Physical)
		if s.Frequency > 0 {
			known(l.Name+"_latency", l.LatencyCycles/s.Frequency)
		}
	}
	return f
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
