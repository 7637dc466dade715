package main

import (
	"fmt"
	"io"
	"math"
)

const (
	// balanceTolerance is relative to the sources. The sums have depth about
	// 3n + 48 roundings, 1e-13 at n = 400 if all went the same way.
	balanceTolerance = 1e-12

	// symmetryTolerance is relative to the scalar flux of the cell, where that is
	// above faintFlux of the peak. Equivalent cells get the same terms in another
	// order.
	symmetryTolerance = 1e-10

	// faintFlux bounds what relative differences refer to. Where flux falls
	// steeply, 2 psi - psi_x may be what is left of two much larger numbers, and
	// equivalent faint cells then differ by more than a few roundings (seen: 1e-9
	// of a flux that is 1e-16 of the peak).
	faintFlux = 1e-6
)

// findings are the measured departures from what must hold.
type findings struct {
	imbalance   float64 // largest particle residual of the iterations
	imbalanceIn int     // the iteration it is found in, from 1
	asymmetry   float64 // largest relative difference between equivalent cells
	asymmetryIn int     // the cell it is found in
}

// examine measures the departures, in one pass over the flux. One that is not a
// number counts as the largest.
func examine(p *problem) findings {
	var f findings
	for it, h := range p.history {
		if r := h.bal.residual(); r > f.imbalance || math.IsNaN(r) {
			f.imbalance, f.imbalanceIn = r, it+1
		}
	}
	f.asymmetry, f.asymmetryIn = asymmetry(p)
	return f
}

// verify returns the first law that the result breaks.
func verify(p *problem, found findings) error {
	for c, f := range p.flux[:p.cells] {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("the flux in %v is %g", cellOf(p.n, c), f)
		}
		if p.floor == 0 && f < 0 {
			return fmt.Errorf("the flux in %v is negative, %g, in spite of the fixup", cellOf(p.n, c), f)
		}
	}
	if !(found.imbalance <= balanceTolerance) {
		return fmt.Errorf("iteration %d loses or gains %.3g of its particles, more than rounding (%g)", found.imbalanceIn, found.imbalance, balanceTolerance)
	}
	if !(found.asymmetry <= symmetryTolerance) {
		return fmt.Errorf("the flux moments in %v differ by %.3g from an equivalent cell's, more than rounding (%g)", cellOf(p.n, found.asymmetryIn), found.asymmetry, symmetryTolerance)
	}
	scale := max(p.leak[0], faintFlux*p.history[len(p.history)-1].bal.external)
	for face, l := range p.leak {
		if d := math.Abs(l-p.leak[0]) / scale; !(d <= symmetryTolerance) {
			return fmt.Errorf("the leakage through face %d differs by %.3g from that through face 0, more than rounding (%g)", face, d, symmetryTolerance)
		}
	}
	return nil
}

// asymmetry returns the largest difference between the flux moments of a cell
// and those of an equivalent one, relative to the scalar flux, and that cell.
//
// Each cell is compared with one representative of its orbit under the 48
// symmetries of the cube, the cell whose distances from the nearer faces are
// 0 <= a <= b <= c along i, j, k. A reflection turns the sign of a component of
// J, a permutation of the axes permutes them.
func asymmetry(p *problem) (worst float64, cell int) {
	n, nc := p.n, p.cells
	scale := fluxScale(p)
	for c := range nc {
		axes := folded(n, cellOf(n, c))
		rep := (axes[2].depth*n+axes[1].depth)*n + axes[0].depth
		diff := math.Abs(p.flux[c] - p.flux[rep])
		for l, a := range axes {
			mine := a.sign * p.flux[(1+a.axis)*nc+c]
			diff = max(diff, math.Abs(mine-p.flux[(1+l)*nc+rep]))
		}
		if rel := diff / max(math.Abs(p.flux[rep]), scale); rel > worst || math.IsNaN(rel) {
			worst, cell = rel, c
		}
	}
	return worst, cell
}

// fluxScale returns the smallest flux that relative differences refer to. Without
// fixup, fluxes of either sign cancel, and it is the peak.
func fluxScale(p *problem) float64 {
	peak := 0.0
	for _, f := range p.flux[:p.cells] {
		peak = max(peak, math.Abs(f))
	}
	if p.floor == 0 {
		return peak * faintFlux
	}
	return peak
}

// cellIndex names a cell by its position along i, j, k, from 0.
type cellIndex [3]int

func (c cellIndex) String() string { return fmt.Sprintf("cell (%d, %d, %d)", c[0], c[1], c[2]) }

func cellOf(n, c int) cellIndex { return cellIndex{c % n, c / n % n, c / (n * n)} }

// foldedAxis is where a cell lies along one axis: its distance from the nearer
// face, and -1 if that is the far face.
type foldedAxis struct {
	axis, depth int
	sign        float64
}

// folded returns the axes of a cell by ascending depth.
func folded(n int, c cellIndex) [3]foldedAxis {
	var f [3]foldedAxis
	for axis, x := range c {
		f[axis] = foldedAxis{axis, x, 1}
		if x > n-1-x {
			f[axis] = foldedAxis{axis, n - 1 - x, -1}
		}
	}
	for _, pair := range [][2]int{{0, 1}, {1, 2}, {0, 1}} {
		if a, b := pair[0], pair[1]; f[b].depth < f[a].depth {
			f[a], f[b] = f[b], f[a]
		}
	}
	return f
}

// report prints the problem and what was found, in few enough digits that it does
// not matter whether the machine rounds x*y + z once or twice.
func report(w io.Writer, p *problem, o options, found findings) {
	onOff := map[bool]string{false: "off", true: "on"}
	side := o.n - 2*o.margin()
	fmt.Fprintf(w, "sweep3d: n %d, iterations %d, angles %d (S6), moments %d, mk %d, mmi %d, fixup %s\n",
		o.n, o.iterations, octants*angles, moments, o.mk, o.mmi, onOff[o.fixup])
	fmt.Fprintf(w, "medium: sigma_t %g, scattering ratio %g, anisotropy %g, source in the middle %d x %d x %d cells\n",
		o.sigt, o.scattering, o.anisotropy, side, side, side)
	for it, h := range p.history {
		fmt.Fprintf(w, "iteration %d: flux error %.5e, fixups %d\n", it+1, h.err, h.fixups)
	}

	total, peak := 0.0, 0.0
	for _, f := range p.flux[:p.cells] {
		total += f
		peak = max(peak, f)
	}
	last := p.history[len(p.history)-1].bal
	fmt.Fprintf(w, "flux: sum %.8e, maximum %.8e\n", total, peak)
	fmt.Fprintf(w, "particles: external %.8e, scattered in %.8e, collided %.8e, leaked %.8e\n",
		last.external, last.scattered, last.collided, last.leaked)

	fmt.Fprintf(w, "balance: %s\n", within(found.imbalance, balanceTolerance))
	fmt.Fprintf(w, "symmetry: %s\n", within(found.asymmetry, symmetryTolerance))
}

// within says whether an error is below its tolerance; only if it is not, how
// large it is, as the digits of a rounding error differ between machines.
func within(x, tolerance float64) string {
	if x <= tolerance {
		return fmt.Sprintf("relative error below %g", tolerance)
	}
	return fmt.Sprintf("relative error %.3g, above %g", x, tolerance)
}
