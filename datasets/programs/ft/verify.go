package main

import (
	"fmt"
	"io"
	"math"
	"math/cmplx"

	"presage/datasets/programs/internal/npb"
)

const (
	// nasTolerance is NAS's, relative to the checksum.
	nasTolerance = 1e-12

	// tolerance is relative to the root of the mean square of what is compared. The
	// sums of up to 10⁸ rounded terms without transforms are the less accurate side.
	tolerance = 1e-10
)

// findings are the measured departures from what must hold.
type findings struct {
	parseval float64 // of the forward transform
	forward  float64 // of the transform, at the time reached, from one without passes
	inverse  float64 // of the field from one without passes
}

// examine measures the departures. It uses work1 and work2; the first field is made
// a second time, line by line.
//
//go:noinline
func examine(p *problem) findings {
	points := float64(len(p.u0))
	f := findings{parseval: math.Abs(p.spectrum-points*p.energy) / (points * p.energy)}
	again := func(int) []complex128 {
		line := p.work2[:p.nx]
		computeInitialConditions(p, line)
		return line
	}
	// A wave that hardly decays, and one that decays fast.
	for _, at := range [][3]int{{1, p.ny - 1, 1}, {p.nx / 2, p.ny / 2, p.nz/2 - 1}} {
		p.seed = npb.Seed
		want := direct(p, -1, at, again) * complex(decay(p, at[0], at[1], at[2], p.iterations), 0)
		f.forward = larger(f.forward, cmplx.Abs(p.u0[p.index(at)]-want)/math.Sqrt(points*p.energy))
	}
	left := energy(p.u0)
	for _, at := range [][3]int{{0, 0, 0}, {p.nx / 3, p.ny - 1, p.nz / 2}} {
		want := direct(p, +1, at, func(first int) []complex128 { return p.u0[first : first+p.nx] })
		f.inverse = larger(f.inverse, cmplx.Abs(p.u1[p.index(at)]-want)/math.Sqrt(left))
	}
	return f
}

func (p *problem) index(at [3]int) int { return at[0] + p.nx*(at[1]+p.ny*at[2]) }

// direct returns one element of a transform from its definition, a sum over all
// elements, which come line by line. It uses work1.
func direct(p *problem, sign int, at [3]int, line func(first int) []complex128) complex128 {
	factor := p.work1[:p.nx]
	for i := range factor {
		factor[i] = root(sign*at[0]*i, p.nx)
	}
	total := complex128(0)
	for k := range p.nz {
		for j := range p.ny {
			sum := complex128(0)
			for i, e := range line(p.nx * (j + p.ny*k)) {
				sum += e * factor[i]
			}
			total += sum * root(sign*at[1]*j, p.ny) * root(sign*at[2]*k, p.nz)
		}
	}
	return total
}

// root returns exp(2 pi i m/n).
func root(m, n int) complex128 {
	sin, cos := math.Sincos(2 * math.Pi * float64(m%n) / float64(n))
	return complex(cos, sin)
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
	case !(f.parseval <= tolerance):
		return fmt.Errorf("the energy of the transform is off by %.3g of it, more than rounding (%g)", f.parseval, tolerance)
	case !(f.forward <= tolerance):
		return fmt.Errorf("the transform, after the steps, is off by %.3g, more than rounding (%g)", f.forward, tolerance)
	case !(f.inverse <= tolerance):
		return fmt.Errorf("the field is not the inverse transform: off by %.3g, more than rounding (%g)", f.inverse, tolerance)
	}
	// Iterations do not depend on how many there are: those that NAS has are compared.
	for it, want := range references[p.class] {
		if it < len(p.checksums) && !(cmplx.Abs(p.checksums[it]-want) <= nasTolerance*cmplx.Abs(want)) {
			return fmt.Errorf("the checksum of iteration %d is %.13g, NAS's for class %s is %.13g", it+1, p.checksums[it], p.class, want)
		}
	}
	return nil
}

// report prints the problem and what was found, in few enough digits that it does
// not matter whether the machine rounds x*y + z once or twice.
//
//go:noinline
func report(w io.Writer, p *problem, f findings) {
	fmt.Fprintf(w, "ft: mesh %d x %d x %d, iterations %d\n", p.nx, p.ny, p.nz, p.iterations)
	for it, c := range p.checksums {
		fmt.Fprintf(w, "iteration %d: checksum %.9f %.9f\n", it+1, real(c), imag(c))
	}
	fmt.Fprintf(w, "transforms: energy %s, forward %s, inverse %s\n", within(f.parseval), within(f.forward), within(f.inverse))
	if want := references[p.class]; want != nil {
		last := want[len(want)-1]
		fmt.Fprintf(w, "class %s: NAS's checksum %d is %.9f %.9f\n", p.class, len(want), real(last), imag(last))
	}
}

// within says whether an error is rounding; only if it is not, how large it is, as
// the digits of a rounding error differ between machines.
func within(x float64) string {
	if x <= tolerance {
		return fmt.Sprintf("within %g", tolerance)
	}
	return fmt.Sprintf("not within %g but %.3g", tolerance, x)
}
