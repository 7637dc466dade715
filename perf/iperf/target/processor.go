package target

import (
	"errors"
	"fmt"

	"presage/perf/iperf"
)

// Config is a machine to time: an iperf.System with known times, and the
// parameters below.
type Config struct {
	System *iperf.System

	// CyclesPerInstruction is the time of an instruction that waits for
	// nothing. 0: 1 cycle.
	CyclesPerInstruction float64
	// UseCycles is the time from the start of a load to the first use of its
	// value, at the earliest, if the first level is non-blocking. 0:
	// immediately, so that it waits like a blocking one.
	UseCycles float64
	// StoreBuffer is the number of stores that may be in flight. 0: 8.
	StoreBuffer int

	// Seed determines the placement of pages.
	Seed uint64
	// FragmentPages is the mean length of the runs of free frames that pages take if
	// System.Placement is iperf.Fragmented, at least 1. 0: DefaultFragmentPages.
	FragmentPages float64
}

// DefaultFragmentPages is assumed: memory in which runs of 16 free frames are usual
// is neither fresh, where all that a program asks for lies together, nor worn down to
// single frames, where pages lie anywhere.
const DefaultFragmentPages = 16

// Check returns an error if c cannot be timed.
func (c *Config) Check() error {
	if c.System == nil {
		return errors.New("target: no system")
	}
	s := c.System
	if err := s.Check(); err != nil {
		return err
	}
	switch {
	case len(s.Levels) == 0:
		return fmt.Errorf("target: system %q has no caches", s.Name)
	case !(s.Frequency > 0 && s.MemoryLatency > 0):
		return fmt.Errorf("target: of system %q the frequency (%g Hz) and the latency of memory (%g s) must be known", s.Name, s.Frequency, s.MemoryLatency)
	case s.TLB.Entries > 0 && !(s.TLB.MissSeconds > 0):
		return fmt.Errorf("target: of system %q the time of a TLB miss must be known", s.Name)
	case c.FragmentPages != 0 && !(c.FragmentPages >= 1):
		return fmt.Errorf("target: fragments of %g pages on average: want at least 1, or 0 for %d", c.FragmentPages, DefaultFragmentPages)
	case !(c.CyclesPerInstruction >= 0 && c.UseCycles >= 0) || c.StoreBuffer < 0:
		return errors.New("target: a time or a size below 0")
	}
	for i := range s.Levels {
		l := &s.Levels[i]
		if !(l.LatencyCycles > 0) || i > 0 && l.LatencyCycles < s.Levels[i-1].LatencyCycles {
			return fmt.Errorf("target: system %q: the latency of %s (%g cycles) must be known, and not below that of the level before", s.Name, l.Name, l.LatencyCycles)
		}
		if i > 0 && l.NonBlocking {
			return fmt.Errorf("target: system %q: %s does not block; only the first level can", s.Name, l.Name)
		}
		if s := l.SubBlockBytes; s != 0 && l.BlockBytes/s > 64 {
			return fmt.Errorf("target: %s has %d sub-blocks a block, at most 64", l.Name, l.BlockBytes/s)
		}
	}
	return nil
}

// Counts counts events besides time.
type Counts struct {
	Loads, Stores uint64
	TLBMisses     uint64
	Misses        []uint64 // of loads and stores, by level
	// Waited is the cycles of waiting for memory, TLB misses included.
	Waited float64
}

// Processor is the state of a machine during a run.
type Processor struct {
	config  Config
	levels  []store
	latency []float64 // cycles beyond those of a hit in the first level, by where a load hits
	tlb     *tlb
	tlbMiss float64
	cpi     float64
	now     float64 // cycles
	miss    pending
	buffer  []float64 // when each of the latest stores is done, a ring
	stores  int
	done    float64 // when the last store is
	counts  Counts
}

// pending is a load in flight to a non-blocking first level.
type pending struct {
	under bool
	ready float64 // when its value is there
	used  float64 // when that is needed at the earliest
	block uint64
}

