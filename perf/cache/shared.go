package cache

// Holds reports whether a level of Config.Levels holds the block of an address.
func (s *Simulator) Holds(level int, addr uint64) bool {
	l := &s.caches.levels[level]
	return l.mark(addr>>l.shift, 0)
}

// Invalidate takes the blocks of the bytes first to last away from all levels of
// Config.Levels, as a write of another processor does, and calls lost with each that a
// level held. Nothing is written back.
func (s *Simulator) Invalidate(first, last uint64, lost func(level int, block uint64)) {
	for i := range s.caches.levels {
		l := &s.caches.levels[i]
		for block := first >> l.shift; block <= last>>l.shift; block++ {
			if l.remove(block) == 0 {
				continue
			}
			if p := s.caches.prefetching; p != nil {
				p.left(i, block)
			}
			lost(i, block)
		}
	}
}
