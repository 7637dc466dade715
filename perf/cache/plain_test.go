package cache

import (
	"slices"

	"presage/perf/trace"
)

// plain is a hierarchy of LRU caches that write back, with all kinds of filling and of
// prefetchers, as config.go and prefetch.go describe them: the slow reference. A level
// is a list of lines in the order of their last use, whatever their sets.
type plain struct {
	config Config
	plan   *trace.Plan
	now    float64
	ends   []float64 // when accesses were complete, each by itself
	wait   float64   // of the access at hand, for late blocks
	deep   int       // where it found the block that was farthest
	addr   uint64    // of the access at hand
	levels []plainLevel
	tables [][]plainEntry // by prefetcher, the latest used last
	wants  []plainWant
}

type plainLevel struct {
	lines  []plainLine // the latest used last
	asked  map[uint64]bool
	counts []Counts
	pre    []Prefetches
}

type plainLine struct {
	block uint64
	dirty bool
	by    *plainFetch // that brought it in, if nobody asked for it since
}

type plainFetch struct {
	missed  []int // levels, until asked for
	arrival float64
	group   trace.GroupID
}

type plainWant struct {
	into int
	addr uint64
	ref  trace.RefID
}

type plainEntry struct {
	key, last  uint64
	steps      []int64 // all so far, in blocks' directions for a stream
	ahead      uint64
	hasReached bool
}

func newPlain(plan *trace.Plan, config Config) *plain {
	p := &plain{config: config.clone(), plan: plan}
	for range config.Levels {
		p.levels = append(p.levels, plainLevel{asked: map[uint64]bool{}, counts: make([]Counts, plan.Groups()), pre: make([]Prefetches, plan.Groups())})
	}
	if p.config.Prefetching == nil {
		p.config.Prefetching = &Prefetching{}
	}
	p.tables = make([][]plainEntry, len(p.config.Prefetching.Prefetchers))
	return p
}

func (p *plain) observe(accesses []trace.Access) {
	for _, a := range accesses {
		p.begin(a.Ref())
		p.addr, p.wait, p.deep = a.Addr(), 0, 0
		p.demand(0, a.Addr(), a.Last(), a.Ref(), p.plan.Refs[a.Ref()].Kind.Writes())
		if at := p.config.Prefetching.Arrival; at != nil {
			p.wait = max(p.wait, float64(at[p.deep])-float64(at[0]))
		}
		p.ends = append(p.ends, p.now+p.wait)
		for len(p.wants) > 0 {
			w := p.wants[0]
			p.wants = p.wants[1:]
			b := w.addr / p.config.Levels[w.into].BlockBytes
			if p.line(w.into, b) != nil {
				continue
			}
			f := &plainFetch{group: p.plan.Refs[w.ref].Group}
			depth := p.bring(w.into, b, w.ref, f)
			at := p.now
			if p.config.Prefetching.Arrival != nil {
				at += float64(p.config.Prefetching.Arrival[depth])
			}
			f.arrival = max(f.arrival, at)
		}
	}
}

// begin moves on to the time of the next access.
func (p *plain) begin(ref trace.RefID) {
	clock := p.config.Prefetching.Clock
	if clock == nil {
		p.now++
		return
	}
	p.now += clock.PerAccess[ref]
	for _, end := range p.ends[:max(0, len(p.ends)+1-max(1, clock.Window))] {
		p.now = max(p.now, end)
	}
}

// line returns the line of a block that is held, or nil.
func (p *plain) line(i int, block uint64) *plainLine {
	for k := range p.levels[i].lines {
		if p.levels[i].lines[k].block == block {
			return &p.levels[i].lines[k]
		}
	}
	return nil
}

// out takes a line out.
func (p *plain) out(i int, block uint64) plainLine {
	lines := p.levels[i].lines
	k := slices.IndexFunc(lines, func(l plainLine) bool { return l.block == block })
	line := lines[k]
	p.levels[i].lines = slices.Delete(lines, k, k+1)
	return line
}

// put makes a line the latest, and returns the oldest of its set if there are too many.
func (p *plain) put(i int, line plainLine) (victim plainLine, ok bool) {
	c := p.config.Levels[i]
	ways := c.waysOf()
	sets := c.Blocks / ways
	n := uint64(0)
	for _, l := range p.levels[i].lines {
		if l.block%sets == line.block%sets {
			n++
		}
	}
	if n == ways {
		for _, l := range p.levels[i].lines {
			if l.block%sets == line.block%sets {
				victim, ok = p.out(i, l.block), true
				break
			}
		}
	}
	p.levels[i].lines = append(p.levels[i].lines, line)
	return victim, ok
}

