package replay

import (
	"fmt"
	"slices"

	"presage/perf/access"
	"presage/perf/trace"
)

// Instance is a Program at one size, ready to be replayed.
type Instance struct {
	N int64

	code      *Code
	prog      *Program
	bases     []uint64
	known     []bool // by base: where it is, not where it may be expected
	values    []Value
	places    []livePlace
	start     state
	doubts    []doubt        // by place
	gaps      []gap          // by place
	mains     map[int32]bool // contexts of main
	elsewhere []trace.RefID  // of the Model
	trained   []int64        // sizes of the runs

	own      bool             // the code is that of an executable compiled for the size
	says     *access.Analysis // of it; nil: nothing
	objects  []Object         // of it, as its code says
	loaded   []Loaded         // where its files are, as far as that is known; nil: as the code says
	overlaps *overlaps        // nil: not looked for
	starts   []float64        // by place: see Verdict, of the largest size
	ends     []float64        // the same
	fitted   *fitted          // nil: the Program does not come from a Model

	heap    *liveHeap // nil: all addresses are real
	cells   *cells    // of numbers of which addresses are computed; nil: there are none
	scratch []int64   // a vector

	counters [][]int32 // by number among Program.Writers: places, see storing
	counts   []int64
}

// state is where a replay is: about to execute a place.
type state struct {
	place  int32
	vector []int64
}

// livePlace is a Place with numbers for coefficients.
type livePlace struct {
	block        trace.BlockID
	instructions uint64
	refs         []liveRef
	next         []liveNext
	choice       choice
	way          int   // on, if there is one
	oneWay       bool  // each run goes one way throughout, which no function of the size gives: see settleWay
	spins        bool  // see player.spin
	count        int64 // executions, if it tracks
	tracks       bool  // numbers are stored in it of which addresses are computed, or loaded, or used
	branch       liveBranch
	draws        draws
	numbers      *liveNumbers
	exact        bool // every coefficient of an address is, see Value.Exact
	sureBranch   bool // every coefficient of the branch is
	classes      bool // some coefficient is a polynomial for a residue class of sizes alone
}

// choice says how the way on is chosen.
type choice uint8

const (
	only     choice = iota // there is one: livePlace.way
	bounds                 // by liveBranch
	chance                 // by frequency, see draws
	numbered               // by liveNumbers
)

type liveNext struct {
	block trace.BlockID
	to    int32
	step  step
}

type liveRef struct {
	tag     trace.Access
	kind    refKind
	coef    []int64 // of a single class
	split   Split
	form    Form // of a wrapped or triangular one
	jumps   [][]liveJump
	classes [][]int64
	level   int
	count   int64 // of a counter
	outer   []int64
	moved   bool // see moveSlot
	lo      uint64
	places  uint64 // from lo, at which an irregular access may be
	size    uint64
	drift   *liveDrift // of an irregular one

	indirect *liveIndirect
	at       uint64   // the address, of a place that tracks
	writers  [2]int32 // by word that it stores: its number among Program.Writers, from 1; 0: it is none
	clears   bool     // stores another number
	copies   bool     // stores what another reference of the place loads
	from     int      // which one
}

// refKind says how addresses are computed.
type refKind uint8

const (
	simple     refKind = iota // an affine function
	classed                   // one for each class
	counted                   // of a counter
	leastOf                   // the functions of classes
	greatestOf                //
	wrapped                   // the function of a class, with jumps
	triangular                // a function of the vector and a triangular number
	followed                  // the function of a writer: see indirect
	irregular                 // drawn
)

type liveBranch struct {
	pivot   int
	sum     Split // with alongSum for pivot
	split   Split
	classes []liveOutcomes
	self    int32 // the way back to the place itself, -1 if there is none
}

type liveOutcomes struct {
	bounds []liveBound // of the coordinates before the pivot
	ways   []int32
}

// liveBound is the least or greatest of affine functions, in eighths: the first, and
// others.
type liveBound struct {
	coef     []int64
	others   [][]int64
	greatest bool
}

// at returns the value in eighths.
func (b *liveBound) at(v []int64) int64 {
	sum := valueOf(b.coef, v)
	for _, c := range b.others {
		if o := valueOf(c, v); b.greatest == (o > sum) {
			sum = o
		}
	}
	return sum
}

// valueOf returns the value of an affine function, in eighths, of the first coordinates
// of a vector.
func valueOf(coef, v []int64) int64 {
	sum := coef[0]
	for k, c := range coef[1:] {
		sum += c * v[k]
	}
	return sum
}

