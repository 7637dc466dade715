package main

import (
	"math"

	"presage/datasets/programs/internal/npb"
)

// alpha is the diffusivity, in the units of NAS.
const alpha = 1e-6

// terms is the number of elements in a checksum.
const terms = 1024

// problem holds the field and its transforms. Element (i, j, k) of an array is at
// i + nx (j + ny k).
type problem struct {
	class      string
	nx, ny, nz int
	iterations int

	u0      []complex128 // the field's transform, at the time reached
	u1      []complex128 // the field: at first the initial one, then that of the time reached
	twiddle []float64    // what one step of time leaves of each element of u0

	roots        []complex128 // for the transforms, see fftInit
	work1, work2 []complex128 // a block of lines

	numbers []float64 // random ones, for a line of the field
	seed    uint64

	energy, spectrum float64 // Σ |u|² of the initial field and of its transform
	checksums        []complex128
}

// allocate returns a problem with all the memory that it will ever use.
func allocate(o options) *problem {
	points, longest := o.nx*o.ny*o.nz, max(o.nx, o.ny, o.nz)
	return &problem{
		class: o.class, nx: o.nx, ny: o.ny, nz: o.nz, iterations: o.iterations,
		u0: make([]complex128, points), u1: make([]complex128, points), twiddle: make([]float64, points),
		roots: make([]complex128, longest),
		work1: make([]complex128, longest*pad), work2: make([]complex128, longest*pad),
		numbers:   make([]float64, 2*o.nx),
		checksums: make([]complex128, 0, o.iterations),
	}
}

// initialize sets all but the transforms.
//
//go:noinline
func initialize(p *problem) {
	computeIndexmap(p)
	fftInit(p.roots)
	p.seed = npb.Seed
	for first := 0; first < len(p.u1); first += p.nx {
		computeInitialConditions(p, p.u1[first:first+p.nx])
	}
	p.energy = energy(p.u1)
}

// computeIndexmap sets twiddle to exp(-4 alpha pi² |k|²), where the components of
// k are the wave numbers from -n/2 to n/2 - 1 along each dimension.
//
//go:noinline
func computeIndexmap(p *problem) {
	at := 0
	for k := range p.nz {
		for j := range p.ny {
			for i := range p.nx {
				p.twiddle[at] = decay(p, i, j, k, 1)
				at++
			}
		}
	}
}

// decay returns what is left of an element of the transform after some steps.
func decay(p *problem, i, j, k, steps int) float64 {
	x, y, z := wave(i, p.nx), wave(j, p.ny), wave(k, p.nz)
	return math.Exp(-4 * alpha * math.Pi * math.Pi * float64((x*x+y*y+z*z)*steps))
}

// wave returns the wave number of element i out of n.
func wave(i, n int) int { return (i+n/2)%n - n/2 }

// computeInitialConditions sets the next line of the field to numbers of the NAS
// sequence, real part first.
//
//go:noinline
func computeInitialConditions(p *problem, line []complex128) {
	npb.Vranlc(&p.seed, p.numbers)
	for i := range line {
		line[i] = complex(p.numbers[2*i], p.numbers[2*i+1])
	}
}

// iterate transforms the field, and then, for each step of time, its transform
// back: the spectral solution of the diffusion equation.
//
//go:noinline
func iterate(p *problem) {
	fft(p, -1, p.u1, p.u0)
	p.spectrum = energy(p.u0)
	for range p.iterations {
		evolve(p.u0, p.u1, p.twiddle)
		fft(p, +1, p.u1, p.u1)
		p.checksums = append(p.checksums, checksum(p))
	}
}

// evolve takes a step of time, in u0, and copies that to u1.
//
//go:noinline
func evolve(u0, u1 []complex128, twiddle []float64) {
	u1, twiddle = u1[:len(u0)], twiddle[:len(u0)]
	for i, u := range u0 {
		u = complex(real(u)*twiddle[i], imag(u)*twiddle[i])
		u0[i] = u
		u1[i] = u
	}
}

// checksum adds up the elements (j, 3j, 5j) modulo the mesh, j = 1..1024, of the
// field, which is too large by the number of points.
//
//go:noinline
func checksum(p *problem) complex128 {
	sum := complex128(0)
	for j := 1; j <= terms; j++ {
		sum += p.u1[j%p.nx+p.nx*(3*j%p.ny+p.ny*(5*j%p.nz))]
	}
	return sum / complex(float64(len(p.u1)), 0)
}

// energy returns Σ |u|².
//
//go:noinline
func energy(u []complex128) float64 {
	sum := 0.0
	for _, e := range u {
		sum += real(e)*real(e) + imag(e)*imag(e)
	}
	return sum
}
