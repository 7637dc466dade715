package locality

import (
	"fmt"
	"iter"
	"slices"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/subject"
	"presage/perf/trace"
)

// Group is a group of references that several runs have in common: an index into
// SharedGroups.Members. It is not a trace.GroupID, which numbers the groups of one
// executable, unless all runs are of one.
type Group int

// Ref is a reference of the executables that made some runs: an index into
// SharedGroups.Refs. It is not a subject.Ref, which numbers the references of one
// executable, unless all runs are of one.
type Ref int

// SharedGroups are the groups of references that all runs have in common: those
// of the executable that made them or, where there are several, the sets that
// their groups were matched to.
type SharedGroups struct {
	Refs    []access.Reference // of each executable in turn
	Members [][]Ref            // by Group: its references

	// Program is the executable that made all runs; nil if there are several.
	Program *subject.Program

	name string // in tables

	of []int // by run: the executable that made it, an index into programs

	// If there are several executables. A group is named as the last executable
	// that has it names it.
	programs []*subject.Program
	match    *access.Matching
	namedBy  []int         // by Group: index in programs
	first    []subject.Ref // by Group: of the program that names it
}

// All yields the groups.
func (c *SharedGroups) All() iter.Seq[Group] {
	return func(yield func(Group) bool) {
		for g := range c.Members {
			if !yield(Group(g)) {
				return
			}
		}
	}
}

// First returns the first reference of a group.
func (c *SharedGroups) First(g Group) *access.Reference { return &c.Refs[c.Members[g][0]] }

// Match returns how the groups of several executables that make up a group
// correspond; if one executable made all runs, they are paired.
func (c *SharedGroups) Match(g Group) access.MatchKind {
	if c.match == nil {
		return access.Paired
	}
	return c.match.Sets[g].Kind
}

// Label returns what tables call the program.
func (r *Runs) Label() string {
	switch {
	case r.Name != "":
		return r.Name
	case len(r.Runs) == 0:
		return ""
	}
	points := make([]subject.BinaryPoint, len(r.Runs))
	for i := range r.Runs {
		points[i] = subject.BinaryPoint{Point: r.Runs[i].Point, Program: r.Runs[i].Program}
	}
	return subject.CommonName(points)
}

// programs are the executables that made some runs, by first appearance.
type programs struct {
	list []*subject.Program
	of   []int // by run: index in list
}

func (r *Runs) programs() (p programs) {
	for i := range r.Runs {
		prog := r.Runs[i].Program
		at := slices.IndexFunc(p.list, func(q *subject.Program) bool { return prog.File.SHA256 == q.File.SHA256 && prog.Name == q.Name })
		if at < 0 {
			at = len(p.list)
			p.list = append(p.list, prog)
		}
		p.of = append(p.of, at)
	}
	return p
}

// Matched reports whether the runs are of several executables, whose groups are
// matched.
func (r *Runs) Matched() bool { return len(r.programs().list) > 1 }

// share finds the groups that the runs have in common, and adds to the warnings
// what could not be matched.
func (r *Runs) share() error {
	if len(r.Runs) == 0 {
		return nil
	}
	c, err := r.findCommon()
	if err != nil {
		return err
	}
	r.shared = c
	r.Warnings = append(r.Warnings, c.doubts()...)
	return nil
}

// Common returns the groups that the runs have in common.
func (r *Runs) Common() (*SharedGroups, error) {
	if r.shared != nil && len(r.shared.of) == len(r.Runs) {
		return r.shared, nil
	}
	return r.findCommon()
}

func (r *Runs) findCommon() (*SharedGroups, error) {
	if len(r.Runs) == 0 {
		return nil, fmt.Errorf("perf: no runs")
	}
	made := r.programs()
	c := &SharedGroups{name: r.Label(), of: made.of}
	if len(made.list) > 1 {
		c.matchPrograms(r, made.list)
		return c, nil
	}
	c.Program = made.list[0]
	c.Refs = c.Program.References()
	plan, err := c.Program.Plan()
	if err != nil {
		return nil, err
	}
	c.Members = make([][]Ref, plan.Groups())
	for i := range plan.Refs { // Plan numbers references as References does
		g := plan.Refs[i].Group
		c.Members[g] = append(c.Members[g], Ref(i))
	}
	return c, nil
}

