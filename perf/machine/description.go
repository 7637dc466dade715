package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"presage/perf/cache"
)

// description is the content of a file, with quantities as text.
type description struct {
	Title     string            `yaml:"title"`
	Processor string            `yaml:"processor"`
	Notes     string            `yaml:"notes"`
	Core      *coreText         `yaml:"core"`
	Caches    []cacheText       `yaml:"caches"`
	TLBs      []tlbText         `yaml:"tlbs"`
	Memory    *memoryText       `yaml:"memory"`
	Prefetch  []prefetchText    `yaml:"prefetch"`
	Exposures []exposureText    `yaml:"exposures"`
	Sources   map[string]string `yaml:"sources"`
}

type cacheText struct {
	Name          string   `yaml:"name"`
	Capacity      string   `yaml:"capacity"`
	Block         string   `yaml:"block"`
	Ways          string   `yaml:"ways"`
	Replacement   string   `yaml:"replacement"`
	Write         string   `yaml:"write"`
	WriteAllocate *bool    `yaml:"write_allocate"`
	Inclusive     bool     `yaml:"inclusive"`
	Inclusion     string   `yaml:"inclusion"`
	BypassFloat   bool     `yaml:"bypass_float"`
	Latency       string   `yaml:"latency"`
	Bandwidth     string   `yaml:"bandwidth"`
	Source        []string `yaml:"source"`
}

type tlbText struct {
	Name        string   `yaml:"name"`
	Entries     uint64   `yaml:"entries"`
	EntryMaps   string   `yaml:"entry_maps"`
	Ways        string   `yaml:"ways"`
	Replacement string   `yaml:"replacement"`
	BypassFloat bool     `yaml:"bypass_float"`
	MissPenalty string   `yaml:"miss_penalty"`
	Walks       int      `yaml:"walks"`
	Source      []string `yaml:"source"`
}

type memoryText struct {
	RestartLatency    string   `yaml:"restart_latency"`
	BackToBackLatency string   `yaml:"back_to_back_latency"`
	StreamLatency     string   `yaml:"stream_latency"`
	OutstandingMisses int      `yaml:"outstanding_misses"`
	Bandwidth         string   `yaml:"bandwidth"`
	Source            []string `yaml:"source"`
}

// reader turns a description into a Machine. It keeps the first error.
type reader struct {
	file string
	tree *ast.File
	used map[string]bool // sources
	err  error
}

// fail records an error at a YAML path such as $.caches[0].ways or, if the file
// lacks it, at the nearest path above.
func (r *reader) fail(path, format string, args ...any) {
	if r.err != nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	for at := path; at != ""; at = parent(at) {
		if pos := r.position(at); pos != nil {
			r.err = fmt.Errorf("%s:%d:%d: %s", r.file, pos.Line, pos.Column, text)
			return
		}
	}
	r.err = fmt.Errorf("%s: %s", r.file, text)
}

// position returns where the value at a path stands, or nil if the file lacks it.
func (r *reader) position(path string) *token.Position {
	p, err := yaml.PathString(path)
	if err != nil {
		return nil
	}
	node, err := p.FilterFile(r.tree)
	if err != nil || node == nil || node.GetToken() == nil {
		return nil
	}
	return node.GetToken().Position
}

// parent returns the YAML path above, or "" for the root.
func parent(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }

func (r *reader) machine(d *description) *Machine {
	m := &Machine{Title: d.Title, Processor: d.Processor, Notes: d.Notes, Sources: d.Sources}
	r.need("$.title", d.Title)
	r.need("$.processor", d.Processor)
	if d.Core != nil {
		m.Frequency = r.frequency("$.core.frequency", d.Core.Frequency)
		m.Core = r.core(d.Core)
		r.sources("$.core", d, d.Core.Source)
	}
	if len(d.Caches) == 0 {
		r.fail("$", "no caches: list them under caches:, from the processor to memory")
	}
	for i := range d.Caches {
		m.Caches = append(m.Caches, r.cache(fmt.Sprintf("$.caches[%d]", i), d, &d.Caches[i]))
	}
	for i := range d.TLBs {
		m.TLBs = append(m.TLBs, r.tlb(fmt.Sprintf("$.tlbs[%d]", i), d, &d.TLBs[i]))
	}
	if d.Memory != nil {
		m.Memory = r.memory(d)
	}
	for i := range d.Prefetch {
		m.Prefetchers = append(m.Prefetchers, r.prefetcher(fmt.Sprintf("$.prefetch[%d]", i), d, &d.Prefetch[i], m))
	}
	m.Exposures = r.exposures(d, m)
	r.names(m)
	r.growing(m)
	for name := range d.Sources {
		if !r.used[name] {
			r.fail("$.sources."+name, "source %q is not the source of anything", name)
		}
	}
	if r.err == nil {
		r.nearest(m)
		h := m.Hierarchy()
		if err := h.Check(); err != nil {
			r.fail("$.caches", "%v", err)
		}
		r.prefetching(m)
	}
	return m
}

