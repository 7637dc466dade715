package main

// block is the part of an octant that is swept as one: some angles, some
// k-planes, all i and j.
type block struct {
	angle0, angles int // first angle of the octant, number of them
	k0, planes     int // first k-plane in the direction of travel, number of them
}

// sweep solves for the angular flux in all ordinates with the source fixed, and
// sums up the flux moments and the leakage. It returns how many cell-angle
// updates were fixed up. Octants go in pairs, each in blocks of mmi angles and
// in these in blocks of mk k-planes.
//
//go:noinline
func sweep(p *problem) (fixups int) {
	n := p.n
	p.leak = [6]float64{}
	for iq := range octants {
		d := octant(iq)
		for angle0 := 0; angle0 < angles; angle0 += p.mmi {
			b := block{angle0: angle0, angles: min(p.mmi, angles-angle0)}
			clear(p.phikb) // vacuum: nothing enters
			for plane := 0; plane < n; plane += p.mk {
				b.planes = min(p.mk, n-plane)
				b.k0 = plane
				if d.k2 < 0 {
					b.k0 = n - 1 - plane
				}
				clear(p.phiib)
				clear(p.phijb)
				fixups += wavefront(p, d, b)
				leakLines(p, d, b)
			}
			leakPlanes(p, d, b)
		}
	}
	return fixups
}

// wavefront sweeps a block. Its lines along i are numbered by angle m, k-plane
// lk and row j, each counted from 0 in the direction of travel. A line needs
// what the lines (m, lk, j-1) and (m, lk-1, j) leave in phijb and phikb, so all
// lines on a diagonal m + lk + j = idiag are independent; and as two of them
// never share (lk, j), they add to the moments of different cells.
//
// The three loops along a line are functions of their own, so that their
// registers are not crowded out by the state of the loops around them.
//
//go:noinline
func wavefront(p *problem, d direction, b block) (fixups int) {
	n, nc := p.n, p.cells
	phi := p.phi
	for idiag := range n + b.planes + b.angles - 2 {
		for m := max(0, idiag-(n-1)-(b.planes-1)); m <= min(b.angles-1, idiag); m++ {
			angle := b.angle0 + m
			c := coefficients{2 * p.quad.mu[angle], 2 * p.quad.eta[angle], 2 * p.quad.xi[angle]}
			pn := &p.quad.pn[d.iq][angle]
			w := p.quad.w[angle]
			for lk := max(0, idiag-m-(n-1)); lk <= min(b.planes-1, idiag-m); lk++ {
				j := idiag - m - lk
				if d.j2 < 0 {
					j = n - 1 - j
				}
				at := ((b.k0+lk*d.k2)*n + j) * n
				row := m*p.mk + lk

				angularSource(phi, p.src[at:][:n], p.src[nc+at:][:n], p.src[2*nc+at:][:n], p.src[3*nc+at:][:n],
					pn[1], pn[2], pn[3])
				psiI := &p.phiib[row*n+j]
				leaving, fixed := solveLine(phi, p.sigt[at:][:n], p.phijb[row*n:][:n], p.phikb[(m*n+j)*n:][:n],
					*psiI, c, d.i2, p.floor)
				*psiI = leaving
				fixups += fixed
				addMoments(phi, p.flux[at:][:n], p.flux[nc+at:][:n], p.flux[2*nc+at:][:n], p.flux[3*nc+at:][:n],
					w, w*pn[1], w*pn[2], w*pn[3])
			}
		}
	}
	return fixups
}

// angularSource evaluates the source of a line in the direction of an ordinate,
//
//	phi = src0 + pn1 src1 + pn2 src2 + pn3 src3
//
//go:noinline
func angularSource(phi, src0, src1, src2, src3 []float64, pn1, pn2, pn3 float64) {
	src0, src1 = src0[:len(phi)], src1[:len(phi)]
	src2, src3 = src2[:len(phi)], src3[:len(phi)]
	for i := range phi {
		phi[i] = src0[i] + pn1*src1[i] + pn2*src2[i] + pn3*src3[i]
	}
}

// coefficients are 2 |cosine| / cell width along i, j, k.
type coefficients struct{ i, j, k float64 }

