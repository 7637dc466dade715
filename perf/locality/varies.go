package locality

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"presage/perf/subject"
)

// MinSizes is the number of runs from which models can be fitted; with five and
// more they are worth trusting.
const MinSizes = 3

// ErrConstant is wrapped by errors about runs that do not depend on a parameter.
var ErrConstant = errors.New("the runs do not depend on the parameter")

// Varies returns an error that wraps ErrConstant if a parameter of the points
// changes nothing: whenever it alone differs between two runs, these are equal to
// the last access. The error says how the program was run.
func (r *Runs) Varies() error {
	if len(r.Runs) == 0 {
		return nil
	}
	c, err := r.Common()
	if err != nil {
		return err
	}
	for _, param := range r.Runs[0].Point.Names() {
		if a, b, constant := r.constant(c, param); constant {
			return fmt.Errorf("perf: %s: %w %s: the one at %s and the one at %s made the same %d accesses to the same %d bytes, and so did all others. "+
				"They were run as %q and %q: does the program take its size from its arguments (RunOptions.Args, --args), and are its executables those of their sizes?",
				r.Label(), ErrConstant, param, a.Point, b.Point, a.Accesses, a.Reuse[0].Blocks*a.Reuse[0].BlockBytes,
				command(a), command(b))
		}
	}
	return nil
}

func command(run *Run) string {
	return strings.Join(append([]string{run.Program.Name}, run.Args...), " ")
}

// constant reports whether there are runs that differ in no parameter but one, and
// all of them are equal; it returns two of them.
func (r *Runs) constant(c *SharedGroups, param string) (a, b *Run, constant bool) {
	for i := range r.Runs {
		for k := range i {
			if !differOnlyIn(r.Runs[i].Point, r.Runs[k].Point, param) {
				continue
			}
			if !r.same(c, i, k) {
				return nil, nil, false
			}
			a, b = &r.Runs[k], &r.Runs[i]
		}
	}
	return a, b, a != nil
}

// differOnlyIn reports whether two points differ in a parameter and in no other.
func differOnlyIn(p, q subject.Point, param string) bool {
	if p[param] == q[param] {
		return false
	}
	p, q = maps.Clone(p), maps.Clone(q)
	delete(p, param)
	delete(q, param)
	return maps.Equal(p, q)
}

// same reports whether two runs made the same accesses by each group to as much
// memory.
func (r *Runs) same(c *SharedGroups, i, k int) bool {
	a, b := &r.Runs[i], &r.Runs[k]
	if a.Accesses != b.Accesses || len(a.Reuse) != len(b.Reuse) {
		return false
	}
	for n := range a.Reuse {
		if a.Reuse[n].Blocks != b.Reuse[n].Blocks {
			return false
		}
	}
	return !slices.ContainsFunc(slices.Collect(c.All()), func(g Group) bool {
		return c.Accesses(r, i, g) != c.Accesses(r, k, g)
	})
}
