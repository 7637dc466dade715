package host

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"presage/perf/cache"
	"presage/perf/isa"
	"presage/perf/machine"
)

// WriteYAML writes a machine description that machine.Parse reads back as m,
// except for name and path, which are the file's. It starts with the comment.
// Classes that fall back on others are left out, as in m's own file.
func WriteYAML(w io.Writer, m *machine.Machine, comment string) error {
	y := new(yamlWriter)
	for line := range strings.Lines(comment) {
		y.line(0, "# %s", strings.TrimRight(line, "\n"))
	}
	y.text(0, "title", m.Title)
	y.text(0, "processor", m.Processor)
	y.text(0, "notes", m.Notes)
	y.core(m)
	y.line(0, "")
	y.line(0, "caches:")
	for i := range m.Caches {
		y.cache(&m.Caches[i])
	}
	y.tlbs(m.TLBs)
	y.memory(&m.Memory)
	y.prefetchers(m)
	y.exposures(m.Exposures)
	if len(m.Sources) > 0 {
		y.line(0, "")
		y.line(0, "sources:")
		for _, name := range slices.Sorted(maps.Keys(m.Sources)) {
			y.text(2, name, m.Sources[name])
		}
	}
	_, err := w.Write(y.b.Bytes())
	return err
}

// yamlWriter writes lines. It omits empty and 0 values, which are not known.
type yamlWriter struct{ b bytes.Buffer }

func (y *yamlWriter) line(indent int, format string, args ...any) {
	y.b.WriteString(strings.TrimRight(strings.Repeat(" ", indent)+fmt.Sprintf(format, args...), " "))
	y.b.WriteByte('\n')
}

// text writes a string in double quotes, in which Go's escapes are YAML's.
func (y *yamlWriter) text(indent int, key, value string) {
	if value != "" {
		y.line(indent, "%s: %s", key, strconv.Quote(value))
	}
}

func (y *yamlWriter) count(indent int, key string, n int) {
	if n != 0 {
		y.line(indent, "%s: %d", key, n)
	}
}

func (y *yamlWriter) cycles(indent int, key string, c machine.Cycles) {
	if c != 0 {
		y.line(indent, "%s: %s", key, cyclesText(c))
	}
}

func cyclesText(c machine.Cycles) string {
	if c == 1 {
		return "1 cycle"
	}
	return strconv.FormatFloat(float64(c), 'g', -1, 64) + " cycles"
}

func (y *yamlWriter) names(indent int, key string, names []string) {
	if len(names) > 0 {
		y.line(indent, "%s: %s", key, namesText(names))
	}
}

