package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// solve runs a problem, with the source margin cells away from the faces.
func solve(o options, margin int) *problem {
	p := allocate(o)
	initialize(p, o, margin)
	inner(p)
	return p
}

// with returns the defaults at mesh size n, changed.
func with(n, iterations int, change func(*options)) options {
	o := defaults()
	o.n, o.iterations = n, iterations
	if change != nil {
		change(&o)
	}
	return o
}

// The set must integrate every monomial up to degree 7 over the sphere:
// <mu^a eta^b xi^c> = (a-1)!! (b-1)!! (c-1)!! / (a+b+c+1)!! for even exponents,
// 0 if one is odd. Degree 0 is the sum of the weights, degree 2 gives 1/3.
func TestQuadratureMoments(t *testing.T) {
	const tolerance = 48 * 0x1p-53 // one rounding a term, sums below 1
	double := func(n int) float64 {
		f := 1.0
		for ; n > 1; n -= 2 {
			f *= float64(n)
		}
		return f
	}
	all := ordinates()
	for a := 0; a <= 7; a++ {
		for b := 0; a+b <= 7; b++ {
			for c := 0; a+b+c <= 7; c++ {
				want := 0.0
				if a%2+b%2+c%2 == 0 {
					want = double(a-1) * double(b-1) * double(c-1) / double(a+b+c+1)
				}
				got := 0.0
				for _, o := range all {
					got += o.w * math.Pow(o.cos[0], float64(a)) * math.Pow(o.cos[1], float64(b)) * math.Pow(o.cos[2], float64(c))
				}
				if math.Abs(got-want) > tolerance {
					t.Errorf("<mu^%d eta^%d xi^%d> = %.17g, want %.17g", a, b, c, got, want)
				}
			}
		}
	}
}

func TestOctantsCoverTheSphereInPairs(t *testing.T) {
	seen := map[[3]int]bool{}
	for iq := range octants {
		d := octant(iq)
		seen[[3]int{d.i2, d.j2, d.k2}] = true
		if first := octant(iq &^ 1); d.i2 != first.i2 || d.j2 != first.j2 || d.k2 != 2*(iq&1)-1 {
			t.Errorf("octant %d is %+v, its pair begins with %+v", iq, d, first)
		}
	}
	if len(seen) != octants {
		t.Errorf("%d different octants, want %d", len(seen), octants)
	}
}

func TestSweepMatchesReference(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	// Rounding, relative to the flux or to faintFlux of its peak, as in verify.
	const tolerance = 1e-11
	for _, o := range []options{
		with(2, 3, nil),
		with(3, 4, func(o *options) { o.mk, o.mmi = 2, 5 }),
		with(5, 4, func(o *options) { o.mk, o.mmi = 2, 4 }),
		with(8, 4, func(o *options) { o.mk, o.mmi = 3, 1; o.sigt = 3 }),
		with(8, 4, func(o *options) { o.mk, o.mmi = 3, 1; o.sigt = 3; o.fixup = false }),
		with(9, 3, func(o *options) { o.mk, o.mmi = 9, 6; o.anisotropy = 1.0 / 3; o.scattering = 1 }),
		with(13, 6, nil),
		with(12, 2, func(o *options) { o.mk, o.mmi = 5, 2; o.sigt = 0.1; o.scattering = 0 }),
	} {
		t.Run(fmt.Sprintf("n=%d/mk=%d/mmi=%d/sigt=%g/fixup=%t", o.n, o.mk, o.mmi, o.sigt, o.fixup), func(t *testing.T) {
			p, r := solve(o, o.margin()), reference(o, o.margin())
			scale := fluxScale(p)
			for c := range p.cells {
				for l := range moments {
					got, want := p.flux[l*p.cells+c], r.flux[l][c]
					if d := math.Abs(got-want) / max(math.Abs(r.flux[0][c]), scale); !(d <= tolerance) {
						t.Fatalf("moment %d in %v: %.17g, reference %.17g (%g)", l, cellOf(o.n, c), got, want, d)
					}
				}
			}
			last := p.history[len(p.history)-1]
			if last.fixups != r.fixups {
				t.Errorf("%d fixups, reference %d", last.fixups, r.fixups)
			}
			if d := math.Abs(last.bal.leaked-r.leaked) / r.leaked; !(d <= tolerance) {
				t.Errorf("leakage %.17g, reference %.17g", last.bal.leaked, r.leaked)
			}
		})
	}
}

