package rv64

import "presage/perf/engine"

// footprint notes which pages the program touched, by which of them the host holds
// memory for: it gives a page to the first access, be it a load.
type footprint struct {
	before []int32 // by page: the windows that had begun when it was found, plus 1; 0: untouched; -1: filled before the run
	begun  int     // windows that have begun
	held   []byte  // of a survey, by page
}

// filled marks pages that were filled before the run.
const filled = -1

// prepareFootprint has to come before anything is in memory: larger pages that the host
// has given stay.
func (m *memory) prepareFootprint() {
	if m.host.tells() {
		m.host.small(0, m.size)
	}
}

// startFootprint begins a footprint of what the program touches from now on. Where the
// host cannot tell, there is none.
func (m *memory) startFootprint() {
	if !m.host.tells() {
		return
	}
	m.footprint = &footprint{before: make([]int32, len(m.perm)), begun: filled - 1}
	m.surveyAll()
	m.footprint.begun = 0
}

// surveyAll notes the pages that were touched since the last survey.
func (m *memory) surveyAll() {
	for _, s := range m.spans {
		m.survey(s.start, s.end-s.start)
	}
}

// survey is surveyAll for a range.
func (m *memory) survey(addr, n uint64) {
	f := m.footprint
	first, last := addr/pageBytes, (addr+n)/pageBytes
	for at := first; at < last; {
		if m.perm[at]&pageUsed == 0 {
			at++
			continue
		}
		end := at + 1
		for end < last && m.perm[end]&pageUsed != 0 {
			end++
		}
		f.held = m.host.held(f.held, at*pageBytes, (end-at)*pageBytes)
		for i, h := range f.held {
			if h&1 != 0 && f.before[at+uint64(i)] == 0 {
				f.before[at+uint64(i)] = int32(f.begun + 1)
			}
		}
		at = end
	}
}

// move copies what pages hold from one place to another. Those that were never touched
// stay so, at both.
func (m *memory) move(dst, src []byte, from uint64) {
	n := uint64(len(src))
	if m.footprint == nil {
		copy(dst, src)
		return
	}
	m.survey(from, n)
	held := m.host.held(nil, from, n)
	for at := uint64(0); at < n; at += pageBytes {
		if held == nil || held[at/pageBytes]&1 != 0 {
			copy(dst[at:at+pageBytes], src[at:])
		}
	}
}

// pages returns the pages that the program touched.
func (f *footprint) pages() []engine.PageRun {
	list := []engine.PageRun{}
	for p, b := range f.before {
		if b <= 0 {
			continue
		}
		if n := len(list); n > 0 && list[n-1].First+list[n-1].Count == uint64(p) && list[n-1].Before == int(b-1) {
			list[n-1].Count++
			continue
		}
		list = append(list, engine.PageRun{First: uint64(p), Count: 1, Before: int(b - 1)})
	}
	return list
}