// At returns the program at size n. Where data lie that the size moves is extrapolated:
// see Instance.Confirm.
func (p *Program) At(code *Code, n int64) (*Instance, error) {
	if len(p.Places) == 0 {
		return nil, fmt.Errorf("replay: the runs executed nothing")
	}
	in := &Instance{N: n, code: code, prog: p, values: make([]Value, len(p.Series))}
	for i := range p.Series {
		in.values[i] = p.Series[i].At(n)
	}
	for _, b := range p.Bases {
		in.bases = append(in.bases, uint64(in.values[b.At].At))
		in.known = append(in.known, b.Kind == Absolute || b.Kind == Global && in.values[b.At].Exact())
	}
	in.heap = newLiveHeap(code, p, in.values)
	in.mains = make(map[int32]bool)
	for i := range p.Places {
		if code.routine(p.Places[i].Block) == "main" {
			in.mains[p.Places[i].Context] = true
		}
	}
	in.build()
	in.start.vector = make([]int64, p.Places[0].Depth, 2*maxDepth)
	in.doubts, in.gaps = make([]doubt, len(p.Places)), make([]gap, len(p.Places))
	return in, nil
}

// trustStack takes the stack's start from the runs, if it was the same in all: names
// and arguments of executables of one size each have the same length.
func (in *Instance) trustStack() {
	v := in.values[in.prog.Bases[Stack].At]
	in.known[Stack] = in.known[Stack] || v.Exact() && v.Degree == 0
}

// placeObjects takes the addresses of variables from the table of the size's own
// executable, loaded as is given.
func (in *Instance) placeObjects(loaded []Loaded) {
	in.loaded = loaded
	objects := placed(in.objects, loaded)
	for b := range in.prog.Bases {
		if addr, ok := addressOf(objects, in.prog.Bases[b].Object); ok {
			in.shift(int32(b), addr-in.bases[b])
			in.known[b] = true
		}
	}
}

// Accesses returns how many accesses are to be expected, by the polynomials of
// counts: an estimate where these are not exact.
func (in *Instance) Accesses() float64 {
	total := 0.0
	for i := range in.prog.Places {
		p := &in.prog.Places[i]
		total += float64(max(0, in.values[p.Counts].At)) * float64(len(p.Refs))
	}
	return total
}

// build computes the places.
func (in *Instance) build() {
	in.places = make([]livePlace, len(in.prog.Places))
	for i := range in.places {
		in.buildPlace(&in.prog.Places[i], &in.places[i])
	}
	in.buildTracks()
}

func (in *Instance) buildPlace(p *Place, l *livePlace) {
	*l = livePlace{block: p.Block, exact: true, sureBranch: true, instructions: uint64(in.code.Plan.Blocks[p.Block].Instructions)}
	for j := range p.Refs {
		l.refs = append(l.refs, in.buildRef(p, j, l))
	}
	for _, n := range p.Next {
		l.next = append(l.next, liveNext{n.Block, n.To, step{n.Keep, n.Push, n.More}})
	}
	switch {
	case len(p.Next) <= 1:
	case p.Numbers != nil:
		in.buildNumbers(p.Numbers, l)
		l.draws = newDraws(p.Chances, p.Stays)
	case p.Branch == nil:
		p.draw(l)
	default:
		l.choice = bounds
		l.draws = newDraws(p.Chances, p.Stays)
		l.branch = in.buildBranch(p.Branch, l)
		l.spins = in.spins(p, l)
		// A line through bounds that follow no function says less than how often the
		// ways were gone, other than of loops, which go on by bounds.
		if !l.sureBranch && p.withinStep() && !slices.Contains(in.prog.Sizes, in.N) {
			p.draw(l)
		}
	}
	l.oneWay = p.Mixed == 0 && len(p.Next) > 1 && (l.choice == chance || !l.sureBranch)
}

// draw has the way on from the place drawn by frequency.
func (p *Place) draw(l *livePlace) {
	l.choice, l.spins = chance, false
	l.draws = newDraws(p.Chances, p.Stays)
}

// withinStep reports whether all ways on from a place stay in the same step of the loops
// around it.
func (p *Place) withinStep() bool {
	return !slices.ContainsFunc(p.Next, func(n Next) bool { return n.To < 0 || n.More || int(n.Keep) != p.Depth })
}

