package replay

// Form is a function that gives the addresses of a reference or a bound of a
// branch: one affine function for each class of a Split. With Counter set,
// the vector is not the iteration vector but its first Level coordinates and the
// number of executions since one of these changed.
type Form struct {
	Split   Split
	Counter bool
	Level   int8

	Wraps bool // each function is a sum of functions of one coordinate, with jumps: see wraps
	Table int8 // with Wraps: one for each value of a coordinate, the first being 1, and class of Split; 0: by Split alone

	Triangle Triangle // its triangular number is the last coordinate
}

// plain reports whether it is one affine function of the iteration vector.
func (f Form) plain() bool {
	return f.Split.Modulus <= 1 && !f.Counter && !f.Wraps && f.Triangle.Of == 0
}

// candidate is a form that agreed with all points so far.
type candidate struct {
	form    Form
	classes []affine
	failed  bool

	count  int64 // executions since the outer coordinates changed, with Counter
	stamp  uint64
	vector []int64

	least, greatest int64 // of Form.Triangle
}

func newCandidate(f Form) candidate {
	return candidate{form: f, classes: make([]affine, f.Split.classes())}
}

// add takes the point (v, y); stamps are those of v.
func (c *candidate) add(v []int64, stamps []uint64, y int64) bool {
	if c.form.Counter {
		v = c.counted(v, stamps)
	} else if c.form.Triangle.Of > 0 {
		v = c.extended(v)
	}
	c.failed = c.failed || !c.classes[c.form.Split.class(v)].add(v, y)
	return !c.failed
}

// counted returns the vector of a counter.
func (c *candidate) counted(v []int64, stamps []uint64) []int64 {
	stamp := uint64(1)
	if c.form.Level > 0 {
		stamp = stamps[c.form.Level-1]
	}
	if stamp == c.stamp {
		c.count++
	} else {
		c.stamp, c.count = stamp, 0
	}
	c.vector = append(append(c.vector[:0], v[:c.form.Level]...), c.count)
	return c.vector
}

// forms returns the forms to try for addresses at a depth, the simplest first: among
// them three classes for three arrays that take turns.
func forms(depth int) []Form {
	var list []Form
	for _, s := range splits(depth) {
		if s == (Split{Modulus: 4, A: int8(depth) - 1}) {
			for a := int8(depth) - 1; a >= 0; a-- {
				list = append(list, Form{Split: Split{Modulus: 3, A: a}})
			}
		}
		list = append(list, Form{Split: s})
	}
	for l := range depth {
		list = append(list, Form{Counter: true, Level: int8(l)})
	}
	return list
}

// narrowing says how many candidates are kept from a number of executions on: the
// simplest, so that learning from a long run does not take much longer than running
// it. Before, outer loops have gone on often enough to tell most candidates apart.
var narrowing = map[uint64]int{1 << 13: 28, 1 << 15: 8, 1 << 18: 2}

// reference is the state of a reference of a place.
type reference struct {
	candidates []candidate // those that did not fail
	bends      *bends      // nil: not looked for
	wraps      []wraps     // those that did not fail
	drifts     []drift     // the same
	twins      []twin      // references of the place that are as far away as ever
	paired     bool        // twins are known
	last       uint64      // address, with drifts
	repeats    uint64      // executions with the address of the one before, with drifts
	lo, hi     uint64      // of the addresses
	hash       uint64

	indirects []indirect // loads from whose numbers the address may follow, that did not fail
	at        uint64     // the address, where numbers in memory are followed
	writer    int32      // its number among those that store numbers; 0: none yet
}

// hashFactor spreads values: it is odd, so that no step of a hash loses bits (the
// multiplier of Knuth's MMIX generator).
const hashFactor = 6364136223846793005

// mix adds a value to a hash of a sequence.
func mix(hash, value uint64) uint64 { return (hash + value + 1) * hashFactor }

func newReference(depth int, all bool) reference {
	r := reference{lo: ^uint64(0)}
	list := forms(depth)
	if !all {
		list = list[:1]
	} else if depth > 0 {
		r.bends, r.drifts, r.wraps = new(bends), newDrifts(depth), newWraps(depth)
	}
	for _, f := range list {
		r.candidates = append(r.candidates, newCandidate(f))
	}
	return r
}

// narrow keeps the simplest candidates after a number of executions.
func (r *reference) narrow(executions uint64) {
	if n, ok := narrowing[executions]; ok {
		r.candidates = r.candidates[:min(n, len(r.candidates))]
		r.wraps = r.wraps[:min(n, len(r.wraps))]
	}
	if len(r.candidates) > 0 && r.candidates[0].form.plain() && executions >= straight {
		r.bends, r.wraps, r.indirects = nil, nil, nil
	}
	if len(r.candidates) > 0 && executions >= straight {
		r.drifts = nil
	}
}

// straight is the number of executions after which an affine function that agreed with
// all makes others needless.
const straight = 1 << 18

// add takes an address. It reports whether a form is left.
func (r *reference) add(v []int64, stamps []uint64, addr uint64) bool {
	if r.drifts != nil {
		if addr == r.last && r.hi > 0 {
			r.repeats++
		}
		r.last = addr
		for i := range r.drifts {
			r.drifts[i].add(v, stamps, int64(addr))
		}
	}
	r.lo, r.hi = min(r.lo, addr), max(r.hi, addr)
	r.hash = mix(r.hash, addr)
	if r.bends != nil {
		r.bends.add(v, int64(addr))
	}
	if len(r.wraps) > 0 {
		r.addWraps(v, int64(addr))
	}
	wasPlain := len(r.candidates) > 0 && r.candidates[0].form.plain()
	kept := r.candidates[:0]
	for i := range r.candidates {
		if r.candidates[i].add(v, stamps, int64(addr)) {
			if len(kept) < i {
				kept = append(kept, r.candidates[i])
			} else {
				kept = r.candidates[:i+1]
			}
		}
	}
	r.candidates = kept
	if wasPlain && r.bends != nil && (len(kept) == 0 || !kept[0].form.plain()) {
		r.addTriangles(v, int64(addr))
	}
	return len(r.candidates) > 0
}
