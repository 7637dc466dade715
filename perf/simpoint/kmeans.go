package simpoint

import (
	"context"
	"math"
)

// clustering is the result of a run of k-means.
type clustering struct {
	k          int // clusters, none of them empty
	label      []int32
	centres    []float64 // k rows
	weight     []float64 // of the clusters
	sse        float64   // Σ weight · squared distance from the centre
	iterations int
	converged  bool
	score      float64 // bic
}

// slack widens bounds beyond rounding, so that k-means with bounds gives the
// same result as without.
const slack = 1e-12

// kmeans is the state of Lloyd's algorithm: points move to the nearest centre,
// centres to the mean of their points, until no point moves. A point leaves its
// centre only for one that is strictly nearer.
//
// Invariants (the triangle inequality; the bounds of Hamerly and of Elkan, the
// latter kept as computed, with the distance that each centre has moved since
// on the other side): a point i is
//
//   - no further than upper[i] from its own centre,
//   - no nearer than lower[i] to any other,
//   - no nearer than apart[i·k+c] - gone[c] to centre c, and
//   - no nearer than 2·half[own·k+c] - |x - own| to centre c.
//
// A centre whose bound is at least the distance of the nearest so far is
// skipped.
type kmeans struct {
	p            *points
	k            int
	rules        Rules // for centres without points
	centres      []float64
	label        []int32
	upper, lower []float64
	apart        []float64
	gone         []float64
	half         []float64 // of the distance between two centres
	nearest      []float64 // of half, to another centre
	sums         []float64
	weight       []float64
}

// cluster runs k-means from the given centres.
func cluster(ctx context.Context, p *points, centres []float64, iterations int, rules Rules) (*clustering, error) {
	k := len(centres) / p.stride
	m := &kmeans{
		p: p, k: k, rules: rules, centres: centres, label: make([]int32, p.n),
		upper: make([]float64, p.n), lower: make([]float64, p.n), apart: make([]float64, p.n*k), gone: make([]float64, k),
		half: make([]float64, k*k), nearest: make([]float64, k), sums: make([]float64, len(centres)), weight: make([]float64, k),
	}
	for i := range m.label {
		m.upper[i] = math.Inf(1)
	}
	m.assign()
	out := &clustering{}
	for out.iterations < iterations && !out.converged {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out.iterations++
		filled := m.update()
		out.converged = m.assign() == 0 && !filled
	}
	if !out.converged {
		m.means()
		copy(m.centres, m.sums)
	}
	m.finish(out)
	return out, nil
}

func (m *kmeans) centre(c int) []float64 {
	return m.centres[c*m.p.stride : (c+1)*m.p.stride : (c+1)*m.p.stride]
}

// measure computes half the distances between centres.
func (m *kmeans) measure() {
	for c := range m.k {
		m.nearest[c] = math.Inf(1)
	}
	for c := range m.k {
		for o := range c {
			d := math.Sqrt(squared(m.centre(c), m.centre(o))) / 2 * (1 - slack)
			m.half[c*m.k+o], m.half[o*m.k+c] = d, d
			m.nearest[c], m.nearest[o] = min(m.nearest[c], d), min(m.nearest[o], d)
		}
	}
}

// assign moves points to their nearest centres and returns the number that
// moved.
func (m *kmeans) assign() (changed int) {
	m.measure()
	for i := range m.p.n {
		c := m.label[i]
		bound := max(m.nearest[c], m.lower[i])
		if m.upper[i] <= bound {
			continue
		}
		row := m.p.row(i)
		own := squared(row, m.centre(int(c)))
		m.upper[i] = math.Sqrt(own) * (1 + slack)
		if m.upper[i] <= bound {
			continue
		}
		if m.scan(i, row, own) {
			changed++
		}
	}
	return changed
}

