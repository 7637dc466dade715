package cache

import (
	"math/bits"

	"presage/perf/trace"
)

// A tag is (block+1)<<1 of a block held, plus 1 if it is dirty; 0 is a free
// place.
type tag uint64

const dirty tag = 1

func tagOf(block uint64) tag { return tag(block+1) << 1 }

func (t tag) block() uint64 { return uint64(t>>1) - 1 }

// scanWays is the largest associativity of a fully associative level that is
// searched place by place; beyond it, a hash finds the block, unless the set is wide.
const scanWays = 16

// contents holds the blocks of a level.
//
// The places of a set are consecutive in tags: by last access, latest first, if
// the policy is ordered; otherwise the protected latest ones come first and the
// others in any order, or that of promote. Free places come last if ordered, and anywhere
// otherwise.
//
// A large fully associative level keeps only the latest few blocks in tags, as
// one set, and the rest in pool.
type contents struct {
	tags   []tag
	places uint64 // of a set, in tags
	sets   uint64
	mask   uint64 // sets-1 if that indexes them, else 0
	random uint64 // state of the generator
	pool   *pool
	wide   bool // fetchWide is for its sets
	far    bool // fetchFar is: with a pool, or wide

	ordered   bool  // see policy
	protected uint8 // see policy
	tree      bool  // see policy

	// For a level indexed by physical addresses: log2 of the blocks in a page,
	// and the seed of the placement of pages.
	paged     bool
	pageShift uint
	placement uint64
}

func newContents(l Level, seed uint64) contents {
	ways := l.waysOf()
	policy := &policies[l.Replacement]
	c := contents{sets: l.Blocks / ways, places: ways, ordered: policy.ordered, protected: policy.protected, tree: policy.tree, random: seed}
	if l.PageBytes > 0 {
		c.paged, c.pageShift, c.placement = true, uint(bits.TrailingZeros64(l.PageBytes/l.BlockBytes)), mix(seed^0x70a9e5)
	}
	if c.sets&(c.sets-1) == 0 {
		c.mask = c.sets - 1
	}
	c.wide = c.ordered && wide(ways)
	if c.sets == 1 && ways > scanWays && !c.tree && !c.wide {
		c.places = policy.pooled
		c.pool = newPool(uint32(ways - c.places))
	}
	c.far = c.wide || c.pool != nil
	// One more, free, so that a set without places has a first one to look at.
	c.tags = make([]tag, c.sets*c.places+1)
	return c
}

// empty takes all blocks out.
func (c *contents) empty() {
	clear(c.tags)
	if c.pool != nil {
		c.pool = newPool(c.pool.size)
	}
}

// first returns the index in tags of the set of block.
func (c *contents) first(block uint64) uint64 {
	if c.paged {
		page := mix(block>>c.pageShift ^ c.placement)
		block = page>>8<<c.pageShift | block&(1<<c.pageShift-1)
	}
	set := block & c.mask
	if c.mask == 0 && c.sets > 1 {
		set = block % c.sets
	}
	return set * c.places
}

func (c *contents) set(block uint64) []tag {
	from := c.first(block)
	return c.tags[from : from+c.places : from+c.places]
}

// fetch accesses block, fetching it if it is not held, and adds mark (dirty or
// 0) to its tag. It returns whether the block was held and, if not, the tag of
// the block evicted for it, or 0.
func (c *contents) fetch(block uint64, mark tag) (held bool, victim tag) {
	want := tagOf(block)
	set := c.set(block)
	switch {
	case c.far:
		return c.fetchFar(set, want, mark)
	case c.ordered:
		return fetchOrdered(set, want, mark)
	}
	for i, t := range set {
		if t&^dirty == want {
			set[i] |= mark
			c.promote(set, i)
			return true, 0
		}
	}
	i := c.victim(set)
	victim = set[i]
	set[i] = want | mark
	c.promote(set, i)
	return false, victim
}

// promote notes an access to place i of a set under a policy that is not ordered.
//
// A tree pseudo-LRU policy has a bit for each inner node of a tree over the ways, which
// tells the half that was not accessed last. Here the halves change places instead, so that
// the one accessed last comes first: the block accessed last is at place 0, and the one to
// evict at the last. Halves are exchanged from the smallest to the largest.
//
//	4 ways, an access to d    a b │ c d  →  a b │ d c  →  d c │ a b
func (c *contents) promote(set []tag, i int) {
	if !c.tree {
		if c.protected > 0 {
			set[0], set[i] = set[i], set[0]
		}
		return
	}
	for half := 1; half < len(set); half *= 2 {
		if i&half == 0 {
			continue
		}
		from := i &^ (2*half - 1)
		for k := from; k < from+half; k++ {
			set[k], set[k+half] = set[k+half], set[k]
		}
		i -= half
	}
}

