package replay

import (
	"slices"

	"presage/perf/trace"
)

// drift learns what is regular about addresses that no function gives as a whole, once
// the first coordinates of the iteration vector, level of them, are taken apart from the
// rest. With
//
//	p = the row of the pivot, as data decide
//	for (j = 0; j < n; j++)
//	  t = a[p][j];                  level 1: 8·j from the first address of each p on
//
// the steps of the inner loops are known, and where they begin is not; with
//
//	for (k = 0; k < n; k++)
//	  for (p = k, i = k+1; i < n; i++)
//	    if (a[k][i] > a[k][p])      level 1: from a[k][k] on, up to 8·n away
//	      p = i;
//
// it is the other way around.
type drift struct {
	level  int
	stamp  uint64
	head   []int64 // the coordinates after the first, where these last changed
	first  int64   // the address there
	least  int64   // such address
	most   int64
	start  affine // of such addresses, in the first coordinates
	lost   bool   // there is no start
	steps  affine // from there on, in how far the other coordinates are from head
	uneven bool   // there are no steps
	lo, hi int64  // of addresses from first on
	apart  []int64
}

// RunDrift is what is regular at a level.
type RunDrift struct {
	Level       int8
	Start       RunAffine // none: the first addresses, from Least to Most, are not regular
	Steps       RunAffine // none: those that follow are from Lo to Hi bytes away
	Least, Most int64
	Lo, Hi      int64
}

func newDrifts(depth int) []drift {
	list := make([]drift, 0, depth)
	for level := 1; level < depth; level++ {
		list = append(list, drift{level: level})
	}
	return list
}

// add takes the point (v, y); stamps are those of v.
func (d *drift) add(v []int64, stamps []uint64, y int64) {
	if stamp := stamps[d.level-1]; d.head == nil || stamp != d.stamp {
		if d.head == nil {
			d.least, d.most = y, y
		}
		d.stamp, d.head, d.first = stamp, append(d.head[:0], v[d.level:]...), y
		d.least, d.most = min(d.least, y), max(d.most, y)
		d.lost = d.lost || !d.start.add(v[:d.level], y)
	}
	y -= d.first
	d.lo, d.hi = min(d.lo, y), max(d.hi, y)
	if d.uneven {
		return
	}
	d.apart = d.apart[:0]
	for k, x := range v[d.level:] {
		d.apart = append(d.apart, x-d.head[k])
	}
	d.uneven = !d.steps.add(d.apart, y)
}

func (d *drift) result() RunDrift {
	r := RunDrift{Level: int8(d.level), Least: d.least, Most: d.most, Lo: d.lo, Hi: d.hi}
	if !d.lost && !d.start.coarse {
		r.Start = d.start.result()
	}
	if !d.uneven && !d.steps.coarse {
		r.Steps = d.steps.result()
	}
	return r
}

// twin is an earlier reference of the same place, by distance.
type twin struct {
	ref  int
	away int64
}

// RunTwin says that a reference is always so many bytes from an earlier one of its place.
type RunTwin struct {
	Ref  int
	Away int64
}

// pair compares an address of reference i of a place with those of the references before
// it in the same execution.
func (p *place) pair(i int) {
	r := &p.refs[i]
	if r.drifts == nil {
		return
	}
	if !r.paired {
		r.paired = true
		for k := range i {
			if p.refs[k].drifts != nil {
				r.twins = append(r.twins, twin{k, int64(r.last - p.refs[k].last)})
			}
		}
		return
	}
	r.twins = slices.DeleteFunc(r.twins, func(t twin) bool { return int64(r.last-p.refs[t.ref].last) != t.away })
}

// keepDrifts puts what is regular about an irregular reference into what is kept of it.
func (r *reference) keepDrifts(p *place, out *RunRef) {
	if len(out.Forms) > 0 || r.drifts == nil {
		return
	}
	for _, t := range r.twins {
		if of := &p.refs[t.ref]; len(of.candidates) == 0 {
			out.Twin = &RunTwin{t.ref, t.away}
			break
		}
	}
	for i := range r.drifts {
		out.Drifts = append(out.Drifts, r.drifts[i].result())
	}
	out.Repeats = r.repeats
}

// liveDrift is a Drift at a size, with where it is.
type liveDrift struct {
	twin     int // -1: none
	distance int64
	level    int
	start    []int64 // nil: drawn
	steps    []int64 // nil: drawn
	lo       int64
	places   int64
	stays    float64

	outer, head []int64
	begun       bool
	first       int64
	last        uint64
}

func (in *Instance) buildDrift(ref *Ref, l *livePlace, size uint64) *liveDrift {
	d := ref.Drift
	if d == nil {
		return nil
	}
	var exact bool // of no importance: what is drawn is not certain
	out := &liveDrift{twin: -1, level: int(d.Level), stays: d.Stays}
	if d.Twin {
		out.twin, out.distance = d.Of, in.values[d.Distance].At
		return out
	}
	classes := l.classes
	out.start, out.steps = in.affine(d.Start, l, &exact), in.affine(d.Steps, l, &exact)
	l.classes = classes
	if out.start != nil {
		out.start[0] += int64(in.bases[ref.Base]) * scale
	}
	if out.steps == nil {
		out.lo = in.reach(d.Lo)
		out.places = max(0, in.reach(d.Hi)-out.lo)/int64(size) + 1
	}
	return out
}

// draw returns an address of a reference that is irregular; before holds those of the
// references before it.
func (r *player) draw(ref *liveRef, v []int64, before []trace.Access) uint64 {
	d := ref.drift
	switch {
	case d == nil:
		return r.anywhere(ref)
	case d.twin >= 0:
		return before[d.twin].Addr() + uint64(d.distance)
	}
	fresh := !d.begun || !slices.Equal(d.outer, v[:d.level])
	if fresh {
		d.begun = true
		d.outer, d.head = append(d.outer[:0], v[:d.level]...), append(d.head[:0], v[d.level:]...)
		if d.start != nil {
			d.first = valueOf(d.start, v[:d.level]) / scale
		} else {
			d.first = int64(r.anywhere(ref))
		}
		d.last = uint64(d.first)
	}
	if d.steps != nil {
		sum := int64(0)
		for k, h := range d.head {
			sum += d.steps[k+1] * (v[d.level+k] - h)
		}
		return uint64(d.first + sum/scale)
	}
	if !fresh && r.rng.Float64() >= d.stays {
		d.last = uint64(d.first + d.lo + r.rng.Int63n(d.places)*int64(ref.size))
	}
	return d.last
}

// anywhere returns an address from the range of a reference.
func (r *player) anywhere(ref *liveRef) uint64 {
	return ref.lo + uint64(r.rng.Int63n(int64(ref.places)))*ref.size
}
