package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"presage/perf/isa"
)

// explainer writes a machine's description for people.
type explainer struct{ strings.Builder }

func (w *explainer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// Explain describes a machine in words: its core and the cost of instructions,
// its caches, TLBs and memory, the exposed latencies, and the sources. It
// states what is not known.
func (m *Machine) Explain() string {
	w := new(explainer)
	w.line("%s (%s)", m.Title, m.Name)
	w.line("%s, %s", m.Processor, known(m.Frequency != 0, m.Frequency.String(), "frequency not known"))
	w.core(&m.Core)
	w.line("\nCaches, from the processor to memory")
	for i := range m.Caches {
		w.cache(&m.Caches[i])
	}
	w.tlbs(m.TLBs)
	w.memory(&m.Memory)
	w.prefetchers(m)
	w.exposures(m)
	if notes := strings.TrimSpace(m.Notes); notes != "" {
		w.line("\nNotes\n%s", indent(notes))
	}
	w.line("\nSources")
	for _, name := range slices.Sorted(maps.Keys(m.Sources)) {
		w.line("  %s: %s", name, m.Sources[name])
	}
	return w.String()
}

func (w *explainer) core(c *Core) {
	if !c.Described() {
		w.line("\nThe core is not described: nothing can be scheduled for this machine.")
		return
	}
	w.line("\nCore")
	if c.InOrder {
		w.line("  Instructions begin to execute in program order.")
	} else {
		w.line("  Instructions execute out of order, up to %d in flight at once.", c.Window)
	}
	w.line("  A cycle: %s fetched, %s begin to execute, %s retire.", number(c.FetchWidth), number(c.IssueWidth), number(c.RetireWidth))
	if len(c.Queues) > 0 {
		var queues []string
		for _, q := range c.Queues {
			queues = append(queues, fmt.Sprintf("%s %d", q.Name, q.Entries))
		}
		w.line("  Queues where they wait for operands: %s.", list(queues))
	}
	if c.LoadQueue != 0 || c.StoreQueue != 0 {
		w.line("  Memory operations until they retire: %s loads, %s stores.", number(c.LoadQueue), number(c.StoreQueue))
	}
	if c.IntRegisters != 0 || c.FloatRegisters != 0 {
		w.line("  Registers for results: %s integer, %s floating-point.", number(c.IntRegisters), number(c.FloatRegisters))
	}
	w.branch(&c.Branch)
	w.units(c)
	w.classes(c)
}

func (w *explainer) branch(b *Branch) {
	if b.Predictor == "" {
		w.line("  Branch prediction is not described.")
		return
	}
	text := b.Predictor
	if b.Entries != 0 {
		text += fmt.Sprintf(", %d counters", b.Entries)
	}
	if b.HistoryBits != 0 {
		text += fmt.Sprintf(", %d bits of history", b.HistoryBits)
	}
	if b.LoopReach != 0 {
		text += fmt.Sprintf(", ends of loops foreseen up to %d iterations", b.LoopReach)
	}
	if b.PatternReach != 0 {
		text += fmt.Sprintf(", patterns of up to %d directions learned", b.PatternReach)
	}
	w.line("  Branch prediction: %s; a wrong one costs %s.", text, cycles(b.MispredictCost))
}

func (w *explainer) units(c *Core) {
	var units []string
	for _, u := range c.Units {
		units = append(units, u.Name)
		if u.Count > 1 {
			units[len(units)-1] = fmt.Sprintf("%d x %s", u.Count, u.Name)
		}
	}
	w.line("  Units: %s.", list(units))
}

// classes lists the costs of instructions, grouping classes with the same
// timing.
func (w *explainer) classes(c *Core) {
	w.line("\nInstructions: cycles until a result can be used; how many can begin in a cycle; units needed")
	type row struct{ timing, names string }
	var rows []row
	for _, class := range isa.Classes() {
		t, ok := c.Classes[class]
		if _, other := c.FallsBack[class]; !ok || other {
			continue
		}
		timing := fmt.Sprintf("%g\t%.3g\t%s", float64(t.Latency), c.Throughput(class), t.UnitsOf())
		i := slices.IndexFunc(rows, func(r row) bool { return r.timing == timing })
		if i < 0 {
			rows = append(rows, row{timing, class.String()})
			continue
		}
		rows[i].names += ", " + class.String()
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(table, "  %s\t%s\n", r.names, r.timing)
	}
	_ = table.Flush() // into memory
	var other []string
	for _, class := range isa.Classes() {
		if as, ok := c.FallsBack[class]; ok {
			other = append(other, fmt.Sprintf("%v as %v", class, as))
		}
	}
	if len(other) > 0 {
		w.line("  Timed as another, because the description does not have them: %s.", list(other))
	}
}

func (w *explainer) cache(c *Cache) {
	w.line("  %s: %v in blocks of %v, %s, %v replacement, writes %s; a hit takes %s%s%s.", c.Name, c.Capacity(), Bytes(c.BlockBytes),
		known(c.Ways == 0, "fully associative", fmt.Sprintf("%d-way", c.Ways)), c.Replacement, writes(c), cycles(c.Latency),
		known(c.Bandwidth != 0, fmt.Sprintf("; a core reads at most %.3g bytes per cycle", float64(c.Bandwidth)), ""),
		known(c.BypassFloat, "; floating-point accesses pass by", ""))
}

func (w *explainer) tlbs(tlbs []TLB) {
	if len(tlbs) == 0 {
		w.line("\nTLBs are not described.")
		return
	}
	w.line("\nTLBs")
	for i := range tlbs {
		t := &tlbs[i]
		w.line("  %s: %d entries that map %v each (%v together), %s, %v replacement; a miss costs %s%s.", t.Name, t.Entries, Bytes(t.EntryBytes),
			Bytes(t.Entries*t.EntryBytes), known(t.Ways == 0, "fully associative", fmt.Sprintf("%d-way", t.Ways)), t.Replacement, cycles(t.MissPenalty),
			known(t.BypassFloat, "; floating-point accesses pass by", ""))
	}
}

func (w *explainer) memory(m *Memory) {
	w.line("\nMemory")
	w.line("  A load that misses everywhere takes %s, in a sequence of such %s.", cycles(m.RestartLatency), cycles(m.BackToBackLatency))
	if m.StreamLatency != 0 {
		w.line("  Where the blocks before it were read in order, prefetching leaves %s.", cycles(m.StreamLatency))
	}
	w.line("  Loads that can wait for memory at once: %s.", number(m.OutstandingMisses))
	if m.Bandwidth != 0 {
		w.line("  A core reads at most %.3g bytes per cycle.", float64(m.Bandwidth))
	}
}

// prefetchers lists the prefetchers, and says what is not of them.
func (w *explainer) prefetchers(m *Machine) {
	if len(m.Prefetchers) == 0 {
		return
	}
	w.line("\nPrefetchers, simulated where they are asked for; predictions and other simulations are of misses without them")
	for i := range m.Prefetchers {
		w.line("  %s: %s.", m.Prefetchers[i].Name, m.Prefetchers[i].text(m))
	}
}

func (w *explainer) exposures(m *Machine) {
	w.line("\nWhat is waited for")
	for _, e := range m.Exposures {
		share := fmt.Sprintf("%g%%", 100*e.Share)
		switch e.Level {
		case MemoryLevel:
			w.line("  %s of the latency beyond the last cache, at each miss of that cache", share)
		case TLBLevel:
			w.line("  %s of the cost of a TLB miss", share)
		default:
			w.line("  %s of the latency beyond %s, at each of its misses", share, e.Level)
		}
	}
	w.line("  %s", known(len(m.Exposures) == 0, "no shares are given: all latencies in full", "what is not listed: in full"))
}

func indent(text string) string {
	return strings.ReplaceAll("  "+strings.ReplaceAll(text, "\n", "\n  "), "\n  \n", "\n\n")
}

func known(ok bool, yes, no string) string {
	if ok {
		return yes
	}
	return no
}

func number(n int) string { return known(n != 0, fmt.Sprint(n), "an unknown number") }

func cycles(c Cycles) string {
	switch c {
	case 0:
		return "unknown time"
	case 1:
		return "1 cycle"
	}
	return fmt.Sprintf("%g cycles", float64(c))
}
