package main

import "math"

// block is the number of lines that are transformed together; less if the mesh
// has less.
const block = 16

// pad is how many elements apart the lines' elements are in the work arrays. It
// is not a power of two, so that these do not all fall into a few sets of a cache.
const pad = block + 2

// fftInit sets u to the roots of unity that transforms of up to len(u) elements
// need: exp(pi i k/l) is u[l+k], for l = 1, 2, 4... and k = 0..l-1.
//
//go:noinline
func fftInit(u []complex128) {
	for l := 1; l < len(u); l *= 2 {
		for k := range l {
			sin, cos := math.Sincos(math.Pi * float64(k) / float64(l))
			u[l+k] = complex(cos, sin)
		}
	}
}

// fft transforms x along all three dimensions, into out, which may be x. The
// sign is that of the exponent: -1 for the forward transform, which goes along i
// first, and +1 for the inverse, which goes along i last. Neither is scaled.
//
//go:noinline
func fft(p *problem, sign int, x, out []complex128) {
	if sign < 0 {
		cffts1(p, sign, x, out)
		cffts2(p, sign, out, out)
		cffts3(p, sign, out, out)
		return
	}
	cffts3(p, sign, x, out)
	cffts2(p, sign, out, out)
	cffts1(p, sign, out, out)
}

// cffts1 transforms the lines along i, in blocks of lines with neighbouring j.
//
//go:noinline
func cffts1(p *problem, sign int, x, out []complex128) {
	lines := min(block, p.ny)
	for first := 0; first < len(x); first += lines * p.nx {
		for l := range lines {
			for i, e := range x[first+l*p.nx:][:p.nx] {
				p.work1[i*pad+l] = e
			}
		}
		cfftz(p, sign, lines, p.nx)
		for l := range lines {
			line := out[first+l*p.nx:][:p.nx]
			for i := range line {
				line[i] = p.work1[i*pad+l]
			}
		}
	}
}

// cffts2 transforms the lines along j, in blocks of lines with neighbouring i.
//
//go:noinline
func cffts2(p *problem, sign int, x, out []complex128) {
	lines := min(block, p.nx)
	for k := range p.nz {
		for ii := 0; ii < p.nx; ii += lines {
			first := ii + p.nx*p.ny*k
			for j := range p.ny {
				copy(p.work1[j*pad:][:lines], x[first+j*p.nx:])
			}
			cfftz(p, sign, lines, p.ny)
			for j := range p.ny {
				copy(out[first+j*p.nx:], p.work1[j*pad:][:lines])
			}
		}
	}
}

// cffts3 transforms the lines along k, in blocks of lines with neighbouring i.
//
//go:noinline
func cffts3(p *problem, sign int, x, out []complex128) {
	lines, plane := min(block, p.nx), p.nx*p.ny
	for j := range p.ny {
		for ii := 0; ii < p.nx; ii += lines {
			first := ii + p.nx*j
			for k := range p.nz {
				copy(p.work1[k*pad:][:lines], x[first+k*plane:])
			}
			cfftz(p, sign, lines, p.nz)
			for k := range p.nz {
				copy(out[first+k*plane:], p.work1[k*pad:][:lines])
			}
		}
	}
}

// cfftz transforms the lines in work1, n elements each, by log2 n passes of
// Stockham's method, between work1 and work2 and back: no pass must reverse bits.
//
//go:noinline
func cfftz(p *problem, sign, lines, n int) {
	from, to := p.work1, p.work2
	for l := n / 2; l >= 1; l /= 2 {
		fftz2(p.roots[l:2*l], sign, lines, n, from, to)
		from, to = to, from
	}
	if &from[0] != &p.work1[0] {
		copy(p.work1[:n*pad], from[:n*pad])
	}
}

// fftz2 is one pass: with w the conjugates of the l roots if the sign is -1, run =
// n/(2l), and for all i < l, k < run,
//
//	y(2 i run + k)       =       x(i run + k) + x(i run + k + n/2)
//	y(2 i run + run + k) = w(i) (x(i run + k) - x(i run + k + n/2))
//
//go:noinline
func fftz2(roots []complex128, sign, lines, n int, x, y []complex128) {
	run := n / (2 * len(roots))
	for i, w := range roots {
		if sign < 0 {
			w = complex(real(w), -imag(w))
		}
		for k := range run {
			x1 := x[(i*run+k)*pad:][:lines]
			x2 := x[(i*run+k+n/2)*pad:][:len(x1)]
			y1 := y[(2*i*run+k)*pad:][:len(x1)]
			y2 := y[(2*i*run+run+k)*pad:][:len(x1)]
			for j, e := range x1 {
				y1[j] = e + x2[j]
				y2[j] = w * (e - x2[j])
			}
		}
	}
}
