package cfg

import (
	"slices"

	"presage/perf/objfile"
)

// lines returns the range of lines of blocks in a context: those of the given
// loops or, if there are none, of the routine.
//
// Optimising compilers keep the lines of instructions that they move, so a loop
// may contain stray instructions from lines before and after it, and one of them
// would make two unrelated loops overlap. Therefore a line counts only if it is
// the line of a jump that closes or leaves the loop, or at least a third of its
// instructions are in the loop and it is not the line of the routine's
// declaration, to which moves of arguments belong. (Derived here, from the output
// of gcc 12 and Go 1.26.)
func (src *routineSource) lines(blocks, loops []int, in contextID) Source {
	counts := make(map[objfile.Line]int)
	for _, b := range blocks {
		for _, pc := range src.blocks[b] {
			if line, ok := src.position(&src.places[pc.place], in); ok {
				counts[line] += pc.count
			}
		}
	}
	control := src.control(loops, in)
	good := make(map[objfile.Line]int)
	for line, n := range counts {
		enough := 3*n >= src.executed[contextLine{in, line}] && (!src.declared || line != src.entry)
		if !src.strange(line, in) && (len(loops) == 0 || control[line] || enough) {
			good[line] = n
		}
	}
	if len(good) == 0 {
		good = counts
	}
	file := src.entry.File
	if in != 0 || !hasFile(good, file) {
		file = mainFile(good)
	}
	var s Source
	for line := range good {
		switch {
		case line.File != file:
		case !s.Known():
			s = Source{File: file, First: line.Line, Last: line.Line}
		default:
			s.First, s.Last = min(s.First, line.Line), max(s.Last, line.Line)
		}
	}
	return s
}

// strange reports whether a line cannot belong to a context: it belongs to a
// routine inlined there, of which an instruction has lost its context, or it
// precedes the routine's declaration.
func (src *routineSource) strange(line objfile.Line, in contextID) bool {
	if in == 0 && src.declared && line.File == src.entry.File && line.Line < src.entry.Line {
		return true
	}
	o := src.owners[line]
	return o != nil && o.name != src.routineOf(in)
}

func hasFile(lines map[objfile.Line]int, file string) bool {
	for line := range lines {
		if line.File == file {
			return true
		}
	}
	return false
}

// mainFile returns the file that most instructions come from, the alphabetically
// first in a tie; "" if there is none.
func mainFile(lines map[objfile.Line]int) string {
	weight := make(map[string]int)
	for line, n := range lines {
		weight[line.File] += n
	}
	best := ""
	for file, n := range weight {
		if best == "" || n > weight[best] || n == weight[best] && file < best {
			best = file
		}
	}
	return best
}

// scope describes loops that are folded into one.
func (src *routineSource) scope(group []int) Scope {
	in := src.loops[group[0]].context
	var blocks []int
	for _, l := range group {
		blocks = append(blocks, src.r.Loops[l].Blocks...)
	}
	s := Scope{Loops: group, Source: src.loops[group[0]].source}
	if len(group) > 1 {
		s.Source = src.lines(blocks, group, in)
	}
	for c := in; c != 0; c = src.contexts[c].from {
		s.Inlined = append(s.Inlined, src.contexts[c].call)
	}
	slices.Reverse(s.Inlined)
	src.list(&s, blocks, in)
	return s
}

// routineScope describes the routine.
func (src *routineSource) routineScope() Scope {
	s := Scope{Source: src.whole}
	all := make([]int, len(src.r.Blocks))
	for b := range all {
		all[b] = b
	}
	src.list(&s, all, 0)
	return s
}

// list lists the files and inlined routines of blocks.
func (src *routineSource) list(s *Scope, blocks []int, in contextID) {
	files := make(map[string]bool)
	names := make(map[string]bool)
	seen := make(map[contextID]bool)
	for _, b := range blocks {
		for _, pc := range src.blocks[b] {
			p := &src.places[pc.place]
			if p.line.Line > 0 {
				files[p.line.File] = true
			}
			if p.context == 0 || seen[p.context] || !src.inside(p.context, in) {
				continue
			}
			for c := p.context; c != in; c = src.contexts[c].from {
				names[src.contexts[c].call.Routine] = true
			}
			seen[p.context] = true
		}
	}
	s.Inlines = sortedNames(names)
	if own := s.Source.File; files[own] {
		delete(files, own)
		s.Files = append(s.Files, own)
	}
	s.Files = append(s.Files, sortedNames(files)...)
}

func sortedNames(set map[string]bool) []string {
	var list []string
	for s := range set {
		if s != "" {
			list = append(list, s)
		}
	}
	slices.Sort(list)
	return list
}
