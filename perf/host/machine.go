package host

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"presage/perf/cache"
	"presage/perf/isa"
	"presage/perf/machine"
)

// Names of sources in a description: the system, and the measurements.
const (
	saidSource      = "system"
	clockSource     = "clock"
	chaseSource     = "chase"
	pagesSource     = "pages"
	memorySource    = "memory"
	streamSource    = "stream"
	bandwidthSource = "bandwidth"
	operationSource = "operations"
	windowSource    = "window"
	branchSource    = "branch"
	loopSource      = "loops"
	patternSource   = "patterns"
)

// Machine returns a description of the host with the numbers of the profile, in
// whole cycles. Its sources state for each number which measurement it is from,
// or that the system reports it. Parts without a measurement are left out.
func (p *Profile) Machine() *machine.Machine {
	d := describer{p, &machine.Machine{
		Title:     "Calibrated host: " + p.Processor,
		Processor: fmt.Sprintf("%s, %s", p.Processor, p.System),
		Frequency: machine.Hertz(math.Round(p.GHz()*1000) * 1e6),
		Notes:     p.notes(),
		Sources:   make(map[string]string),
	}}
	d.core()
	d.caches()
	d.tlbs()
	d.memory()
	return d.m
}

// YAML returns the description as a file.
func (p *Profile) YAML() ([]byte, error) {
	var b strings.Builder
	comment := fmt.Sprintf("Measured by presage calibrate on %s.", p.Began.UTC().Format(time.DateOnly))
	if err := WriteYAML(&b, p.Machine(), comment); err != nil {
		return nil, err
	}
	text := []byte(b.String())
	if _, err := machine.Parse("host.yaml", text); err != nil {
		return nil, fmt.Errorf("host: what was measured makes no valid description: %w; measure again with less else running", err)
	}
	return text, nil
}

func (p *Profile) notes() string {
	notes := []string{
		"Cycles are those of a chain of dependent additions, assumed to take one each. Assumed, not measured: LRU replacement, write-back, allocation on a write, no inclusion; full associativity of the TLBs and where the system does not say; stores and branches of one cycle; units that no two classes share but those that were tried; tagged tables of twelve lengths of history as the predictor of branches (gshare where it learns no patterns), but for what it foresees of loops and how long a pattern it learns.",
	}
	for _, b := range p.Bandwidths {
		notes = append(notes, fmt.Sprintf("Bandwidth, %s, %s: %.1f GB/s (spread %.2f).", b.Kind, sizeText(b.Bytes), b.BytesPerSec()/1e9, b.Byte.Spread()))
	}
	for _, w := range p.Warnings {
		notes = append(notes, "Warning: "+w+".")
	}
	return strings.Join(notes, "\n")
}

// describer turns a profile into a machine.
type describer struct {
	p *Profile
	m *machine.Machine
}

// source records the origin of a number, in one or several parts.
func (d *describer) source(name, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if old := d.m.Sources[name]; old != "" {
		text = old + "; " + text
	}
	d.m.Sources[name] = text
}

// cycles returns a time in whole cycles, at least one.
func (d *describer) cycles(ns float64) machine.Cycles {
	return machine.Cycles(max(1, math.Round(d.p.Cycles(ns))))
}

// rate returns the rate at which the largest working set of more than lo and at most hi
// bytes was read, rounded to three digits, or 0 if none was measured. Working sets are
// whole numbers of what the kernel reads in a round.
func (d *describer) rate(lo, hi uint64) machine.Rate {
	var rate machine.Rate
	largest := lo
	for i := range d.p.Bandwidths {
		b := &d.p.Bandwidths[i]
		if b.Kind == readKind && largest < b.Bytes && b.Bytes <= hi && b.Byte.Min > 0 {
			per := 1 / d.p.Cycles(b.Byte.Min)
			digits := math.Pow(10, 2-math.Floor(math.Log10(per)))
			largest, rate = b.Bytes, machine.Rate(math.Round(per*digits)/digits)
		}
	}
	return rate
}

// streamPace is the part of the rate of a working set within a cache's share at which a
// larger one is still taken to be read from that cache: memory serves less of it.
const streamPace = 0.75

// keptByStreams returns the largest working set beyond the share of a cache, and within
// capacity, that was read at the pace of one within the share; 0 if there is none. before
// is the capacity of the cache above.
func (d *describer) keptByStreams(before, share, capacity uint64) uint64 {
	within, most := float64(d.rate(before, share/2)), uint64(0)
	for i := range d.p.Bandwidths {
		b := &d.p.Bandwidths[i]
		if b.Kind == readKind && share < b.Bytes && b.Bytes <= capacity && b.Byte.Min > 0 && 1/d.p.Cycles(b.Byte.Min) >= streamPace*within && within > 0 {
			most = max(most, b.Bytes)
		}
	}
	return most
}

