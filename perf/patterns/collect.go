package patterns

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"presage/perf/allocation"
	"presage/perf/cache"
	"presage/perf/locality"
	"presage/perf/reuse"
	"presage/perf/trace"
)

// collector simulates a hierarchy, and once more with fully associative caches, and
// counts the misses by class of access: see reuse.Classifier. It is a
// trace.Collector.
type collector struct {
	by     *locality.Classification
	exact  *cache.Simulator
	full   *cache.Simulator
	ahead  *ahead // nil: prefetchers are not simulated
	sizes  []blockSize
	levels []level // as cache.Missed numbers them

	threads map[int32]bool // that made accesses
}

var _ trace.Collector = (*collector)(nil)

// blockSize is what is known of blocks of one size.
type blockSize struct {
	bytes   uint64
	shift   uint
	classes *reuse.Classifier
	each    []uint32 // of the batch's block accesses
	at      int      // in each: the first of the access at hand
	blocks  int      // of the access at hand
	lines   lines
	slots   int // levels with blocks of this size
	memory  *allocation.Table
	names   []string // of objects, by class, as far as they were asked for
}

// level is a cache or TLB.
type level struct {
	name    string
	size    int // index in collector.sizes
	slot    int // among the levels of that size
	sets    uint64
	counts  []counts // by class
	collide map[[2]string]*collision
}

// counts are those of a class of accesses at a level.
type counts struct {
	Misses, Conflict uint64
	Fetched, Used    uint64     // bytes
	Ahead            Prefetched `json:",omitzero"`
}

// collision counts the conflict misses of one object after evictions by another.
type collision struct {
	misses uint64
	sets   map[uint64]bool
}

func newCollector(by *locality.Classification, config cache.Config, prefetching *cache.Config) (*collector, error) {
	c := &collector{by: by, threads: make(map[int32]bool)}
	var err error
	if c.ahead, err = newAhead(by.Plan, prefetching); err != nil {
		return nil, err
	}
	if c.exact, err = cache.New(by.Plan, config); err != nil {
		return nil, err
	}
	if c.full, err = cache.New(by.Plan, config.FullyAssociative()); err != nil {
		return nil, err
	}
	for _, l := range config.Levels {
		if err := c.add(l.Name, l.BlockBytes, l.Blocks, l.Ways); err != nil {
			return nil, err
		}
	}
	for _, t := range config.TLBs {
		if err := c.add(t.Name, t.EntryBytes, t.Entries, t.Ways); err != nil {
			return nil, err
		}
	}
	for i := range c.sizes {
		c.sizes[i].lines = newLines(c.sizes[i].slots)
	}
	return c, nil
}

// add adds a level.
func (c *collector) add(name string, blockBytes, blocks uint64, ways int) error {
	at := 0
	for at < len(c.sizes) && c.sizes[at].bytes != blockBytes {
		at++
	}
	if at == len(c.sizes) {
		opt := c.by.Options
		opt.BlockBytes = blockBytes
		table := c.by.Memory()
		if table != nil {
			opt.Memory = table
		}
		classes, err := reuse.NewClassifier(c.by.Plan, opt)
		if err != nil {
			return err
		}
		c.sizes = append(c.sizes, blockSize{bytes: blockBytes, shift: uint(bits.TrailingZeros64(blockBytes)), classes: classes, memory: table})
	}
	sets := uint64(1)
	if ways > 0 {
		sets = blocks / uint64(ways)
	}
	c.levels = append(c.levels, level{name: name, size: at, slot: c.sizes[at].slots, sets: sets, collide: make(map[[2]string]*collision)})
	c.sizes[at].slots++
	return nil
}

// Observe implements trace.Collector.
func (c *collector) Observe(b *trace.Batch) {
	if len(b.Accesses) > 0 {
		c.threads[b.Thread] = true
	}
	for i := range c.sizes {
		s := &c.sizes[i]
		s.each, s.at = s.classes.Classify(b), 0
	}
	for i := range c.levels {
		l := &c.levels[i]
		if n := c.sizes[l.size].classes.Classes(); n > len(l.counts) {
			l.counts = append(l.counts, make([]counts, n-len(l.counts))...)
		}
	}
	for _, a := range b.Accesses {
		c.access(a)
	}
}

