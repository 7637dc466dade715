package main

import (
	"fmt"
	"io"
	"math"

	"presage/datasets/programs/internal/npb"
)

const (
	// residualTolerance is relative to the largest term that the residual is made
	// of, 1/h² times the largest element of the solution. There are some 50 terms.
	residualTolerance = 1e-13

	// faceTolerance is relative to the largest element of the solution: the exact
	// solution, computed twice.
	faceTolerance = 1e-15

	// sweepTolerance is relative to the largest product of an element of an own
	// block and one of the solution. Elimination without pivoting of 5 x 5 blocks
	// that are near triangular costs a few roundings.
	sweepTolerance = 1e-13

	// samples is the most points at which the residual is computed again.
	samples = 4096
)

// findings are the measured departures from what must hold.
type findings struct {
	finite       bool
	face         float64 // largest difference from the exact solution on the faces
	residual     float64 // largest difference of rsd from operator and forcing
	lower, upper float64 // largest difference between the sides of a front's equations
}

// exact returns the exact solution at a mesh point.
func (p *problem) exact(i, j, k int) vec {
	var v vec
	npb.Exact((*[5]float64)(&v), p.position(i), p.position(j), p.position(k))
	return v
}

// examine measures the departures. It does a front of each sweep once more, which
// changes rsd.
//
//go:noinline
func examine(p *problem) findings {
	f := findings{finite: true}
	largest := 0.0
	for k := range p.n {
		for j := range p.n {
			line := p.at(0, j, k)
			for _, u := range p.u[line : line+p.n] {
				for _, e := range u {
					f.finite = f.finite && !math.IsNaN(e) && !math.IsInf(e, 0)
					largest = max(largest, math.Abs(e))
				}
			}
		}
	}
	f.face = p.faceError() / largest
	f.residual = p.residualError() / (p.t1 * largest)
	middle := p.fronts.count / 2
	f.lower = p.sweepError(middle, true)
	f.upper = p.sweepError(middle, false)
	return f
}

// faceError returns the largest difference from the exact solution on the faces.
func (p *problem) faceError() float64 {
	worst := 0.0
	last := p.n - 1
	for b := range p.n {
		for a := range p.n {
			for _, face := range [2]int{0, last} {
				for _, at := range [3][3]int{{a, b, face}, {a, face, b}, {face, a, b}} {
					u := p.u[p.at(at[0], at[1], at[2])]
					worst = larger(worst, distance(u, p.exact(at[0], at[1], at[2])))
				}
			}
		}
	}
	return worst
}

// residualError returns the largest difference between the residual that rhs left
// and the operator and the forcing at points spread over the mesh.
func (p *problem) residualError() float64 {
	worst := 0.0
	inside := p.n - 2
	points := inside * inside * inside
	for q := 0; q < points; q += 1 + points/samples {
		i, j, k := 1+q%inside, 1+q/inside%inside, 1+q/inside/inside
		r, f := p.operator(p.u, i, j, k), p.frct[p.at(i, j, k)]
		for m := range r {
			r[m] -= f[m]
		}
		worst = larger(worst, distance(r, p.rsd[p.at(i, j, k)]))
	}
	return worst
}

// sweepError does a front of the lower or the upper sweep once more and returns
// how far the result is from solving its equations.
func (p *problem) sweepError(front int, isLower bool) float64 {
	p.each(front, func(cell, block int) { p.before[block] = p.rsd[cell] })
	if isLower {
		lower(p, front)
	} else {
		upper(p, front)
	}
	return p.frontError(front, isLower)
}

// frontError puts rsd into the equations of a front that was swept, with the
// blocks that are there and r, which rsd was before:
//
//	(D + ωL) rsd = r,  or of the upper sweep  (D + ωU) rsd = D r
//
// It returns how far the sides are apart, relative to the largest product of D.
func (p *problem) frontError(front int, isLower bool) float64 {
	step := 1
	if isLower {
		step = -1
	}
	worst, largest := 0.0, 0.0
	p.each(front, func(cell, block int) {
		right := p.before[block]
		if !isLower {
			right = p.d[block].times(right)
		}
		left := p.d[block].times(p.rsd[cell])
		for _, near := range [3]vec{
			p.a[block].times(p.rsd[cell+step*p.plane]),
			p.b[block].times(p.rsd[cell+step*p.row]),
			p.c[block].times(p.rsd[cell+step]),
		} {
			for m := range left {
				left[m] += omega * near[m]
			}
		}
		worst = larger(worst, distance(left, right))
		largest = larger(largest, p.d[block].largest(p.rsd[cell]))
	})
	if largest == 0 { // converged to the last bit
		return worst
	}
	return worst / largest
}

