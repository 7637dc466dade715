package pipeline_test

import (
	"cmp"
	"slices"

	"presage/perf/isa"
	"presage/perf/pipeline"
)

// reference is a processor simulated cycle by cycle, examining every instruction in
// each: slow, but an obvious implementation of the configuration. It has no TLB, no
// instruction cache, and only a first-level data cache.
type reference struct {
	c     *pipeline.Config
	insts []dynamic
	t     int // cycle

	fetchNext, dispatchNext, retireNext int
	fetchFloor                          int // no fetch before it
	units                               []instance
	port                                int // accesses in this cycle
	written                             int // stores written in this cycle
	begunNow                            int

	cache    []cachedBlock // latest first, by set
	slots    []int         // of each MSHR, when it is free
	busUntil int
}

// dynamic is an executed instruction; its times are -1 until they are.
type dynamic struct {
	*isa.Inst
	kind        isa.MemKind
	first, last uint64 // bytes accessed
	producers   []int  // of its operands; the base's first, or -1
	taken       bool   // a rightly predicted transfer, taken
	wrong       bool   // a wrongly predicted one

	fetched, dispatched, begun, complete, retired, done int

	block int // of a store: when its block is there
}

type instance struct {
	kind  string
	until int
}

type cachedBlock struct {
	block uint64
	ready int
}

func newReference(c *pipeline.Config, s *script) *reference {
	r := &reference{c: c}
	accesses := s.batch.Accesses
	guess := newNaivePredictor(&c.Branch)
	writer := make(map[isa.Reg]int)
	for n, id := range s.batch.Blocks {
		block := s.code[id]
		for i := range block {
			in := &block[i]
			d := dynamic{Inst: in, fetched: -1, dispatched: -1, begun: -1, complete: -1, retired: -1, done: -1}
			producer := func(reg isa.Reg) int {
				if p, ok := writer[reg]; ok {
					return p
				}
				return -1
			}
			base := isa.NoReg
			if in.Accesses() {
				base, d.kind = in.Mems()[0].Base, in.Mems()[0].Kind
			}
			d.producers = []int{producer(base)}
			for _, u := range in.Uses() {
				d.producers = append(d.producers, producer(u))
			}
			for _, def := range in.Defs() {
				writer[def] = len(r.insts)
			}
			if in.Accesses() {
				d.first, d.last = accesses[0].Addr(), accesses[0].Last()
				accesses = accesses[1:]
			}
			if i == len(block)-1 && n+1 < len(s.batch.Blocks) {
				next := s.code[s.batch.Blocks[n+1]][0].PC
				d.wrong = !guess.right(in, next)
				d.taken = !d.wrong && next != in.Next()
			}
			r.insts = append(r.insts, d)
		}
	}
	users := make(map[string]int)
	for _, t := range c.Timings {
		for _, u := range t.Uses {
			for _, name := range u.AnyOf {
				users[name]++
			}
		}
	}
	for _, u := range c.Units {
		for range u.Count {
			r.units = append(r.units, instance{kind: u.Name})
		}
	}
	slices.SortStableFunc(r.units, func(a, b instance) int { return cmp.Compare(users[a.kind], users[b.kind]) })
	if len(c.Memory.Levels) > 0 {
		r.slots = make([]int, c.Memory.Levels[0].MSHRs)
	}
	return r
}

// run returns the number of cycles.
func (r *reference) run() int {
	for r.retireNext < len(r.insts) {
		r.port, r.written, r.begunNow = 0, 0, 0
		r.fetch()
		r.dispatch()
		r.write()
		r.begin()
		r.retire()
		r.t++
	}
	return r.t
}

func limit(n int) int {
	if n == 0 {
		return 1 << 30
	}
	return n
}

// count returns how many of the instructions up to the n-th satisfy f.
func (r *reference) count(n int, f func(d *dynamic) bool) int {
	k := 0
	for i := range r.insts[:n] {
		if f(&r.insts[i]) {
			k++
		}
	}
	return k
}

func (r *reference) fetch() {
	n, taken := 0, 0
	for r.fetchNext < len(r.insts) && n < limit(r.c.FetchWidth) {
		if r.t < r.fetchFloor {
			return
		}
		if i := r.fetchNext - 1; i >= 0 && r.insts[i].wrong {
			d := &r.insts[i]
			if d.begun < 0 || r.t < d.complete+r.c.Branch.Penalty {
				return
			}
		}
		waiting := r.count(r.fetchNext, func(d *dynamic) bool { return d.dispatched < 0 || d.dispatched >= r.t })
		if waiting >= limit(r.c.FetchBuffer) {
			return
		}
		d := &r.insts[r.fetchNext]
		d.fetched = r.t
		r.fetchNext++
		n++
		if d.taken {
			taken++
			if r.c.Branch.TakenBubble > 0 {
				r.fetchFloor = r.t + 1 + r.c.Branch.TakenBubble
			} else if taken >= limit(r.c.TakenPerCycle) {
				r.fetchFloor = r.t + 1
			}
		}
	}
}

func isLoad(d *dynamic) bool {
	return d.kind == isa.MemLoad || d.kind == isa.MemReadModifyWrite
}