func (r *reader) cache(path string, d *description, t *cacheText) Cache {
	c := Cache{Level: cache.Level{
		Name: t.Name, BypassFloat: t.BypassFloat, Inclusive: t.Inclusive,
		NoWriteAllocate: t.WriteAllocate != nil && !*t.WriteAllocate,
	}, Source: t.Source}
	r.need(path+".name", t.Name)
	c.BlockBytes = r.powerOfTwo(path+".block", t.Block)
	capacity := r.bytes(path+".capacity", t.Capacity)
	if r.err != nil {
		return c
	}
	if capacity%c.BlockBytes != 0 {
		r.fail(path+".capacity", "a capacity of %s is no multiple of the block of %s", t.Capacity, t.Block)
	}
	c.Blocks = capacity / c.BlockBytes
	c.Ways = r.ways(path+".ways", t.Ways, c.Blocks)
	c.Replacement = r.replacement(path+".replacement", t.Replacement)
	switch t.Write {
	case "", "back":
	case "through":
		c.WriteThrough = true
	default:
		r.fail(path+".write", "write: %q is neither back nor through", t.Write)
	}
	r.inclusion(path, t, &c.Level)
	c.Latency = r.cycles(path+".latency", t.Latency)
	c.Bandwidth = r.rate(path+".bandwidth", t.Bandwidth)
	r.sources(path, d, t.Source)
	return c
}

func (r *reader) tlb(path string, d *description, t *tlbText) TLB {
	b := TLB{TLB: cache.TLB{Name: t.Name, Entries: t.Entries, BypassFloat: t.BypassFloat}, Source: t.Source}
	r.need(path+".name", t.Name)
	if t.Entries == 0 || t.Entries > maxCount {
		r.fail(path+".entries", "entries: want the number of entries, from 1 to %d", maxCount)
	}
	b.EntryBytes = r.powerOfTwo(path+".entry_maps", t.EntryMaps)
	b.Ways = r.ways(path+".ways", t.Ways, t.Entries)
	b.Replacement = r.replacement(path+".replacement", t.Replacement)
	b.MissPenalty = r.cycles(path+".miss_penalty", t.MissPenalty)
	if b.Walks = t.Walks; t.Walks < 0 {
		r.fail(path+".walks", "walks: want the number of misses served at a time, or 0 where the core waits for each")
	}
	r.sources(path, d, t.Source)
	return b
}

func (r *reader) memory(d *description) Memory {
	const path = "$.memory"
	t := d.Memory
	m := Memory{OutstandingMisses: t.OutstandingMisses, Source: t.Source}
	m.RestartLatency = r.cycles(path+".restart_latency", t.RestartLatency)
	m.BackToBackLatency = r.cycles(path+".back_to_back_latency", t.BackToBackLatency)
	if m.BackToBackLatency != 0 && m.BackToBackLatency < m.RestartLatency {
		r.fail(path+".back_to_back_latency", "the back-to-back latency of %s is below the restart latency of %s", t.BackToBackLatency, t.RestartLatency)
	}
	m.StreamLatency = r.cycles(path+".stream_latency", t.StreamLatency)
	switch {
	case m.StreamLatency != 0 && m.RestartLatency == 0:
		r.fail(path+".stream_latency", "a stream latency without a restart latency, which is that of loads that nothing fetched ahead: give it too")
	case m.StreamLatency > m.RestartLatency:
		r.fail(path+".stream_latency", "the stream latency of %s is above the restart latency of %s", t.StreamLatency, t.RestartLatency)
	}
	if t.OutstandingMisses < 0 || t.OutstandingMisses > maxCount {
		r.fail(path+".outstanding_misses", "%d outstanding misses are impossible", t.OutstandingMisses)
	}
	m.Bandwidth = r.rate(path+".bandwidth", t.Bandwidth)
	r.sources(path, d, t.Source)
	return m
}

// rate reads an optional bandwidth, such as "32 B/cycle".
func (r *reader) rate(path, text string) Rate {
	if text == "" {
		return 0
	}
	bytes, ok := strings.CutSuffix(text, "/cycle")
	if !ok {
		r.fail(path, "%q is no bandwidth; want bytes per cycle, such as 32 B/cycle", text)
		return 0
	}
	v, err := parseQuantity(bytes, byteUnits)
	if err != nil {
		r.fail(path, "%v", err)
	}
	return Rate(v)
}

func (r *reader) need(path, value string) {
	if value == "" {
		r.fail(path, "%s is missing", path[strings.LastIndexByte(path, '.')+1:])
	}
}

// quantity reads an optional quantity; it returns 0 if there is none.
func (r *reader) quantity(path, text string, units []unit) float64 {
	if text == "" {
		return 0
	}
	v, err := parseQuantity(text, units)
	if err != nil {
		r.fail(path, "%v", err)
	}
	return v
}

