package metasim

import (
	"fmt"
	"slices"

	"presage/perf/isa"
	"presage/perf/machine"
	"presage/perf/predict"
)

// Signature is what an application does, by block, whatever the machine but for
// its caches: the application signature of the paper (section 1).
type Signature struct {
	Code       *Code
	Executions []uint64
	Rates      *Rates
	// Cycles is how long one execution of each block takes on the machine if all
	// accesses hit, as a scheduler finds it; nil: by throughputs alone.
	Cycles []float64
}

// MachineProfile is what a machine can do: cycles an instruction, an access and
// a miss cost.
type MachineProfile struct {
	Name  string
	Hertz float64 // 0: not known

	// Instruction is the cycles that an instruction takes at least, and Access
	// those that a memory reference takes at least that hits in the first level:
	// reciprocal throughputs.
	Instruction, Access float64
	// Penalties is what misses cost beyond hits, by the names of levels, from the
	// processor to memory, then of TLBs.
	Penalties []predict.Penalty
	// Reach is how many instructions the core gets ahead of a load that misses,
	// and Outstanding how many misses it waits for at once. Reach of 0: misses
	// are waited for one by one, for the share of their latency in Penalties.
	Reach       float64
	Outstanding int

	Warnings []error // what is not known of the machine
}

// ProfileOf makes a profile of a machine's description, such as one of machines/
// or one that calibration wrote: its width, its throughput of loads, and its
// latencies, as far as the description says that they are waited for (2004,
// section 3.2). Of accesses that pass by the first level, misses there cost
// nothing.
func ProfileOf(m *machine.Machine) *MachineProfile {
	p := &MachineProfile{Name: m.Name, Hertz: float64(m.Frequency)}
	doubt := func(format string, args ...any) {
		p.Warnings = append(p.Warnings, fmt.Errorf("metasim: machine %s: "+format, append([]any{m.Name}, args...)...))
	}
	if width := m.Core.Width(); width > 0 {
		p.Instruction = 1 / float64(width)
	} else {
		p.Instruction = 1
		doubt("its width is not known: an instruction is taken to need a cycle")
	}
	if loads := m.Core.Throughput(isa.Load); loads > 0 {
		p.Access = 1 / loads
	} else {
		p.Access = 1
		doubt("its throughput of loads is not known: a reference is taken to need a cycle")
	}
	if p.Hertz == 0 {
		doubt("its frequency is not known: there are cycles and no seconds")
	}
	penalties, warnings := predict.Penalties(m)
	p.Penalties = penalties
	if !m.Core.InOrder {
		p.Reach, p.Outstanding = float64(m.Core.Window), m.Memory.OutstandingMisses
	}
	for _, w := range warnings {
		doubt("%s", w)
	}
	return p
}

// Time is how long a program takes by the convolution of its signature with a
// machine's profile.
type Time struct {
	Cycles  float64
	Seconds float64   // 0: the machine's frequency is not known
	Work    float64   // of the cycles: instructions and hits
	Waits   []float64 // of the cycles: misses at each of Rates.Levels
	Blocks  []float64 // cycles of each of Code.Blocks

	Warnings []error
}

// Convolve maps what a program does to what a machine can do. Of a block that is
// executed n times, with i instructions and r memory references, of which the
// share m(l) misses at level l, the cycles are
//
//	n max(i·Instruction, r·Access) + wait
//
// (derived here: the paper describes the convolver in words), or n times what
// the signature says that the block takes, and the wait. What is waited for
// the n·r·m(l) misses is that of predict.Work: WaitOverlapped if the machine has
// a Reach, else WaitFixed. Dependences between instructions and wrong guesses at
// branches are not modelled, and no misses are taken to depend on each other.
func Convolve(s *Signature, p *MachineProfile) (*Time, error) {
	code, rates := s.Code, s.Rates
	if len(s.Executions) != len(code.Blocks) || len(rates.Seen) != len(code.Blocks) {
		return nil, fmt.Errorf("metasim: executions of %d blocks and rates of %d for a program of %d", len(s.Executions), len(rates.Seen), len(code.Blocks))
	}
	if s.Cycles != nil && len(s.Cycles) != len(code.Blocks) {
		return nil, fmt.Errorf("metasim: cycles of %d blocks for a program of %d", len(s.Cycles), len(code.Blocks))
	}
	t := &Time{Waits: make([]float64, len(rates.Levels)), Blocks: make([]float64, len(code.Blocks)), Warnings: slices.Clone(p.Warnings)}
	penalties := make([]predict.Penalty, len(rates.Levels))
	for l, name := range rates.Levels {
		if i := slices.IndexFunc(p.Penalties, func(x predict.Penalty) bool { return x.Level == name }); i >= 0 {
			penalties[l] = p.Penalties[i]
		} else {
			t.Warnings = append(t.Warnings, fmt.Errorf("metasim: what a miss in %s costs on %s is not known: nothing here", name, p.Name))
		}
	}
	work := predict.Work{Misses: make([]float64, len(rates.Levels)), Reach: p.Reach}
	for b, n := range s.Executions {
		if n == 0 {
			continue
		}
		refs := float64(n) * float64(code.Blocks[b].Refs)
		work.Instructions = float64(n) * float64(code.Blocks[b].Instructions)
		work.Cycles = max(work.Instructions*p.Instruction, refs*p.Access)
		if s.Cycles != nil {
			work.Cycles = float64(n) * s.Cycles[b]
		}
		for l := range rates.Levels {
			work.Misses[l] = refs * (1 - rates.Hit[l][b])
		}
		wait := work.WaitFixed
		if p.Reach > 0 {
			wait = func(list []predict.Penalty) []float64 { return work.WaitOverlapped(list, p.Outstanding, 0) }
		}
		t.Work += work.Cycles
		t.Blocks[b] = work.Cycles
		for l, cycles := range wait(penalties) {
			t.Waits[l] += cycles
			t.Blocks[b] += cycles
		}
		t.Cycles += t.Blocks[b]
	}
	if p.Hertz > 0 {
		t.Seconds = t.Cycles / p.Hertz
	}
	return t, nil
}