// demand is an access of the program, or what the level above misses of it.
func (p *plain) demand(i int, first, last uint64, ref trace.RefID, store bool) {
	if i == len(p.config.Levels) {
		return
	}
	c := p.config.Levels[i]
	group := p.plan.Refs[ref].Group
	for b := first / c.BlockBytes; b <= last/c.BlockBytes; b++ {
		p.levels[i].counts[group].Accesses++
		line := p.line(i, b)
		held := line != nil
		fresh := !held || line.by != nil
		if held && line.by != nil {
			p.wasAsked(i, b, group)
		}
		whole := i > 0 || b == p.addr/c.BlockBytes
		p.show(i, b, max(first, b*c.BlockBytes), fresh, whole, false, ref)
		if !held {
			p.levels[i].counts[group].Misses++
			p.deep = max(p.deep, i+1)
			if !p.levels[i].asked[b] {
				p.levels[i].counts[group].Cold++
			}
		}
		p.levels[i].asked[b] = true
		lo, hi := b*c.BlockBytes, (b+1)*c.BlockBytes-1
		switch {
		case held && c.Filling == Exclusive:
			p.moveUp(i, b)
		case held:
			line := p.out(i, b)
			line.dirty = line.dirty || store
			p.put(i, line)
		case c.Filling != OnMiss:
			p.demand(i+1, lo, hi, ref, false)
		default:
			p.fill(i, plainLine{block: b, dirty: store}, ref, func() { p.demand(i+1, lo, hi, ref, false) })
		}
	}
}

// moveUp takes a block out of an exclusive level; who has it above must write it back.
func (p *plain) moveUp(i int, b uint64) {
	dirty := p.out(i, b).dirty
	for i--; ; i-- {
		if p.config.Levels[i].Filling == OnMiss {
			l := p.line(i, b)
			l.dirty = l.dirty || dirty
			return
		}
	}
}

// fill puts a block into a level that asks for it. What it evicts goes before it is
// asked for, unless it goes to the level that is asked.
func (p *plain) fill(i int, line plainLine, ref trace.RefID, ask func()) {
	victim, full := p.put(i, line)
	swap := i+1 < len(p.config.Levels) && p.config.Levels[i+1].Filling != OnMiss
	if full && !swap {
		p.evicted(i, victim, ref)
	}
	ask()
	if full && swap {
		p.evicted(i, victim, ref)
	}
}

func (p *plain) evicted(i int, victim plainLine, ref trace.RefID) {
	c := p.config.Levels[i]
	group := p.plan.Refs[ref].Group
	lo, hi := victim.block*c.BlockBytes, (victim.block+1)*c.BlockBytes-1
	if c.Inclusive {
		for j := range i {
			size := p.config.Levels[j].BlockBytes
			for b := lo / size; b <= hi/size; b++ {
				if p.line(j, b) != nil && p.out(j, b).dirty {
					p.levels[j].counts[group].Writebacks++
					victim.dirty = true
				}
			}
		}
	}
	if victim.dirty {
		p.levels[i].counts[group].Writebacks++
	}
	if i+1 < len(p.config.Levels) && p.config.Levels[i+1].Filling != OnMiss {
		line := plainLine{block: victim.block, dirty: victim.dirty}
		if p.line(i+1, victim.block) != nil {
			line.dirty = p.out(i+1, victim.block).dirty || line.dirty
		}
		if next, full := p.put(i+1, line); full {
			p.evicted(i+1, next, ref)
		}
	} else if victim.dirty {
		p.writeBack(i+1, lo, hi, group)
	}
}

func (p *plain) writeBack(i int, first, last uint64, group trace.GroupID) {
	if i == len(p.config.Levels) {
		return
	}
	size := p.config.Levels[i].BlockBytes
	for b := first / size; b <= last/size; b++ {
		if l := p.line(i, b); l != nil {
			l.dirty = true
			continue
		}
		p.levels[i].counts[group].PassedWrites++
		p.writeBack(i+1, max(first, b*size), min(last, (b+1)*size-1), group)
	}
}

// bring fetches a block into a level for a prefetcher, and returns where it was.
func (p *plain) bring(i int, b uint64, ref trace.RefID, f *plainFetch) (depth int) {
	c := p.config.Levels[i]
	p.levels[i].pre[p.plan.Refs[ref].Group].Fetched++
	f.missed = append(f.missed, i)
	lo, hi := b*c.BlockBytes, (b+1)*c.BlockBytes-1
	p.fill(i, plainLine{block: b, by: f}, ref, func() { depth = p.seek(i+1, lo, hi, ref, f) })
	return depth
}

func (p *plain) seek(i int, first, last uint64, ref trace.RefID, f *plainFetch) (depth int) {
	if i == len(p.config.Levels) {
		return i
	}
	c := p.config.Levels[i]
	for b := first / c.BlockBytes; b <= last/c.BlockBytes; b++ {
		line := p.line(i, b)
		p.show(i, b, max(first, b*c.BlockBytes), line == nil || line.by != nil, true, true, ref)
		switch {
		case line == nil && c.Filling == OnMiss:
			depth = max(depth, p.bring(i, b, ref, f))
		case line == nil:
			p.levels[i].pre[p.plan.Refs[ref].Group].Fetched++
			f.missed = append(f.missed, i)
			depth = max(depth, p.seek(i+1, b*c.BlockBytes, (b+1)*c.BlockBytes-1, ref, f))
		case c.Filling == Exclusive:
			p.moveUp(i, b)
			depth = max(depth, i)
		default:
			if line.by != nil {
				f.arrival = max(f.arrival, line.by.arrival)
			}
			p.put(i, p.out(i, b))
			depth = max(depth, i)
		}
	}
	return depth
}

