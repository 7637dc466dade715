package replay

import (
	"context"
	"errors"
	"math"
	"math/rand"
	"slices"

	"presage/perf/trace"
)

// Options configure a replay.
type Options struct {
	// Seed seeds the draws of what is irregular.
	Seed int64
	// MaxAccesses ends the replay with ErrTooLong; 0: no limit. Irregular branches
	// may repeat a loop for very long.
	MaxAccesses uint64
	// Progress, if not nil, is called with the number of accesses so far whenever a
	// batch of them has been passed on.
	Progress func(accesses uint64)
}

// ErrTooLong means that Options.MaxAccesses was reached.
var ErrTooLong = errors.New("replay: more accesses than allowed")

// Outcome is what a replay generated.
type Outcome struct {
	Accesses, Blocks, Instructions uint64
	Visits                         []uint64 // executions by place of the Program

	first, last []uint64 // by place: when, counted in executions of places
	most        []int64  // by place that is a loop's header: the largest value of the loop's index
}

// Replay generates the trace and passes it to sink in batches, as an engine does.
func (in *Instance) Replay(ctx context.Context, sink trace.Sink, opt Options) (*Outcome, error) {
	r := in.player(sink, opt)
	if r.moves = in.heap != nil; r.moves && in.heap.wrong != nil {
		return &r.out, in.heap.wrong
	}
	err := r.run(ctx)
	return &r.out, err
}

func (in *Instance) player(sink trace.Sink, opt Options) *player {
	r := &player{Instance: in, sink: sink, opt: opt, rng: rand.New(rand.NewSource(opt.Seed))}
	n := len(in.places)
	r.out.Visits, r.out.first, r.out.last = make([]uint64, n), make([]uint64, n), make([]uint64, n)
	r.out.most = make([]int64, n)
	r.limits = in.limits()
	return r
}

// limits returns after how many executions a place is taken to be in a loop that its
// bounds, which are in doubt, never leave: such as one that prints digits, as many as data
// say. They are several times those that the polynomial of its counts has. Where there is
// none, the line in its place may be anything: executions then grow by one power of the size
// more than they did in the runs, and no faster than loops that are nested four deep.
func (in *Instance) limits() []uint64 {
	const times, least = 4, 64
	out := make([]uint64, len(in.places))
	for i := range out {
		out[i] = math.MaxUint64
		p := &in.prog.Places[i]
		v := in.values[p.Counts]
		if !in.doubts[i].any() && v.Exact() {
			continue
		}
		expected := uint64(max(p.Most, v.At))
		if v.Spare == 0 {
			expected = uint64(float64(p.Most) * in.growth(p))
		}
		out[i] = times*expected + least
	}
	return out
}

// growth returns how many times as often as in any run a place is executed, at most.
func (in *Instance) growth(p *Place) float64 {
	const nested = 4
	sizes := in.prog.Sizes
	first, last := float64(sizes[0]), float64(sizes[len(sizes)-1])
	power := float64(nested)
	if p.Least > 0 && last > first {
		power = min(nested, 1+math.Log(float64(p.Most)/float64(p.Least))/math.Log(last/first))
	}
	return math.Pow(max(1, float64(in.N)/last), power)
}

// player is a replay under way.
type player struct {
	*Instance
	sink  trace.Sink
	opt   Options
	rng   *rand.Rand
	batch *trace.Batch
	now   uint64 // executions of places
	out   Outcome

	// Executions by place after which ways are drawn by how often runs went them: see limits.
	limits []uint64

	addr, step []int64  // of spin
	check      *checker // nil: none
	moves      bool     // addresses are placed, and to be made real
}

func (r *player) run(ctx context.Context) error {
	r.batch = r.sink.Exchange(nil)
	v := append(make([]int64, 0, 2*maxDepth), r.start.vector...)
	for cur := r.start.place; cur >= 0; {
		next, err := r.next(ctx, cur, v)
		if err != nil {
			return err
		}
		if next.to < 0 {
			break
		}
		v = next.step.apply(v)
		// A way on that no run failed to go may be drawn once too often.
		goesOn := next.step.more && !r.gaps[cur].at(r.N, r.trained)
		if cur = next.to; goesOn {
			r.out.most[cur] = max(r.out.most[cur], v[len(v)-1])
		}
	}
	return r.pass(ctx)
}

