package misses

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"presage/perf/scaling"
)

const (
	// wholly is the ratio of misses in pages to those in lines of the same capacity,
	// divided by the lines in a page, below which pages are used wholly.
	wholly = 1.5
	// shareOfPages is the largest share of the pages that a run touches up to which caches
	// are compared: larger ones miss little but what is accessed first.
	shareOfPages = 0.5
	// stepOfPages is the ratio of the sizes of caches that are compared.
	stepOfPages = 1.1
	// leastUses is the number of runs that have to tell how many pages are used at a time.
	leastUses = 3
)

// pageUse says how many pages a program uses at a time. A cache of pages that holds as much misses once where all lines of a
// page do, as where arrays are streamed through; one that holds less misses where lines
// hit, as down the columns of a matrix whose rows are as long as a page:
//
//	misses of pages / (misses of lines, same capacity, / lines in a page)
//	 ^
//	 |######
//	 |######
//	 |######_________________________   1
//	 +-----|------------------------>   capacity in pages
//	       used at a time
//
// It is a number of streams, each in a page of its own, and a stretch of memory that grows
// with the size, such as the plane between two uses of an element:
//
//	pages(n) = streams + stretch·(n/largest)^p · page/P   of P bytes
//
// where p is the power of the size that memory grows with: no stretch grows faster. It is
// derived here; the papers have no such rule.
type pageUse struct {
	page    uint64  // that streams and stretch were found in
	streams float64 // pages used at a time at any size
	stretch float64 // further pages, at the largest size
	largest float64 // the size
	power   float64 // that the stretch grows with
	ratio   float64 // of misses as in wholly, in caches that hold them, at the largest size
}

// at returns the pages of so many bytes that are used at a time at a size; infinitely
// many if that is not known.
func (u pageUse) at(size float64, pageBytes uint64) float64 {
	if u.page == 0 {
		return math.Inf(1)
	}
	return u.streams + u.stretch*math.Pow(size/u.largest, u.power)*float64(u.page)/float64(pageBytes)
}

// pageUse returns how much is used at a time. It is known if the largest run tells, and
// some others.
func (m *Model) pageUse(param string) pageUse {
	r := m.refits
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pagesUsed == nil {
		use := m.findPageUse(param)
		r.pagesUsed = &use
	}
	return *r.pagesUsed
}

func (m *Model) findPageUse(param string) pageUse {
	blocks := m.blockSizes()
	i := slices.IndexFunc(blocks, scaling.OfPages)
	if i < 1 {
		return pageUse{}
	}
	line, page := blocks[i-1], blocks[i]
	order := m.refits.bySize()
	power := m.growthOfMemory(param)
	use := pageUse{page: page, largest: m.refits.sizes[order[len(order)-1]][param], power: power}
	var grown, used []float64
	known := false // of the run before
	for _, run := range order {
		most, ratio := m.refits.usedInRun(run, line, page)
		if known = most > 0; known {
			grown, used = append(grown, math.Pow(m.refits.sizes[run][param]/use.largest, power)), append(used, most)
			use.ratio = ratio
		}
	}
	if len(used) < leastUses || !known {
		return pageUse{}
	}
	use.streams, use.stretch = stat.LinearRegression(grown, used, nil, false)
	if use.stretch < 0 || use.streams < 0 {
		use.streams, use.stretch = 0, used[len(used)-1] // at the largest size, and in proportion
	}
	return use
}

// usedInRun returns how many pages a run uses at a time, and the mean ratio of misses in
// caches that hold them; 0 if it touches too few to tell.
func (r *refits) usedInRun(run int, line, page uint64) (most, ratio float64) {
	of := &r.runs.Runs[run]
	lines, err := of.At(line)
	if err != nil {
		return 0, 0
	}
	pages, err := of.At(page)
	if err != nil {
		return 0, 0
	}
	inLines, inPages := lines.Total(), pages.Total()
	per := page / line
	logs, n := 0.0, 0
	for c := shareOfPages * float64(inPages.Cold); c >= 1; c /= stepOfPages {
		lines := float64(inLines.Misses(uint64(c)*per)) / float64(per)
		off := float64(inPages.Misses(uint64(c))) / lines
		if off > wholly {
			break
		}
		logs, n, most = logs+math.Log(off), n+1, c
	}
	if n == 0 {
		return 0, 0
	}
	return most, math.Exp(logs / float64(n))
}
