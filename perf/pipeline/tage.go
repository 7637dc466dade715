package pipeline

import "math"

// tage is a predictor of partially tagged tables that are indexed by geometric lengths of
// history (Seznec and Michaud, "A case for (partially) TAgged GEometric history length
// branch predictor", JILP 8, 2006, section 3), as processors have had since about 2013: a
// base of two-bit counters by address, and tables whose entries say which branch and which
// of the latest directions of all branches they are of. The table of the longest history
// that has an entry predicts. Section 3.1: prediction; 3.2: update. Indices and tags are
// hashed better than a circuit does, and without the path, so that fewer collide.
type tage struct {
	base    []uint8 // 0, 1: not taken; 2, 3: taken
	tables  [tageTables]tageTable
	history []bool // a ring
	latest  int    // where the latest direction is
	// newly tells whether entries that were never right are better than the next shorter
	// match: from -8, they are, to 7.
	newly    int8
	random   uint32
	branches uint64
}

const (
	tageTables = 12
	// shortestHistory and longestHistory are the lengths of the first and last table's
	// histories if the latter is not given.
	shortestHistory = 4
	longestHistory  = 640
	tageTagBits     = 12
	// usefulPeriod is the number of branches after which one bit of all counts of
	// usefulness is cleared (256K branches in section 3.2.2).
	usefulPeriod = 1 << 18
	// MaxTAGEEntries bounds the entries of a table, MinTAGEHistory and MaxTAGEHistory the
	// longest history: it has to leave each table one of its own.
	MaxTAGEEntries = 1 << 20
	MinTAGEHistory = 24
	MaxTAGEHistory = 1 << 12
	// TAGEReach is the length of a pattern of random directions that is learned for each
	// entry of a table.
	TAGEReach = 16
	// baseEntries is the number of counters of the base for each entry of a table.
	baseEntries = 4
)

// tageTable is a table of entries that are looked up by address and history.
type tageTable struct {
	entries []tageEntry
	length  int    // directions of its history
	hash    uint64 // of its history: a polynomial of historyBase
	oldest  uint64 // historyBase to the power of length
}

// Multipliers that spread what they multiply over all bits: the fractional part of the
// golden ratio, and that of the square root of 3, made odd.
const (
	historyBase = 0x9e3779b97f4a7c15
	addressBase = 0xbb67ae8584caa73b
)

type tageEntry struct {
	tag    uint16 // 0: none
	count  int8   // from -4; from 0 on: taken
	useful uint8  // to 3
}

func bit(b bool) int8 {
	if b {
		return 1
	}
	return 0
}

// newTAGE returns a predictor with tables of a number of entries, a power of two, and the
// length of its longest history; 0: longestHistory.
func newTAGE(entries, longest int) *tage {
	if longest == 0 {
		longest = longestHistory
	}
	p := &tage{base: make([]uint8, baseEntries*entries), random: 1}
	for i := range p.base {
		p.base[i] = counterStart
	}
	ratio := math.Pow(float64(longest)/shortestHistory, 1.0/(tageTables-1))
	for i := range p.tables {
		t := &p.tables[i]
		*t = tageTable{entries: make([]tageEntry, entries), length: int(math.Round(shortestHistory * math.Pow(ratio, float64(i)))), oldest: 1}
		for range t.length {
			t.oldest *= historyBase
		}
	}
	p.history = make([]bool, 1<<int(math.Ceil(math.Log2(float64(p.tables[tageTables-1].length+1)))))
	return p
}

// push adds the latest direction to the history, and drops the one that leaves it.
func (t *tageTable) push(latest, leaves bool) {
	t.hash *= historyBase
	if latest {
		t.hash++
	}
	if leaves {
		t.hash -= t.oldest
	}
}

// lookup returns the entry of a branch at pc and of the history, and the tag that it has
// if it is theirs.
func (t *tageTable) lookup(pc uint64) (e *tageEntry, tag uint16) {
	h := (t.hash ^ pc*addressBase) * historyBase
	h = (h ^ h>>32) * addressBase
	return &t.entries[h>>32&uint64(len(t.entries)-1)], uint16(h>>16&(1<<tageTagBits-1)) + 1
}

