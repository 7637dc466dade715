package sched

import "math"

// modulo schedules an iteration of a loop for a core whose compiler, or
// hardware, may overlap iterations: a new one begins every initiation interval
// (Slots.Period), and all are scheduled alike (B. R. Rau, "Iterative Modulo
// Scheduling", HP Laboratories report HPL-94-115, 1995). Intervals are tried
// from the least that units and recurrences allow, MII, up.
//
// An interval is a whole number of cycles, but the bounds may be fractional: the
// loop is unrolled, up to unroll times, so that whole cycles come closest to the
// bound per iteration.
func (l *lister) modulo(g *Graph, b *Bounds, unroll int) *Slots {
	least := b.Max()
	copies := closest(least, unroll)
	u := unrolled(g, copies)
	m := moduloScheduler{lister: l, g: u, n: len(u.Nodes)}
	m.prepare()
	hindered := -1
	for period := max(1, wholeCycles(least*float64(copies))); ; period++ {
		if s := m.try(period); s != nil {
			s.Iterations, s.Hindered = copies, hindered
			return s
		}
		hindered = m.mostDropped() % len(g.Nodes)
	}
}

// wholeCycles rounds up, ignoring the roundoff of adding fractions.
func wholeCycles(x float64) int { return int(math.Ceil(x - roundoff*max(1, x))) }

// closest returns the number of copies of an iteration that best meets a bound in
// whole cycles; more copies must gain more than a hundredth.
func closest(bound float64, most int) int {
	best, copies := math.Inf(1), 1
	for u := 1; u <= max(1, most); u++ {
		if c := max(1, float64(wholeCycles(bound*float64(u)))) / float64(u); c < best*0.99 {
			best, copies = c, u
		}
	}
	return copies
}

// unrolled returns the graph of several consecutive iterations: a dependence at
// distance d leads to copy k from copy k-d, of an earlier group if that is negative.
func unrolled(g *Graph, copies int) *Graph {
	if copies == 1 {
		return g
	}
	u := &Graph{Target: g.Target, Closed: true}
	n := len(g.Nodes)
	for k := range copies {
		u.Nodes = append(u.Nodes, g.Nodes...)
		for _, e := range g.Edges {
			from := k - e.Distance
			group := (from - copies + 1) / copies // rounded down, of negative numbers
			if from >= 0 {
				group = 0
			}
			e.From, e.To, e.Distance = e.From+n*(from-group*copies), e.To+n*k, -group
			u.Edges = append(u.Edges, e)
		}
	}
	u.index()
	return u
}

type moduloScheduler struct {
	*lister
	g     *Graph
	n     int
	leave [][]int32 // by instruction: edges that lead from it

	height []int
	begin  []int // -1: not scheduled
	last   []int // by instruction: when it was scheduled before, -1 for never
	placed []placement
	begun  []int // by cycle of the period: instructions that begin
	drops  []int // by instruction: how often it lost its place
}

func (m *moduloScheduler) prepare() {
	m.leave = m.g.leaving()
	m.begin, m.last = make([]int, m.n), make([]int, m.n)
	m.height, m.placed, m.drops = make([]int, m.n), make([]placement, m.n), make([]int, m.n)
}

// budgetRatio is how many scheduling steps an instruction may cost on average
// before a greater interval is tried (Rau 1995, section 4, finds 2 to be enough
// mostly).
const budgetRatio = 8

// try looks for a schedule with an interval; nil if it finds none in time.
func (m *moduloScheduler) try(period int) *Slots {
	m.units.reset(m.core, m.g, period)
	m.begun = make([]int, period)
	m.heights(period)
	for i := range m.n {
		m.begin[i], m.last[i], m.drops[i] = -1, -1, 0
	}
	order := byHeight(m.height)
	for budget := budgetRatio * m.n; ; budget-- {
		i := m.next(order)
		if i < 0 {
			return m.slots(period)
		}
		if budget == 0 {
			return nil
		}
		early := m.earliest(i, period)
		at, ok := m.find(i, early, period)
		if !ok {
			if at = early; m.last[i] >= early {
				at = m.last[i] + 1
			}
			if !m.evict(i, at, period) {
				return nil
			}
		}
		m.begin[i], m.last[i] = at, at
		m.begun[at%period]++
		m.displace(i, period)
	}
}

