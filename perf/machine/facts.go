package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"presage/perf/isa"
)

// Fact is one known property of a machine.
type Fact struct {
	Property string // such as "L2 latency"
	Unit     string // of the value: cycles, bytes, MHz; "" for counts and words
	Value    string
}

// Difference is a property in which two machines differ. The value is empty for
// a machine that lacks the property or for which it is not known.
type Difference struct {
	Property, Unit string
	A, B           string
}

// Diff returns the properties in which two machines differ: those of a in the
// order of Facts, then those that only b has.
func Diff(a, b *Machine) []Difference {
	type key struct{ property, unit string }
	values := make(map[key]string)
	for _, f := range b.Facts() {
		values[key{f.Property, f.Unit}] = f.Value
	}
	var all []Difference
	seen := make(map[key]bool)
	for _, f := range a.Facts() {
		k := key{f.Property, f.Unit}
		seen[k] = true
		if other := values[k]; other != f.Value {
			all = append(all, Difference{f.Property, f.Unit, f.Value, other})
		}
	}
	for _, f := range b.Facts() {
		if !seen[key{f.Property, f.Unit}] {
			all = append(all, Difference{f.Property, f.Unit, "", f.Value})
		}
	}
	return all
}

// facts collects facts and omits numbers of 0, which are not known.
type facts []Fact

func (f *facts) word(property, value string) {
	if value != "" {
		*f = append(*f, Fact{property, "", value})
	}
}

func (f *facts) number(property, unit string, value float64) {
	if value != 0 {
		*f = append(*f, Fact{property, unit, strconv.FormatFloat(value, 'g', 6, 64)})
	}
}

func (f *facts) count(property string, n int) { f.number(property, "", float64(n)) }

func (f *facts) bytes(property string, n uint64) {
	if n != 0 {
		*f = append(*f, Fact{property, "bytes", strconv.FormatUint(n, 10)})
	}
}

// Facts returns the properties of a machine: processor, core, caches, TLBs,
// memory, exposures.
func (m *Machine) Facts() []Fact {
	var f facts
	f.word("processor", m.Processor)
	f.number("frequency", "MHz", float64(m.Frequency)/1e6)
	f.core(&m.Core)
	for i := range m.Caches {
		f.cache(&m.Caches[i])
	}
	for i := range m.TLBs {
		t := &m.TLBs[i]
		f.count(t.Name+" entries", int(t.Entries))
		f.bytes(t.Name+" memory an entry maps", t.EntryBytes)
		f.word(t.Name+" ways", ways(t.Ways))
		f.word(t.Name+" replacement", t.Replacement.String())
		f.word(t.Name+" floating point", bypass(t.BypassFloat))
		f.number(t.Name+" miss penalty", "cycles", float64(t.MissPenalty))
		f.count(t.Name+" misses at a time", t.Walks)
	}
	f.number("memory restart latency", "cycles", float64(m.Memory.RestartLatency))
	f.number("memory back-to-back latency", "cycles", float64(m.Memory.BackToBackLatency))
	f.number("memory stream latency", "cycles", float64(m.Memory.StreamLatency))
	f.count("memory outstanding misses", m.Memory.OutstandingMisses)
	f.number("memory bandwidth", "bytes per cycle", float64(m.Memory.Bandwidth))
	for i := range m.Prefetchers {
		f.word("prefetcher "+m.Prefetchers[i].Name, m.Prefetchers[i].text(m))
	}
	for _, e := range m.Exposures {
		f = append(f, Fact{"exposed share of " + e.Level + " misses", "", strconv.FormatFloat(e.Share, 'g', 6, 64)})
	}
	return f
}

func (f *facts) cache(c *Cache) {
	f.bytes(c.Name+" capacity", uint64(c.Capacity()))
	f.bytes(c.Name+" block", c.BlockBytes)
	f.word(c.Name+" ways", ways(c.Ways))
	f.word(c.Name+" replacement", c.Replacement.String())
	f.word(c.Name+" writes", writes(c))
	f.word(c.Name+" floating point", bypass(c.BypassFloat))
	f.number(c.Name+" latency", "cycles", float64(c.Latency))
	f.number(c.Name+" bandwidth", "bytes per cycle", float64(c.Bandwidth))
}

func (f *facts) core(c *Core) {
	if !c.Described() {
		return
	}
	f.word("order", order(c))
	f.count("fetch width", c.FetchWidth)
	f.count("issue width", c.IssueWidth)
	f.count("retire width", c.RetireWidth)
	f.count("window", c.Window)
	for _, q := range c.Queues {
		f.count("queue "+q.Name, q.Entries)
	}
	f.count("load queue", c.LoadQueue)
	f.count("store queue", c.StoreQueue)
	f.count("integer registers", c.IntRegisters)
	f.count("floating-point registers", c.FloatRegisters)
	for _, u := range c.Units {
		f.count("unit "+u.Name, u.Count)
	}
	for _, class := range isa.Classes() {
		if t, ok := c.Classes[class]; ok {
			f.number(class.String()+" latency", "cycles", float64(t.Latency))
			f.number(class.String()+" throughput", "a cycle", c.Throughput(class))
		}
	}
	f.word("branch predictor", c.Branch.Predictor)
	f.count("branch predictor entries", c.Branch.Entries)
	f.count("branch predictor history bits", c.Branch.HistoryBits)
	f.count("branch predictor loop reach", c.Branch.LoopReach)
	f.count("branch predictor pattern reach", c.Branch.PatternReach)
	f.number("branch mispredict cost", "cycles", float64(c.Branch.MispredictCost))
}

// Described reports whether the description of a core suffices for scheduling.
func (c *Core) Described() bool { return len(c.Classes) > 0 }

func order(c *Core) string {
	if c.InOrder {
		return "in"
	}
	return "out"
}

func ways(n int) string {
	if n == 0 {
		return "full"
	}
	return strconv.Itoa(n)
}

func writes(c *Cache) string {
	words := []string{"back"}
	if c.WriteThrough {
		words[0] = "through"
	}
	if c.NoWriteAllocate {
		words = append(words, "no allocation")
	}
	if in := inclusionOf(&c.Level); in != nonInclusive {
		words = append(words, in)
	}
	return strings.Join(words, ", ")
}

func bypass(b bool) string {
	if b {
		return "passes by"
	}
	return ""
}

// UnitsOf describes the units of a timing: "ALU1 or ALU2, and FP divide for 21
// cycles"; "none".
func (t Timing) UnitsOf() string {
	if len(t.Uses) == 0 {
		return "none"
	}
	var uses []string
	for _, u := range t.Uses {
		text := strings.Join(u.AnyOf, " or ")
		if u.Cycles != 1 {
			text += fmt.Sprintf(" for %g cycles", float64(u.Cycles))
		}
		uses = append(uses, text)
	}
	return strings.Join(uses, ", and ")
}

// QueueOf returns the name of the queue of a class, or "".
func (c *Core) QueueOf(class isa.Class) string {
	for _, q := range c.Queues {
		if slices.Contains(q.Classes, class) {
			return q.Name
		}
	}
	return ""
}
