package infer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"presage/perf/internal/order"
)

// dependenceSquared is the share of a column's squared length below which a
// candidate's fit drops it as dependent on the columns before it. Normal
// equations square the condition number, so it is less strict than the
// tolerance of Fit, leastsquares.DefaultTolerance.
const dependenceSquared = 1e-10

// evaluator computes the fitness of candidates by the algorithm of 2012,
// section 3.3. It evaluates all possible terms once, and with them the normal
// equations of each fit. Those of a candidate are a part of these, so its fit
// costs one Cholesky factorisation, whatever the number of rows.
type evaluator struct {
	basis  *Basis
	index  map[Term]int
	terms  int
	scale  Scaling
	ridge  float64 // of all terms but the constant
	least  float64 // and most: bounds of corrections, if the table has estimates
	most   float64
	groups []string // names
	fits   []system // by group, or with Joint by fold
	quick  bool     // factor normal equations by blocks

	// summary reduces the errors of a group to one number.
	summary func(errs []float64) float64
}

// system is the fit behind the fitness of one application: to all rows of the
// others, and to the training rows of its own with a weight of their own. With
// SearchOptions.Joint it is that of a fold of all applications.
type system struct {
	groups  []int       // of the validation rows
	normal  []float64   // XᵀWX, by rows, of all terms
	right   []float64   // XᵀWy
	columns [][]float64 // of the validation rows, by term
	truth   []float64   // their response, relative to the estimate
}

// part is one division of a group's rows into training and validation rows.
type part struct {
	name         string
	train, valid []int
}

// split divides the rows of each group at random into folds, each of which is
// the validation part once and a training part otherwise. A group with fewer
// rows than folds has as many parts as rows.
func split(t *Table, folds int, seed uint64) (parts []part, err error) {
	byName := make(map[string][]int)
	for i := range t.Rows() {
		byName[t.Group(i)] = append(byName[t.Group(i)], i)
	}
	rng := rand.New(rand.NewPCG(seed, splitStream))
	for _, name := range t.GroupNames() {
		rows := byName[name]
		if len(rows) < 2 {
			return nil, fmt.Errorf("infer: %w: group %q has %d row; two are needed, to fit and to check", ErrData, name, len(rows))
		}
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		n := min(folds, len(rows))
		for f := range n {
			from, to := f*len(rows)/n, (f+1)*len(rows)/n
			parts = append(parts, part{name, slices.Concat(rows[:from], rows[to:]), rows[from:to]})
		}
	}
	return parts, nil
}

func newEvaluator(t *Table, opt SearchOptions) (*evaluator, error) {
	y, weights, err := response(t, opt.Scaling)
	if err != nil {
		return nil, err
	}
	for i, z := range t.Response {
		if z == 0 {
			return nil, fmt.Errorf("infer: %w: row %d: the response is 0, so relative errors are undefined", ErrData, i)
		}
	}
	basis := opt.Basis
	if basis == nil {
		if basis, err = NewBasis(t); err != nil {
			return nil, err
		}
	}
	units, err := basis.units(t)
	if err != nil {
		return nil, err
	}
	parts, err := split(t, opt.Folds, opt.Seed)
	if err != nil {
		return nil, err
	}
	e := &evaluator{basis: basis, index: make(map[Term]int), scale: opt.Scaling, summary: median, ridge: opt.Ridge, least: math.Inf(-1), most: math.Inf(1)}
	if t.Estimate != nil {
		ratios := t.Ratios()
		e.least, e.most = slices.Min(ratios), slices.Max(ratios)
	}
	all := basis.Terms(everything(len(t.Names), opt.Powers))
	columns := make([][]float64, len(all))
	for j, term := range all {
		e.index[term] = j
		columns[j] = make([]float64, t.Rows())
		basis.column(columns[j], term, units)
	}
	e.terms = len(all)
	if opt.Joint {
		e.jointly(t, y, weights, columns, parts)
	} else {
		e.systems(t, y, weights, columns, parts, opt.OwnWeight)
	}
	return e, nil
}

// systems sets up the normal equations. If G(R) denotes those of the rows R,
// they are, for each part of an application, G(all) - G(own) + w (G(own) -
// G(validation)).
func (e *evaluator) systems(t *Table, y, weights []float64, columns [][]float64, parts []part, own float64) {
	size := e.terms * (e.terms + 1)
	truth := t.Ratios()
	total, whole := make([]float64, size), make([]float64, size)
	first := 0 // fit of the application
	for i, p := range parts {
		if i == 0 || parts[i-1].name != p.name {
			e.groups, first = append(e.groups, p.name), len(e.fits)
			clear(whole)
		}
		s := system{groups: slices.Repeat([]int{len(e.groups) - 1}, len(p.valid)), normal: make([]float64, size), truth: pick(truth, p.valid)}
		e.accumulate(s.normal, y, weights, columns, p.valid)
		for k, v := range s.normal {
			whole[k] += v
			s.normal[k] = -own * v
		}
		for j := range columns {
			s.columns = append(s.columns, pick(columns[j], p.valid))
		}
		e.fits = append(e.fits, s)
		if i+1 < len(parts) && parts[i+1].name == p.name {
			continue
		}
		for k, v := range whole {
			total[k] += v
			for f := first; f < len(e.fits); f++ {
				e.fits[f].normal[k] += (own - 1) * v
			}
		}
	}
	e.complete(total)
}

