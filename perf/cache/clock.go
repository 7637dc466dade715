package cache

// clock is a Clock at work; without one, an access takes one.
type clock struct {
	per   []float64 // nil: accesses are counted
	ends  []float64 // of the accesses in the window: when they were complete, a ring
	at    int       // in ends: the oldest
	last  float64   // when the latest access, and all before it, are complete
	wait  float64   // of the access at hand, for late blocks
	depth int       // where the access at hand found its blocks
}

func newClock(c *Clock) clock {
	if c == nil {
		return clock{}
	}
	return clock{per: c.PerAccess, ends: make([]float64, max(1, c.Window))}
}

// begin returns the time of the next access, of a reference, after that of the last.
func (c *clock) begin(now float64, ref uint32) float64 {
	if c.per == nil {
		return now + 1
	}
	return max(now+c.per[ref], c.ends[c.at])
}

// complete ends an access that began at a time, with what it takes beyond a hit.
func (c *clock) complete(begin, beyond float64) {
	if c.per == nil {
		return
	}
	c.last = max(c.last, begin+max(beyond, c.wait))
	c.ends[c.at] = c.last
	if c.at++; c.at == len(c.ends) {
		c.at = 0
	}
}
