package fit

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

var errNotConvex = errors.New("matrix of the quadratic programme is not positive definite")

// qpResult is the solution of a quadratic programme.
type qpResult struct {
	X           []float64 // the minimiser
	Value       float64   // of the objective at X
	Multipliers []float64 // one for each constraint, zero where it is not active
	Active      []int     // constraints that hold with equality at X, as they were added
	Iterations  int       // constraints added
}

// quadProg minimises ½ xᵀGx − aᵀx subject to Cx ≥ b. G must be positive
// definite. C may be nil if b is empty.
func quadProg(g mat.Symmetric, a []float64, c mat.Matrix, b []float64) (qpResult, error) {
	n := g.SymmetricDim()
	rows := 0
	if c != nil {
		rows, _ = c.Dims()
	}
	var chol mat.Cholesky
	if !chol.Factorize(g) {
		return qpResult{}, fmt.Errorf("fit: %w", errNotConvex)
	}
	x := mat.NewVecDense(n, nil)
	if err := chol.SolveVecTo(x, mat.NewVecDense(n, a)); err != nil {
		return qpResult{}, fmt.Errorf("fit: %w: %v", errNotConvex, err)
	}
	var u, inv mat.TriDense // G = UᵀU, so U⁻¹ is the J of the method
	chol.UTo(&u)
	if err := inv.InverseTri(&u); err != nil {
		return qpResult{}, fmt.Errorf("fit: %w: %v", errNotConvex, err)
	}
	p := newProgramme(n)
	for i := range n {
		p.x[i] = x.AtVec(i)
		for k := range n {
			p.j[i*n+k] = inv.At(i, k)
		}
	}
	for r := range rows {
		row := make([]float64, n)
		for i := range row {
			row[i] = c.At(r, i)
		}
		at := len(p.rows)
		p.rows = append(p.rows, row...)
		p.scaleLast(at, b[r])
	}
	if err := p.solve(); err != nil {
		return qpResult{}, fmt.Errorf("fit: %w", err)
	}
	out := qpResult{X: p.x, Multipliers: make([]float64, rows), Iterations: p.iterations}
	for i, k := range p.active {
		out.Active = append(out.Active, k)
		out.Multipliers[k] = p.u[i] / mat.Norm(c.(*mat.Dense).RowView(k), 2) // of the row as given
	}
	xv := mat.NewVecDense(n, p.x)
	out.Value = mat.Inner(xv, g, xv)/2 - mat.Dot(mat.NewVecDense(n, a), xv)
	return out, nil
}

func newProgramme(n int) *programme {
	p := &programme{}
	p.begin(n)
	return p
}
