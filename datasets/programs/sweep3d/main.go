// Sweep3d solves the one-group, time-independent discrete-ordinates (Sn)
// transport equation on a mesh of n x n x n cells by wavefront sweeps. It is
// our own writing of the ASCI Sweep3D algorithm from its public descriptions,
// made to be profiled: serial, deterministic, all memory allocated before the
// first sweep, the work divided into functions as in the original and further.
//
// # What is solved
//
// For each of 48 ordinates Ω = (mu, eta, xi) with weight w (level-symmetric S6,
// six in each octant),
//
//	Ω·∇ψ + σt ψ = q + σs φ + 3 σs1 Ω·J
//	φ = Σ w ψ,  J = Σ w Ω ψ
//
// with nothing coming in from outside (vacuum boundaries). The scalar flux φ
// and the three components of J are the four flux moments (P1 scattering). The
// right-hand side is taken from the iterate before (source iteration), so that
// an outer iteration is one update of the source moments and one sweep:
//
//	inner ─┬─ source    flux moments → source moments
//	       ├─ sweep     8 octants x angle blocks x k-plane blocks
//	       │   ├─ wavefront  diagonals of (j, k, angle); for each line along i
//	       │   │   ├─ angularSource
//	       │   │   ├─ solveLine ── fixup, for a cell with a negative outgoing flux
//	       │   │   └─ addMoments
//	       │   └─ leakLines, leakPlanes
//	       ├─ balance   source against collisions and leakage
//	       └─ fluxErr   largest relative change of φ
//
// # The problem
//
// Cells have width 1, so that σt is the optical thickness of a cell. σt, σs and
// σs1 are the same everywhere. A uniform source q = 1 fills the cube in the
// middle that is left when ⌊n/4⌋ cells are taken off at each face. Outside it
// the flux falls steeply, the diamond difference undershoots, and the fixup is
// at work; the problem keeps all 48 symmetries of the cube.
//
// # What is checked
//
// The particle balance of every sweep, the symmetry of all four moments and of
// the leakage, and that the flux is finite and, with fixup, positive. The last
// line of output is "verification: successful", or "verification: FAILED" with
// the reason and exit status 1.
//
// # Not modelled
//
// Reflecting boundaries, diffusion acceleration (and the face currents kept for
// it), the order of scattering as a parameter (it is P1), message passing
// between the tiles of a decomposed mesh. The original switches the fixup on
// after the first few iterations; here it is on in all of them or in none.
package main

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // everything is allocated before the first sweep
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return program.Refuse(stderr, "sweep3d", err)
	}

	p := allocate(o)
	initialize(p, o, o.margin())
	inner(p)
	found := examine(p)
	if !o.quiet {
		report(stdout, p, o, found)
	}
	return program.Conclude(stdout, verify(p, found))
}

// options are the problem's parameters as the command line gives them.
type options struct {
	n          int     // cells along each edge of the mesh
	iterations int     // outer (source) iterations
	mk         int     // k-planes a block, at most
	mmi        int     // angles a block, at most
	sigt       float64 // total cross-section, 1/cell width
	scattering float64 // σs/σt
	anisotropy float64 // σs1/σs, the mean cosine of the scattering angle
	fixup      bool    // set negative outgoing fluxes to zero
	quiet      bool    // print nothing but the verification
}

// margin returns how many cells without source lie between it and each face.
func (o options) margin() int { return o.n / 4 }

// defaults follow the standard Sweep3D input (50 x 50 x 50, mk 10, mmi 3), with
// the iteration count used in Marin and Mellor-Crummey 2004, section 3.
func defaults() options {
	return options{
		n: 50, iterations: 6, mk: 10, mmi: 3,
		sigt: 1, scattering: 0.5, anisotropy: 0.25, fixup: true,
	}
}

// parse reads and checks the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	o := defaults()
	f := program.NewFlags("sweep3d", &o.quiet)
	f.IntVar(&o.n, "n", o.n, "mesh `cells` along each edge, 2 to 400")
	f.IntVar(&o.iterations, "iterations", o.iterations, "outer iterations, 1 to 10000")
	f.IntVar(&o.mk, "mk", o.mk, "k-planes a block at most, 1 to 400; the last block is smaller if mk does not divide n")
	f.IntVar(&o.mmi, "mmi", o.mmi, "angles a block at most, 1 to 6; the last block is smaller if mmi does not divide 6")
	f.Float64Var(&o.sigt, "sigt", o.sigt, "total cross-section times cell width, 0.01 to 10")
	f.Float64Var(&o.scattering, "scattering", o.scattering, "scattering `ratio` σs/σt, 0 to 1")
	f.Float64Var(&o.anisotropy, "anisotropy", o.anisotropy, "mean scattering `cosine` σs1/σs, 0 to 1/3 (beyond it P1 scattering is negative in some directions)")
	f.BoolVar(&o.fixup, "fixup", o.fixup, "set negative outgoing fluxes to zero")
	if err := f.Read(args, stderr); err != nil {
		return o, err
	}
	return o, o.check()
}

// check reports the first parameter that is out of range.
func (o options) check() error {
	if err := cmp.Or(
		program.Within("n", o.n, 2, 400),
		program.Within("iterations", o.iterations, 1, 10000),
		program.Within("mk", o.mk, 1, 400),
		program.Within("mmi", o.mmi, 1, angles),
	); err != nil {
		return err
	}
	for _, v := range []struct {
		name          string
		value, lo, hi float64
	}{
		{"sigt", o.sigt, 0.01, 10},
		{"scattering", o.scattering, 0, 1},
		{"anisotropy", o.anisotropy, 0, 1.0 / 3},
	} {
		if !(v.value >= v.lo && v.value <= v.hi) { // also refuses NaN
			return fmt.Errorf("-%s %g: want a number from %.4g to %.4g", v.name, v.value, v.lo, v.hi)
		}
	}
	return nil
}
