package cfg

import (
	"fmt"

	"presage/perf/objfile"
)

// Analyze builds the control-flow graphs of a program. It never fails: anything
// not understood is in the Warnings. Where the file names no routines, those found
// are named sub_ followed by their address in hexadecimal.
func Analyze(f *objfile.File) *Program {
	return discover(f, f.Target.NewDecoder()).program()
}

// program returns the graphs of the explored routines.
func (x *explorer) program() *Program {
	p := &Program{File: x.file, decoder: x.decoder}
	for _, d := range x.drafts {
		p.Routines = append(p.Routines, x.routine(d))
	}
	p.Warnings = append(x.doubts(), p.doubts()...)
	return p
}

func (p *Program) doubts() []error {
	var open, irreducible doubt
	for _, r := range p.Routines {
		for _, b := range r.Open {
			open.add(r.Blocks[b].Last().PC, r.Name)
		}
		for _, l := range r.Loops {
			if l.Irreducible {
				irreducible.add(r.Blocks[l.Header].PC(), r.Name)
			}
		}
	}
	var list []error
	if open.count > 0 {
		list = append(list, fmt.Errorf("%d %w, the first at pc %#x in %s", open.count, ErrOpen, open.pc, open.name))
	}
	if irreducible.count > 0 {
		list = append(list, fmt.Errorf("%d %w, the first at pc %#x in %s", irreducible.count, ErrIrreducible, irreducible.pc, irreducible.name))
	}
	return list
}