// frequency reads the frequency of a processor.
func (r *reader) frequency(path, text string) Hertz {
	const least, most = 1e3, 1e12
	v := Hertz(r.quantity(path, text, hertzUnits))
	if v != 0 && (v < least || v > most) {
		r.fail(path, "%q is impossible: want a frequency from 1000 Hz to 1000 GHz", text)
	}
	return v
}

// cycles reads a latency of a cache, a TLB or memory.
func (r *reader) cycles(path, text string) Cycles {
	const most = 1 << 24 // milliseconds
	v := Cycles(r.quantity(path, text, cycleUnits))
	if v > most {
		r.fail(path, "%q is impossible: want at most %d cycles", text, most)
	}
	return v
}

func (r *reader) bytes(path, text string) uint64 {
	r.need(path, text)
	if text == "" {
		return 0
	}
	v, err := parseBytes(text)
	if err != nil {
		r.fail(path, "%v", err)
	}
	return v
}

func (r *reader) powerOfTwo(path, text string) uint64 {
	v := r.bytes(path, text)
	if r.err == nil && v&(v-1) != 0 {
		r.fail(path, "%s is not a power of two", text)
	}
	return v
}

// ways reads "full" as 0, and otherwise a divisor of blocks.
func (r *reader) ways(path, text string, blocks uint64) int {
	r.need(path, text)
	if text == "full" || r.err != nil {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		r.fail(path, "ways: %q is neither a positive number nor full", text)
		return 0
	}
	if blocks%uint64(n) != 0 {
		r.fail(path, "%d blocks cannot be divided into sets of %d", blocks, n)
		return 0
	}
	return n
}

func (r *reader) replacement(path, text string) cache.Replacement {
	if text == "" {
		return cache.LRU
	}
	policy, err := cache.ParseReplacement(text)
	if err != nil {
		r.fail(path, "%v", err)
	}
	return policy
}

// sources checks that a section names the sources of its numbers.
func (r *reader) sources(path string, d *description, names []string) {
	if len(names) == 0 {
		r.fail(path, "source is missing: say where these numbers are from, by a name listed under sources:")
	}
	for _, name := range names {
		if d.Sources[name] == "" {
			r.fail(path+".source", "source %q is not explained under sources:", name)
		}
		r.used[name] = true
	}
}

// growing checks that no cache is smaller, nearer or has smaller blocks than the one
// before it, that memory is not nearer than a cache, and that no TLB reaches less far
// than the one before it.
func (r *reader) growing(m *Machine) {
	nearest := Cycles(0) // a latency that no farther level can be below; 0: unknown
	for i := range m.Caches {
		outer, path := &m.Caches[i], fmt.Sprintf("$.caches[%d]", i)
		if outer.Latency != 0 && outer.Latency < nearest {
			r.fail(path+".latency", "%s is nearer, by %g cycles, than a cache before it, by %g; latencies are from the start of the load", outer.Name, outer.Latency, nearest)
		}
		nearest = max(nearest, outer.Latency)
		if i == 0 {
			continue
		}
		inner := &m.Caches[i-1]
		if outer.Capacity() < inner.Capacity() {
			r.fail(path+".capacity", "%s of %v is smaller than %s of %v; list caches from the processor to memory", outer.Name, outer.Capacity(), inner.Name, inner.Capacity())
		}
		if outer.BlockBytes < inner.BlockBytes {
			r.fail(path+".block", "blocks of %s, %d bytes, are smaller than those of %s, %d bytes", outer.Name, outer.BlockBytes, inner.Name, inner.BlockBytes)
		}
	}
	if l := m.Memory.RestartLatency; l != 0 && l < nearest {
		r.fail("$.memory.restart_latency", "memory is nearer, by %g cycles, than a cache, by %g", l, nearest)
	}
	for i := 1; i < len(m.TLBs); i++ {
		inner, outer := &m.TLBs[i-1], &m.TLBs[i]
		if outer.EntryBytes == inner.EntryBytes && outer.Entries < inner.Entries {
			r.fail(fmt.Sprintf("$.tlbs[%d].entries", i), "%s has fewer entries, %d, than %s before it, %d, for pages of one size", outer.Name, outer.Entries, inner.Name, inner.Entries)
		}
	}
}

// names checks that the names of caches and TLBs differ.
func (r *reader) names(m *Machine) {
	var seen []string
	check := func(path, name string) {
		if slices.Contains(seen, name) {
			r.fail(path, "%q is the name of two levels", name)
		}
		seen = append(seen, name)
	}
	for i := range m.Caches {
		check(fmt.Sprintf("$.caches[%d].name", i), m.Caches[i].Name)
	}
	for i := range m.TLBs {
		check(fmt.Sprintf("$.tlbs[%d].name", i), m.TLBs[i].Name)
	}
}
