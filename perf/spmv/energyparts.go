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

// CacheEnergies is what caches take: by constants of our own (OwnEnergies), or by a
// published table (ReadEnergyTable).
type CacheEnergies interface {
	// Access returns the joules of reading or writing a word of 8 bytes.
	Access(bytes, lineBytes, ways int) float64
	// Lines returns the joules of putting lines into a cache, a word at a time, and
	// of taking lines out.
	Lines(bytes, lineBytes int, in, out float64) float64
	// Leak returns the joules of both caches' leakage over a time.
	Leak(seconds float64, h *Hardware) float64
}

// OwnEnergies returns AccessJoules and LineJoules, and leakage in proportion to the
// size.
func OwnEnergies(m *Machine) CacheEnergies { return own{m.LeakWattsPerByte} }

type own struct{ wattsPerByte float64 }

func (own) Access(bytes, lineBytes, ways int) float64 { return AccessJoules(bytes, lineBytes, ways) }

func (own) Lines(bytes, lineBytes int, in, out float64) float64 {
	return (in + out) * LineJoules(bytes, lineBytes)
}

func (o own) Leak(seconds float64, h *Hardware) float64 {
	return seconds * float64(h.DataBytes+h.InstrBytes) * o.wattsPerByte
}

// Energy returns the energy of a simulated product by its parts, from the counts and
// the time of o and our own energies of caches.
func (o *Outcome) Energy(m *Machine) Energy { return o.EnergyBy(m, OwnEnergies(m)) }

// EnergyBy is Energy with other energies of caches. Those of memory and the core remain
// the machine's.
func (o *Outcome) EnergyBy(m *Machine, c CacheEnergies) Energy {
	h := &o.Point.Hardware
	words := (o.DataMisses + o.Writebacks + o.InstrMisses) * float64(h.LineBytes) / 8
	return Energy{
		Memory:      words * m.JoulesPerWord,
		DataCache:   o.Accesses*c.Access(h.DataBytes, h.LineBytes, h.DataWays) + c.Lines(h.DataBytes, h.LineBytes, o.DataMisses, o.Writebacks),
		InstrCache:  o.Instructions*c.Access(h.InstrBytes, h.LineBytes, h.InstrWays) + c.Lines(h.InstrBytes, h.LineBytes, o.InstrMisses, 0),
		Core:        o.Instructions * m.JoulesPerInstruction,
		Idle:        o.Seconds * m.IdleWatts,
		CacheLeak:   c.Leak(o.Seconds, h),
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

// Energy returns the energy of a recorded product on DefaultMachine by its parts, with
// our own energies of caches.
func (r Recorded) Energy() (Energy, error) {
	m := DefaultMachine()
	return r.EnergyBy(OwnEnergies(&m))
}

// EnergyBy is Energy with other energies of caches.
func (r Recorded) EnergyBy(c CacheEnergies) (Energy, error) {
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
	return o.EnergyBy(&m, c), nil
}