// heights are the priorities HeightR of Rau 1995, section 3.2: the longest way
// from an instruction to the end of the iteration, where an edge from d
// iterations before is d intervals shorter.
func (m *moduloScheduler) heights(period int) {
	for i := range m.height {
		m.height[i] = m.core.of(m.g.Nodes[i].Micro.Class).latency
	}
	for changed, round := true, 0; changed && round <= m.n; round++ {
		changed = false
		for i := m.n - 1; i >= 0; i-- {
			for _, e := range m.leave[i] {
				edge := &m.g.Edges[e]
				if h := m.height[edge.To] + edge.Latency - period*edge.Distance; h > m.height[i] {
					m.height[i], changed = h, true
				}
			}
		}
	}
}

// next returns the first instruction not yet scheduled, or -1.
func (m *moduloScheduler) next(order []int) int {
	for _, i := range order {
		if m.begin[i] < 0 {
			return i
		}
	}
	return -1
}

// earliest returns the first cycle in which the instructions already scheduled
// allow instruction i to begin.
func (m *moduloScheduler) earliest(i, period int) int {
	at := 0
	for _, e := range m.g.arrive[i] {
		edge := &m.g.Edges[e]
		if t := m.begin[edge.From]; t >= 0 && edge.From != i {
			at = max(at, t+edge.Latency-period*edge.Distance)
		}
	}
	return at
}

// find looks for a cycle with free units and width; searching one period suffices.
func (m *moduloScheduler) find(i, early, period int) (int, bool) {
	tm := m.core.of(m.g.Nodes[i].Micro.Class)
	for at := early; at < early+period; at++ {
		if m.begun[at%period] >= m.core.width {
			continue
		}
		if p, _, ok := m.units.take(tm, at, int32(i)); ok {
			m.placed[i] = p
			return at, true
		}
	}
	return 0, false
}

// evict makes room for an instruction in a cycle: it drops instructions that compete
// for its units, the lowest first, until it fits. It returns false if it never does.
func (m *moduloScheduler) evict(i, at, period int) bool {
	tm := m.core.of(m.g.Nodes[i].Micro.Class)
	order := byHeight(m.height)
	for k := m.n - 1; k >= -1; k-- {
		if m.begun[at%period] < m.core.width {
			if p, _, ok := m.units.take(tm, at, int32(i)); ok {
				m.placed[i] = p
				return true
			}
		}
		if k < 0 {
			break
		}
		j := order[k]
		if j == i || m.begin[j] < 0 {
			continue
		}
		full := m.begun[at%period] >= m.core.width
		if full && m.begin[j]%period == at%period || !full && tm.rivals(m.core.of(m.g.Nodes[j].Micro.Class)) {
			m.drop(j, period)
		}
	}
	return false
}

// rivals reports whether two instructions could use the same unit.
func (t *timing) rivals(o *timing) bool {
	for _, u := range t.uses {
		for _, v := range o.uses {
			if u.kinds&v.kinds != 0 {
				return true
			}
		}
	}
	return false
}

// drop takes an instruction out of the schedule.
func (m *moduloScheduler) drop(j, period int) {
	tm := m.core.of(m.g.Nodes[j].Micro.Class)
	m.units.release(tm, &m.placed[j], m.begin[j], len(tm.uses))
	m.begun[m.begin[j]%period]--
	m.begin[j] = -1
	m.drops[j]++
}

// mostDropped returns the instruction that lost its place most often.
func (m *moduloScheduler) mostDropped() int {
	most := 0
	for i, n := range m.drops {
		if n > m.drops[most] {
			most = i
		}
	}
	return most
}

// displace drops the instructions that depend on i and now begin too early.
func (m *moduloScheduler) displace(i, period int) {
	for _, e := range m.leave[i] {
		edge := &m.g.Edges[e]
		if j := edge.To; j != i && m.begin[j] >= 0 && m.begin[j] < m.begin[i]+edge.Latency-period*edge.Distance {
			m.drop(j, period)
		}
	}
}

func (m *moduloScheduler) slots(period int) *Slots {
	s := &Slots{Begin: make([]int, m.n), Kinds: make([][]int, m.n), Period: period}
	copy(s.Begin, m.begin)
	for i := range s.Kinds {
		s.Kinds[i] = m.core.of(m.g.Nodes[i].Micro.Class).kinds(m.placed[i])
	}
	return s
}