// New returns a processor with empty caches at time 0.
func New(c Config) (*Processor, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	s := c.System
	p := &Processor{config: c, cpi: c.CyclesPerInstruction, tlb: newTLB(s.TLB)}
	if p.cpi == 0 {
		p.cpi = 1
	}
	buffer := c.StoreBuffer
	if buffer == 0 {
		buffer = 8
	}
	p.buffer = make([]float64, buffer)
	p.tlbMiss = s.TLB.MissSeconds * s.Frequency
	first := s.Levels[0].LatencyCycles
	frames := framerOf(&c, scatter(c.Seed))
	for i := range s.Levels {
		p.levels = append(p.levels, newStore(&s.Levels[i], s.TLB.PageBytes, frames))
		p.latency = append(p.latency, s.Levels[i].LatencyCycles-first)
	}
	last := p.latency[len(p.latency)-1]
	p.latency = append(p.latency, max(s.MemoryLatency*s.Frequency-first, last))
	p.counts.Misses = make([]uint64, len(s.Levels))
	return p, nil
}

// Seconds returns the time from the beginning to the completion of all loads
// and stores.
func (p *Processor) Seconds() float64 {
	end := max(p.now, p.done)
	if p.miss.under {
		end = max(end, p.miss.ready)
	}
	return end / p.config.System.Frequency
}

// Counts returns the counts so far.
func (p *Processor) Counts() Counts {
	c := p.counts
	c.Misses = append([]uint64(nil), c.Misses...)
	return c
}

// Execute executes a number of instructions.
func (p *Processor) Execute(instructions float64) {
	p.pass(instructions * p.cpi)
}

// pass advances the time, and waits for the load in flight if its value is
// needed meanwhile.
func (p *Processor) pass(cycles float64) {
	if p.miss.under && p.now+cycles >= p.miss.used {
		before := max(p.miss.used-p.now, 0)
		p.now += before
		cycles -= before
		p.arrive()
	}
	p.now += cycles
}

// arrive waits for the load in flight.
func (p *Processor) arrive() {
	if p.miss.under {
		p.miss.under = false
		p.wait(p.miss.ready - p.now)
	}
}

func (p *Processor) wait(cycles float64) {
	if cycles > 0 {
		p.now += cycles
		p.counts.Waited += cycles
	}
}

func (p *Processor) translate(addr uint64) {
	if p.tlb != nil && !p.tlb.touch(addr) {
		p.counts.TLBMisses++
		p.arrive()
		p.wait(p.tlbMiss)
	}
}

// Load loads from an address. A datum is assumed to lie within a sub-block.
func (p *Processor) Load(addr uint64) {
	p.counts.Loads++
	p.translate(addr)
	l1 := &p.levels[0]
	block := addr >> l1.subShift
	if p.levels[0].touch(addr, true) {
		if p.miss.under && p.miss.block == block {
			p.arrive() // the block is there once its fetch is done
		}
		return
	}
	p.counts.Misses[0]++
	latency := p.fetch(addr)
	if !p.config.System.Levels[0].NonBlocking {
		p.wait(latency)
		return
	}
	p.arrive() // one request at a time
	p.miss = pending{under: true, ready: p.now + latency, used: p.now + p.config.UseCycles, block: block}
}

// fetch fetches an address into the levels behind the first and returns the
// cycles until it arrives.
func (p *Processor) fetch(addr uint64) float64 {
	for i := 1; i < len(p.levels); i++ {
		if p.levels[i].touch(addr, true) {
			return p.latency[i]
		}
		p.counts.Misses[i]++
	}
	return p.latency[len(p.levels)]
}

// Store stores to an address.
func (p *Processor) Store(addr uint64) {
	p.counts.Stores++
	p.translate(addr)
	first := &p.config.System.Levels[0]
	hit := p.levels[0].touch(addr, !first.NoWriteAllocate)
	if !hit {
		p.counts.Misses[0]++
	}
	if hit && !first.WriteThrough {
		return
	}
	p.buffered(max(p.fetch(addr)-p.latency[min(1, len(p.latency)-1)], 1))
}

// buffered puts a store that keeps the levels behind the first busy for a
// number of cycles into the store buffer, waiting for a free entry if
// necessary. Stores that hit there follow each other every cycle.
func (p *Processor) buffered(cycles float64) {
	slot := p.stores % len(p.buffer)
	p.wait(p.buffer[slot] - p.now)
	p.done = max(p.done, p.now) + cycles
	p.buffer[slot] = p.done
	p.stores++
}