// figure writes a sample in cycles, with its median and spread.
func (d *describer) figure(s Sample) string {
	return fmt.Sprintf("%.2f cycles (median %.2f, spread %.2f)", d.p.Cycles(s.Min), d.p.Cycles(s.Median), s.Spread())
}

func (d *describer) caches() {
	before := uint64(0)
	for _, l := range d.p.Levels {
		g := l.Geometry
		c := machine.Cache{Level: cache.Level{Name: l.Name}, Source: []string{chaseSource}}
		detected := "no step of the curve shows its capacity"
		if l.DetectedHi > 0 {
			detected = fmt.Sprintf("the curve leaves it between %s and %s", sizeText(l.DetectedLo), sizeText(l.DetectedHi))
		}
		switch {
		case g.Capacity > 0:
			c.Source = append(c.Source, saidSource)
			d.source(saidSource, "%s: %s in lines of %d bytes, %s ways", l.Name, sizeText(g.Capacity), g.LineBytes, waysText(g.Ways))
			if share := l.share(); share < g.Capacity {
				detected += fmt.Sprintf(", so that %s are taken for what others leave", sizeText(share))
				if more := d.keptByStreams(before, share, g.Capacity); more > 0 {
					detected += fmt.Sprintf("; a stream of %s was read at its pace, since blocks that are soon used again are evicted by others more rarely", sizeText(more))
				}
				g.Capacity = share
			}
		default:
			g.Capacity, g.LineBytes = roundest(l.DetectedLo, l.DetectedHi), d.p.LineBytes
		}
		c.BlockBytes, c.Blocks, c.Ways = g.LineBytes, g.Capacity/g.LineBytes, g.Ways
		c.Latency = d.cycles(l.Load.Min)
		if r := d.rate(before, g.Capacity/2); r > 0 {
			c.Bandwidth = r
			c.Source = append(c.Source, bandwidthSource)
			d.source(bandwidthSource, "%s: %.1f bytes per cycle", l.Name, float64(r))
		}
		d.source(chaseSource, "%s: a hit takes %s; %s", l.Name, d.figure(l.Load), detected)
		d.m.Caches = append(d.m.Caches, c)
		before = g.Capacity
	}
	if text := d.m.Sources[saidSource]; text != "" {
		d.m.Sources[saidSource] = "said by " + geometrySource + ": " + text
	}
	if text := d.m.Sources[chaseSource]; text != "" {
		d.m.Sources[chaseSource] = "measured: pointer chase through the lines of growing working sets, in random order, " + pagesText(d.p) + ": " + text
	}
}

func pagesText(p *Profile) string {
	if p.HugePages {
		return fmt.Sprintf("in pages of %s and %s", sizeText(p.PageBytes), sizeText(hugePageBytes))
	}
	return fmt.Sprintf("in pages of %s", sizeText(p.PageBytes))
}

func (d *describer) tlbs() {
	for i, r := range d.p.TLBs {
		t := machine.TLB{TLB: cache.TLB{
			Name: fmt.Sprintf("L%d TLB", i+1), Entries: roundest(uint64(r.Lo), uint64(r.Hi)), EntryBytes: d.p.PageBytes,
		}, MissPenalty: d.cycles(r.Penalty), Walks: d.p.Walks, Source: []string{pagesSource}}
		if len(d.p.TLBs) == 1 {
			t.Name = "TLB"
		}
		text := fmt.Sprintf("%s: it maps from %d to %d pages; a miss takes %.1f cycles more", t.Name, r.Lo, r.Hi-1, d.p.Cycles(r.Penalty))
		if d.p.Walks > 0 {
			text += fmt.Sprintf("; of several chains at once, the misses of up to %d are served at a time", d.p.Walks)
		}
		if r.Rising {
			text += ", the median of what rises with the number of pages, up to " + fmt.Sprint(d.p.Pages[len(d.p.Pages)-1].Pages)
		}
		d.source(pagesSource, "%s", text)
		d.m.TLBs = append(d.m.TLBs, t)
	}
	if text := d.m.Sources[pagesSource]; text != "" {
		d.m.Sources[pagesSource] = "measured: pointer chase with one line a page, less that through as many lines side by side, in pages of " + sizeText(d.p.PageBytes) + ": " + text
	}
}

