package cfg

import (
	"fmt"
	"strings"

	"presage/perf/objfile"
)

// ScopeTree is the structure of a program: routines, the loops in them, the
// loops in those (section 2.3.1 of the paper).
//
//	(program)
//	├── main
//	│   └── loop@main.c:9-10
//	└── sweep
//	    └── loop@sweep.c:88-120
//	        ├── loop@sweep.c:90-95        the unrolled loop and its remainder
//	        └── loop(dot)@dot.h:5-6       of dot, which was inlined
//
// A loop scope stands for a loop of the source: loops of the object code with
// the same parent and overlapping ranges of lines are folded into one, because
// such ranges come from a compiler that has split, unrolled, pipelined or tiled a
// loop. Loops without lines are kept apart, as are loops from different files
// and from different inlined calls.
type ScopeTree struct {
	Program *Program // nil in a tree that DecodeScopes returned

	// Scopes are in preorder: the program first, every scope before its
	// children, siblings by ascending address.
	Scopes []Scope

	of         [][]int32         // by routine and block: the innermost scope
	names      []string          // of the routines
	references [][]loopReference // by scope: kinds of references in a loop and those inside it
}

// ScopeKind tells programs, routines and loops apart.
type ScopeKind uint8

// The kinds of scopes.
const (
	ProgramScope ScopeKind = iota
	RoutineScope
	LoopScope
)

var scopeNames = [...]string{"program", "routine", "loop"}

func (k ScopeKind) String() string { return scopeNames[k] }

// Scope is a program, a routine or a loop.
type Scope struct {
	Kind ScopeKind

	// Path names the scope uniquely within the program, and reproducibly for the
	// same executable: the routine's name, followed by the file if several
	// routines have that name, then the loops from the outermost to this one with
	// their files and lines or, without lines, their offsets from the routine's
	// address. "#2" and so on disambiguate remaining duplicates, by ascending
	// address.
	Path string

	Parent   int   // index in ScopeTree.Scopes, -1 for the program's
	Children []int // ascending
	End      int   // the scopes inside, at any depth, are those from this one's index + 1 to End
	Depth    int   // of loops: 1 for an outermost loop, 0 for other scopes

	Routine int   // index in Program.Routines; -1 for the program's
	Loops   []int // indices in Routine.Loops of the loops folded into this one, ascending

	Source Source

	// Inlined are the inlined calls that a loop comes from, outermost first: it
	// is a loop of the last one's routine. Empty for a loop of the routine itself.
	Inlined []objfile.Inline

	// Inlines are the names of other routines with inlined code in the scope
	// and those inside it, ascending.
	Inlines []string

	// Files are the source files of all instructions in the scope and those
	// inside it, including inlined ones: Source.File, then the others, ascending.
	Files []string
}

// Source is a range of lines of a file; the zero Source is an unknown one.
type Source struct {
	File        string
	First, Last int // lines, from 1
}

// Known reports whether s is a range of lines.
func (s Source) Known() bool { return s.First > 0 }

// overlaps reports whether two ranges of one file share a line.
func (s Source) overlaps(o Source) bool {
	return s.Known() && s.File == o.File && s.First <= o.Last && o.First <= s.Last
}

// base returns the name of the file without its folder.
func (s Source) base() string { return s.File[strings.LastIndexByte(s.File, '/')+1:] }

// String gives the file without its folder and the lines: "sweep.c:88-120".
func (s Source) String() string {
	switch {
	case !s.Known():
		return ""
	case s.First == s.Last:
		return fmt.Sprintf("%s:%d", s.base(), s.First)
	}
	return fmt.Sprintf("%s:%d-%d", s.base(), s.First, s.Last)
}

// Of returns the innermost scope that holds a block of a routine.
func (t *ScopeTree) Of(routine, block int) int { return int(t.of[routine][block]) }

// Holds reports whether the tree knows the scope of a block of a routine.
func (t *ScopeTree) Holds(routine, block int) bool {
	return routine >= 0 && routine < len(t.of) && block >= 0 && block < len(t.of[routine])
}

// Find returns the index of the scope with a path, or -1.
func (t *ScopeTree) Find(path string) int {
	for i := range t.Scopes {
		if t.Scopes[i].Path == path {
			return i
		}
	}
	return -1
}

// Contains reports whether scope outer is inner or contains it.
func (t *ScopeTree) Contains(outer, inner int) bool {
	return outer <= inner && inner < t.Scopes[outer].End
}
