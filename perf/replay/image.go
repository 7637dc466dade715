package replay

import (
	"slices"

	"presage/perf/cfg"
	"presage/perf/trace"
)

// image is what is loaded from the files of a program, by the addresses of accesses. These
// are those of the code, unless the engine tells where it loaded each file.
type image struct {
	code   *Code
	loaded []cfg.Range // nil: as the code says
}

// moduleReach is how far the addresses of one file extend in a plan.
const moduleReach = 1 << 36

// load notes where files were loaded.
func (m *image) load(changes []trace.Change) {
	for i := range changes {
		c := &changes[i]
		if c.Kind != trace.Loaded {
			continue
		}
		for _, r := range m.code.image {
			if from := uint64(c.PC); r.From >= from && r.From-from < moduleReach {
				m.loaded = append(m.loaded, cfg.Range{From: r.From - from + c.Addr, To: r.To - from + c.Addr})
			}
		}
	}
}

// holds reports whether an address lies in what was loaded.
func (m *image) holds(addr uint64) bool {
	ranges := m.loaded
	if ranges == nil {
		ranges = m.code.image
	}
	return slices.ContainsFunc(ranges, func(r cfg.Range) bool { return addr >= r.From && addr < r.To })
}

// imageEnd returns the address at which what is loaded from the executable ends, as its code says.
func (c *Code) imageEnd() uint64 {
	end := uint64(0)
	for _, r := range c.image {
		end = max(end, r.To)
	}
	return end
}