// fetchOrdered is fetch for an ordered policy: searching for the block, it
// moves the places before it back by one.
func fetchOrdered(set []tag, want, mark tag) (held bool, victim tag) {
	carry := want | mark
	if len(set) == 2 { // the most common case, without a loop
		t, u := set[0], set[1]
		switch want {
		case t &^ dirty:
			set[0] = t | mark
			return true, 0
		case u &^ dirty:
			set[0], set[1] = u|mark, t
			return true, 0
		}
		set[0], set[1] = carry, t
		return false, u
	}
	for i, t := range set {
		set[i] = carry
		if t&^dirty == want {
			set[0] |= t & dirty
			return true, 0
		}
		carry = t
	}
	return false, carry
}

// fetchFar is fetch for an ordered policy, or with a pool, where sets have many blocks.
func (c *contents) fetchFar(set []tag, want, mark tag) (held bool, victim tag) {
	if c.wide {
		return fetchWide(set, want, mark)
	}
	return c.fetchPool(set, want, mark)
}

// fetchPool is fetch where the set holds only the latest blocks.
func (c *contents) fetchPool(set []tag, want, mark tag) (held bool, victim tag) {
	if len(set) == 0 {
		if at := c.pool.find(want); at != none {
			c.pool.nodes[at].tag |= mark
			return true, 0
		}
		return false, c.exchange(want | mark)
	}
	if held, left := fetchOrdered(set, want, mark); held {
		return true, 0
	} else if at := c.pool.find(want); at != none {
		set[0] |= c.pool.remove(at) & dirty
		if left != 0 {
			c.pool.insert(left)
		}
		return true, 0
	} else if left != 0 {
		return false, c.exchange(left)
	}
	return false, 0
}

// exchange inserts t into the pool and returns the tag evicted for it, or 0.
func (c *contents) exchange(t tag) (victim tag) {
	if c.pool.full() {
		at := c.pool.tail()
		if !c.ordered {
			at = uint32(c.below(uint64(c.pool.size))) // full: all nodes are in use
		}
		victim = c.pool.remove(at)
	}
	c.pool.insert(t)
	return victim
}

// victim chooses the place for a new block under a policy that is not ordered:
// a free one if possible.
func (c *contents) victim(set []tag) int {
	for i, t := range set {
		if t == 0 {
			return i
		}
	}
	n := uint64(len(set))
	if c.tree {
		return len(set) - 1
	}
	if kept := uint64(c.protected); n > kept {
		return int(kept + c.below(n-kept))
	}
	return int(c.below(n))
}

// below returns a random number less than n (SplitMix64).
func (c *contents) below(n uint64) uint64 {
	c.random += 0x9e3779b97f4a7c15
	hi, _ := bits.Mul64(mix(c.random), n)
	return hi
}

// mix hashes x (SplitMix64's finaliser).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// mark adds m to the tag of block, without an access, and reports whether the
// block is held.
func (c *contents) mark(block uint64, m tag) bool {
	want := tagOf(block)
	set := c.set(block)
	for i, t := range set {
		if t&^dirty == want {
			set[i] |= m
			return true
		}
	}
	if c.pool != nil {
		if at := c.pool.find(want); at != none {
			c.pool.nodes[at].tag |= m
			return true
		}
	}
	return false
}

// remove takes block out and returns its tag, or 0 if it was not held.
func (c *contents) remove(block uint64) tag {
	want := tagOf(block)
	set := c.set(block)
	for i, t := range set {
		if t&^dirty == want {
			if c.ordered {
				copy(set[i:], set[i+1:])
				i = len(set) - 1
			}
			set[i] = 0
			return t
		}
	}
	if c.pool != nil {
		if at := c.pool.find(want); at != none {
			return c.pool.remove(at)
		}
	}
	return 0
}

// seen is the set of blocks that were ever requested from a level: one bit each,
// in pages allocated on first use.
type seen struct {
	dir [][]*[1 << 9]uint64
}

const (
	seenPageBits = 15 // blocks in a page
	seenDirBits  = seenPageBits + 9
)

func newSeen(blockShift uint) seen {
	n := uint64(trace.AddrLimit)>>blockShift>>seenDirBits + 2
	return seen{dir: make([][]*[1 << 9]uint64, n)}
}

// add adds block and reports whether it is new.
func (s *seen) add(block uint64) bool {
	word, bit := &s.page(block)[block>>6&(1<<9-1)], uint64(1)<<(block&63)
	fresh := *word&bit == 0
	*word |= bit
	return fresh
}

// addRow adds n blocks from block on, and returns how many of them are new.
func (s *seen) addRow(block, n uint64) (fresh uint64) {
	for n > 0 {
		word, at := &s.page(block)[block>>6&(1<<9-1)], block&63
		k := min(n, 64-at)
		row := ^uint64(0) >> (64 - k) << at
		fresh += uint64(bits.OnesCount64(row &^ *word))
		*word |= row
		block, n = block+k, n-k
	}
	return fresh
}

// page returns the bits of the page of a block.
func (s *seen) page(block uint64) *[1 << 9]uint64 {
	pages := &s.dir[block>>seenDirBits]
	if *pages == nil {
		*pages = make([]*[1 << 9]uint64, 1<<(seenDirBits-seenPageBits))
	}
	page := &(*pages)[block>>seenPageBits&(1<<(seenDirBits-seenPageBits)-1)]
	if *page == nil {
		*page = new([1 << 9]uint64)
	}
	return *page
}
