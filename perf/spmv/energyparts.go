package spmv

import "fmt"

// Energy is what a product takes, in joules, by what takes it.
type Energy struct {
	Memory      float64 // lines read and written back, data and instructions
	DataCache   float64 // accesses, and lines put in and taken out
	InstrCache  float64 // likewise
	Core        float64 // instructions
	Idle        float64 // clock and leakage of the core, for the time that it takes
	CacheLeak   float64 // leakage of both caches, for that time
	MemoryWords float64 // words of 8 bytes that memory moved: no energy
}

// Sum returns the energy of all parts.
func (e *Energy) Sum() float64 {
	return e.Memory + e.DataCache + e.InstrCache + e.Core + e.Idle + e.CacheLeak
}

// Energy returns the energy of a simulated product by its parts, from the counts and
// the time of o.
func (o *Outcome) Energy(m *Machine) Energy {
	h := &o.Point.Hardware
	lines := o.DataMisses + o.Writebacks
	words := (lines + o.InstrMisses) * float64(h.LineBytes) / 8
	return Energy{
		Memory:      words * m.JoulesPerWord,
		DataCache:   o.Accesses*AccessJoules(h.DataBytes, h.LineBytes, h.DataWays) + lines*LineJoules(h.DataBytes, h.LineBytes),
		InstrCache:  o.Instructions*AccessJoules(h.InstrBytes, h.LineBytes, h.InstrWays) + o.InstrMisses*LineJoules(h.InstrBytes, h.LineBytes),
		Core:        o.Instructions * m.JoulesPerInstruction,
		Idle:        o.Seconds * m.IdleWatts,
		CacheLeak:   o.Seconds * float64(h.DataBytes+h.InstrBytes) * m.LeakWattsPerByte,
		MemoryWords: words,
	}
}

// Recorded is what was recorded of a simulated product.
type Recorded struct {
	Point                  Point
	Accesses, Instructions float64
	DataMisses, Writebacks float64
	Cycles                 float64
}

// Energy returns the energy of a recorded product on DefaultMachine by its parts.
func (r Recorded) Energy() (Energy, error) {
	if err := r.Point.Shape.Check(); err != nil {
		return Energy{}, err
	}
	if err := r.Point.Hardware.Check(); err != nil {
		return Energy{}, err
	}
	costs, err := Costs()
	if err != nil {
		return Energy{}, err
	}
	m := DefaultMachine()
	if !(r.Cycles > 0) {
		return Energy{}, fmt.Errorf("spmv: a product of %g cycles", r.Cycles)
	}
	o := Outcome{
		Point: r.Point, Accesses: r.Accesses, Instructions: r.Instructions,
		DataMisses: r.DataMisses, Writebacks: r.Writebacks,
		InstrMisses: costs[r.Point.Shape.index()].instructionMisses(r.Point.Hardware.LineBytes),
		Seconds:     r.Cycles / m.Hertz,
	}
	return o.Energy(&m), nil
}