// match is what the tables say of a branch.
type match struct {
	entries [tageTables]*tageEntry
	tags    [tageTables]uint16
	// The tables with the longest and next longest history that have an entry; -1: the base.
	provider, next int
	base           *uint8
}

// find looks a branch up in all tables.
func (p *tage) find(pc uint64) match {
	m := match{provider: -1, next: -1, base: &p.base[pc>>1&uint64(len(p.base)-1)]}
	for i := range p.tables {
		m.entries[i], m.tags[i] = p.tables[i].lookup(pc)
		if m.entries[i].tag == m.tags[i] {
			m.provider, m.next = i, m.provider
		}
	}
	return m
}

// says returns the direction that a table predicts.
func (m *match) says(table int) bool {
	if table < 0 {
		return *m.base >= 2
	}
	return m.entries[table].count >= 0
}

// weak reports whether the entry that predicts was never right.
func (m *match) weak() bool {
	if m.provider < 0 {
		return false
	}
	e := m.entries[m.provider]
	return e.useful == 0 && (e.count == 0 || e.count == -1)
}

// direction reports whether a branch's direction was predicted, and learns it.
func (p *tage) direction(pc uint64, taken bool) bool {
	m := p.find(pc)
	says, otherwise := m.says(m.provider), m.says(m.next)
	predicted := says
	if m.weak() {
		if p.newly >= 0 {
			predicted = otherwise
		}
		if says != otherwise {
			p.newly = toward(p.newly, otherwise == taken, -8, 7)
		}
	}
	p.learn(&m, taken)
	if predicted != taken && m.provider < tageTables-1 {
		p.allocate(&m, taken)
	}
	p.push(taken)
	if p.branches++; p.branches%usefulPeriod == 0 {
		p.age()
	}
	return predicted == taken
}

// toward returns a saturating count a step up or down.
func toward(n int8, up bool, least, most int8) int8 {
	switch {
	case up && n < most:
		return n + 1
	case !up && n > least:
		return n - 1
	}
	return n
}

// learn updates the entry that predicted.
func (p *tage) learn(m *match, taken bool) {
	base := m.provider < 0
	if !base {
		e := m.entries[m.provider]
		if says := e.count >= 0; says != m.says(m.next) {
			e.useful = uint8(toward(int8(e.useful), says == taken, 0, 3))
		}
		// What is of no use may be gone soon: the shorter match learns, too (as in later
		// versions of the predictor, not in the paper).
		if e.useful == 0 {
			if m.next >= 0 {
				m.entries[m.next].count = toward(m.entries[m.next].count, taken, -4, 3)
			} else {
				base = true
			}
		}
		e.count = toward(e.count, taken, -4, 3)
	}
	if base {
		*m.base = uint8(toward(int8(*m.base), taken, 0, 3))
	}
}

// allocate takes an entry that is of no use in a table of longer history than the one
// that was wrong: twice as likely one as the next longer one (section 3.2.3). If all are
// useful, they are less so.
func (p *tage) allocate(m *match, taken bool) {
	// A xorshift generator: the same choices in every run.
	p.random ^= p.random << 13
	p.random ^= p.random >> 17
	p.random ^= p.random << 5
	free := -1
	for i, skip := m.provider+1, p.random; i < tageTables; i++ {
		if m.entries[i].useful > 0 {
			continue
		}
		free = i
		if skip&1 == 0 {
			break
		}
		skip >>= 1
	}
	if free >= 0 {
		*m.entries[free] = tageEntry{tag: m.tags[free], count: bit(taken) - 1}
		return
	}
	for i := m.provider + 1; i < tageTables; i++ {
		m.entries[i].useful = uint8(toward(int8(m.entries[i].useful), false, 0, 3))
	}
}

// push adds a direction to the histories.
func (p *tage) push(taken bool) {
	mask := len(p.history) - 1
	p.latest = (p.latest + 1) & mask
	p.history[p.latest] = taken
	for i := range p.tables {
		t := &p.tables[i]
		t.push(taken, p.history[(p.latest-t.length)&mask])
	}
}

// age clears one of the two bits of all counts of usefulness, in turn.
func (p *tage) age() {
	keep := uint8(1)
	if p.branches/usefulPeriod%2 == 0 {
		keep = 2
	}
	for i := range p.tables {
		for j := range p.tables[i].entries {
			p.tables[i].entries[j].useful &= keep
		}
	}
}