// scan examines the other centres for a point. own is its squared distance from
// its own.
func (m *kmeans) scan(i int, row []float64, own float64) (changed bool) {
	was := int(m.label[i])
	gone := m.gone
	apart, half := m.apart[i*m.k:][:len(gone)], m.half[was*m.k:][:len(gone)]
	around := m.upper[i] / 2
	upper := m.upper[i] // of the nearest so far
	best, nearest, second := was, own, math.Inf(1)
	apart[was] = second // passed over
	for c, g := range gone {
		// min and max would be slower here: they handle NaN.
		if away := apart[c] - g; away >= upper {
			if away < second {
				second = away
			}
			continue
		}
		if away := 2 * (half[c] - around); away >= upper {
			if away < second {
				second = away
			}
			continue
		}
		d := squared(row, m.centre(c))
		root := math.Sqrt(d)
		away := root * (1 - slack)
		apart[c] = away + g
		if d < nearest {
			second = upper * (1 - 2*slack)
			best, nearest, upper = c, d, root*(1+slack)
		} else if away < second {
			second = away
		}
	}
	apart[was] = m.upper[i]*(1-2*slack) + gone[was]
	m.label[i] = int32(best)
	m.upper[i], m.lower[i] = upper, second
	return best != was
}

// means sets sums to the means of the clusters, and weight to their weights.
func (m *kmeans) means() {
	stride := m.p.stride
	clear(m.sums)
	clear(m.weight)
	for i, c := range m.label {
		w := m.p.weight[i]
		m.weight[c] += w
		sum := m.sums[int(c)*stride : (int(c)+1)*stride]
		for d, x := range m.p.row(i) {
			sum[d] += w * x
		}
	}
	for c, w := range m.weight {
		if w == 0 {
			continue
		}
		sum := m.sums[c*stride : (c+1)*stride]
		for d := range sum {
			sum[d] /= w
		}
	}
}

// update moves centres to the means and adjusts the bounds. It reports whether
// an empty cluster was given a point. By the published program the mean of no points is the
// origin.
func (m *kmeans) update() (filled bool) {
	m.means()
	for c, w := range m.weight {
		if w == 0 && m.rules == Own && m.fill(c) {
			filled = true
		}
	}
	stride := m.p.stride
	most, next, which := 0.0, 0.0, -1 // the two largest moves, and whose the largest is
	moved := make([]float64, m.k)
	for c := range m.k {
		to := m.sums[c*stride : (c+1)*stride]
		if m.weight[c] == 0 && m.rules == Own {
			copy(to, m.centre(c)) // stays
		}
		// More slack than elsewhere, since gone is subtracted from sums that
		// contain it.
		d := math.Sqrt(squared(m.centre(c), to)) * (1 + 1000*slack)
		moved[c] = d
		m.gone[c] += d
		if d > most {
			most, next, which = d, most, c
		} else if d > next {
			next = d
		}
	}
	copy(m.centres, m.sums)
	for i, c := range m.label {
		m.upper[i] = (m.upper[i] + moved[c]) * (1 + slack)
		other := most
		if int(c) == which {
			other = next
		}
		m.lower[i] = (m.lower[i] - other) * (1 - slack)
	}
	return filled
}

// fill gives an empty cluster the point that is furthest from the mean of its
// own cluster, unless all are at their means.
func (m *kmeans) fill(c int) bool {
	stride := m.p.stride
	furthest, most := -1, negligible*m.p.squares()/float64(m.p.n)
	for i, own := range m.label {
		at := m.sums[int(own)*stride : (int(own)+1)*stride]
		if d := squared(m.p.row(i), at); d > most {
			furthest, most = i, d
		}
	}
	if furthest < 0 {
		return false
	}
	m.label[furthest] = int32(c)
	m.weight[c] = m.p.weight[furthest]
	copy(m.sums[c*stride:], m.p.row(furthest))
	m.upper[furthest], m.lower[furthest] = math.Inf(1), 0
	return true
}

// finish copies the clusters with points to out.
func (m *kmeans) finish(out *clustering) {
	stride := m.p.stride
	number := make([]int32, m.k) // new numbers
	clear(m.weight)
	for i, c := range m.label {
		m.weight[c] += m.p.weight[i]
	}
	for c, w := range m.weight {
		if w == 0 {
			continue
		}
		number[c] = int32(out.k)
		out.k++
		out.weight = append(out.weight, w)
		out.centres = append(out.centres, m.centre(c)...)
	}
	out.label = m.label
	for i, c := range out.label {
		out.label[i] = number[c]
		at := int(out.label[i]) * stride
		out.sse += m.p.weight[i] * squared(m.p.row(i), out.centres[at:at+stride])
	}
}
