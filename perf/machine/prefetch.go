package machine

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"presage/perf/cache"
)

// Prefetcher is a hardware prefetcher.
type Prefetcher struct {
	cache.Prefetcher
	Source []string
}

// The inclusions of a level, as descriptions name them.
const (
	nonInclusive = "non-inclusive" // filled on misses, without regard to other levels
	inclusive    = "inclusive"     // contains what the levels above contain
	exclusive    = "exclusive"     // filled by what the level above evicts; what is asked for moves up
	victim       = "victim"        // filled by what the level above evicts; what is asked for stays
)

// prefetchText is a prefetcher with quantities as text. A number that is left out is
// that of cache.Prefetcher.
type prefetchText struct {
	Name       string   `yaml:"name"`
	Kind       string   `yaml:"kind"`
	At         string   `yaml:"at"`
	Into       string   `yaml:"into"`
	Degree     int      `yaml:"degree"`
	Distance   int      `yaml:"distance"`
	Entries    int      `yaml:"entries"`
	Confidence int      `yaml:"confidence"`
	MaxStride  string   `yaml:"max_stride"`
	Page       string   `yaml:"page"`
	Source     []string `yaml:"source"`
}

// inclusion reads how the contents of a level depend on those above.
func (r *reader) inclusion(path string, t *cacheText, l *cache.Level) {
	if t.Inclusive && t.Inclusion != "" {
		r.fail(path+".inclusion", "inclusion: %s beside inclusive: true; leave the latter out", t.Inclusion)
	}
	switch t.Inclusion {
	case "", nonInclusive:
	case inclusive:
		l.Inclusive = true
	case exclusive:
		l.Filling = cache.Exclusive
	case victim:
		l.Filling = cache.Victims
	default:
		r.fail(path+".inclusion", "inclusion: %q is none of %s, %s, %s and %s", t.Inclusion, nonInclusive, inclusive, exclusive, victim)
	}
}

// prefetcher reads a prefetcher of the levels of m.
func (r *reader) prefetcher(path string, d *description, t *prefetchText, m *Machine) Prefetcher {
	p := Prefetcher{Prefetcher: cache.Prefetcher{
		Name: t.Name, Degree: t.Degree, Distance: t.Distance, Entries: t.Entries, Confidence: t.Confidence,
	}, Source: t.Source}
	r.need(path+".name", t.Name)
	r.need(path+".kind", t.Kind)
	r.need(path+".at", t.At)
	if r.err == nil {
		var err error
		if p.Kind, err = cache.ParsePrefetchKind(t.Kind); err != nil {
			r.fail(path+".kind", "%v", err)
		}
	}
	p.Level = r.levelOf(path+".at", t.At, m)
	p.Into = p.Level
	if t.Into != "" {
		if p.Into = r.levelOf(path+".into", t.Into, m); p.Into < p.Level {
			r.fail(path+".into", "%s fetches into %s, which is above %s, whose accesses it sees", t.Name, t.Into, t.At)
		}
	}
	for _, x := range []struct {
		key  string
		text string
		to   *uint64
	}{{".max_stride", t.MaxStride, &p.MaxStride}, {".page", t.Page, &p.PageBytes}} {
		if x.text != "" {
			*x.to = r.bytes(path+x.key, x.text)
		}
	}
	if p.MaxStride != 0 && p.Kind != cache.Stride {
		r.fail(path+".max_stride", "max_stride is of prefetchers of kind %v; this one is %v", cache.Stride, p.Kind)
	}
	if entries := p.Entries != 0 || p.Confidence != 0; entries && (p.Kind == cache.NextLine || p.Kind == cache.Pair) {
		r.fail(path, "entries and confidence are of prefetchers of kind %v and %v; this one is %v", cache.Stride, cache.Stream, p.Kind)
	}
	r.sources(path, d, t.Source)
	return p
}

// levelOf returns the index of a cache.
func (r *reader) levelOf(path, name string, m *Machine) int {
	i := slices.IndexFunc(m.Caches, func(c Cache) bool { return c.Name == name })
	if i < 0 {
		r.fail(path, "no cache is called %q", name)
		return 0
	}
	return i
}