func isStore(d *dynamic) bool {
	return d.kind == isa.MemStore || d.kind == isa.MemReadModifyWrite
}

func defines(d *dynamic, float bool) bool {
	return len(d.Defs()) > 0 && d.Defs()[0].Float() == float
}

func (r *reference) queueOf(class isa.Class) int {
	for i, q := range r.c.Queues {
		if slices.Contains(q.Classes, class) {
			return i
		}
	}
	return -1
}

func (r *reference) dispatch() {
	for n := 0; r.dispatchNext < r.fetchNext && n < limit(r.c.DispatchWidth); n++ {
		i := r.dispatchNext
		d := &r.insts[i]
		held := func(d *dynamic) bool { return d.retired < 0 || d.retired >= r.t }
		full := r.count(i, held) >= r.c.Window
		if q := r.queueOf(d.Class); q >= 0 {
			full = full || r.count(i, func(e *dynamic) bool {
				return r.queueOf(e.Class) == q && (e.begun < 0 || e.begun >= r.t)
			}) >= r.c.Queues[q].Entries
		}
		if isLoad(d) && r.c.LoadQueue > 0 {
			full = full || r.count(i, func(e *dynamic) bool { return isLoad(e) && held(e) }) >= r.c.LoadQueue
		}
		if isStore(d) {
			full = full || r.count(i, func(e *dynamic) bool { return isStore(e) && (e.done < 0 || e.done >= r.t) }) >= cmp.Or(r.c.StoreQueue, r.c.Window)
		}
		for float, registers := range map[bool]int{false: r.c.IntRegisters, true: r.c.FloatRegisters} {
			if defines(d, float) && registers > 0 {
				full = full || r.count(i, func(e *dynamic) bool { return defines(e, float) && held(e) }) >= registers-32
			}
		}
		if r.c.Timings[d.Class].Serializes {
			full = full || r.count(i, held) > 0
		}
		full = full || r.count(i, func(e *dynamic) bool { return r.c.Timings[e.Class].Serializes && held(e) }) > 0
		if full {
			return
		}
		d.dispatched = r.t
		r.dispatchNext++
	}
}

// write writes retired stores to the cache, in order.
func (r *reference) write() {
	for i := range r.insts[:r.retireNext] {
		d := &r.insts[i]
		if !isStore(d) || d.done >= 0 {
			continue
		}
		if r.port >= limit(r.c.Memory.Ports) || r.written >= limit(r.c.Memory.StoresPerCycle) {
			return
		}
		r.port++
		r.written++
		d.done = max(r.t, d.block)
		for j := range r.insts[:i] {
			if isStore(&r.insts[j]) {
				d.done = max(d.done, r.insts[j].done)
			}
		}
	}
}

// access returns when the bytes that d accesses now are in the first level.
func (r *reference) access(d *dynamic) int {
	m := &r.c.Memory
	if len(m.Levels) == 0 {
		return r.t
	}
	l := &m.Levels[0]
	ready := r.t
	for block := d.first / l.BlockBytes; block <= d.last/l.BlockBytes; block++ {
		at := slices.IndexFunc(r.cache, func(b cachedBlock) bool { return b.block == block })
		var b cachedBlock
		if at >= 0 {
			b = r.cache[at]
			r.cache = slices.Delete(r.cache, at, at+1)
		} else {
			b = cachedBlock{block, r.miss(l, m)}
		}
		r.cache = append([]cachedBlock{b}, r.cache...)
		sets := l.Blocks / uint64(l.Ways)
		same := 0
		r.cache = slices.DeleteFunc(r.cache, func(o cachedBlock) bool {
			if o.block%sets != block%sets {
				return false
			}
			same++
			return same > l.Ways
		})
		ready = max(ready, b.ready)
	}
	return ready
}

// miss returns when a block that is asked for now comes from memory.
func (r *reference) miss(l *pipeline.Level, m *pipeline.Memory) int {
	start, slot := r.t, -1
	if len(r.slots) > 0 {
		slot = 0
		for i, free := range r.slots {
			if free < r.slots[slot] {
				slot = i
			}
		}
		start = max(start, r.slots[slot])
	}
	served := max(start, r.busUntil)
	r.busUntil = served + m.Interval
	ready := served + m.Latency - l.Latency
	if slot >= 0 {
		r.slots[slot] = ready
	}
	return ready
}

func (r *reference) begin() {
	for i := range r.insts[:r.dispatchNext] {
		d := &r.insts[i]
		if d.begun >= 0 {
			continue
		}
		if !r.tryBegin(i) && r.c.InOrder {
			return
		}
	}
}

func (r *reference) computed(producer int) bool {
	return producer < 0 || r.insts[producer].begun >= 0 && r.insts[producer].complete <= r.t
}