func (c *collector) access(a trace.Access) {
	for i := range c.sizes {
		s := &c.sizes[i]
		s.blocks = int(a.Last()>>s.shift-a.Addr()>>s.shift) + 1
	}
	scope := c.by.Options.Sources[a.Ref()]
	missed := c.exact.Access(a)
	full := c.full.Access(a)
	for _, m := range missed {
		c.miss(a, m, full)
	}
	if c.ahead != nil {
		c.fetchedAhead(a)
	}
	for i := range c.sizes {
		s := &c.sizes[i]
		s.use(a, scope)
		s.at += s.blocks
	}
}

// class returns the class of an access to a block. Where a level fetches larger
// blocks from one with smaller ones, those that the access itself does not touch are
// of the class of its first.
func (s *blockSize) class(a trace.Access, block uint64) uint32 {
	k := int(block - a.Addr()>>s.shift)
	if k < 0 || k >= s.blocks {
		k = 0
	}
	return s.each[s.at+k]
}

// miss counts a miss of an access; full are those of fully associative caches.
func (c *collector) miss(a trace.Access, m cache.Missed, full []cache.Missed) {
	l := &c.levels[m.Level]
	s := &c.sizes[l.size]
	class := s.class(a, m.Block)
	n := &l.counts[class]
	n.Misses++
	if m.Evicts {
		left := s.lines.at(m.Victim, l.slot)
		l.leave(left, s.bytes)
		left.evictor = class + 1
	}
	if !missedToo(full, m) {
		n.Conflict++
		if x := s.lines.at(m.Block, l.slot); x.evictor > 0 {
			l.collided(c.nameOf(s, class), c.nameOf(s, x.evictor-1), m.Block%l.sets)
		}
	}
	if m.Fetched {
		x := s.lines.at(m.Block, l.slot)
		l.leave(x, s.bytes) // taken away by an inclusive level below
		x.class = class + 1
		n.Fetched += s.bytes
	}
}

func missedToo(full []cache.Missed, m cache.Missed) bool {
	for i := range full {
		if full[i].Level == m.Level && full[i].Block == m.Block {
			return true
		}
	}
	return false
}

// nameOf names the object of a class.
func (c *collector) nameOf(s *blockSize, class uint32) string {
	for n := len(s.names); n <= int(class); n++ {
		x := s.classes.Class(uint32(n))
		var names []string
		if s.memory != nil {
			names = s.memory.Names()
		}
		s.names = append(s.names, c.by.NameIn(names, x.Object, x.Birth))
	}
	return s.names[class]
}

// leave counts what was used of a block that leaves the level.
func (l *level) leave(x *line, blockBytes uint64) {
	if x.class > 0 {
		l.counts[x.class-1].Used += uint64(bits.OnesCount64(x.used)) * granule(blockBytes)
	}
	*x = line{}
}

// collided counts a conflict miss of one object on a block that another evicted.
func (l *level) collided(object, with string, set uint64) {
	key := [2]string{object, with}
	x := l.collide[key]
	if x == nil {
		x = &collision{sets: make(map[uint64]bool)}
		l.collide[key] = x
	}
	x.misses++
	x.sets[set] = true
}

// finish counts what was used of the blocks that are still held.
func (c *collector) finish() {
	for i := range c.levels {
		l := &c.levels[i]
		s := &c.sizes[l.size]
		s.lines.each(l.slot, func(x *line) { l.leave(x, s.bytes) })
	}
}

// line is a block at one level.
type line struct {
	used    uint64 // granules accessed since it was fetched, a bit each
	class   uint32 // that fetched it, plus 1; 0: it is not held
	evictor uint32 // the class whose miss took its place last, plus 1; 0: none
}

// granule returns the bytes that a bit of line.used stands for.
func granule(blockBytes uint64) uint64 { return max(1, blockBytes/64) }

// use notes the bytes of an access in the blocks that hold them.
func (s *blockSize) use(a trace.Access, scope int32) {
	per := granule(s.bytes)
	for first := a.Addr(); first <= a.Last(); {
		block := first >> s.shift
		last := min(a.Last(), (block+1)<<s.shift-1)
		from, to := (first&(s.bytes-1))/per, (last&(s.bytes-1))/per
		mask := ^uint64(0) >> (63 - (to - from)) << from
		all := s.lines.all(block)
		for i := range all {
			all[i].used |= mask
		}
		s.lines.ever(block).add(scope, mask, a, block, s)
		first = last + 1
	}
}

