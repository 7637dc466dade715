package iperf

import (
	_ "embed"
	"fmt"
	"io/fs"

	"presage/perf/machine"
)

// Supplement adds to a machine's description under machines/: sub-blocks, which
// caches block and how they are indexed, and defaults for times that the
// description lacks.
type Supplement struct {
	Machine    string            `yaml:"machine"` // a machine.Machine's Name
	Source     string            `yaml:"source"`
	UnifiedTLB bool              `yaml:"unified_tlb"` // the TLB holds code as well
	Levels     []LevelSupplement `yaml:"levels"`

	Megahertz float64 `yaml:"megahertz"`
	MemoryNS  float64 `yaml:"memory_ns"`   // of a load from memory, nanoseconds
	TLBMissNS float64 `yaml:"tlb_miss_ns"` // nanoseconds
}

// LevelSupplement is the part of Supplement about one cache.
type LevelSupplement struct {
	Name          string  `yaml:"name"`
	As            string  `yaml:"as"` // what formulas call it, such as L1; "": as the description does
	SubBlockBytes uint64  `yaml:"subblock"`
	NonBlocking   bool    `yaml:"nonblocking"`
	Physical      bool    `yaml:"physical"`
	LatencyCycles float64 `yaml:"latency_cycles"`
}

//go:embed supplements.yaml
var defaultSupplements []byte

// Supplements returns the package's supplements: the four machines of the
// report's Figure 5.
func Supplements() []Supplement {
	s, err := ParseSupplements("supplements.yaml", defaultSupplements)
	if err != nil {
		panic("iperf: " + err.Error()) // a test reads the file
	}
	return s
}

// ParseSupplements reads supplements. An error begins with file:line.
func ParseSupplements(file string, data []byte) ([]Supplement, error) {
	var t struct {
		Supplements []Supplement `yaml:"supplements"`
	}
	doc, err := decode(file, data, &t)
	if err != nil {
		return nil, err
	}
	if len(t.Supplements) == 0 {
		doc.fail("$", "no supplements: list them under supplements:")
	}
	for i, s := range t.Supplements {
		path := fmt.Sprintf("$.supplements[%d]", i)
		doc.need(path+".machine", s.Machine)
		doc.need(path+".source", s.Source)
		if !(s.Megahertz >= 0 && s.MemoryNS >= 0 && s.TLBMissNS >= 0) {
			doc.fail(path, "a time or frequency below 0")
		}
	}
	return t.Supplements, doc.err
}

// FindSystem reads the description of a machine from the first of the folders
// that has it, and adds its supplement, if any.
func FindSystem(name string, dirs ...fs.FS) (*System, error) {
	m, err := machine.Find(name, dirs...)
	if err != nil {
		return nil, err
	}
	for _, add := range Supplements() {
		if add.Machine == name {
			return NewSystem(m, &add)
		}
	}
	return NewSystem(m, nil)
}

// supplement adds a supplement. Times of the description take precedence.
func (s *System) supplement(name string, add *Supplement) error {
	if add.Machine != name {
		return fmt.Errorf("iperf: what is added for machine %q does not belong to %q", add.Machine, name)
	}
	s.TLB.Unified = add.UnifiedTLB
	for _, a := range add.Levels {
		l := s.level(a.Name)
		if l == nil {
			return fmt.Errorf("iperf: machine %q has no cache %q", name, a.Name)
		}
		l.SubBlockBytes, l.NonBlocking, l.Physical = a.SubBlockBytes, a.NonBlocking, a.Physical
		fill(&l.LatencyCycles, a.LatencyCycles)
		if a.As != "" {
			l.Name = a.As
		}
	}
	const nano = 1e-9
	fill(&s.Frequency, add.Megahertz*1e6)
	fill(&s.MemoryLatency, add.MemoryNS*nano)
	fill(&s.TLB.MissSeconds, add.TLBMissNS*nano)
	return nil
}

// fill sets *to if it is not known.
func fill(to *float64, v float64) {
	if *to == 0 {
		*to = v
	}
}