// next executes a place, several times if it repeats itself, and returns the way on.
func (r *player) next(ctx context.Context, cur int32, v []int64) (*liveNext, error) {
	p := &r.places[cur]
	if p.spins && r.check == nil {
		if err := r.spin(ctx, cur, v); err != nil {
			return nil, err
		}
	}
	if len(r.batch.Accesses)+len(p.refs) > trace.BatchAccesses || len(r.batch.Blocks) >= trace.BatchAccesses {
		if err := r.pass(ctx); err != nil {
			return nil, err
		}
	}
	r.visited(cur, 1)
	if r.moves {
		if err := r.allocate(ctx, cur); err != nil {
			return nil, err
		}
	}
	r.execute(cur, v)
	if len(p.next) == 0 {
		return nil, refuse("the way on from %s at %#x is not known", r.code.routine(p.block), uint64(r.code.Plan.Blocks[p.block].PC))
	}
	way := p.way
	if p.choice != only {
		way = r.wayOn(cur, v)
	}
	next := &p.next[way]
	if r.check != nil {
		r.check.visit(cur, r.batch.Accesses[len(r.batch.Accesses)-len(p.refs):], next.block)
	}
	return next, nil
}

// allocate does what an execution of a place asks of allocators.
func (r *player) allocate(ctx context.Context, cur int32) error {
	if _, asks := r.heap.at[cur]; !asks {
		return nil
	}
	if len(r.batch.Blocks) > 0 {
		if err := r.pass(ctx); err != nil {
			return err
		}
	}
	r.heap.event(cur)
	return r.heap.wrong
}

// wayOn returns the number of the way on from a place that has several.
func (r *player) wayOn(cur int32, v []int64) int {
	p := &r.places[cur]
	switch {
	case p.choice == only:
		return p.way
	case p.choice == chance, r.out.Visits[cur] > r.limits[cur]:
		return p.draws.way(r.rng)
	case p.choice == numbered:
		return r.numbered(cur, v)
	}
	return p.branch.way(v)
}

// visited counts n executions of a place in a row.
func (r *player) visited(place int32, n uint64) {
	if r.out.Visits[place] == 0 {
		r.out.first[place] = r.now + 1
	}
	r.now += n
	r.out.last[place] = r.now
	r.out.Visits[place] += n
	r.out.Instructions += n * r.places[place].instructions
}

// execute puts an execution of a place into the batch, which has room.
func (r *player) execute(cur int32, v []int64) {
	p := &r.places[cur]
	if p.tracks {
		r.executeTracked(cur, v)
		return
	}
	at := len(r.batch.Accesses)
	out := slices.Grow(r.batch.Accesses, len(p.refs))[:at+len(p.refs)]
	for i := range p.refs {
		ref := &p.refs[i]
		addr := uint64(0)
		switch ref.kind {
		case simple:
			coef := ref.coef
			sum := coef[0]
			for k, x := range v {
				sum += coef[k+1] * x
			}
			addr = uint64(sum) / scale
		case irregular:
			addr = r.draw(ref, v, out[at:at+i])
		default:
			addr = ref.address(v)
		}
		out[at+i] = ref.tag | trace.Access(addr&(trace.AddrLimit-1))
	}
	r.batch.Accesses = out
	r.batch.Blocks = append(r.batch.Blocks, p.block)
}

// spin executes a place that repeats itself as often as it does, except for the last
// time: addresses then grow by constants. It moves v on.
func (r *player) spin(ctx context.Context, cur int32, v []int64) error {
	p := &r.places[cur]
	n := p.branch.repeats(v)
	if n <= 1 {
		return nil
	}
	if r.addr == nil {
		r.addr, r.step = make([]int64, 0, 64), make([]int64, 0, 64)
	}
	r.addr, r.step = r.addr[:0], r.step[:0]
	for i := range p.refs {
		coef := p.refs[i].coef
		sum := p.refs[i].sum(v)
		r.addr, r.step = append(r.addr, sum), append(r.step, coef[len(v)])
	}
	v[len(v)-1] += n
	r.out.most[cur] = max(r.out.most[cur], v[len(v)-1])
	r.visited(cur, uint64(n))
	for n > 0 {
		room := trace.BatchAccesses - len(r.batch.Blocks)
		if len(p.refs) > 0 {
			room = min(room, (trace.BatchAccesses-len(r.batch.Accesses))/len(p.refs))
		}
		if room <= 0 {
			if err := r.pass(ctx); err != nil {
				return err
			}
			continue
		}
		chunk := min(n, int64(room))
		r.fill(p, int(chunk))
		n -= chunk
	}
	return nil
}