// times returns b v.
func (b *block) times(v vec) vec {
	var r vec
	for n, e := range v {
		for m := range r {
			r[m] += b[5*n+m] * e
		}
	}
	return r
}

// largest returns the largest product of elements in b v.
func (b *block) largest(v vec) float64 {
	worst := 0.0
	for i, e := range b {
		worst = larger(worst, math.Abs(e*v[i/5]))
	}
	return worst
}

// distance returns the largest difference of two vectors' elements, NaN if one is.
func distance(a, b vec) float64 {
	worst := 0.0
	for m := range a {
		worst = larger(worst, math.Abs(a[m]-b[m]))
	}
	return worst
}

// larger returns the larger of two numbers, NaN if one is.
func larger(a, b float64) float64 {
	if b > a || math.IsNaN(b) {
		return b
	}
	return a
}

// verify returns the first law that the result breaks, or the first reference
// value that it does not reach. Comparisons are written so that NaN breaks them.
func verify(p *problem, f findings, class string) error {
	switch {
	case !f.finite:
		return fmt.Errorf("the solution is not finite")
	case !(f.face <= faceTolerance):
		return fmt.Errorf("the solution on the faces differs from the exact one by %.3g of its largest element, more than rounding (%g)", f.face, faceTolerance)
	case !(f.residual <= residualTolerance):
		return fmt.Errorf("the residual differs from that of the solution by %.3g of its largest term, more than rounding (%g)", f.residual, residualTolerance)
	case !(f.lower <= sweepTolerance):
		return fmt.Errorf("the lower sweep leaves %.3g of its largest term, more than rounding (%g)", f.lower, sweepTolerance)
	case !(f.upper <= sweepTolerance):
		return fmt.Errorf("the upper sweep leaves %.3g of its largest term, more than rounding (%g)", f.upper, sweepTolerance)
	}
	for m := range p.started.error {
		if !(p.ended.error[m] < p.started.error[m]) {
			return fmt.Errorf("the error of component %d has not fallen: %.9e, at the start %.9e", m+1, p.ended.error[m], p.started.error[m])
		}
	}
	return p.ended.compare(class)
}

// compare returns how results differ from NAS's of a class, if it is one.
func (r *results) compare(class string) error {
	if class == "" {
		return nil
	}
	for _, q := range []struct {
		name string
		got  []float64
	}{
		{"residual_rms_norm", r.residual[:]},
		{"error_rms_norm", r.error[:]},
		{"surface_integral", []float64{r.integral}},
	} {
		if err := npb.Compare("class "+class+" "+q.name, q.got, npb.Reference(benchmark, class, q.name), npb.Tolerance); err != nil {
			return err
		}
	}
	return nil
}

// report prints the problem and what was found, in few enough digits that it does
// not matter whether the machine rounds x*y + z once or twice: norms as parts of
// what they were at the start, of which rounding is a fixed part, too.
//
//go:noinline
func report(w io.Writer, p *problem, o options, f findings, class string) {
	fmt.Fprintf(w, "lu: n %d, arrays for %d, iterations %d, dt %g, order %s\n", o.n, o.max, o.iterations, o.dt, o.order)
	for m := range p.ended.residual {
		fmt.Fprintf(w, "component %d: residual %.9f of %.9e, error %.9f of %.9e\n", m+1,
			p.ended.residual[m]/p.started.residual[m], p.started.residual[m],
			p.ended.error[m]/p.started.error[m], p.started.error[m])
	}
	fmt.Fprintf(w, "surface integral: %.9f\n", p.ended.integral)
	fmt.Fprintf(w, "faces: %s\n", within(f.face, faceTolerance))
	fmt.Fprintf(w, "residual: %s\n", within(f.residual, residualTolerance))
	fmt.Fprintf(w, "sweeps: lower %s, upper %s\n", within(f.lower, sweepTolerance), within(f.upper, sweepTolerance))
	switch {
	case class == "":
		fmt.Fprintln(w, "NAS class: none, there are no reference values")
	case p.ended.compare(class) == nil:
		fmt.Fprintf(w, "residual norms: %.8e\nerror norms: %.8e\n", p.ended.residual, p.ended.error)
		fmt.Fprintf(w, "NAS class %s: norms and integral agree to %g\n", class, npb.Tolerance)
	default:
		fmt.Fprintf(w, "NAS class %s: norms or integral do not agree\n", class)
	}
}

// within says whether an error is below its tolerance; only if it is not, how
// large it is, as the digits of a rounding error differ between machines.
func within(x, tolerance float64) string {
	if x <= tolerance {
		return fmt.Sprintf("relative error below %g", tolerance)
	}
	return fmt.Sprintf("relative error %.3g, above %g", x, tolerance)
}
