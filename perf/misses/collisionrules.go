package misses

import (
	"context"
	"errors"
	"math"
	"slices"

	"presage/perf/predict"
	"presage/perf/subject"
)

const (
	// clearly is the part of an error below which what makes it smaller is taken: conflicts,
	// and misses beyond either model.
	clearly = 0.7
	// nearly is the mean error, a logarithm, below which misses beyond either model are
	// taken: nothing else bounds them.
	nearly = 0.22
)

// expectation is what is predicted of the conflicts at a level, by group.
type expectation struct {
	more   []float64   // misses than without conflicts, or fewer if negative
	others [][]float64 // what more would be without conflicts, by other rules, and by single runs
}

// collisionsSeen returns the collisions in the runs that are like a point at a level; nil if
// there are too few, or they cannot be known.
func (m *Model) collisionsSeen(ctx context.Context, t *target, l predict.Level, point subject.Point) (*seenCollisions, error) {
	runs := m.alikeRuns(l, point)
	if len(runs) < likeRuns {
		return nil, nil
	}
	seen, shifts := &seenCollisions{}, shiftsOf(runs)
	for _, a := range runs {
		sims, err := m.refits.simulatedSmaller(ctx, a.run, t.hardware, shifts, t.progress)
		if errors.Is(err, errNotRun) || err == nil && sims == nil {
			return nil, nil // seenConflicts says so
		}
		if err != nil {
			return nil, err
		}
		of := func(shift int) *collisions {
			return m.collisionsOf(a.run, sims[slices.Index(shifts, shift)], l, shift)
		}
		var like []*collisions
		for _, b := range runs {
			below := math.Floor(b.shift)
			like = append(like, of(int(below)).towards(of(int(below)+1), b.shift-below))
		}
		seen.like, seen.whole = append(seen.like, like), append(seen.whole, of(0))
	}
	return seen, nil
}

// seenCollisions are the collisions in the runs that are like a point.
type seenCollisions struct {
	// like are those of each run in levels that are as large a part of what each of the runs
	// touches as the level is at the point.
	like  [][]*collisions
	whole []*collisions // of each run in the level itself
}

// rule is a way to foretell collisions from those of runs.
type rule struct {
	scaled bool // as in levels that hold as large a part of the memory, not in the level itself
	excess bool // beyond the two models
}

// foretell returns what runs let expect of the conflicts at a size; nil if what they say of
// each other is no better than to expect none.
func (s *seenCollisions) foretell(at *collisions, open []bool) *expectation {
	without := s.error(nil, open)
	var best *rule
	least := clearly * without
	for _, r := range []*rule{{scaled: true}, {}} {
		err := s.error(r, open)
		beyond := &rule{r.scaled, true}
		if e := s.error(beyond, open); e < clearly*err && e < nearly*float64(len(s.like)) {
			r, err = beyond, e
		}
		if err < least {
			best, least = r, err
		}
	}
	if best == nil {
		return nil
	}
	lessons := s.lessons(best.scaled)
	mean := meanOf(lessons)
	if best.excess {
		// It comes from how rows and arrays lie to each other at a size: neither a run of
		// another size nor a cache of another has just that. What both say, may stay.
		mean.excess = leastOf(mean.excess, meanOf(s.lessons(!best.scaled)).excess)
	}
	out := &expectation{more: best.more(mean, at), others: [][]float64{make([]float64, len(at.full))}}
	for _, scaled := range []bool{true, false} {
		l := meanOf(s.lessons(scaled))
		out.others = append(out.others, l.more(at), l.withExcess(at))
	}
	for _, l := range lessons {
		out.others = append(out.others, best.more(l, at))
	}
	return out
}

// lessons are what the runs say of the point.
func (s *seenCollisions) lessons(scaled bool) []lesson {
	var out []lesson
	for i, c := range s.whole {
		if scaled {
			c = s.like[i][i]
		}
		out = append(out, lessonOf(c))
	}
	return out
}

// more returns the misses beyond those without conflicts by a rule.
func (r *rule) more(l lesson, at *collisions) []float64 {
	if r.excess {
		return l.withExcess(at)
	}
	return l.more(at)
}

// error returns how far off a rule is of what it foretells of each run by the others; nil:
// without conflicts.
func (s *seenCollisions) error(r *rule, open []bool) float64 {
	sum := 0.0
	for j := range s.like {
		is := s.like[j][j]
		real, predicted := sumOf(is.real, open), sumOf(is.full, open)
		if r != nil {
			var others []lesson
			for i, of := range s.like {
				if i != j {
					c := of[j]
					if r.scaled {
						c = of[i]
					}
					others = append(others, lessonOf(c))
				}
			}
			predicted += sumOf(r.more(meanOf(others), is), open)
		}
		sum += math.Abs(math.Log((predicted + someMisses) / (real + someMisses)))
	}
	return sum
}