// complete adds the normal equations of all rows to those of the fits, which have what
// they lack of them, and the ridge.
func (e *evaluator) complete(total []float64) {
	for i := range e.fits {
		s := &e.fits[i]
		for k, v := range total {
			s.normal[k] += v
		}
		for j := 1; j < e.terms; j++ { // the constant is the first
			s.normal[j*e.terms+j] += e.ridge
		}
		s.right = s.normal[e.terms*e.terms:]
		s.normal = s.normal[:e.terms*e.terms]
	}
}

// accumulate adds the normal equations of some rows to sum: the lower triangle
// of the matrix by rows, then the right-hand side.
func (e *evaluator) accumulate(sum, y, weights []float64, columns [][]float64, rows []int) {
	n := e.terms
	x := blas64.General{Rows: len(rows), Cols: n, Stride: n, Data: make([]float64, len(rows)*n)}
	for r, i := range rows {
		w := math.Sqrt(weights[i])
		line := x.Data[r*n : (r+1)*n]
		for j := range line {
			line[j] = w * columns[j][i]
		}
		for j, v := range line {
			sum[n*n+j] += w * v * y[i]
		}
	}
	blas64.Syrk(blas.Trans, 1, x, 1, blas64.Symmetric{N: n, Stride: n, Data: sum[:n*n], Uplo: blas.Lower})
}

// everything returns the spec with all possible terms.
func everything(variables, powers int) Spec {
	s := Spec{Genes: slices.Repeat([]Gene{Spline}, variables)}
	for i := range variables {
		for j := i + 1; j < variables; j++ {
			for p := 1; p <= powers; p++ {
				for q := 1; q <= powers; q++ {
					s.Interactions = append(s.Interactions, Interaction{i, j, p, q})
				}
			}
		}
	}
	return s
}

// scratch is the memory of one goroutine's evaluations.
type scratch struct {
	at          []int
	lower, beta []float64
	kept        []int
	predicted   []float64
	errs        [][]float64 // by group
}

// errorsOf returns the median relative error (or another summary) of each
// application over its rows, each predicted by the fit that it validates: the
// fitness of 2012, where less is better.
func (e *evaluator) errorsOf(s Spec, m *scratch) []float64 {
	m.at = m.at[:0]
	for _, term := range e.basis.Terms(s) {
		m.at = append(m.at, e.index[term])
	}
	m.errs = append(m.errs, make([][]float64, max(0, len(e.groups)-len(m.errs)))...)
	for g := range m.errs {
		m.errs[g] = m.errs[g][:0]
	}
	for i := range e.fits {
		e.fits[i].errors(m, e)
	}
	out := make([]float64, len(e.groups))
	for g := range out {
		out[g] = e.summary(m.errs[g])
	}
	return out
}

// median returns the median of errs, which it sorts. An infinite median becomes
// math.MaxFloat64, since JSON has no infinity.
func median(errs []float64) float64 {
	slices.Sort(errs)
	if v := order.Quantile(errs, 0.5); finite(v) {
		return v
	}
	return math.MaxFloat64
}

// mean returns the mean error, which reflects single terms better than the
// median.
func mean(errs []float64) float64 {
	sum := 0.0
	for _, v := range errs {
		sum += v
	}
	if !finite(sum) {
		return math.MaxFloat64
	}
	return sum / float64(len(errs))
}

// errors appends the relative errors of the validation rows to m.errs, by group.
func (s *system) errors(m *scratch, e *evaluator) {
	if !e.quick || !s.factor(m, e.terms) {
		s.solve(m, e.terms)
	}
	m.predicted = append(m.predicted[:0], make([]float64, len(s.truth))...)
	for c, j := range m.kept {
		b := m.beta[c]
		for i, x := range s.columns[m.at[j]] {
			m.predicted[i] += b * x
		}
	}
	for i, p := range m.predicted {
		z := math.Max(e.least, math.Min(e.most, e.scale.back(p)))
		g := s.groups[i]
		m.errs[g] = append(m.errs[g], math.Abs(z-s.truth[i])/math.Abs(s.truth[i]))
	}
}

// solve computes the coefficients of the terms m.at by Cholesky factorisation
// and drops terms that depend on earlier ones.
func (s *system) solve(m *scratch, terms int) {
	n := len(m.at)
	if need := n * n; cap(m.lower) < need {
		m.lower = make([]float64, need)
	}
	lower := m.lower[:n*n]
	m.kept, m.beta = m.kept[:0], m.beta[:0]
	for j, a := range m.at {
		k := len(m.kept)
		row := lower[k*n : k*n+k+1]
		diagonal := s.normal[a*terms+a]
		left, right := diagonal, s.right[a]
		for c, i := range m.kept {
			b := m.at[i]
			v := s.normal[max(a, b)*terms+min(a, b)]
			above := lower[c*n : c*n+c+1]
			for d, l := range above[:c] {
				v -= l * row[d]
			}
			v /= above[c]
			row[c] = v
			left -= v * v
			right -= v * m.beta[c]
		}
		if !(left > dependenceSquared*diagonal) {
			continue
		}
		row[k] = math.Sqrt(left)
		m.kept = append(m.kept, j)
		m.beta = append(m.beta, right/row[k])
	}
	for c := len(m.kept) - 1; c >= 0; c-- {
		m.beta[c] /= lower[c*n+c]
		for d := range c {
			m.beta[d] -= lower[c*n+d] * m.beta[c]
		}
	}
}