func (d *describer) memory() {
	d.m.Memory = machine.Memory{
		RestartLatency:    d.cycles(d.p.MemoryNs.Min),
		OutstandingMisses: int(math.Round(d.p.Outstanding)),
		Source:            []string{memorySource},
	}
	if n := len(d.p.Bandwidths); n > 0 {
		if last := d.p.Bandwidths[n-1].Bytes; d.rate(last-1, last) > 0 { // the largest working set is last
			r := d.rate(last-1, last)
			d.m.Memory.Bandwidth = r
			d.m.Memory.Source = append(d.m.Memory.Source, bandwidthSource)
			d.source(bandwidthSource, "memory: %.1f bytes per cycle", float64(r))
		}
	}
	if text := d.m.Sources[bandwidthSource]; text != "" {
		d.m.Sources[bandwidthSource] = fmt.Sprintf("measured: one core reads %d bytes an instruction, in order, from up to half of each cache, and from the largest working set: ", readBytes()) + text
	}
	d.source(memorySource, "measured: pointer chase through the largest working sets, in the largest pages: %s, %.1f ns; with up to %d chains at once a load takes 1/%.1f of that",
		d.figure(d.p.MemoryNs), d.p.MemoryNs.Min, parallelChains[len(parallelChains)-1], d.p.Outstanding)
	if s := d.p.StreamNs; s.Min > 0 && s.Min <= d.p.MemoryNs.Min { // else a warning says that order is of no use
		m := &d.m.Memory
		m.StreamLatency = d.cycles(s.Min)
		m.Source = append(m.Source, streamSource)
		d.source(streamSource, "measured: pointer chase through the lines of the largest working set in ascending order: %s, %.1f ns", d.figure(s), s.Min)
	}
}

// core describes the core if its window was found; else the clock alone.
func (d *describer) core() {
	p, c := d.p, &d.m.Core
	c.Source = []string{clockSource}
	d.source(clockSource, "measured: chain of dependent integer additions, assumed to take a cycle each: %.4f ns (median %.4f, spread %.2f)",
		p.Cycle.Min, p.Cycle.Median, p.Cycle.Spread())
	width := max(1, int(math.Round(p.IssueWidth())))
	if len(p.Operations) == 0 || !p.InOrder && p.WindowLo < width {
		return
	}
	c.InOrder = p.InOrder
	c.Source = append(c.Source, operationSource, windowSource, branchSource)
	d.units()
	units := 0
	for _, u := range c.Units {
		units += u.Count
	}
	width = min(width, units)
	c.FetchWidth, c.IssueWidth, c.RetireWidth = width, width, width
	d.source(operationSource, "a mix for many units runs at %.2f instructions a cycle, which the widths of fetching, issue and retirement are at least", p.IssueWidth())
	if c.InOrder {
		d.source(windowSource, "measured: of two independent loads from memory the second does not begin before the first one's result, which is used in between, is there")
	} else {
		c.Window = p.WindowLo
		beyond := "more were not tried"
		if p.WindowHi > 0 {
			beyond = fmt.Sprintf("with %d they do not", p.WindowHi)
		}
		d.source(windowSource, "measured: two independent loads from memory overlap with up to %d instructions between them, half of them integer and half floating-point; %s (the least of reorder buffer and registers)", p.WindowLo, beyond)
	}
	c.Branch = machine.Branch{Predictor: "gshare"}
	if p.Mispredict.Min >= p.Cycle.Min { // else a warning says that it does not show
		c.Branch.MispredictCost = d.cycles(p.Mispredict.Min)
	}
	if p.LoopReach > 0 {
		c.Branch.LoopReach = p.LoopReach
		c.Source = append(c.Source, loopSource)
		d.loops()
	}
	if p.PatternReach > 0 {
		c.Branch.Predictor, c.Branch.PatternReach = "tage", p.PatternReach
		c.Source = append(c.Source, patternSource)
		d.patterns()
	}
	d.source(branchSource, "measured: a branch on a random bit, which half of the time is guessed wrong, against one that always goes the same way: %s a wrong guess", d.figure(p.Mispredict))
}

func (d *describer) loops() {
	p := d.p
	text := fmt.Sprintf("with up to %d iterations they do not", p.LoopReach)
	if p.LoopReach == 1 {
		text = "of the shortest they do"
	}
	beyond := fmt.Sprintf("more than %d were not tried", p.LoopReach)
	if p.LoopHi > 0 {
		beyond = fmt.Sprintf("with %d they do", p.LoopHi)
	}
	d.source(loopSource, "measured: loops of always the same number of iterations, with one branch in each: whether they take longer than their iterations, by more than half a wrong guess: %s; %s", text, beyond)
}

func (d *describer) patterns() {
	p := d.p
	beyond := "longer ones were not tried"
	if p.PatternHi > 0 {
		beyond = fmt.Sprintf("of %d it is not", p.PatternHi)
	}
	d.source(patternSource, "measured: a branch whose directions, drawn at random, come again: a pattern of %d directions is learned, so that less than a quarter of the time is lost that guessing at random costs; %s", p.PatternReach, beyond)
}

