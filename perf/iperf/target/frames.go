package target

import (
	"math"

	"presage/perf/iperf"
)

// framer is the placement of pages: the number of the frame that holds a page.
// Numbers matter modulo the pages that fill a way of a cache.
type framer interface {
	frame(page uint64) uint64
}

// framerOf returns a system's placement of pages; nil: frames are the pages.
func framerOf(c *Config, seed uint64) framer {
	switch c.System.Placement {
	case iperf.Anywhere:
		return scattered(seed)
	case iperf.Fragmented:
		mean := c.FragmentPages
		if mean == 0 {
			mean = DefaultFragmentPages
		}
		return &fragmented{stay: 1 - 1/mean, state: seed, places: make(map[uint64]uint64)}
	}
	return nil
}

// scattered puts each page anywhere.
type scattered uint64

func (s scattered) frame(page uint64) uint64 { return scatter(page ^ uint64(s)) }

// scatter maps page numbers to pseudo-random places: the finalizer of
// SplitMix64, a bijection.
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fragmented gives pages frames in the order in which they are first touched, from
// runs of neighbouring frames. A frame is the last of its run with probability
// 1 - stay, so that lengths are geometric; the next run begins anywhere.
type fragmented struct {
	stay   float64
	state  uint64 // of the generator
	next   uint64 // frame
	begun  bool
	places map[uint64]uint64 // by page

	lastPage, lastFrame uint64 // of the latest answer; the page is +1
}

func (f *fragmented) frame(page uint64) uint64 {
	if page+1 == f.lastPage {
		return f.lastFrame
	}
	at, ok := f.places[page]
	if !ok {
		at = f.allocate()
		f.places[page] = at
	}
	f.lastPage, f.lastFrame = page+1, at
	return at
}

func (f *fragmented) allocate() uint64 {
	if !f.begun || float64(f.random()>>11)/(1<<53) >= f.stay {
		f.begun, f.next = true, f.random()&(math.MaxUint64>>1)
	}
	at := f.next
	f.next++
	return at
}

// random is SplitMix64.
func (f *fragmented) random() uint64 {
	f.state += 0x9e3779b97f4a7c15
	return scatter(f.state)
}
