package scaling

import (
	"fmt"
	"math"

	"presage/perf/fit"
)

// Tail is the number of reuses of the program at a distance or a larger one, as a function
// of the size. See Options.SameDistances.
type Tail struct {
	From  float64 // distance, blocks
	Count fit.Func
}

// logarithmic is what accesses may grow by more than a power of the size that they are
// counted as, as n·log n does.
const logarithmic = 0.35

// clearlyPlainer is clearlyFewer for tails, of which there are fewer kinds.
const clearlyPlainer = 1.5

// edges returns the distances between the ranges that reuses are divided into, ascending:
// as wide as the tolerance, but no less than a block, up to the largest distance.
func (f *fitter) edges(most float64) []float64 {
	var out []float64
	for edge := 0.5; edge <= most; edge = math.Max(edge+1, math.Floor(edge*(1+f.tolerance))+0.5) {
		out = append(out, edge)
	}
	return out
}

// byDistance cuts p at distances that are the same at all sizes, and appends the parts
// that were seen to s.parts.
func (s *splitter) byDistance(p part) {
	most := 0.0
	for i, sp := range p {
		if sp.count() >= presence {
			_, hi := s.hists[i].ends(sp)
			most = math.Max(most, hi)
		}
	}
	rest := p
	for _, edge := range s.edges(most) {
		low, high := divide(rest, s.ranks(rest, func(r *ranked, sp span) float64 { return r.below(sp, edge) }))
		if seen(low) {
			s.parts = append(s.parts, low)
		}
		rest = high
	}
	if seen(rest) {
		s.parts = append(s.parts, rest)
	}
}

// tails models the reuses of all groups by distance. Groups take accesses from each other
// from size to size, as variants of a routine do that data choose among, and their sum is
// the smoother function.
func (f *fitter) tails(groups []Group) ([]Tail, error) {
	all := make([]ranked, len(f.sizes))
	accesses := make([]float64, len(f.sizes))
	most := 0.0
	for i := range f.sizes {
		sum := groups[0].Hists[i]
		for _, g := range groups[1:] {
			sum = sum.Plus(&g.Hists[i])
		}
		all[i] = newRanked(sum.Bins)
		accesses[i] = float64(sum.Cold) + all[i].total()
		if n := len(all[i].dist); n > 0 {
			most = math.Max(most, all[i].dist[n-1])
		}
	}
	designs, err := f.tailDesigns(accesses)
	if err != nil {
		return nil, err
	}
	var out []Tail
	for _, edge := range f.edges(most) {
		counts := make([]float64, len(all))
		for i := range all {
			whole := span{0, all[i].total()}
			counts[i] = whole.b - all[i].below(whole, edge)
		}
		count, err := f.plainest(designs, clearlyPlainer, counts)
		if err != nil {
			return nil, err
		}
		out = append(out, Tail{edge, count})
	}
	return out, nil
}

// tailDesigns returns what tails may be functions of, the plainest first. Of distances that
// are the same at all sizes, there are as many reuses in each pass over the data. Passes
// are a constant number, or one more as the data double, as many as there are elements, or
// a higher power of them.
func (f *fitter) tailDesigns(accesses []float64) ([]*fit.Design, error) {
	n := f.params[0]
	passes, elements := "1, log("+n+")", "1, "+n
	texts := []string{"1", passes, elements, passes + ", " + n}
	for power := 2; power <= f.steepest(accesses); power++ {
		elements += fmt.Sprintf(", %s^%d", n, power)
		texts = append(texts, elements)
	}
	var out []*fit.Design
	for _, text := range texts {
		basis, err := fit.ParseBasis(text, f.params...)
		if err != nil {
			return nil, err
		}
		d, err := fit.NewDesign(basis, f.sizes, f.reach)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// steepest returns the highest power of the size that a number of reuses at the same
// distance grows with: that of all accesses, of which logarithms are no part.
func (f *fitter) steepest(accesses []float64) int {
	least, most := 0, 0
	for i, x := range f.extents {
		if x < f.extents[least] {
			least = i
		}
		if x > f.extents[most] {
			most = i
		}
	}
	power := math.Log(accesses[most]/accesses[least]) / math.Log(f.extents[most]/f.extents[least])
	return int(math.Min(defaultDegree, math.Max(1, math.Ceil(power-logarithmic))))
}

// Between returns how many reuses there are at a size between each tail and the next, and
// beyond the last; nil if there are no tails. Tails are functions of their own, and where
// one has more reuses than a nearer one, their mean stands for both.
func (m *Model) Between(p fit.Point) []float64 {
	type pool struct {
		mean  float64
		tails int
	}
	var pools []pool
	for i := range m.Tails {
		last := pool{math.Max(0, m.Tails[i].Count.Eval(p)), 1}
		for n := len(pools); n > 0 && pools[n-1].mean < last.mean; n = len(pools) {
			before := pools[n-1]
			sum := before.tails + last.tails
			last = pool{(before.mean*float64(before.tails) + last.mean*float64(last.tails)) / float64(sum), sum}
			pools = pools[:n-1]
		}
		pools = append(pools, last)
	}
	var out []float64
	for i, pool := range pools {
		beyond := 0.0
		if i+1 < len(pools) {
			beyond = pools[i+1].mean
		}
		for k := range pool.tails {
			if k+1 < pool.tails {
				out = append(out, 0)
			} else {
				out = append(out, pool.mean-beyond)
			}
		}
	}
	return out
}