// matchPrograms matches the groups of several programs.
func (c *SharedGroups) matchPrograms(r *Runs, programs []*subject.Program) {
	c.programs = programs
	subjects := make([]access.Subject, len(programs))
	offset := make([]Ref, len(programs)) // of each program's references in Refs
	for i, p := range programs {
		offset[i] = Ref(len(c.Refs))
		c.Refs = append(c.Refs, p.References()...)
		s := p.Outline()
		subjects[i] = access.Subject{Analysis: s.Access, Groups: s.Groups, Scopes: s.Scopes, Accesses: make([]uint64, len(s.Groups.Refs))}
	}
	for i := range r.Runs {
		for g := range subjects[c.of[i]].Accesses {
			subjects[c.of[i]].Accesses[g] += accessesOf(r.Runs[i].Reuse[0], trace.GroupID(g))
		}
	}
	c.match = access.Match(subjects...)
	for _, set := range c.match.Sets {
		last := len(programs) - 1
		for len(set.Groups[last]) == 0 {
			last--
		}
		var members []Ref
		for _, g := range set.Groups[last] {
			for _, ref := range subjects[last].Groups.Refs[g] {
				members = append(members, offset[last]+Ref(ref))
			}
		}
		slices.Sort(members)
		c.Members = append(c.Members, members)
		c.namedBy, c.first = append(c.namedBy, last), append(c.first, subject.Ref(members[0]-offset[last]))
	}
}

// OfRun returns the groups of a run's histograms that make up the group g.
func (c *SharedGroups) OfRun(run int, g Group) []trace.GroupID {
	if c.Program != nil {
		return []trace.GroupID{trace.GroupID(g)}
	}
	return c.match.Sets[g].Groups[c.of[run]]
}

// Accesses returns how often a run accessed memory by a group's references.
func (c *SharedGroups) Accesses(r *Runs, run int, g Group) uint64 {
	n := uint64(0)
	for _, own := range c.OfRun(run, g) {
		n += accessesOf(r.Runs[run].Reuse[0], own)
	}
	return n
}

// ScopeOf names the scope of a group.
func (c *SharedGroups) ScopeOf(by subject.Scope, g Group) string {
	if c.Program != nil {
		return c.Program.ScopeOf(by, subject.Ref(c.Members[g][0]))
	}
	prog, set := c.programs[c.namedBy[g]], &c.match.Sets[g]
	if by == subject.ByProgram {
		return c.name
	}
	name := prog.ScopeOf(by, c.first[g])
	if set.Kind != access.Paired && set.Scope != 0 { // of a scope that holds all its references
		if path := c.path(set.Scope, by); path != "" {
			name = path
		}
	}
	switch {
	case by == subject.ByReference && set.Kind != access.Paired:
		name += fmt.Sprintf(" (%d references, %s, from %#x)", len(c.Members[g]), set.Kind, uint64(c.First(g).PC))
	case by != subject.ByRoutine && c.namedBy[g] != len(c.programs)-1:
		name += " in " + prog.Name
	}
	return name
}

// path names an aligned scope, or its routine, as the last program that has it
// does.
func (c *SharedGroups) path(aligned int, by subject.Scope) string {
	at := &c.match.Alignment.Scopes[aligned]
	for by == subject.ByRoutine && at.Kind == cfg.LoopScope {
		at = &c.match.Alignment.Scopes[at.Parent]
	}
	for t := len(c.programs) - 1; t >= 0; t-- {
		if at.Has(t) {
			return c.match.Alignment.Trees[t].Scopes[at.In[t][0]].Path
		}
	}
	return ""
}
