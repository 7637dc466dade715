package perf

import (
	"fmt"
	"slices"

	"presage/perf/access"
	"presage/perf/cfg"
)

// sharedGroups are the groups of references that all runs have in common: those of the
// executable that made them or, where there are several, the sets that their
// groups were matched to.
type sharedGroups struct {
	name    string
	refs    []access.Reference
	members [][]int // by group: indices in refs

	prog *Program // if there is one

	// If there are several: programs, and by run which of them made it; a
	// group's naming is that of the last program that has it.
	programs []*Program
	of       []int
	match    *access.Matching
	namedBy  []int // by group: index in programs
	first    []int // by group: index in the naming program's references
}

// name returns what tables call the program.
func (r *Runs) name() string {
	switch {
	case r.Name != "":
		return r.Name
	case len(r.Runs) == 0:
		return ""
	}
	points := make([]BinaryPoint, len(r.Runs))
	for i := range r.Runs {
		points[i] = BinaryPoint{r.Runs[i].Point, r.Runs[i].Program}
	}
	return commonName(points)
}

// programs returns the executables that made the runs, by first appearance,
// and for each run which one made it.
func (r *Runs) programs() (programs []*Program, of []int) {
	for i := range r.Runs {
		p := r.Runs[i].Program
		at := slices.IndexFunc(programs, func(q *Program) bool { return p.File.SHA256 == q.File.SHA256 && p.Name == q.Name })
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

// common returns the groups that the runs have in common.
func (r *Runs) common() (*sharedGroups, error) {
	if r.shared != nil && len(r.shared.of) == len(r.Runs) {
		return r.shared, nil
	}
	return r.findCommon()
}

func (r *Runs) findCommon() (*sharedGroups, error) {
	if len(r.Runs) == 0 {
		return nil, fmt.Errorf("perf: no runs")
	}
	programs, of := r.programs()
	c := &sharedGroups{name: r.name(), of: of}
	if len(programs) > 1 {
		return c, c.matchPrograms(r, programs)
	}
	c.prog = programs[0]
	var err error
	if c.refs, err = c.prog.References(); err != nil {
		return nil, err
	}
	c.members = make([][]int, len(c.prog.first))
	for i := range c.prog.plan.Refs {
		g := c.prog.plan.Refs[i].Group
		c.members[g] = append(c.members[g], i)
	}
	return c, nil
}

// matchPrograms matches the groups of several programs.
func (c *sharedGroups) matchPrograms(r *Runs, programs []*Program) error {
	c.programs = programs
	subjects := make([]access.Subject, len(programs))
	offset := make([]int, len(programs)) // of each program's references in refs
	for i, p := range programs {
		refs, err := p.References()
		if err != nil {
			return err
		}
		offset[i] = len(c.refs)
		c.refs = append(c.refs, refs...)
		s := p.Structure()
		subjects[i] = access.Subject{Analysis: s.Access, Groups: s.Groups, Scopes: s.Scopes, Accesses: make([]uint64, len(s.Groups.Refs))}
	}
	for i := range r.Runs {
		for g := range subjects[c.of[i]].Accesses {
			subjects[c.of[i]].Accesses[g] += accessesOf(r.Runs[i].Reuse[0], g)
		}
	}
	c.match = access.Match(subjects...)
	for _, set := range c.match.Sets {
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
		c.members = append(c.members, members)
		c.namedBy, c.first = append(c.namedBy, last), append(c.first, members[0]-offset[last])
	}
	return nil
}

// ofRun returns the groups of a run's histograms that are the group g.
func (c *sharedGroups) ofRun(run, g int) []int {
	if c.prog != nil {
		return []int{g}
	}
	groups := c.match.Sets[g].Groups[c.of[run]]
	out := make([]int, len(groups))
	for i := range groups {
		out[i] = int(groups[i])
	}
	return out
}

// accesses returns how often a run accessed memory by a group's references.
func (c *sharedGroups) accesses(r *Runs, run, g int) uint64 {
	n := uint64(0)
	for _, own := range c.ofRun(run, g) {
		n += accessesOf(r.Runs[run].Reuse[0], own)
	}
	return n
}

// scopeOf names the scope of a group.
func (c *sharedGroups) scopeOf(by Scope, g int) string {
	if c.prog != nil {
		return c.prog.scopeOf(by, c.members[g][0])
	}
	prog, set := c.programs[c.namedBy[g]], &c.match.Sets[g]
	if by == ByProgram {
		return c.name
	}
	name := prog.scopeOf(by, c.first[g])
	if set.Kind != access.Paired && set.Scope != 0 { // of a scope that holds all its references
		if path := c.path(set.Scope, by); path != "" {
			name = path
		}
	}
	switch {
	case by == ByReference && set.Kind != access.Paired:
		name += fmt.Sprintf(" (%d references, %s, from %#x)", len(c.members[g]), set.Kind, uint64(c.refs[c.members[g][0]].PC))
	case by != ByRoutine && c.namedBy[g] != len(c.programs)-1:
		name += " in " + prog.Name
	}
	return name
}

// path names an aligned scope, or its routine, as the last program that has it
// does.
func (c *sharedGroups) path(aligned int, by Scope) string {
	at := &c.match.Alignment.Scopes[aligned]
	for by == ByRoutine && at.Kind == cfg.LoopScope {
		at = &c.match.Alignment.Scopes[at.Parent]
	}
	for t := len(c.programs) - 1; t >= 0; t-- {
		if at.Has(t) {
			return c.match.Alignment.Trees[t].Scopes[at.In[t][0]].Path
		}
	}
	return ""
}
