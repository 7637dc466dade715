package catalog

import (
	"strings"

	"presage/perf/isa"
	"presage/perf/machine"
	"presage/perf/predict"
)

// MachineRow is a machine that Find knows.
type MachineRow struct {
	Machine   string  `frame:"machine"` // its name
	Title     string  `frame:"title"`
	Processor string  `frame:"processor"`
	Frequency float64 `frame:"frequency_hz"` // 0: not known
}

// List returns a row for each machine that Find knows, by name.
func List() ([]MachineRow, error) {
	names, err := Names()
	if err != nil {
		return nil, err
	}
	var rows []MachineRow
	for _, name := range names {
		m, err := Find(name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, MachineRow{m.Name, m.Title, m.Processor, float64(m.Frequency)})
	}
	return rows, nil
}

// LevelRow is a cache or a TLB of a machine.
type LevelRow struct {
	Machine  string  `frame:"machine"`
	Level    string  `frame:"level"`
	Kind     string  `frame:"kind"`   // cache or tlb
	Blocks   uint64  `frame:"blocks"` // of a TLB: entries
	Sets     uint64  `frame:"sets"`
	Ways     uint64  `frame:"ways"`
	Block    uint64  `frame:"block_bytes"`    // of a TLB: what an entry maps
	Capacity uint64  `frame:"capacity_bytes"` // blocks times block_bytes
	Bypass   bool    `frame:"bypass_float"`   // floating-point accesses bypass it
	Latency  float64 `frame:"latency_cycles"` // of a hit in a cache, of a miss in a TLB; 0: not known
	Source   string  `frame:"source"`         // short names that the description explains
}

// Levels returns a row for each cache, then each TLB, of a machine.
func Levels(m *machine.Machine) []LevelRow {
	var rows []LevelRow
	for i, l := range predict.Levels(m) {
		r := LevelRow{
			Machine: m.Name, Level: l.Name, Blocks: l.Blocks(), Sets: l.Sets, Ways: l.Ways,
			Block: l.BlockBytes, Capacity: l.Blocks() * l.BlockBytes, Bypass: l.BypassFloat,
		}
		if i < len(m.Caches) {
			c := &m.Caches[i]
			r.Kind, r.Latency, r.Source = "cache", float64(c.Latency), strings.Join(c.Source, " ")
		} else {
			t := &m.TLBs[i-len(m.Caches)]
			r.Kind, r.Latency, r.Source = "tlb", float64(t.MissPenalty), strings.Join(t.Source, " ")
		}
		rows = append(rows, r)
	}
	return rows
}

// ClassRow says what a class of instructions costs on a machine's core.
type ClassRow struct {
	Machine  string  `frame:"machine"`
	Class    string  `frame:"class"`
	Latency  float64 `frame:"latency_cycles"` // until a dependent instruction can begin
	PerCycle float64 `frame:"per_cycle"`      // instructions of this class, and of no other, that can begin in a cycle
	Units    string  `frame:"units"`          // what one instruction occupies
	Queue    string  `frame:"queue"`          // where it waits; empty if in none
	TimedAs  string  `frame:"timed_as"`       // the class whose timing it shares; itself if it has its own
}

// Classes returns a row for each class of instructions that the description of a
// machine's core has a timing for; none if the core is not described.
func Classes(m *machine.Machine) []ClassRow {
	c := &m.Core
	var rows []ClassRow
	for _, class := range isa.Classes() {
		t, ok := c.Classes[class]
		if !ok {
			continue
		}
		as := class
		if other, ok := c.FallsBack[class]; ok {
			as = other
		}
		rows = append(rows, ClassRow{
			m.Name, class.String(), float64(t.Latency), c.Throughput(class),
			t.UnitsOf(), c.QueueOf(class), as.String(),
		})
	}
	return rows
}

// DiffRow is a property in which two machines differ.
type DiffRow struct {
	Property string `frame:"property"` // such as "L2 latency"
	Unit     string `frame:"unit"`     // such as cycles; empty for counts and words
	A        string `frame:"a"`        // its value on the first; empty if it has no such part or it is not known
	B        string `frame:"b"`        // its value on the second, likewise
}

// Diff returns a row for each property in which two machines differ.
func Diff(a, b *machine.Machine) []DiffRow {
	var rows []DiffRow
	for _, d := range machine.Diff(a, b) {
		rows = append(rows, DiffRow{d.Property, d.Unit, d.A, d.B})
	}
	return rows
}
