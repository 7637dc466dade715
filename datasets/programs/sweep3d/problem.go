package main

import "math"

// problem holds the mesh, the cross-sections and the state of the iteration.
//
// Arrays are flat and laid out as in the Fortran original, the leftmost index
// fastest; the original's dimensions stand beside each. There it = jt = kt = n,
// nm = moments.
type problem struct {
	n          int // cells along each edge
	cells      int // n³
	iterations int
	mk, mmi    int // k-planes and angles a block, at most

	// floor is the value below which an outgoing flux is fixed up: 0, or -Inf
	// for never.
	floor float64

	quad quadrature

	flux  []float64 // (it,jt,kt,nm): moments of the flux, summed up by the sweep
	src   []float64 // (it,jt,kt,nm): moments of the source that the sweep uses
	sigt  []float64 // (it,jt,kt): total cross-section
	sigs  []float64 // (it,jt,kt,2): scattering cross-sections σs and 3 σs1
	srcx  []float64 // (it,jt,kt): external source
	pflux []float64 // (it,jt,kt): scalar flux of the iteration before

	phiib []float64 // (jt,mk,mmi): flux entering and leaving lines along i
	phijb []float64 // (it,mk,mmi): flux between lines neighbouring along j
	phikb []float64 // (it,jt,mmi): flux between lines neighbouring along k
	phi   []float64 // (it): source, then flux, of the cells of one line

	leak    [6]float64 // particles leaving the mesh in a sweep, by face: i-, i+, j-, j+, k-, k+
	history []iteration
}

// iteration is what one outer iteration found.
type iteration struct {
	err    float64 // largest relative change of the scalar flux
	fixups int     // cell-angle updates that were fixed up
	bal    particles
}

// particles counts what one sweep did to particles, each a rate integrated over
// the mesh. In exact arithmetic external + scattered = collided + leaked.
type particles struct {
	external  float64 // from the external source
	scattered float64 // from scattering of the iterate before
	collided  float64
	leaked    float64
}

// allocate returns a problem with all the memory that it will ever use.
func allocate(o options) *problem {
	n, nc := o.n, o.n*o.n*o.n
	planes := min(o.mk, n) // no block has more
	return &problem{
		n: n, cells: nc, iterations: o.iterations,
		mk: planes, mmi: o.mmi,
		quad: levelSymmetricS6(),

		flux:  make([]float64, moments*nc),
		src:   make([]float64, moments*nc),
		sigt:  make([]float64, nc),
		sigs:  make([]float64, 2*nc),
		srcx:  make([]float64, nc),
		pflux: make([]float64, nc),

		phiib: make([]float64, n*planes*o.mmi),
		phijb: make([]float64, n*planes*o.mmi),
		phikb: make([]float64, n*n*o.mmi),
		phi:   make([]float64, n),

		history: make([]iteration, 0, o.iterations),
	}
}

// initialize sets the cross-sections, the external source (1 in all cells at
// least margin cells from every face) and a flux of zero to start from.
//
//go:noinline
func initialize(p *problem, o options, margin int) {
	p.floor = math.Inf(-1)
	if o.fixup {
		p.floor = 0
	}
	n, nc := p.n, p.cells
	sigs0 := o.sigt * o.scattering
	sigs1 := 3 * sigs0 * o.anisotropy
	inside := func(i int) bool { return i >= margin && i < n-margin }
	for k := range n {
		for j := range n {
			for i := range n {
				c := (k*n+j)*n + i
				p.sigt[c] = o.sigt
				p.sigs[c] = sigs0
				p.sigs[nc+c] = sigs1
				p.srcx[c] = 0
				if inside(i) && inside(j) && inside(k) {
					p.srcx[c] = 1
				}
			}
		}
	}
	clear(p.flux)
	clear(p.pflux)
}
