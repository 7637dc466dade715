package locality

import (
	"fmt"
	"slices"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/subject"
)

// SharedGroups are the groups of references that all runs have in common: those of the
// executable that made them or, where there are several, the sets that their
// groups were matched to.
type SharedGroups struct {
	name    string
	Refs    []access.Reference
	Members [][]int // by group: indices in refs

	Prog *subject.Program // if there is one

	// If there are several: programs, and by run which of them made it; a
	// group's naming is that of the last program that has it.
	programs []*subject.Program
	of       []int
	Match    *access.Matching
	namedBy  []int // by group: index in programs
	first    []int // by group: index in the naming program's references
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

// Programs returns the executables that made the runs, by first appearance,
// and for each run which one made it.
func (r *Runs) Programs() (programs []*subject.Program, of []int) {
	for i := range r.Runs {
		p := r.Runs[i].Program
		at := slices.IndexFunc(programs, func(q *subject.Program) bool { return p.File.SHA256 == q.File.SHA256 && p.Name == q.Name })
		if at < 0 {
			at = len(programs)
			programs = append(programs, p)
		}
		of = append(of, at)
	}
	return programs, of
}

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
	programs, of := r.Programs()
	c := &SharedGroups{name: r.Label(), of: of}
	if len(programs) > 1 {
		return c, c.matchPrograms(r, programs)
	}
	c.Prog = programs[0]
	var err error
	if c.Refs, err = c.Prog.References(); err != nil {
		return nil, err
	}
	plan, err := c.Prog.Plan()
	if err != nil {
		return nil, err
	}
	c.Members = make([][]int, plan.Groups())
	for i := range plan.Refs {
		g := plan.Refs[i].Group
		c.Members[g] = append(c.Members[g], i)
	}
	return c, nil
}

// matchPrograms matches the groups of several programs.
func (c *SharedGroups) matchPrograms(r *Runs, programs []*subject.Program) error {
	c.programs = programs
	subjects := make([]access.Subject, len(programs))
	offset := make([]int, len(programs)) // of each program's references in refs
	for i, p := range programs {
		refs, err := p.References()
		if err != nil {
			return err
		}
		offset[i] = len(c.Refs)
		c.Refs = append(c.Refs, refs...)
		s := p.Structure()
		subjects[i] = access.Subject{Analysis: s.Access, Groups: s.Groups, Scopes: s.Scopes, Accesses: make([]uint64, len(s.Groups.Refs))}
	}
	for i := range r.Runs {
		for g := range subjects[c.of[i]].Accesses {
			subjects[c.of[i]].Accesses[g] += accessesOf(r.Runs[i].Reuse[0], g)
		}
	}
	c.Match = access.Match(subjects...)
	for _, set := range c.Match.Sets {
		last := len(programs) - 1
		for len(set.Groups[last]) == 0 {
			last--
		}
		var members []int
		for _, g := range set.Groups[last] {
			for _, ref := range subjects[last].Groups.Refs[g] {
				members = append(members, offset[last]+ref)
			}
		}
		slices.Sort(members)
		c.Members = append(c.Members, members)
		c.namedBy, c.first = append(c.namedBy, last), append(c.first, members[0]-offset[last])
	}
	return nil
}

// OfRun returns the groups of a run's histograms that are the group g.
func (c *SharedGroups) OfRun(run, g int) []int {
	if c.Prog != nil {
		return []int{g}
	}
	groups := c.Match.Sets[g].Groups[c.of[run]]
	out := make([]int, len(groups))
	for i := range groups {
		out[i] = int(groups[i])
	}
	return out
}

// Accesses returns how often a run accessed memory by a group's references.
func (c *SharedGroups) Accesses(r *Runs, run, g int) uint64 {
	n := uint64(0)
	for _, own := range c.OfRun(run, g) {
		n += accessesOf(r.Runs[run].Reuse[0], own)
	}
	return n
}

// ScopeOf names the scope of a group.
func (c *SharedGroups) ScopeOf(by subject.Scope, g int) string {
	if c.Prog != nil {
		return c.Prog.ScopeOf(by, c.Members[g][0])
	}
	prog, set := c.programs[c.namedBy[g]], &c.Match.Sets[g]
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
		name += fmt.Sprintf(" (%d references, %s, from %#x)", len(c.Members[g]), set.Kind, uint64(c.Refs[c.Members[g][0]].PC))
	case by != subject.ByRoutine && c.namedBy[g] != len(c.programs)-1:
		name += " in " + prog.Name
	}
	return name
}

// path names an aligned scope, or its routine, as the last program that has it
// does.
func (c *SharedGroups) path(aligned int, by subject.Scope) string {
	at := &c.Match.Alignment.Scopes[aligned]
	for by == subject.ByRoutine && at.Kind == cfg.LoopScope {
		at = &c.Match.Alignment.Scopes[at.Parent]
	}
	for t := len(c.programs) - 1; t >= 0; t-- {
		if at.Has(t) {
			return c.Match.Alignment.Trees[t].Scopes[at.In[t][0]].Path
		}
	}
	return ""
}
