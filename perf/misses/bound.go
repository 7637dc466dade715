package misses

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"presage/perf/predict"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// MethodPagesAsLines is how misses of a level of pages were predicted from reuse
// distances in lines where those in pages contradict them: a cache of pages misses
// once for all lines of a page, if it holds all pages that are used at a time. See
// pageUse.
const MethodPagesAsLines = "fully associative, pages as lines"

// MethodPagesBounded is how misses of a level of pages were predicted that would be more
// than twice those of as many smaller blocks, which no program has.
const MethodPagesBounded = "fully associative, pages bounded by lines"

const (
	// contradicts is the ratio of a prediction in pages to one in smaller blocks, or the
	// other way round, from which the former is taken to be wrong: both are of models,
	// which are a little off.
	contradicts = 2
	// spareUse is how many times as many pages a level has to hold as are used at a time.
	spareUse = 2
)

// checkPages holds the misses of a level of pages, beyond the sizes of the model,
// against those of smaller blocks. Distances in pages are few at small sizes, and
// extrapolate worse than those in lines, which are many.
func (m *Model) checkPages(e *estimate, l predict.Level) error {
	param := m.beyondRuns(subject.Point(e.at), e.by)
	if !scaling.OfPages(l.BlockBytes) || param == "" {
		return nil
	}
	if err := m.pagesAsLines(e, l, param); err != nil || e.held != "" {
		return err
	}
	return m.boundPages(e, l)
}

// boundPages lowers misses that are more than a level would have if it held as many
// smaller blocks. Between two uses of a page no more pages are touched than
// smaller blocks, and the last use of a page is no earlier than that of the block: no
// access that hits in C smaller blocks misses in C pages.
func (m *Model) boundPages(e *estimate, l predict.Level) error {
	for _, size := range m.blockSizes() {
		if size >= l.BlockBytes {
			break
		}
		most, err := m.missesInBlocks(e, size, l.Blocks())
		if err != nil {
			return err
		}
		if floats.Sum(most)*contradicts >= e.total() {
			continue
		}
		for g := range e.misses {
			e.setReuse(g, math.Min(e.misses[g].Reuse, math.Max(0, most[g]-e.misses[g].Cold)))
		}
		e.held = MethodPagesBounded
	}
	return nil
}

// pagesAsLines replaces the misses of a level that holds the pages that are used at a
// time by those of its capacity in lines, divided by the lines in a page, if both
// together contradict each other.
func (m *Model) pagesAsLines(e *estimate, l predict.Level, param string) error {
	use := m.pageUse(param)
	if !(use.at(e.at[param], l.BlockBytes)*spareUse <= float64(l.Blocks())) {
		return nil
	}
	line := m.largestLine()
	per := l.BlockBytes / line
	lines, err := m.missesInBlocks(e, line, l.Blocks()*per)
	if err != nil {
		return err
	}
	floats.Scale(use.ratio/float64(per), lines)
	pages, asLines := e.total(), floats.Sum(lines)
	if pages <= contradicts*asLines && asLines <= contradicts*pages {
		return nil
	}
	for g := range e.misses {
		e.setReuse(g, math.Max(0, lines[g]-e.misses[g].Cold))
	}
	e.held = MethodPagesAsLines
	return nil
}

// total returns the misses of all groups.
func (e *estimate) total() float64 {
	sum := 0.0
	for g := range e.misses {
		sum += e.misses[g].Total()
	}
	return sum
}

// setReuse changes the misses of a group that are no first accesses, in a level that
// counts as fully associative.
func (e *estimate) setReuse(g int, reuse float64) {
	if e.misses[g].Reuse > 0 {
		e.doubtful[g] *= math.Min(1, reuse/e.misses[g].Reuse)
	}
	e.misses[g].Reuse, e.full[g].Reuse = reuse, reuse
}

// missesInBlocks returns the misses of each group in a fully associative cache of blocks
// of another size.
func (m *Model) missesInBlocks(e *estimate, blockBytes, blocks uint64) ([]float64, error) {
	h, err := m.evaluate(blockBytes, subject.Point(e.at), e.by)
	if err != nil {
		return nil, err
	}
	out := make([]float64, m.Groups())
	for g := range out {
		misses := h.missesIn(g, predict.FullyAssociative(blocks))
		out[g] = misses.Total()
	}
	return out, nil
}

// largestLine returns the largest block size of the runs below those of pages.
func (m *Model) largestLine() uint64 {
	line := m.smallestBlock()
	for _, size := range m.blockSizes() {
		if !scaling.OfPages(size) {
			line = size
		}
	}
	return line
}