func (r *reference) tryBegin(i int) bool {
	d := &r.insts[i]
	timing := r.c.Timings[d.Class]
	for _, p := range d.producers {
		if !r.computed(p) {
			return false
		}
	}
	if r.c.OrderedCompletion {
		for j := range r.insts[:i] {
			if r.t+timing.Latency < r.insts[j].complete {
				return false
			}
		}
	}
	var forward bool
	if isLoad(d) {
		ok := false
		if ok, forward = r.disambiguate(i); !ok {
			return false
		}
	}
	if r.begunNow >= limit(r.c.IssueWidth) || isLoad(d) && r.port >= limit(r.c.Memory.Ports) {
		return false
	}
	var taken []int
	uses := slices.Clone(timing.Uses)
	slices.SortStableFunc(uses, func(a, b pipeline.Use) int { return cmp.Compare(r.choices(a), r.choices(b)) })
	for _, u := range uses {
		at := -1
		for k, unit := range r.units {
			if slices.Contains(u.AnyOf, unit.kind) && unit.until <= r.t && !slices.Contains(taken, k) {
				at = k
				break
			}
		}
		if at < 0 {
			return false
		}
		taken = append(taken, at)
	}
	for k, at := range taken {
		r.units[at].until = r.t + uses[k].Cycles
	}
	r.begunNow++
	d.begun = r.t
	d.complete = r.t + timing.Latency
	if d.kind == isa.MemStore {
		d.block = r.access(d)
	}
	if isLoad(d) {
		r.port++
		ready := r.access(d)
		if forward && r.c.Memory.ForwardLatency > 0 {
			d.complete = r.t + r.c.Memory.ForwardLatency
		} else if !forward {
			d.complete = ready + timing.Latency
		}
	}
	return true
}

func (r *reference) choices(u pipeline.Use) int {
	n := 0
	for _, unit := range r.units {
		if slices.Contains(u.AnyOf, unit.kind) {
			n++
		}
	}
	return n
}

// disambiguate reports whether the older stores allow a load to begin, and whether
// one of them then forwards its value.
func (r *reference) disambiguate(i int) (ok, forward bool) {
	d := &r.insts[i]
	for j := i - 1; j >= 0; j-- {
		s := &r.insts[j]
		if !isStore(s) {
			continue
		}
		if r.c.Memory.Conservative {
			if s.kind == isa.MemReadModifyWrite && s.begun < 0 || !r.computed(s.producers[0]) || s.dispatched < 0 {
				return false, false
			}
		}
	}
	for j := i - 1; j >= 0; j-- {
		s := &r.insts[j]
		if !isStore(s) || s.last < d.first || d.last < s.first || s.done >= 0 && s.done <= r.t {
			continue
		}
		if s.first <= d.first && d.last <= s.last {
			return s.begun >= 0 && s.complete <= r.t, true
		}
		return false, false
	}
	return true, false
}

func (r *reference) retire() {
	for n := 0; r.retireNext < r.dispatchNext && n < limit(r.c.RetireWidth); n++ {
		d := &r.insts[r.retireNext]
		if d.begun < 0 || d.complete > r.t {
			return
		}
		d.retired = r.t
		r.retireNext++
	}
}

// naivePredictor is a textbook predictor, on maps.
type naivePredictor struct {
	c        *pipeline.Branch
	counters map[uint64]int
	history  []bool // latest last
	calls    []uint64
	targets  map[uint64]uint64
}

func newNaivePredictor(c *pipeline.Branch) *naivePredictor {
	return &naivePredictor{c: c, counters: make(map[uint64]int), targets: make(map[uint64]uint64)}
}

func (p *naivePredictor) right(in *isa.Inst, next uint64) bool {
	if p.c.Predictor == pipeline.Perfect {
		return true
	}
	switch in.Class {
	case isa.Branch:
		return p.direction(in, next != in.Next())
	case isa.Call:
		p.calls = append(p.calls, in.Next())
		if n := p.c.ReturnStack; len(p.calls) > n {
			p.calls = p.calls[1:]
		}
		return in.HasTarget || p.target(in.PC, next)
	case isa.IndirectJump:
		return p.target(in.PC, next)
	case isa.Return:
		if p.c.ReturnStack == 0 {
			return true
		}
		n := len(p.calls)
		if n == 0 {
			return false
		}
		top := p.calls[n-1]
		p.calls = p.calls[:n-1]
		return top == next
	}
	return true
}

func (p *naivePredictor) direction(in *isa.Inst, taken bool) bool {
	if p.c.Predictor == pipeline.Static {
		return taken == (in.Target <= in.PC)
	}
	index := in.PC / 2
	if p.c.Predictor == pipeline.Gshare {
		for i := range p.c.HistoryBits {
			if at := len(p.history) - 1 - i; at >= 0 && p.history[at] {
				index ^= 1 << i
			}
		}
		p.history = append(p.history, taken)
	}
	index %= uint64(p.c.Entries)
	counter, seen := p.counters[index]
	if !seen {
		counter = 2
	}
	was := counter >= 2
	if taken {
		counter = min(counter+1, 3)
	} else {
		counter = max(counter-1, 0)
	}
	p.counters[index] = counter
	return was == taken
}

func (p *naivePredictor) target(pc, next uint64) bool {
	if p.c.Targets == 0 {
		return true
	}
	at := pc / 2 % uint64(p.c.Targets)
	was := p.targets[at] == next
	p.targets[at] = next
	return was
}