// However the lines are ordered, each gets the same operands, and each cell's
// moments are summed up in the order octant, angle.
func TestBlockingChangesNoBit(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, n := range []int{4, 11} {
		want := solve(with(n, 3, func(o *options) { o.mk, o.mmi = 1, 1 }), n/4)
		for _, mk := range []int{1, 2, 3, 7, 11, 400} {
			for mmi := 1; mmi <= angles; mmi++ {
				got := solve(with(n, 3, func(o *options) { o.mk, o.mmi = mk, mmi }), n/4)
				if !slices.Equal(got.flux, want.flux) {
					t.Errorf("n %d: flux moments with mk %d, mmi %d differ from those with 1, 1", n, mk, mmi)
				}
				for it := range want.history {
					if got.history[it].fixups != want.history[it].fixups {
						t.Errorf("n %d, mk %d, mmi %d: %d fixups, with 1, 1 %d", n, mk, mmi, got.history[it].fixups, want.history[it].fixups)
					}
				}
			}
		}
	}
}

// Far from the faces of a medium with the source everywhere, nothing depends on
// position or direction: φ = q / (σt - σs), J = 0. What is left of the faces in
// the middle of a thick mesh are the odd-even oscillations of the diamond
// difference, so the mean over 4 x 4 x 4 cells is compared; they fade with n.
func TestInfiniteMedium(t *testing.T) {
	const tolerance = 1e-4
	middle := func(n int) (relErr float64) {
		o := with(n, 20, func(o *options) { o.sigt, o.scattering = 2, 0.2 })
		p := solve(o, 0)
		if err := p.history[o.iterations-1].err; err > 1e-12 {
			t.Fatalf("n %d: flux error after %d iterations is %g: not converged", n, o.iterations, err)
		}
		var mean [moments]float64
		for c := range p.cells {
			inside := true
			for _, x := range cellOf(n, c) {
				inside = inside && x >= n/2-2 && x < n/2+2
			}
			if inside {
				for l := range mean {
					mean[l] += p.flux[l*p.cells+c] / 64
				}
			}
		}
		want := 1 / (o.sigt * (1 - o.scattering))
		for l := 1; l < moments; l++ {
			if math.Abs(mean[l])/want > tolerance {
				t.Errorf("n %d: current %d in the middle %g, want 0", n, l, mean[l])
			}
		}
		return math.Abs(mean[0]-want) / want
	}
	thin, thick := middle(16), middle(32)
	if thick > tolerance || thick > thin/10 {
		t.Errorf("flux in the middle is off by %.3g at n = 16 and %.3g at n = 32, want below %g and falling", thin, thick, tolerance)
	}
}

// At convergence the iterate before is the iterate, and the balance is that of
// the physical problem: external source = absorption + leakage.
func TestConvergedBalance(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	p := solve(with(10, 60, nil), 2)
	last := p.history[len(p.history)-1].bal
	absorbed := last.collided * (1 - defaults().scattering)
	if d := math.Abs(last.external-absorbed-last.leaked) / last.external; d > 1e-12 {
		t.Errorf("external source %.15g, absorbed %.15g + leaked %.15g", last.external, absorbed, last.leaked)
	}
}

func TestFixupMatchesExhaustiveSearch(t *testing.T) {
	const tolerance = 1e-13
	rng := rand.New(rand.NewPCG(1, 2))
	rounds := map[int]int{}
	for range 200_000 {
		q, sigt := rng.Float64(), 0.01+10*rng.Float64()
		var cos, in [3]float64
		for a := range 3 {
			cos[a] = 0.1 + 0.9*rng.Float64()
			in[a] = math.Pow(10, 4*rng.Float64()-2)
		}
		want, outs, fixed := refCell(q, sigt, cos, in, true)
		if !fixed {
			continue
		}
		psi, oi, oj, ok := fixup(q, sigt, coefficients{2 * cos[0], 2 * cos[1], 2 * cos[2]}, in[0], in[1], in[2])
		zeros := 0
		balance, size := q-sigt*psi, q
		for a, got := range []float64{oi, oj, ok} {
			if got < 0 || math.Abs(got-outs[a]) > tolerance*(1+in[a]) {
				t.Fatalf("outgoing flux %d is %g, exhaustive search %g", a, got, outs[a])
			}
			if got == 0 {
				zeros++
			}
			balance -= cos[a] * (got - in[a])
			size += cos[a] * in[a]
		}
		rounds[zeros]++
		if math.Abs(psi-want) > tolerance*want {
			t.Fatalf("psi %g, exhaustive search %g", psi, want)
		}
		if math.Abs(balance) > tolerance*size {
			t.Fatalf("cell loses or gains %g of %g", balance, size)
		}
	}
	for zeros := 1; zeros <= 3; zeros++ {
		if rounds[zeros] < 100 {
			t.Errorf("only %d cells had %d faces set to zero: the test does not reach that case", rounds[zeros], zeros)
		}
	}
}

func TestSweepsAllocateNothing(t *testing.T) {
	const runs = 2
	var problems []*problem // AllocsPerRun calls once more, to warm up
	for range runs + 1 {
		o := with(6, 40, nil)
		p := allocate(o)
		initialize(p, o, 1)
		problems = append(problems, p)
	}
	next := 0
	if a := testing.AllocsPerRun(runs, func() { inner(problems[next]); next++ }); a != 0 {
		t.Errorf("%g allocations in the iterations", a)
	}
}