// wasAsked notes that a block that was prefetched is asked for at level i.
func (p *plain) wasAsked(i int, b uint64, group trace.GroupID) {
	addr := b * p.config.Levels[i].BlockBytes
	for j := i; j < len(p.config.Levels); j++ {
		line := p.line(j, addr/p.config.Levels[j].BlockBytes)
		if line == nil || line.by == nil {
			continue
		}
		f := line.by
		line.by = nil
		wait := max(0, f.arrival-p.now)
		p.wait = max(p.wait, wait)
		if len(f.missed) > 0 && slices.Max(f.missed) >= j {
			p.levels[slices.Max(f.missed)].pre[group].Wait += wait
		}
		var rest []int
		for _, k := range f.missed {
			if k < j {
				rest = append(rest, k)
				continue
			}
			p.levels[k].pre[f.group].Used++
			if f.arrival > p.now {
				p.levels[k].pre[group].Late++
			} else {
				p.levels[k].pre[group].Covered++
			}
			p.levels[k].asked[addr/p.config.Levels[k].BlockBytes] = true
		}
		f.missed = rest
	}
}

// show lets the prefetchers of a level see a request.
func (p *plain) show(i int, b, addr uint64, fresh, whole, prefetch bool, ref trace.RefID) {
	size := p.config.Levels[i].BlockBytes
	for k, u := range p.config.Prefetching.Prefetchers {
		if u.Level != i {
			continue
		}
		want := func(at uint64) {
			if at/u.PageBytes == addr/u.PageBytes {
				p.wants = append(p.wants, plainWant{u.Into, at, ref})
			}
		}
		switch {
		case u.Kind == NextLine && fresh && !prefetch:
			for n := range uint64(u.Degree) {
				want((b + uint64(u.Distance) + n) * size)
			}
		case u.Kind == Pair && fresh && !prefetch:
			if b%2 == 0 {
				want((b + 1) * size)
			} else {
				want((b - 1) * size)
			}
		case u.Kind == Stride && whole && !prefetch:
			p.stride(k, u, addr, ref, want)
		case u.Kind == Stream && fresh:
			p.stream(k, u, b, size, want)
		}
	}
}

// entry returns the entry of a key as the latest of a table, and whether it is new.
func (p *plain) entry(k, most int, key, value uint64) (e *plainEntry, fresh bool) {
	t := p.tables[k]
	at := slices.IndexFunc(t, func(e plainEntry) bool { return e.key == key })
	x := plainEntry{key: key, last: value}
	if at >= 0 {
		x = t[at]
		t = slices.Delete(t, at, at+1)
	} else if len(t) == most {
		t = slices.Delete(t, 0, 1)
	}
	p.tables[k] = append(t, x)
	return &p.tables[k][len(p.tables[k])-1], at < 0
}

// alike returns how many of the last steps are the same.
func alike(steps []int64) (n int) {
	for n < len(steps) && steps[len(steps)-1-n] == steps[len(steps)-1] {
		n++
	}
	return n
}

func (p *plain) stride(k int, u Prefetcher, addr uint64, ref trace.RefID, want func(uint64)) {
	e, fresh := p.entry(k, u.Entries, uint64(ref), addr)
	if fresh || e.last == addr {
		return
	}
	step := int64(addr) - int64(e.last)
	e.last = addr
	e.steps = append(e.steps, step)
	if alike(e.steps) < u.Confidence || u.MaxStride > 0 && max(step, -step) > int64(u.MaxStride) {
		return
	}
	if size := int64(p.config.Levels[u.Into].BlockBytes); step > 0 {
		step = max(step, size)
	} else {
		step = min(step, -size)
	}
	for n := range int64(u.Degree) {
		want(uint64(int64(addr) + step*(int64(u.Distance)+n)))
	}
}

func (p *plain) stream(k int, u Prefetcher, b, size uint64, want func(uint64)) {
	e, fresh := p.entry(k, u.Entries, b*size/u.PageBytes, b)
	if fresh || e.last == b {
		return
	}
	step := int64(1)
	if b < e.last {
		step = -1
	}
	e.last = b
	e.steps = append(e.steps, step)
	run := alike(e.steps)
	if run == 1 {
		e.hasReached = false
	}
	if run < u.Confidence {
		return
	}
	asked := 0
	for n := int64(1); n <= int64(u.Distance) && asked < u.Degree; n++ {
		next := int64(b) + n*step
		if e.hasReached && (next-int64(e.ahead))*step <= 0 {
			continue
		}
		e.ahead, e.hasReached = uint64(next), true
		asked++
		want(uint64(next) * size)
	}
}
