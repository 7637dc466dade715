package main

import (
	"fmt"
	"io"
	"math"

	"presage/datasets/programs/internal/npb"
)

const (
	// nasTolerance is NAS's, relative to the norm.
	nasTolerance = 1e-8

	// reduction is what an iteration leaves of the norm of the residual, at most.
	// A V-cycle with this smoother leaves some 0.37 of the slowest error.
	reduction = 0.5

	// rounding is what sums of 27 products of elements of u, which are at most about
	// 1, may be off. It is absolute: charges are 1.
	rounding = 1e-14

	// sampled is the number of points where the residual is calculated anew.
	sampled = 4096
)

// findings are the measured departures from what must hold.
type findings struct {
	finite   bool
	residual float64 // largest difference of the residual from v - A u, at the points sampled
	mean     float64 // of the residual, over all points
	allowed  float64 // the most that the iterations may leave of the norm
	want     []float64
}

// examine measures the departures.
//
//go:noinline
func examine(p *problem) findings {
	f := findings{
		finite:  !math.IsNaN(p.last) && !math.IsInf(p.last, 0),
		allowed: p.first*math.Pow(reduction, float64(p.iterations)) + rounding,
	}
	if p.iterations == classes[p.class].iterations {
		f.want = npb.Reference("MG", p.class, "residual_l2_norm")
	}
	top := &p.level[len(p.level)-1]
	points := cube(p.n)
	for s := range min(sampled, points) {
		at := s
		if points > sampled { // steps by the golden section have no period that a mesh has
			at = int(math.Mod(float64(s)*math.Phi, 1) * float64(points))
		}
		i, j, k := at%p.n, at/p.n%p.n, at/p.n/p.n
		own := i + 1 + top.m*(j+1+top.m*(k+1))
		f.residual = larger(f.residual, math.Abs(top.r[own]-(p.v[own]-laplacian(top.u, p.n, i, j, k))))
	}
	for k := 1; k <= p.n; k++ {
		for j := 1; j <= p.n; j++ {
			for _, r := range line(top.r, top.m, j, k)[1 : top.m-1] {
				f.mean += r
			}
		}
	}
	f.mean = math.Abs(f.mean) / float64(points)
	return f
}

// laplacian returns A u at a point, counted from 0, from the definition: all 27
// products, with indices modulo n.
func laplacian(u []float64, n, i, j, k int) float64 {
	sum := 0.0
	for dk := -1; dk <= 1; dk++ {
		for dj := -1; dj <= 1; dj++ {
			for di := -1; di <= 1; di++ {
				x, y, z := (i+di+n)%n, (j+dj+n)%n, (k+dk+n)%n
				sum += a[di*di+dj*dj+dk*dk] * u[x+1+(n+2)*(y+1+(n+2)*(z+1))]
			}
		}
	}
	return sum
}

// larger returns the larger of two numbers, NaN if one is.
func larger(a, b float64) float64 {
	if b > a || math.IsNaN(b) {
		return b
	}
	return a
}

// verify returns the first law that the result breaks. Comparisons are written so
// that NaN breaks them.
func verify(p *problem, f findings) error {
	switch {
	case !f.finite:
		return fmt.Errorf("the residual is not finite")
	case !(f.residual <= rounding):
		return fmt.Errorf("the residual differs from v - A u by %.3g, more than rounding (%g)", f.residual, rounding)
	case !(f.mean <= rounding):
		return fmt.Errorf("the residual adds up to %.3g for each point, more than rounding (%g)", f.mean, rounding)
	case !(p.last <= f.allowed):
		return fmt.Errorf("the norm of the residual is %.3g, more than the iterations may leave (%.3g)", p.last, f.allowed)
	case f.want == nil:
		return nil
	}
	return npb.Compare("the norm of the residual", []float64{p.last}, f.want, nasTolerance)
}

// report prints the problem and what was found, in few enough digits that it does
// not matter whether the machine rounds x*y + z once or twice.
//
//go:noinline
func report(w io.Writer, p *problem, f findings) {
	fmt.Fprintf(w, "mg: n %d, meshes %d, iterations %d\n", p.n, len(p.level), p.iterations)
	// Below some 1e-9 of the charges' norm, the last digits are rounding.
	fmt.Fprintf(w, "residual: norm %.9e at first, %.15f at last, largest %.13f\n", p.first, p.last, p.lastMax)
	fmt.Fprintf(w, "residual: %s of v - A u, mean %s of 0\n", within(f.residual), within(f.mean))
	if f.want != nil {
		fmt.Fprintf(w, "class %s: NAS's norm is %.15f\n", p.class, f.want[0])
	}
}

// within says whether an error is rounding; only if it is not, how large it is, as
// the digits of a rounding error differ between machines.
func within(x float64) string {
	if x <= rounding {
		return fmt.Sprintf("within %g", rounding)
	}
	return fmt.Sprintf("not within %g but %.3g", rounding, x)
}
