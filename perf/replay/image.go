package replay

import (
	"cmp"
	"slices"

	"presage/perf/cfg"
	"presage/perf/trace"
)

// image is what is loaded from the files of a program, by the addresses of accesses. These
// are those of the code, unless the engine tells where it loaded each file.
type image struct {
	code   *Code
	loaded []Loaded // nil: as the code says
}

// Loaded is a segment of a file, with where it was loaded.
type Loaded struct {
	cfg.Range        // addresses of accesses
	File      uint64 // the address that the code has for From
}

// moduleReach is how far the addresses of one file extend in a plan.
const moduleReach = 1 << 36

// load notes where files were loaded. It reports whether there were any.
func (m *image) load(changes []trace.Change) bool {
	before := len(m.loaded)
	for i := range changes {
		c := &changes[i]
		if c.Kind != trace.Loaded {
			continue
		}
		for _, r := range m.code.image {
			if from := uint64(c.PC); r.From >= from && r.From-from < moduleReach {
				m.loaded = append(m.loaded, Loaded{cfg.Range{From: r.From - from + c.Addr, To: r.To - from + c.Addr}, r.From})
			}
		}
	}
	return len(m.loaded) > before
}

// holds reports whether an address lies in what was loaded.
func (m *image) holds(addr uint64) bool {
	within := func(r cfg.Range) bool { return addr >= r.From && addr < r.To }
	if m.loaded == nil {
		return slices.ContainsFunc(m.code.image, within)
	}
	return slices.ContainsFunc(m.loaded, func(l Loaded) bool { return within(l.Range) })
}

// inImage reports whether an address lies in what was loaded in the run of an executable
// of one size.
func (r *Run) inImage(addr uint64) bool {
	if r.Loaded == nil {
		return addr < r.Image
	}
	return (&image{loaded: r.Loaded}).holds(addr)
}

// placed returns variables of the code where files were loaded, by ascending address;
// without those of files that were not.
func placed(objects []Object, loaded []Loaded) []Object {
	if loaded == nil {
		return objects
	}
	var out []Object
	for _, o := range objects {
		for _, l := range loaded {
			if o.Addr >= l.File && o.Addr-l.File < l.To-l.From {
				by := l.From - l.File
				out = append(out, Object{o.Name, o.Addr + by, o.End + by})
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b Object) int { return cmp.Compare(a.Addr, b.Addr) })
	return out
}

// loadedAt returns where an address of the code was loaded: as far from the segment that begins
// below it.
func (in *Instance) loadedAt(addr int64) int64 {
	var near *Loaded
	for i := range in.loaded {
		if l := &in.loaded[i]; l.File <= uint64(addr) && (near == nil || l.File > near.File) {
			near = l
		}
	}
	if near == nil {
		return addr
	}
	return addr + int64(near.From-near.File)
}

// imageEnd returns the address at which what is loaded from the executable ends, as its code says.
func (c *Code) imageEnd() uint64 {
	end := uint64(0)
	for _, r := range c.image {
		end = max(end, r.To)
	}
	return end
}