func namesText(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = strconv.Quote(n)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func (y *yamlWriter) core(m *machine.Machine) {
	c := &m.Core
	if m.Frequency == 0 && len(c.Source) == 0 {
		return
	}
	y.line(0, "")
	y.line(0, "core:")
	if m.Frequency != 0 {
		y.line(2, "frequency: %v", m.Frequency)
	}
	if len(c.Classes) > 0 {
		y.schedule(c)
	}
	y.names(2, "source", c.Source)
}

func (y *yamlWriter) schedule(c *machine.Core) {
	order := "out"
	if c.InOrder {
		order = "in"
	}
	y.line(2, "order: %s", order)
	y.line(2, "width:")
	y.count(4, "fetch", c.FetchWidth)
	y.count(4, "issue", c.IssueWidth)
	y.count(4, "retire", c.RetireWidth)
	y.count(2, "window", c.Window)
	if len(c.Queues) > 0 {
		y.line(2, "queues:")
		for _, q := range c.Queues {
			y.line(4, "- name: %s", strconv.Quote(q.Name))
			y.count(6, "entries", q.Entries)
			y.names(6, "classes", described(c, q.Classes))
		}
	}
	y.count(2, "load_queue", c.LoadQueue)
	y.count(2, "store_queue", c.StoreQueue)
	if c.IntRegisters != 0 || c.FloatRegisters != 0 {
		y.line(2, "registers:")
		y.count(4, "int", c.IntRegisters)
		y.count(4, "float", c.FloatRegisters)
	}
	y.line(2, "units:")
	for _, u := range c.Units {
		y.line(4, "- {name: %s, count: %d}", strconv.Quote(u.Name), u.Count)
	}
	y.classes(c)
	if b := &c.Branch; b.Predictor != "" {
		y.line(2, "branch:")
		y.text(4, "predictor", b.Predictor)
		y.count(4, "entries", b.Entries)
		y.count(4, "history_bits", b.HistoryBits)
		y.count(4, "loop_reach", b.LoopReach)
		y.count(4, "pattern_reach", b.PatternReach)
		y.cycles(4, "mispredict_cost", b.MispredictCost)
	}
}

// described returns the names of the classes of a queue that are not there by
// falling back on others of it.
func described(c *machine.Core, classes []isa.Class) []string {
	var names []string
	for _, class := range classes {
		if as, falls := c.FallsBack[class]; !falls || !slices.Contains(classes, as) {
			names = append(names, class.String())
		}
	}
	return names
}

func (y *yamlWriter) classes(c *machine.Core) {
	y.line(2, "classes:")
	for _, class := range isa.Classes() {
		t, ok := c.Classes[class]
		if _, falls := c.FallsBack[class]; !ok || falls {
			continue
		}
		y.line(4, "- of: [%s]", class)
		y.cycles(6, "latency", t.Latency)
		if len(t.Uses) == 0 {
			continue
		}
		y.line(6, "uses:")
		for _, u := range t.Uses {
			y.line(8, "- {any_of: %s, for: %s}", namesText(u.AnyOf), cyclesText(u.Cycles))
		}
	}
}

func waysText(ways int) string {
	if ways == 0 {
		return "full"
	}
	return strconv.Itoa(ways)
}

func (y *yamlWriter) policy(r cache.Replacement, bypass bool) {
	if r != cache.LRU {
		y.line(4, "replacement: %s", strings.ToLower(r.String()))
	}
	if bypass {
		y.line(4, "bypass_float: true")
	}
}

func (y *yamlWriter) cache(c *machine.Cache) {
	y.line(2, "- name: %s", strconv.Quote(c.Name))
	y.line(4, "capacity: %v", c.Capacity())
	y.line(4, "block: %v", machine.Bytes(c.BlockBytes))
	y.line(4, "ways: %s", waysText(c.Ways))
	y.policy(c.Replacement, c.BypassFloat)
	if c.WriteThrough {
		y.line(4, "write: through")
	}
	if c.NoWriteAllocate {
		y.line(4, "write_allocate: false")
	}
	if in := c.Inclusion(); in != "non-inclusive" {
		y.line(4, "inclusion: %s", in)
	}
	y.cycles(4, "latency", c.Latency)
	y.rate(4, c.Bandwidth)
	y.names(4, "source", c.Source)
}

func (y *yamlWriter) tlbs(all []machine.TLB) {
	if len(all) == 0 {
		return
	}
	y.line(0, "")
	y.line(0, "tlbs:")
	for i := range all {
		t := &all[i]
		y.line(2, "- name: %s", strconv.Quote(t.Name))
		y.line(4, "entries: %d", t.Entries)
		y.line(4, "entry_maps: %v", machine.Bytes(t.EntryBytes))
		y.line(4, "ways: %s", waysText(t.Ways))
		y.policy(t.Replacement, t.BypassFloat)
		y.cycles(4, "miss_penalty", t.MissPenalty)
		y.count(4, "walks", t.Walks)
		y.names(4, "source", t.Source)
	}
}

func (y *yamlWriter) memory(m *machine.Memory) {
	if len(m.Source) == 0 {
		return
	}
	y.line(0, "")
	y.line(0, "memory:")
	y.cycles(2, "restart_latency", m.RestartLatency)
	y.cycles(2, "back_to_back_latency", m.BackToBackLatency)
	y.cycles(2, "stream_latency", m.StreamLatency)
	y.count(2, "outstanding_misses", m.OutstandingMisses)
	y.rate(2, m.Bandwidth)
	y.names(2, "source", m.Source)
}

func (y *yamlWriter) rate(indent int, r machine.Rate) {
	if r != 0 {
		y.line(indent, "bandwidth: %s B/cycle", strconv.FormatFloat(float64(r), 'g', -1, 64))
	}
}

func (y *yamlWriter) prefetchers(m *machine.Machine) {
	if len(m.Prefetchers) == 0 {
		return
	}
	y.line(0, "")
	y.line(0, "prefetch:")
	for i := range m.Prefetchers {
		p := &m.Prefetchers[i]
		y.line(2, "- name: %s", strconv.Quote(p.Name))
		y.line(4, "kind: %v", p.Kind)
		y.line(4, "at: %s", strconv.Quote(m.Caches[p.Level].Name))
		y.line(4, "into: %s", strconv.Quote(m.Caches[p.Into].Name))
		y.count(4, "degree", p.Degree)
		y.count(4, "distance", p.Distance)
		y.count(4, "entries", p.Entries)
		y.count(4, "confidence", p.Confidence)
		if p.MaxStride != 0 {
			y.line(4, "max_stride: %v", machine.Bytes(p.MaxStride))
		}
		if p.PageBytes != 0 {
			y.line(4, "page: %v", machine.Bytes(p.PageBytes))
		}
		y.names(4, "source", p.Source)
	}
}

func (y *yamlWriter) exposures(all []machine.Exposure) {
	if len(all) == 0 {
		return
	}
	y.line(0, "")
	y.line(0, "exposures:")
	for _, e := range all {
		y.line(2, "- level: %s", strconv.Quote(e.Level))
		y.line(4, "share: %s", strconv.FormatFloat(e.Share, 'g', -1, 64))
		y.names(4, "source", e.Source)
	}
}
