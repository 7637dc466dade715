package replay

import "presage/perf/trace"

// settleWay has a place go one way throughout, as it does in each run, though not the same
// in all: a vector loop leaves a rest or not, arrays are aligned in one way or another. It
// reports whether the way is known.
func (in *Instance) settleWay(place int32, next trace.BlockID) bool {
	p, l := &in.prog.Places[place], &in.places[place]
	way := p.way(next)
	if way < 0 {
		return false
	}
	l.choice, l.way, l.oneWay, l.spins, l.sureBranch = only, way, false, false, true
	if in.doubts != nil {
		d := in.doubts[place] &^ (drawnBranch | fewBounds | otherWays)
		if d&aboutControl == 0 {
			d &^= control
		}
		in.doubts[place] = d
	}
	return true
}

// settleWays has all such places go the ways that they went in a run, of which here has
// the places.
func (in *Instance) settleWays(here []*RunPlace) {
	for i, p := range here {
		if p != nil && in.places[i].oneWay && len(p.Next) == 1 {
			in.settleWay(int32(i), p.Next[0].Block)
		}
	}
}

// turns returns, by place, how often the way that runs go changes from one to the next, where
// each goes one way.
func (p *Program) turns(code *Code, runs []*Run) ([]int, error) {
	out := make([]int, len(p.Places))
	last := make([]trace.BlockID, len(p.Places))
	for i := range last {
		last[i] = noBlock
	}
	for _, r := range runs {
		here, err := p.locate(code, r)
		if err != nil {
			return nil, err
		}
		for i, q := range here {
			if q == nil || len(q.Next) != 1 {
				continue
			}
			if next := q.Next[0].Block; next != last[i] {
				if last[i] != noBlock {
					out[i]++
				}
				last[i] = next
			}
		}
	}
	return out, nil
}
