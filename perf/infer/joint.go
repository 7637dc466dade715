package infer

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// jointly sets up the normal equations of SearchOptions.Joint: those of all rows, less
// those of a fold of every application, which it judges. Groups are in the order of
// their first parts, which is that of split.
func (e *evaluator) jointly(t *Table, y, weights []float64, columns [][]float64, parts []part) {
	size := e.terms * (e.terms + 1)
	total, truth := make([]float64, size), t.Ratios()
	for _, fold := range e.folds(parts) {
		s := system{normal: make([]float64, size)}
		var rows []int
		for _, p := range fold {
			rows = append(rows, p.valid...)
			s.groups = append(s.groups, slices.Repeat([]int{slices.Index(e.groups, p.name)}, len(p.valid))...)
		}
		s.truth = pick(truth, rows)
		e.accumulate(s.normal, y, weights, columns, rows)
		for k, v := range s.normal {
			total[k] += v
			s.normal[k] = -v
		}
		for _, c := range columns {
			s.columns = append(s.columns, pick(c, rows))
		}
		e.fits = append(e.fits, s)
	}
	e.quick = true
	e.complete(total)
}

// folds gathers the first parts of all groups, the second ones and so on, and keeps
// the names of the groups.
func (e *evaluator) folds(parts []part) (folds [][]part) {
	number := 0
	for i, p := range parts {
		number++
		if i == 0 || parts[i-1].name != p.name {
			e.groups, number = append(e.groups, p.name), 0
		}
		if number == len(folds) {
			folds = append(folds, nil)
		}
		folds[number] = append(folds[number], p)
	}
	return folds
}

// factor computes the coefficients of the terms m.at like solve, but by blocks, which
// is faster for many terms and drops none. It reports whether the equations are
// positive definite, as they are with a ridge but for rounding.
func (s *system) factor(m *scratch, terms int) bool {
	n := len(m.at)
	if need := n * n; cap(m.lower) < need {
		m.lower = make([]float64, need)
	}
	lower := m.lower[:n*n]
	m.kept, m.beta = m.kept[:0], m.beta[:0]
	for j, a := range m.at {
		for i, b := range m.at[:j+1] {
			lower[j*n+i] = s.normal[max(a, b)*terms+min(a, b)]
		}
		m.kept, m.beta = append(m.kept, j), append(m.beta, s.right[a])
	}
	triangle, ok := lapack64.Potrf(blas64.Symmetric{N: n, Stride: n, Data: lower, Uplo: blas.Lower})
	if !ok {
		return false
	}
	right := blas64.Vector{N: n, Inc: 1, Data: m.beta}
	blas64.Trsv(blas.NoTrans, triangle, right)
	blas64.Trsv(blas.Trans, triangle, right)
	return true
}

// Thinned returns n specs for SearchOptions.Start: s itself, then others that keep fewer
// and fewer of its interactions at random, evenly from all to none, and as many of its
// genes, the others of which are random.
func Thinned(s Spec, n int, seed uint64) []Spec {
	rng := rand.New(rand.NewPCG(seed, thinStream))
	list := make([]Spec, n)
	for i := range list {
		keep := 1 - float64(i)/float64(n)
		list[i] = s.Clone()
		list[i].Interactions = slices.DeleteFunc(list[i].Interactions, func(Interaction) bool { return rng.Float64() >= keep })
		for v := range list[i].Genes {
			if rng.Float64() >= keep {
				list[i].Genes[v] = Gene(rng.IntN(int(genes)))
			}
		}
	}
	return list
}
