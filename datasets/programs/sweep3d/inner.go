package main

import "math"

// inner runs the outer iterations (source iteration). The name is that of the
// original's routine.
//
//go:noinline
func inner(p *problem) {
	for range p.iterations {
		source(p)
		fixups := sweep(p)
		p.history = append(p.history, iteration{
			bal:    balance(p),
			err:    fluxErr(p),
			fixups: fixups,
		})
	}
}

// source makes the source moments from the flux moments,
//
//	src₀ = q + σs φ,  src₁..₃ = 3 σs1 J
//
// keeps φ in pflux, and sets the flux moments to zero for the sweep to sum up.
//
//go:noinline
func source(p *problem) {
	nc := p.cells
	flux0, src0 := p.flux[:nc], p.src[:nc]
	pflux, srcx, sigs0 := p.pflux[:nc], p.srcx[:nc], p.sigs[:nc]
	for c := range flux0 {
		src0[c] = srcx[c] + sigs0[c]*flux0[c]
		pflux[c] = flux0[c]
		flux0[c] = 0
	}
	sigs1 := p.sigs[nc:][:nc]
	for l := 1; l < moments; l++ {
		flux, src := p.flux[l*nc:][:nc], p.src[l*nc:][:nc]
		for c := range flux {
			src[c] = sigs1[c] * flux[c]
			flux[c] = 0
		}
	}
}

// fluxErr returns the largest relative change of the scalar flux in an
// iteration: the maximum of |φ - φ before| / |φ| over the cells where φ ≠ 0.
//
//go:noinline
func fluxErr(p *problem) float64 {
	worst := 0.0
	flux := p.flux[:p.cells]
	pflux := p.pflux[:len(flux)]
	for c, f := range flux {
		if f != 0 {
			worst = max(worst, math.Abs((f-pflux[c])/f))
		}
	}
	return worst
}

// balance counts particles in the sweep just done. Sums run over lines, then
// over the lines of a plane, then over planes, so that the rounding errors stay
// far below the tolerance at any mesh size.
//
//go:noinline
func balance(p *problem) particles {
	n := p.n
	var total particles
	for k := range n {
		var plane particles
		for j := range n {
			at := (k*n + j) * n
			src, srcx := p.src[at:][:n], p.srcx[at:][:n]
			flux, sigt := p.flux[at:][:n], p.sigt[at:][:n]
			var line particles
			for i := range src {
				line.external += srcx[i]
				line.scattered += src[i] - srcx[i]
				line.collided += sigt[i] * flux[i]
			}
			plane.add(line)
		}
		total.add(plane)
	}
	for _, l := range p.leak {
		total.leaked += l
	}
	return total
}

func (s *particles) add(t particles) {
	s.external += t.external
	s.scattered += t.scattered
	s.collided += t.collided
	s.leaked += t.leaked
}

// residual returns the particles that are unaccounted for, as a share of those
// that came from the sources.
func (s particles) residual() float64 {
	in := s.external + s.scattered
	return math.Abs(in-s.collided-s.leaked) / in
}
