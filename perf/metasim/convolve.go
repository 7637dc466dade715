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
	// Misses is what a miss costs beyond a hit, by the names of levels: to the
	// next level, and not hidden by other work.
	Misses []MissCost

	Warnings []error // what is not known of the machine
}

// MissCost is what a miss at a level costs, in cycles.
type MissCost struct {
	Level  string
	Cycles float64
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
	for _, x := range penalties {
		p.Misses = append(p.Misses, MissCost{x.Level, x.Latency * x.Share})
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
//	n max(i·Instruction, r·Access) + n r Σ m(l)·Misses(l)
//
// (derived here: the paper describes the convolver in words). Dependences between
// instructions, wrong guesses at branches and misses that overlap beyond what
// the machine's exposures say are not modelled.
func Convolve(s *Signature, p *MachineProfile) (*Time, error) {
	code, rates := s.Code, s.Rates
	if len(s.Executions) != len(code.Blocks) || len(rates.Seen) != len(code.Blocks) {
		return nil, fmt.Errorf("metasim: executions of %d blocks and rates of %d for a program of %d", len(s.Executions), len(rates.Seen), len(code.Blocks))
	}
	cost := make([]float64, len(rates.Levels))
	t := &Time{Waits: make([]float64, len(rates.Levels)), Blocks: make([]float64, len(code.Blocks)), Warnings: slices.Clone(p.Warnings)}
	for l, name := range rates.Levels {
		if i := slices.IndexFunc(p.Misses, func(m MissCost) bool { return m.Level == name }); i >= 0 {
			cost[l] = p.Misses[i].Cycles
		} else {
			t.Warnings = append(t.Warnings, fmt.Errorf("metasim: what a miss in %s costs on %s is not known: nothing here", name, p.Name))
		}
	}
	for b, n := range s.Executions {
		if n == 0 {
			continue
		}
		block := &code.Blocks[b]
		work := float64(n) * max(float64(block.Instructions)*p.Instruction, float64(block.Refs)*p.Access)
		t.Work += work
		t.Blocks[b] = work
		for l := range rates.Levels {
			wait := float64(n) * float64(block.Refs) * (1 - rates.Hit[l][b]) * cost[l]
			t.Waits[l] += wait
			t.Blocks[b] += wait
		}
		t.Cycles += t.Blocks[b]
	}
	if p.Hertz > 0 {
		t.Seconds = t.Cycles / p.Hertz
	}
	return t, nil
}