// prefetching checks that the prefetchers of a machine can be simulated, and have
// different names.
func (r *reader) prefetching(m *Machine) {
	seen := make(map[string]bool)
	for i := range m.Prefetchers {
		h := m.Hierarchy()
		h.Prefetching = &cache.Prefetching{Prefetchers: []cache.Prefetcher{m.Prefetchers[i].Prefetcher}}
		path := fmt.Sprintf("$.prefetch[%d]", i)
		if err := h.Check(); err != nil {
			r.fail(path, "%v", err)
		}
		if name := m.Prefetchers[i].Name; seen[name] {
			r.fail(path+".name", "%q is the name of two prefetchers", name)
		}
		seen[m.Prefetchers[i].Name] = true
	}
}

// ErrNoPrefetchers is returned by Machine.Prefetching for a description without
// prefetchers.
var ErrNoPrefetchers = errors.New("machine: no prefetchers are described")

// PrefetchConfig is a hierarchy with its prefetchers.
type PrefetchConfig struct {
	cache.Config
	Assumed []string // what the description leaves open
}

// Prefetching returns Hierarchy with the machine's prefetchers. A block arrives after the
// latency of where it is found, at so many accesses of the program in a cycle;
// accessesPerCycle of 0 stands for 1. Where a latency is not known, it arrives after
// that of the level before, and Assumed says so. Prefetching returns ErrNoPrefetchers if
// the description has none, and an error if accessesPerCycle is negative or not a number.
func (m *Machine) Prefetching(accessesPerCycle float64) (*PrefetchConfig, error) {
	if len(m.Prefetchers) == 0 {
		return nil, fmt.Errorf("%w for %s: list them under the key prefetch of its file", ErrNoPrefetchers, m.Name)
	}
	if accessesPerCycle < 0 || math.IsNaN(accessesPerCycle) || accessesPerCycle > maxAccessRate {
		return nil, fmt.Errorf("machine: %g accesses per cycle: want a number above 0, at most %d", accessesPerCycle, maxAccessRate)
	}
	c := &PrefetchConfig{Config: m.Hierarchy()}
	if accessesPerCycle == 0 {
		accessesPerCycle = 1
		c.Assumed = append(c.Assumed, "one access per cycle tells late prefetches")
	}
	p := new(cache.Prefetching)
	for i := range m.Prefetchers {
		p.Prefetchers = append(p.Prefetchers, m.Prefetchers[i].Prefetcher)
	}
	last := Cycles(0)
	arrive := func(name string, latency Cycles) {
		if latency == 0 {
			c.Assumed = append(c.Assumed, fmt.Sprintf("latency of %s not known: prefetches from there arrive after %g cycles", name, float64(last)))
			latency = last
		}
		last = latency
		p.Arrival = append(p.Arrival, uint64(math.Round(float64(latency)*accessesPerCycle)))
	}
	for i := range m.Caches {
		arrive(m.Caches[i].Name, m.Caches[i].Latency)
	}
	arrive(MemoryLevel, m.Memory.RestartLatency)
	c.Config.Prefetching = p
	return c, nil
}

// maxAccessRate is the largest number of accesses in a cycle.
const maxAccessRate = 64

// Inclusion names how the contents of a cache depend on those of the caches above, as
// descriptions do: non-inclusive, inclusive, exclusive or victim.
func (c *Cache) Inclusion() string { return inclusionOf(&c.Level) }

func inclusionOf(l *cache.Level) string {
	switch {
	case l.Inclusive:
		return inclusive
	case l.Filling == cache.Exclusive:
		return exclusive
	case l.Filling == cache.Victims:
		return victim
	}
	return nonInclusive
}

// text describes a prefetcher in a line.
func (p *Prefetcher) text(m *Machine) string {
	at := m.Caches[p.Level].Name
	text := fmt.Sprintf("%v, of accesses to %s", p.Kind, at)
	if p.Into != p.Level {
		text += " into " + m.Caches[p.Into].Name
	}
	for _, x := range []struct {
		what string
		n    int
	}{{"degree", p.Degree}, {"distance", p.Distance}, {"entries", p.Entries}, {"confidence", p.Confidence}} {
		if x.n != 0 {
			text += fmt.Sprintf(", %s %d", x.what, x.n)
		}
	}
	if p.MaxStride != 0 {
		text += fmt.Sprintf(", steps of at most %v", Bytes(p.MaxStride))
	}
	if p.PageBytes != 0 {
		text += fmt.Sprintf(", in pages of %v", Bytes(p.PageBytes))
	}
	return text
}