// units adds a unit for each class, or for several that share theirs.
func (d *describer) units() {
	p := d.p
	names := map[isa.Class]string{
		isa.ALU: "ALU", isa.Multiply: "multiplier", isa.Divide: "divider",
		isa.FPAdd: "FP adder", isa.FPMultiply: "FP multiplier", isa.FPDivide: "FP divider", isa.FPSqrt: "FP square root",
		isa.FPFused: "FP fused", isa.Load: "load", isa.Store: "store", isa.Branch: "branch",
	}
	if p.shared(isa.FPAdd, isa.FPMultiply) {
		names[isa.FPAdd], names[isa.FPMultiply] = "FP", "FP"
	}
	if p.shared(isa.FPDivide, isa.FPSqrt) {
		names[isa.FPSqrt] = names[isa.FPDivide]
	}
	d.m.Core.Classes = make(map[isa.Class]machine.Timing)
	for _, op := range p.Operations {
		count, busy := unitsFor(p.Cycles(op.Reciprocal.Min))
		uses := []string{names[op.Class]}
		if op.Class == isa.FPFused {
			uses = p.fusedUnits(names)
		}
		d.timing(op.Class, d.latency(op), uses, busy)
		if !(op.Class == isa.FPFused && uses[0] != names[op.Class]) {
			d.unit(uses[0], count)
		}
		text := fmt.Sprintf("%v: ", op.Class)
		if op.Latency.Min > 0 {
			text += "latency " + d.figure(op.Latency) + ", "
		}
		d.source(operationSource, "%s%.2f a cycle (spread %.2f)", text, 1/p.Cycles(op.Reciprocal.Min), op.Reciprocal.Spread())
	}
	if _, measured := d.m.Core.Classes[isa.FPFused]; !measured { // there is none: two instructions
		latency := d.latency(p.operation(isa.FPMultiply)) + d.latency(p.operation(isa.FPAdd))
		d.timing(isa.FPFused, latency, []string{names[isa.FPMultiply], names[isa.FPAdd]}, 1)
	}
	d.m.Sources[operationSource] = "measured: chains of dependent operations for latency, many independent ones for throughput: " + d.m.Sources[operationSource]
}

func (d *describer) latency(op Operation) machine.Cycles {
	switch {
	case op.Class == isa.Load && len(d.p.Levels) > 0:
		return d.cycles(d.p.Levels[0].Load.Min)
	case op.Latency.Min <= 0:
		return 1 // assumed: the notes say so
	}
	return d.cycles(op.Latency.Min)
}

func (d *describer) timing(class isa.Class, latency machine.Cycles, units []string, busy machine.Cycles) {
	t := machine.Timing{Latency: latency}
	for _, name := range slices.Compact(units) {
		t.Uses = append(t.Uses, machine.Use{AnyOf: []string{name}, Cycles: busy})
	}
	d.m.Core.Classes[class] = t
}

// unit adds units of a kind, or raises their count to that seen in use by a
// further class.
func (d *describer) unit(name string, count int) {
	units := d.m.Core.Units
	if i := slices.IndexFunc(units, func(u machine.Unit) bool { return u.Name == name }); i >= 0 {
		units[i].Count = max(units[i].Count, count)
		return
	}
	d.m.Core.Units = append(units, machine.Unit{Name: name, Count: count})
}

// unitsFor returns the number of units behind a reciprocal throughput in
// cycles, and how long each is busy.
func unitsFor(reciprocal float64) (count int, busy machine.Cycles) {
	if reciprocal <= 1 {
		return int(math.Round(1 / reciprocal)), 1
	}
	return 1, machine.Cycles(math.Round(reciprocal))
}

// shared reports whether two classes compete for units: a pair takes closer to
// the sum of the two than to the slower one.
func (p *Profile) shared(a, b isa.Class) bool {
	for _, m := range p.Mixes {
		if m.A == a && m.B == b {
			x, y := p.operation(a).Reciprocal.Min, p.operation(b).Reciprocal.Min
			return m.Pair.Min > (max(x, y)+x+y)/2
		}
	}
	return false
}

// fusedUnits returns the units of a fused multiply-add: those of each class
// that it competes with, or its own.
func (p *Profile) fusedUnits(names map[isa.Class]string) []string {
	var units []string
	for _, class := range []isa.Class{isa.FPMultiply, isa.FPAdd} {
		if p.shared(class, isa.FPFused) {
			units = append(units, names[class])
		}
	}
	if len(units) == 0 {
		units = []string{names[isa.FPFused]}
	}
	return slices.Compact(units)
}