// shift moves what lies at a base.
func (in *Instance) shift(base int32, by uint64) {
	in.bases[base] += by
	for i := range in.places {
		for j := range in.places[i].refs {
			if in.prog.Places[i].Refs[j].Base != base {
				continue
			}
			r := &in.places[i].refs[j]
			r.lo += by
			if r.drift != nil && r.drift.start != nil {
				r.drift.start[0] += int64(by) * scale
			}
			for _, c := range r.classes {
				c[0] += int64(by) * scale
			}
		}
	}
}

// spins reports whether a place repeats itself for a number of times that is known
// when it is reached, and its addresses then grow by constants.
func (in *Instance) spins(p *Place, l *livePlace) bool {
	l.branch.self = -1
	for i, n := range p.Next {
		if n.Block == p.Block && n.More && int(n.Keep) == p.Depth && n.Push == 0 {
			l.branch.self = int32(i)
		}
	}
	for i := range l.refs {
		if r := &l.refs[i]; r.kind != simple && (r.kind != triangular || r.form.Triangle.goesWith(p.Depth-1)) {
			return false
		}
	}
	return l.branch.self >= 0 && len(l.branch.classes) == 1 && l.branch.pivot == p.Depth-1
}

// affine returns the coefficients of a function at the size; nil if it has none.
func (in *Instance) affine(a Affine, l *livePlace, exact *bool) []int64 {
	var out []int64
	for _, k := range a {
		v := in.values[k]
		*exact = *exact && v.Exact()
		l.classes = l.classes || v.Modulus > 1
		out = append(out, v.At)
	}
	return out
}

func (in *Instance) buildRef(p *Place, j int, l *livePlace) liveRef {
	ref := &p.Refs[j]
	id := in.code.blocks[p.Block].firstRef + trace.RefID(j)
	size := in.code.Plan.Refs[id].Size
	base := in.bases[ref.Base]
	r := liveRef{tag: trace.Tag(id, size), split: ref.Form.Split, size: uint64(size), level: int(ref.Form.Level)}
	lo, hi := in.values[ref.Lo].At, in.values[ref.Hi].At
	if ref.Irregular {
		lo, hi = in.reach(ref.Lo), in.reach(ref.Hi)
	}
	r.lo = base + uint64(lo)
	r.places = uint64(max(0, hi-lo))/r.size + 1
	if ref.Irregular {
		r.kind = irregular
		r.drift = in.buildDrift(ref, l, r.size)
		return r
	}
	l.exact = l.exact && !ref.Unsure
	for _, c := range ref.Classes {
		coef := in.affine(c, l, &l.exact)
		if coef == nil {
			l.exact = false
			if coef = make([]int64, 2+p.Depth); ref.Indirect != nil {
				coef = coef[:1]
			} else if ref.Form.Triangle.Of == 0 {
				coef = coef[:1+p.Depth]
			}
		}
		coef[0] += int64(base) * scale
		r.classes = append(r.classes, coef)
	}
	r.coef = r.classes[0]
	switch {
	case ref.Bend > 0:
		r.kind = greatestOf
	case ref.Bend < 0:
		r.kind = leastOf
	case ref.Indirect != nil:
		r.kind, r.indirect, r.jumps = followed, in.buildIndirect(ref), in.jumps(ref, l)
	case ref.Form.Wraps:
		r.kind, r.form, r.jumps = wrapped, ref.Form, in.jumps(ref, l)
	case ref.Form.Counter:
		r.kind, r.count, r.outer = counted, -1, make([]int64, r.level)
	case ref.Form.Triangle.Of > 0:
		r.kind, r.form = triangular, ref.Form
	case len(r.classes) > 1:
		r.kind = classed
	}
	return r
}

func (in *Instance) buildBranch(b *Branch, l *livePlace) liveBranch {
	out := liveBranch{pivot: int(b.Pivot), split: b.Split, sum: b.Sum}
	for _, c := range b.Classes {
		o := liveOutcomes{ways: c.Shape}
		for _, bound := range c.Bounds {
			b := liveBound{greatest: bound.Greatest}
			for k, piece := range bound.Pieces {
				coef := in.affine(piece, l, &l.sureBranch)
				if coef == nil {
					l.sureBranch = false
					coef = []int64{-scale << 40} // never
				}
				if k == 0 {
					b.coef = coef
				} else {
					b.others = append(b.others, coef)
				}
			}
			o.bounds = append(o.bounds, b)
		}
		if len(o.ways) == 0 { // the class was never seen
			l.sureBranch = false
			o.ways = []int32{0}
		}
		out.classes = append(out.classes, o)
	}
	return out
}