// lines are the blocks of one size, a line for each level that has this size.
type lines struct {
	slots int
	pages map[uint64]*page
	last  uint64 // number of the page looked at last
	page  *page
}

// page are blocks side by side.
type page struct {
	lines []line
	ever  [1 << pageLines]touched
}

// touched is what a run accessed of a block.
type touched struct {
	class uint32 // of the first access
	by    []scoped
}

// scoped is what one scope accessed of a block.
type scoped struct {
	scope int32
	used  uint64 // granules, a bit each
}

// add notes granules that a scope accesses.
func (t *touched) add(scope int32, mask uint64, a trace.Access, block uint64, s *blockSize) {
	for i := range t.by {
		if t.by[i].scope == scope {
			t.by[i].used |= mask
			return
		}
	}
	if len(t.by) == 0 {
		t.class = s.class(a, block)
	}
	t.by = append(t.by, scoped{scope, mask})
}

// pageLines is the binary logarithm of the blocks in a page.
const pageLines = 8

func newLines(slots int) lines {
	return lines{slots: slots, pages: make(map[uint64]*page), last: ^uint64(0)}
}

// find makes page the one of a block, and returns the block's place in it.
func (l *lines) find(block uint64) int {
	if number := block >> pageLines; number != l.last {
		p := l.pages[number]
		if p == nil {
			p = &page{lines: make([]line, l.slots<<pageLines)}
			l.pages[number] = p
		}
		l.last, l.page = number, p
	}
	return int(block & (1<<pageLines - 1))
}

// all returns the lines of a block.
func (l *lines) all(block uint64) []line {
	at := l.find(block) * l.slots
	return l.page.lines[at : at+l.slots]
}

func (l *lines) at(block uint64, slot int) *line { return &l.all(block)[slot] }

func (l *lines) ever(block uint64) *touched {
	at := l.find(block)
	return &l.page.ever[at]
}

// each calls f with all lines of a slot, in any order.
func (l *lines) each(slot int, f func(*line)) {
	for _, p := range l.pages {
		for i := slot; i < len(p.lines); i += l.slots {
			f(&p.lines[i])
		}
	}
}

// huge is the size of a huge page, in bytes.
const huge = 2 << 20

// commonMasks is the number of the most common masks of an object's blocks that count
// as alike: those of a record that is no divisor of a block take turns.
const commonMasks = 8

// extent is what a scope accessed of an object.
type extent struct {
	Object        string
	Scope         int32 // of the program; wholeProgram: all of them
	Bytes, Blocks uint64
	Alike         float64 // of the blocks, the share with one of the most common masks
}

// wholeProgram is the scope of extents of all accesses.
const wholeProgram = -1

// footprint returns what was accessed of each object, by each scope and by all, and
// the huge pages that hold the blocks accessed.
func (c *collector) footprint(s *blockSize) ([]extent, uint64) {
	type key struct {
		object string
		scope  int32
	}
	seen := make(map[uint64]bool)
	masks := make(map[key]map[uint64]uint64)
	note := func(k key, mask uint64) {
		if masks[k] == nil {
			masks[k] = make(map[uint64]uint64)
		}
		masks[k][mask]++
	}
	for number, p := range s.lines.pages {
		for i := range p.ever {
			t := &p.ever[i]
			if len(t.by) == 0 {
				continue
			}
			seen[(number<<pageLines+uint64(i))*s.bytes/huge] = true
			name, all := c.nameOf(s, t.class), uint64(0)
			for _, by := range t.by {
				note(key{name, by.scope}, by.used)
				all |= by.used
			}
			note(key{name, wholeProgram}, all)
		}
	}
	var list []extent
	for k, of := range masks {
		x := extent{Object: k.object, Scope: k.scope}
		alike := uint64(0)
		for mask, n := range of {
			x.Bytes += n * uint64(bits.OnesCount64(mask)) * granule(s.bytes)
			x.Blocks += n
		}
		times := slices.Sorted(maps.Values(of))
		for _, n := range times[max(0, len(times)-commonMasks):] {
			alike += n
		}
		x.Alike = float64(alike) / float64(x.Blocks)
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b extent) int { return cmp.Or(cmp.Compare(a.Object, b.Object), cmp.Compare(a.Scope, b.Scope)) })
	return list, uint64(len(seen))
}