// fill puts n executions into the batch, from r.addr on.
func (r *player) fill(p *livePlace, n int) {
	width := len(p.refs)
	at := len(r.batch.Accesses)
	out := slices.Grow(r.batch.Accesses, n*width)[:at+n*width]
	for i := range p.refs {
		tag, addr, step := p.refs[i].tag, r.addr[i], r.step[i]
		for k := at + i; k < len(out); k += width {
			out[k] = tag | trace.Access(uint64(addr)/scale&(trace.AddrLimit-1))
			addr += step
		}
		r.addr[i] = addr
	}
	r.batch.Accesses = out
	for range n {
		r.batch.Blocks = append(r.batch.Blocks, p.block)
	}
}

// repeats returns how many executions from v on take the way back to the place
// itself, which changes only the last coordinate.
func (b *liveBranch) repeats(v []int64) int64 {
	o := &b.classes[0]
	t := v[b.pivot]
	for k := range o.bounds {
		sum := o.bounds[k].at(v)
		if t*scale <= sum {
			if o.ways[k] != b.self {
				return 0
			}
			return sum>>3 - t + 1
		}
	}
	return 0
}

// pass hands the batch on.
func (r *player) pass(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.moves {
		r.heap.translate(r.batch.Accesses)
	}
	r.out.Accesses += uint64(len(r.batch.Accesses))
	r.out.Blocks += uint64(len(r.batch.Blocks))
	r.batch = r.sink.Exchange(r.batch)
	r.batch.Start = r.out.Instructions
	if r.opt.Progress != nil {
		r.opt.Progress(r.out.Accesses)
	}
	if r.opt.MaxAccesses > 0 && r.out.Accesses > r.opt.MaxAccesses {
		return ErrTooLong
	}
	return nil
}

// address returns the address of a reference, which is not irregular, at an
// iteration vector.
func (ref *liveRef) address(v []int64) uint64 {
	coef := ref.coef
	switch ref.kind {
	case classed:
		coef = ref.classes[ref.split.class(v)]
	case counted:
		return ref.counter(v)
	case leastOf, greatestOf:
		return ref.bent(v)
	case wrapped:
		return ref.wrapped(v)
	case triangular:
		return uint64(ref.sum(v)) / scale
	}
	sum := coef[0]
	for k, x := range v {
		sum += coef[k+1] * x
	}
	return uint64(sum) / scale
}

// sum returns the address of a reference that has one function, times scale.
func (ref *liveRef) sum(v []int64) int64 {
	sum := ref.coef[0]
	for k, x := range v {
		sum += ref.coef[k+1] * x
	}
	if ref.kind == triangular {
		sum += ref.coef[len(v)+1] * ref.form.Triangle.at(v)
	}
	return sum
}

// bent returns the least or greatest of the functions of all classes.
func (ref *liveRef) bent(v []int64) uint64 {
	sum := valueOf(ref.coef, v)
	for _, c := range ref.classes[1:] {
		if o := valueOf(c, v); (ref.kind == greatestOf) == (o > sum) {
			sum = o
		}
	}
	return uint64(sum) / scale
}

// counter returns the address of a reference that depends on how often it was
// executed since an outer coordinate changed.
func (ref *liveRef) counter(v []int64) uint64 {
	same := ref.count >= 0
	for k := range ref.outer {
		same = same && ref.outer[k] == v[k]
	}
	ref.count++
	if !same {
		ref.count = 0
		copy(ref.outer, v)
	}
	sum := ref.coef[0] + ref.coef[ref.level+1]*ref.count
	for k := range ref.outer {
		sum += ref.coef[k+1] * v[k]
	}
	return uint64(sum) / scale
}

// way returns the way on at an iteration vector.
func (b *liveBranch) way(v []int64) int {
	o := &b.classes[b.split.class(v)]
	t := int64(0)
	if b.pivot >= 0 {
		t = v[b.pivot] * scale
	} else if b.pivot == alongSum {
		t = b.sum.value(v) * scale
	}
	for k := range o.bounds {
		if t <= o.bounds[k].at(v) {
			return int(o.ways[k])
		}
	}
	return int(o.ways[len(o.ways)-1])
}
