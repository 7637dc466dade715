package locality

import (
	"presage/perf/reuse"
	"presage/perf/trace"
)

// Class is the reuses of a group that one loop carries: what grows by one law as the
// problem does, more often than the group's reuses together do.
type Class struct {
	Group Group
	// Loop is that of Carried; -1: no loop contains both accesses, or there was none
	// before.
	Loop    Place
	Crosses bool // as in Carried
}

// Classes divides what Run.Further collected of a run with carriers by class. Of
// groups that the runs do not have in common there is none.
func (r *Runs) Classes(run int, res *reuse.Result) (map[Class]reuse.Histogram, error) {
	c, err := r.Common()
	if err != nil {
		return nil, err
	}
	of := make(map[trace.GroupID]Group)
	for g := range c.All() {
		for _, own := range c.OfRun(run, g) {
			of[own] = g
		}
	}
	out := make(map[Class]reuse.Histogram)
	for i := range res.Carried {
		x := &res.Carried[i]
		g, ok := of[x.Group]
		if !ok {
			continue
		}
		key := Class{g, c.placeOfScope(run, x.Loop), x.Crosses}
		sum := out[key]
		out[key] = sum.Plus(&x.Histogram)
	}
	return out, nil
}
