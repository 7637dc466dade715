package timing

import (
	"errors"

	"presage/perf/isa"
	"presage/perf/subject"
)

// Scopes are the scopes of a program that times are of: the program first, every scope
// after the one around it. Paths are as misses.Model.Scopes names loops; that of the
// program is empty.
type Scopes struct {
	Paths   []string
	Parent  []int // of the program -1
	Routine []bool
}

// errSeveral is returned for a model of several executables.
var errSeveral = errors.New("perf: floating-point operations are counted in one executable, not in several that were each compiled for a size")

// Scopes returns the scopes of the program. It returns an error for a model of several
// executables.
func (m *ExecutionModel) Scopes() (*Scopes, error) {
	if m.binaries != nil {
		return nil, errSeveral
	}
	p := placesOf(m.structure)
	return &Scopes{p.paths, p.parent, p.routine}, nil
}

// Operations are the floating-point operations that are executed at a point.
type Operations struct {
	// Own are those of each of Scopes, without the scopes inside it. Additions,
	// multiplications, divisions and square roots count as one, fused multiplications and
	// additions as two.
	Own      []float64
	Warnings []string
}

// Operations predicts how many floating-point operations are executed at a point. It
// returns an error for a model of several executables, and for a point that lacks a
// parameter.
func (m *ExecutionModel) Operations(point subject.Point) (*Operations, error) {
	if m.binaries != nil {
		return nil, errSeveral
	}
	f, err := m.at(point)
	if err != nil {
		return nil, err
	}
	out := &Operations{Own: make([]float64, len(m.structure.Scopes.Scopes)), Warnings: m.doubts(point)}
	vectors := 0.0
	for i, r := range m.structure.Graph.Routines {
		for b, n := range f.Routines[i].Blocks {
			if n == 0 {
				continue
			}
			flops, vector := operationsOf(r.Blocks[b].Insts)
			out.Own[m.structure.Scopes.Of(i, b)] += n * flops
			vectors += n * vector
		}
	}
	if vectors > 0 {
		out.Warnings = append(out.Warnings, "operations of vector instructions are not counted")
	}
	if m.structure.Graph.File.Target.Name == "amd64" {
		out.Warnings = append(out.Warnings, "an instruction on several numbers side by side counts as one operation")
	}
	return out, nil
}

// operationsOf returns the floating-point operations of instructions, and how many of
// these are vector instructions.
func operationsOf(insts []isa.Inst) (flops, vectors float64) {
	var micros [isa.MaxMicros]isa.Micro
	for i := range insts {
		for _, u := range insts[i].Micros(micros[:0]) {
			switch u.Class {
			case isa.FPAdd, isa.FPMultiply, isa.FPDivide, isa.FPSqrt:
				flops++
			case isa.FPFused:
				flops += 2
			case isa.Vector:
				vectors++
			}
		}
	}
	return flops, vectors
}
