package access

import "cmp"

// places is how many different steps are counted at a time for a reference in a loop.
const places = 16

// frequent finds the most frequent of the steps that it is given, in constant memory:
// a step that has no place takes the one with the least count, and goes on from that
// count.
//
// Derived here, for n steps: the counts sum to n, so that the least of them is at most
// n/places. A step without a place occurred at most as often as the least count says. The
// count of a place is therefore at least how often its step occurred, and at most
// place.before more, which is at most n/places.
type frequent struct {
	steps  uint64
	places []place // by descending count
}

type place struct {
	step   int64
	count  uint64
	before uint64 // the count that the step took over: an upper bound of how often it occurred before
}

// sure returns how often the step occurred at least.
func (p *place) sure() uint64 { return p.count - p.before }

func (f *frequent) add(step int64) {
	f.steps++
	i := f.placeOf(step)
	f.places[i].count++
	for ; i > 0 && f.places[i-1].count < f.places[i].count; i-- {
		f.places[i-1], f.places[i] = f.places[i], f.places[i-1]
	}
}

// placeOf returns the place that counts a step.
func (f *frequent) placeOf(step int64) int {
	for i := range f.places {
		if f.places[i].step == step {
			return i
		}
	}
	if len(f.places) < places {
		f.places = append(f.places, place{step: step})
		return len(f.places) - 1
	}
	last := &f.places[places-1]
	*last = place{step, last.count, last.count}
	return places - 1
}

// most returns the step that surely occurred most often, of several the least.
func (f *frequent) most() ObservedStride {
	if f.steps == 0 {
		return ObservedStride{}
	}
	best := &f.places[0]
	for i := range f.places {
		p := &f.places[i]
		if cmp.Or(cmp.Compare(p.sure(), best.sure()), cmp.Compare(best.step, p.step)) > 0 {
			best = p
		}
	}
	return ObservedStride{
		Stride: best.step, Steps: f.steps, Share: float64(best.sure()) / float64(f.steps),
		Exact: best.before == 0 && best.count == f.places[0].count,
	}
}
