package scaling

import (
	"sort"

	"presage/perf/reuse"
)

// ranked holds the reuses of one group at one size in order of distance. An
// access is identified by its rank, from 0 to total; ranks are real numbers, so
// that any share of the accesses can be cut off.
type ranked struct {
	dist []float64 // of bin i, ascending
	rank []float64 // accesses before bin i; one more than dist: the total last
	sum  []float64 // sum of the distances of the accesses before bin i
}

func newRanked(bins []reuse.Bin) ranked {
	r := ranked{
		dist: make([]float64, 0, len(bins)),
		rank: make([]float64, 1, len(bins)+1),
		sum:  make([]float64, 1, len(bins)+1),
	}
	n, s := 0.0, 0.0
	for _, b := range bins {
		if b.Count == 0 {
			continue
		}
		n += float64(b.Count)
		s += float64(b.Count) * b.Mid()
		r.dist = append(r.dist, b.Mid())
		r.rank = append(r.rank, n)
		r.sum = append(r.sum, s)
	}
	return r
}

func (r *ranked) total() float64 { return r.rank[len(r.rank)-1] }

// bin returns the bin that contains rank x; at a boundary, the lower one if
// below.
func (r *ranked) bin(x float64, below bool) int {
	i := sort.Search(len(r.dist), func(i int) bool {
		if below {
			return r.rank[i+1] >= x
		}
		return r.rank[i+1] > x
	})
	return min(i, len(r.dist)-1)
}

// distances returns the sum of the distances of the accesses before rank x.
func (r *ranked) distances(x float64) float64 {
	if len(r.dist) == 0 {
		return 0
	}
	i := r.bin(x, false)
	return r.sum[i] + (x-r.rank[i])*r.dist[i]
}

// span is a range of ranks [a, b).
type span struct{ a, b float64 }

func (s span) count() float64 { return s.b - s.a }

// mean returns the average distance of the accesses of s, which is not empty.
func (r *ranked) mean(s span) float64 {
	m := (r.distances(s.b) - r.distances(s.a)) / s.count()
	lo, hi := r.ends(s)
	return min(max(m, lo), hi) // of rounding in the difference of the sums
}

// ends returns the least and the largest distance in s, which is not empty.
func (r *ranked) ends(s span) (lo, hi float64) {
	return r.dist[r.bin(s.a, false)], r.dist[r.bin(s.b, true)]
}

// below returns the rank at which the distances of s reach d.
func (r *ranked) below(s span, d float64) float64 {
	i := sort.SearchFloat64s(r.dist, d)
	return min(max(r.rank[i], s.a), s.b)
}

// widestGap returns the rank in s of the largest ratio between neighbouring
// distances, the first of equals; distance 0 counts as 1/2.
func (r *ranked) widestGap(s span) float64 {
	first, last := r.bin(s.a, false), r.bin(s.b, true)
	cut, widest := s.a, 1.0
	for i := first; i < last; i++ {
		if q := r.dist[i+1] / max(r.dist[i], 0.5); q > widest {
			cut, widest = r.rank[i+1], q
		}
	}
	return cut
}
