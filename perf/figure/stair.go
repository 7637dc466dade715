package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
)

// step is one level of a stair: the accesses between the share of the step
// before and its own have this height. Shares ascend to exactly 1, so all
// stairs are equally wide, and heights never descend: a stair is the quantile
// function of a histogram.
type step struct{ share, height float64 }

// distanceAxis maps reuse distances to an axis: linear as they are, logarithmic
// as log10(distance + 1), which is defined for distance 0.
type distanceAxis struct{ log bool }

func (a distanceAxis) at(distance float64) float64 {
	if a.log {
		return math.Log10(distance + 1)
	}
	return distance
}

// cut returns the place of a cache of the given number of blocks. An access
// hits in it if its distance is smaller (2005, section 5.1), which is distance
// + 1 <= blocks: neither axis needs a shift by one, but see hits.
func (a distanceAxis) cut(blocks float64) float64 {
	if a.log {
		return math.Log10(blocks)
	}
	return blocks
}

// hits reports whether a height is that of an access that hits below a cut at
// level. Equality is a miss on the linear axis and a hit on the logarithmic
// one, which holds distances plus one.
func (a distanceAxis) hits(height, level float64) bool {
	return height < level || a.log && height == level
}

func (a distanceAxis) label() string {
	if a.log {
		return "reuse distance + 1 (blocks)"
	}
	return "reuse distance (blocks)"
}

// bin is a row of a histogram's frame.
type bin struct{ mid, accesses float64 }

// binsOf reads the columns lo_blocks, hi_blocks and accesses. Bins are
// half-open; a bin of whole distances has its middle at (lo+hi-1)/2.
func binsOf(df dataframe.DataFrame) ([]bin, error) {
	lo, err := frame.Floats(df, "lo_blocks")
	if err != nil {
		return nil, err
	}
	hi, err := frame.Floats(df, "hi_blocks")
	if err != nil {
		return nil, err
	}
	accesses, err := frame.Floats(df, "accesses")
	if err != nil {
		return nil, err
	}
	bins := make([]bin, len(lo))
	for i := range bins {
		if !(accesses[i] >= 0) || math.IsInf(accesses[i], 0) {
			return nil, fmt.Errorf("figure: row %d of the histogram has %g accesses", i, accesses[i])
		}
		if accesses[i] == 0 {
			continue // such as the bin [0, 0) of a histogram of cold accesses alone
		}
		bins[i] = bin{(lo[i] + hi[i] - 1) / 2, accesses[i]}
		if !(lo[i] >= 0 && hi[i] > lo[i] && bins[i].mid >= 0) || math.IsInf(hi[i], 0) {
			return nil, fmt.Errorf("figure: row %d of the histogram holds distances from %g up to but not including %g: no such bin", i, lo[i], hi[i])
		}
	}
	return bins, nil
}

// stairOf returns the stair of a histogram; none if it has no accesses. A bin
// whose share of the total rounds to nothing, as models may predict, has no
// width and so no step.
func stairOf(bins []bin, axis distanceAxis) []step {
	bins = slices.DeleteFunc(slices.Clone(bins), func(b bin) bool { return b.accesses == 0 })
	slices.SortStableFunc(bins, func(a, b bin) int { return cmp.Compare(a.mid, b.mid) })
	total := 0.0
	for _, b := range bins {
		total += b.accesses
	}
	var stair []step
	done, share := 0.0, 0.0
	for _, b := range bins {
		if done += b.accesses; done/total > share { // the last is exactly 1: the same sum
			share = done / total
			stair = append(stair, step{share, axis.at(b.mid)})
		}
	}
	return stair
}

// thin returns a stair that looks the same with fewer steps: it joins
// neighbours that rise by at most rise in all, or span at most width; a joined
// step has their mean height. The first and the last step are not joined for
// their width, so that a rare, very long distance stays. So each point of the
// result is within width along the shares, or rise in height, of the given
// stair, and shares still end at 1.
func thin(stair []step, width, rise float64) []step {
	var out []step
	from, lowest, wide := 0.0, 0.0, false // of the last step of out; wide: it may join for its width
	for i, s := range stair {
		if k := len(out) - 1; k >= 0 {
			flat := s.height-lowest <= rise
			narrow := wide && i < len(stair)-1 && s.share-from <= width
			if flat || narrow {
				before, added := out[k].share-from, s.share-out[k].share
				out[k] = step{s.share, (out[k].height*before + s.height*added) / (before + added)}
				continue
			}
			from = out[k].share
		}
		lowest, wide = s.height, i > 0
		out = append(out, s)
	}
	return out
}

// strip is a range of shares within which two stairs are both level.
type strip struct{ from, to, a, b float64 }

// strips cuts the shares at the steps of both stairs.
func strips(a, b []step) []strip {
	var out []strip
	from := 0.0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		to := min(a[i].share, b[j].share)
		if to > from {
			out = append(out, strip{from, to, a[i].height, b[j].height})
			from = to
		}
		atA, atB := a[i].share == to, b[j].share == to
		if atA {
			i++
		}
		if atB {
			j++
		}
	}
	return out
}
