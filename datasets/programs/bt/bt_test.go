package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"presage/datasets/programs/internal/cfd"
	"presage/datasets/programs/internal/cfdtest"
)

var tested = cfdtest.Program{
	Name: "bt", Benchmark: "BT", Allocate: allocate,
	ComputeRHS: func(s cfd.Solver) { s.(interface{ computeRHS() }).computeRHS() },
}

func TestClassesVerify(t *testing.T)     { cfdtest.Verified(t, tested) }
func TestRightHandSide(t *testing.T)     { cfdtest.RightHandSide(t, tested) }
func TestStructuresAgree(t *testing.T)   { cfdtest.Agreement(t, tested) }
func TestStructuresPrint(t *testing.T)   { cfdtest.Prints(t, tested) }
func TestSteps(t *testing.T)             { cfdtest.Steps(t, tested) }
func TestConverges(t *testing.T)         { cfdtest.Converges(t, tested) }
func TestBrokenResultsFail(t *testing.T) { cfdtest.Fails(t, tested) }

func random(r *rand.Rand, scale float64, a []float64) {
	for i := range a {
		a[i] = scale * r.NormFloat64()
	}
}

// dominant returns a block near the identity.
func dominant(r *rand.Rand) (b block) {
	random(r, 0.3, b[:])
	for e := 0; e < len(b); e += 6 {
		b[e] += 2
	}
	return b
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-12*(1+math.Abs(want)) }

// The routines on blocks against the sums that define them.
func TestBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var a, c, product block
	var x, y [5]float64
	random(r, 1, a[:])
	random(r, 1, c[:])
	random(r, 1, x[:])
	random(r, 1, y[:])
	b := dominant(r)

	times := func(p, q *block) (out block) {
		for i := range 5 {
			for j := range 5 {
				for k := range 5 {
					out[i+5*j] += p[i+5*k] * q[k+5*j]
				}
			}
		}
		return out
	}
	apply := func(p *block, v *[5]float64) (out [5]float64) {
		for i := range 5 {
			for k := range 5 {
				out[i] += p[i+5*k] * v[k]
			}
		}
		return out
	}

	product = times(&a, &b)
	got := c
	matmulSub(&a, &b, &got)
	for e := range got {
		if !near(got[e], c[e]-product[e]) {
			t.Errorf("matmulSub: element %d is %v, want %v", e, got[e], c[e]-product[e])
		}
	}

	moved := y
	matvecSub(&a, &x, &moved)
	for m, v := range apply(&a, &x) {
		if !near(moved[m], y[m]-v) {
			t.Errorf("matvecSub: element %d is %v, want %v", m, moved[m], y[m]-v)
		}
	}

	solved, solvedX := c, x
	spent := b
	binvcrhs(&spent, &solved, &solvedX)
	back := times(&b, &solved)
	for e := range back {
		if !near(back[e], c[e]) {
			t.Errorf("binvcrhs: b (b⁻¹ c) has %v in element %d, want %v", back[e], e, c[e])
		}
	}
	alone := x
	spent = b
	binvrhs(&spent, &alone)
	for m, v := range apply(&b, &solvedX) {
		if !near(v, x[m]) || !near(alone[m], solvedX[m]) {
			t.Errorf("b (b⁻¹ x) has %v in element %d, want %v; binvrhs got %v, binvcrhs %v", v, m, x[m], alone[m], solvedX[m])
		}
	}
}

// flux is F_d and G_d (without k) as the comment of package cfd defines them.
func flux(u [5]float64, axis int) (f, g [5]float64) {
	v := [3]float64{u[1] / u[0], u[2] / u[0], u[3] / u[0]}
	half := (v[0]*v[0] + v[1]*v[1] + v[2]*v[2]) / 2
	w := v[axis]
	f[0] = u[1+axis]
	for m := range v {
		f[1+m] = u[1+m] * w
		g[1+m] = cfd.C3C4 * v[m]
	}
	f[1+axis] += cfd.C2 * (u[4] - u[0]*half)
	g[1+axis] *= 4.0 / 3
	f[4] = (cfd.C1*u[4] - cfd.C2*u[0]*half) * w
	g[4] = cfd.C3C4 * ((1-cfd.C1C5)*half + w*w/6 + cfd.C1C5*u[4]/u[0])
	return f, g
}

// The Jacobians against central differences of the fluxes.
func TestJacobians(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for axis, jacobian := range []func(f, g *block, u *[5]float64, rhoI, qs, square float64){jacobianX, jacobianY, jacobianZ} {
		for range 10 {
			u := [5]float64{2 + r.Float64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), 5 + r.Float64()}
			square := (u[1]*u[1] + u[2]*u[2] + u[3]*u[3]) / 2 / u[0]
			var f, g block
			random(r, 1, f[:]) // whatever is not set shows
			random(r, 1, g[:])
			jacobian(&f, &g, &u, 1/u[0], square/u[0], square)
			for column := range u {
				const h = 1e-5
				up, down := u, u
				up[column] += h
				down[column] -= h
				fUp, gUp := flux(up, axis)
				fDown, gDown := flux(down, axis)
				for m := range u {
					at := m + 5*column
					if want := (fUp[m] - fDown[m]) / (2 * h); math.Abs(f[at]-want) > 1e-8 {
						t.Errorf("axis %d: ∂F%d/∂u%d is %v, want %v", axis, m+1, column+1, f[at], want)
					}
					if want := (gUp[m] - gDown[m]) / (2 * h); math.Abs(g[at]-want) > 1e-8 {
						t.Errorf("axis %d: ∂G%d/∂u%d is %v, want %v", axis, m+1, column+1, g[at], want)
					}
				}
			}
		}
	}
}