// solveLine turns the source of a line into its angular flux, cell by cell in
// direction i2 (+1 or -1), by the balance of a cell with diamond differences,
//
//	psi   = (phi + ci psi_i + cj psi_j + ck psi_k) / (σt + ci + cj + ck)
//	psi_x = 2 psi - psi_x                                  for x = i, j, k
//
// where psi_x on the right is the flux that enters, on the left the flux that
// leaves. That along i is carried from cell to cell: a recursion. solveLine
// returns the flux that leaves the line, and how many cells were fixed up.
//
//go:noinline
func solveLine(phi, sigt, psiJ, psiK []float64, psiI float64, c coefficients, i2 int, floor float64) (leaving float64, fixups int) {
	sigt, psiJ, psiK = sigt[:len(phi)], psiJ[:len(phi)], psiK[:len(phi)]
	i := 0
	if i2 < 0 {
		i = len(phi) - 1
	}
	for {
		// The unsigned comparison ends the loop in both directions. The rare call
		// stays outside, where it does not cost this loop its registers.
		for ; uint(i) < uint(len(phi)); i += i2 {
			inJ, inK := psiJ[i], psiK[i]
			psi := (phi[i] + c.i*psiI + c.j*inJ + c.k*inK) / (sigt[i] + c.i + c.j + c.k)
			outI, outJ, outK := 2*psi-psiI, 2*psi-inJ, 2*psi-inK
			if outI < floor || outJ < floor || outK < floor {
				break
			}
			phi[i], psiI, psiJ[i], psiK[i] = psi, outI, outJ, outK
		}
		if uint(i) >= uint(len(phi)) {
			return psiI, fixups
		}
		phi[i], psiI, psiJ[i], psiK[i] = fixup(phi[i], sigt[i], c, psiI, psiJ[i], psiK[i])
		fixups++
		i += i2
	}
}

// addMoments adds a line's angular flux to the flux moments, flux_l += w_l psi.
//
//go:noinline
func addMoments(psi, flux0, flux1, flux2, flux3 []float64, w0, w1, w2, w3 float64) {
	flux0, flux1 = flux0[:len(psi)], flux1[:len(psi)]
	flux2, flux3 = flux2[:len(psi)], flux3[:len(psi)]
	for i, f := range psi {
		flux0[i] += w0 * f
		flux1[i] += w1 * f
		flux2[i] += w2 * f
		flux3[i] += w3 * f
	}
}

// fixup solves a cell in which the diamond difference makes an outgoing flux
// negative. It sets such fluxes to zero, solves the cell's balance
//
//	q = σt psi + ½ Σ c_x (out_x - in_x)
//
// again, where the other outgoing fluxes are still 2 psi - in_x, and repeats
// until no other flux is negative. Setting a flux to zero only lowers psi
// (derived from the balance), so a flux that was negative stays so, the order
// does not matter, and there are at most three rounds. The cell's particles
// balance in each.
//
//go:noinline
func fixup(q, sigt float64, c coefficients, inI, inJ, inK float64) (psi, outI, outJ, outK float64) {
	var zeroI, zeroJ, zeroK bool
	for {
		top, bottom := q, sigt
		addTo(&top, &bottom, c.i, inI, zeroI)
		addTo(&top, &bottom, c.j, inJ, zeroJ)
		addTo(&top, &bottom, c.k, inK, zeroK)
		psi = top / bottom
		outI, outJ, outK = 2*psi-inI, 2*psi-inJ, 2*psi-inK
		before := [3]bool{zeroI, zeroJ, zeroK}
		zeroI, zeroJ, zeroK = zeroI || outI < 0, zeroJ || outJ < 0, zeroK || outK < 0
		if before == [3]bool{zeroI, zeroJ, zeroK} {
			break
		}
	}
	if zeroI {
		outI = 0
	}
	if zeroJ {
		outJ = 0
	}
	if zeroK {
		outK = 0
	}
	return psi, outI, outJ, outK
}

// addTo adds the terms of one axis to the numerator and the denominator of psi.
func addTo(top, bottom *float64, c, in float64, zero bool) {
	if zero {
		*top += c * in / 2
		return
	}
	*top += c * in
	*bottom += c
}

// leakLines adds what left the block through the faces i and j of the mesh: w
// |cosine| psi of each line's and each row's last cell.
//
//go:noinline
func leakLines(p *problem, d direction, b block) {
	n := p.n
	for m := range b.angles {
		angle := b.angle0 + m
		sumI, sumJ := 0.0, 0.0
		for lk := range b.planes {
			at := (m*p.mk + lk) * n
			sumI += sum(p.phiib[at:][:n])
			sumJ += sum(p.phijb[at:][:n])
		}
		w := p.quad.w[angle]
		p.leak[0+(d.i2+1)/2] += w * p.quad.mu[angle] * sumI
		p.leak[2+(d.j2+1)/2] += w * p.quad.eta[angle] * sumJ
	}
}

// leakPlanes adds what left the mesh through its k-face, once the last block of
// k-planes has been swept.
//
//go:noinline
func leakPlanes(p *problem, d direction, b block) {
	n := p.n
	for m := range b.angles {
		angle := b.angle0 + m
		total := 0.0
		for j := range n {
			total += sum(p.phikb[(m*n+j)*n:][:n])
		}
		p.leak[4+(d.k2+1)/2] += p.quad.w[angle] * p.quad.xi[angle] * total
	}
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}
