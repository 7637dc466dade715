//go:build linux && amd64

package native

// links are what a cache knows of ways to blocks, so that blocks translated later are reached
// without a stop the first time.
type links struct {
	waiting map[key][]uint64 // addresses of stops (stopLink), by the block they lead to
	behind  map[uint64]bool  // program counters behind calls
	fresh   []key            // blocks that nothing leads to yet
}

func newLinks() links {
	return links{waiting: make(map[key][]uint64), behind: make(map[uint64]bool)}
}

// comesBack notes that a call comes back to what follows it.
func (c *cache) comesBack(call *inst) {
	k := key{pc: call.next()}
	c.queue = append(c.queue, k)
	c.behind[k.pc] = true
	if c.blocks[k] != nil {
		c.fresh = append(c.fresh, k)
	}
}

// linkFresh makes ways lead to blocks that have been translated: jumps that would stop for
// them, and the jump table's slots of those that calls come back to. Where there is no room,
// the stops do it later.
func (m *machine) linkFresh() {
	c := m.cache
	for _, k := range c.fresh {
		b := c.blocks[k]
		for _, at := range c.waiting[k] {
			if s := m.stops[at]; s != nil && s.zone.cold.room() >= coldReserve/2 {
				m.follow(at, s, b)
			}
		}
		delete(c.waiting, k)
		if c.behind[k.pc] && k == m.arrival(k.pc) && b.zone.cold.room() >= coldReserve/2 {
			m.viaEntry(b)
		}
	}
	c.fresh = c.fresh[:0]
}

// follow makes the jump of a stopLink at an address lead to its block, and returns where it
// leads.
func (m *machine) follow(at uint64, s *stop, b *block) uint64 {
	if !m.parallel { // another thread may be on its way there
		delete(m.stops, at)
	}
	return m.link(s.zone, s.at, s.regs, b)
}
