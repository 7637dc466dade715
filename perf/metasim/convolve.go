package metasim

import (
	"fmt"
	"slices"

	"presage/perf/isa"
	"presage/perf/machine"
	"presage/perf/predict"
)

// Signature describes an application block by block, independently of the machine
// except for its caches: the paper's application signature (section 1).
type Signature struct {
	Code       *Code
	Executions []uint64
	Rates      *Rates
	// Cycles is a scheduler's time for one execution of each block on the machine
	// if all accesses hit; nil: only throughputs are used.
	Cycles []float64
}

// MachineProfile holds the cycles that an instruction, an access and a miss cost
// on a machine.
type MachineProfile struct {
	Name  string
	Hertz float64 // 0: not known

	// Instruction and Access are reciprocal throughputs: the fewest cycles per
	// instruction, and per memory reference that hits in the first level.
	Instruction, Access float64
	// Penalties are the additional costs of misses over hits by level, from the
	// processor to memory, then of the TLBs.
	Penalties []predict.Penalty
	// Reach is the number of instructions by which the core can run ahead of a
	// load that misses, and Outstanding the maximum number of misses in flight.
	// With a Reach of 0 misses are served one at a time, each costing the exposed
	// part of its latency in Penalties.
	Reach       float64
	Outstanding int

	Warnings []error // about numbers missing from the description
}

// ProfileOf derives a profile from a machine's description: its width, its load
// throughput, and the exposed part of its latencies (the 2004 paper, section 3.2).
// For accesses that bypass the first level, misses there cost nothing.
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

// Time is a predicted execution time: the convolution of a program's signature with
// a machine's profile.
type Time struct {
	Cycles  float64
	Seconds float64   // 0: the machine's frequency is not known
	Work    float64   // of the cycles: instructions and hits
	Waits   []float64 // of the cycles: misses at each of Rates.Levels
	Blocks  []float64 // cycles of each of Code.Blocks

	Warnings []error
}

// Convolve predicts the execution time of a signature on a machine. A block that is
// executed n times, with i instructions and r memory references, of which the
// fraction m(l) misses at level l, takes
//
//	n max(i·Instruction, r·Access) + wait
//
// cycles (derived here: the paper describes the convolver in words), where
// Signature.Cycles replaces the maximum if set. The wait for the n·r·m(l) misses
// is that of predict.Work: WaitOverlapped if the machine has a Reach, else
// WaitFixed. Dependences between instructions and branch mispredictions are not
// modelled, and misses are assumed independent.
func Convolve(s *Signature, p *MachineProfile) (*Time, error) {
	code, rates := s.Code, s.Rates
	if len(s.Executions) != len(code.Blocks) || len(rates.Hit) > 0 && len(rates.Hit[0]) != len(code.Blocks) {
		return nil, fmt.Errorf("metasim: executions of %d blocks, or rates of others, for a program of %d", len(s.Executions), len(code.Blocks))
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
