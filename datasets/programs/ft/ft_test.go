package main

import (
	"bytes"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"presage/datasets/programs/internal/program"
)

func solve(o options) *problem {
	p := allocate(o)
	initialize(p)
	iterate(p)
	return p
}

func TestNASVerification(t *testing.T) {
	for name, o := range classes {
		if testing.Short() && name == "A" {
			continue
		}
		if len(references[name]) != o.iterations {
			t.Errorf("class %s: %d checksums for %d iterations", name, len(references[name]), o.iterations)
		}
		o.class = name
		p := solve(o)
		if err := verify(p, examine(p)); err != nil {
			t.Errorf("class %s: %v", name, err)
		}
	}
	if len(classes) != 3 || len(references) != 3 {
		t.Errorf("classes %v", classes)
	}
}

// definition is the discrete Fourier transform as a sum over all elements.
func definition(x []complex128, nx, ny, nz int, sign float64) []complex128 {
	out := make([]complex128, len(x))
	for to := range out {
		for from, e := range x {
			turn := float64(to%nx*(from%nx))/float64(nx) + float64(to/nx%ny*(from/nx%ny))/float64(ny) + float64(to/nx/ny*(from/nx/ny))/float64(nz)
			out[to] += e * cmplx.Exp(complex(0, sign*2*math.Pi*turn))
		}
	}
	return out
}

var meshes = []options{{nx: 2, ny: 2, nz: 2}, {nx: 4, ny: 2, nz: 8}, {nx: 32, ny: 4, nz: 2}, {nx: 2, ny: 32, nz: 4}, {nx: 4, ny: 8, nz: 16}, {nx: 32, ny: 32, nz: 2}}

func TestTransformsMatchDefinition(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	r := rand.New(rand.NewPCG(7, 8))
	for _, o := range meshes {
		p := allocate(o)
		fftInit(p.roots)
		for i := range p.u1 {
			p.u1[i] = complex(r.Float64()-0.5, r.Float64()-0.5)
		}
		for _, sign := range []int{-1, +1} {
			want := definition(p.u1, o.nx, o.ny, o.nz, float64(sign))
			fft(p, sign, p.u1, p.u0)
			inPlace := slices.Clone(p.u1)
			fft(p, sign, inPlace, inPlace)
			for i, w := range want {
				if cmplx.Abs(p.u0[i]-w) > 1e-11 || p.u0[i] != inPlace[i] {
					t.Fatalf("%+v, sign %d, element %d: %g, in place %g, want %g", o, sign, i, p.u0[i], inPlace[i], w)
				}
			}
		}
	}
}

// The field at the end, from the definition alone: forward sum, one exponential
// function with wave numbers counted here, sum back, elements added up.
func TestChecksumMatchesDefinition(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, o := range meshes {
		o.iterations = 3
		p := solve(o)
		first := allocate(o)
		initialize(first)
		waves := definition(first.u1, o.nx, o.ny, o.nz, -1)
		for it, got := range p.checksums {
			now := slices.Clone(waves)
			for i := range now {
				square := 0.0
				for _, d := range [][2]int{{i % o.nx, o.nx}, {i / o.nx % o.ny, o.ny}, {i / o.nx / o.ny, o.nz}} {
					k := float64(d[0])
					if 2*d[0] >= d[1] {
						k -= float64(d[1])
					}
					square += k * k
				}
				now[i] *= complex(math.Exp(-4e-6*math.Pi*math.Pi*square*float64(it+1)), 0)
			}
			field := definition(now, o.nx, o.ny, o.nz, +1)
			want := complex128(0)
			for j := 1; j <= 1024; j++ {
				want += field[j%o.nx+o.nx*(3*j%o.ny)+o.nx*o.ny*(5*j%o.nz)] / complex(float64(len(field)), 0)
			}
			if cmplx.Abs(got-want) > 1e-9 {
				t.Errorf("%+v: checksum %d is %g, want %g", o, it+1, got, want)
			}
		}
	}
}

func TestVerifyAcceptsEverySize(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, nx := range []int{2, 8, 64} {
		for _, ny := range []int{2, 16, 32} {
			for _, nz := range []int{2, 4, 64} {
				for _, iterations := range []int{1, 7} {
					o := options{nx: nx, ny: ny, nz: nz, iterations: iterations}
					p := solve(o)
					if err := verify(p, examine(p)); err != nil {
						t.Errorf("%+v: %v", o, err)
					}
				}
			}
		}
	}
}

// Each of these breaks one thing; the verdict must be FAILED, for that reason.
func TestVerifyRejects(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, tc := range []struct {
		name, want    string
		before, after func(*problem)
	}{
		{name: "energy", want: "energy of the transform", after: func(p *problem) { p.spectrum *= 1 + 1e-9 }},
		{name: "initial field", want: "the transform, after the steps", before: func(p *problem) {
			p.u1[77], p.u1[78] = p.u1[78], p.u1[77]
		}},
		{name: "twiddle", want: "the transform, after the steps", before: func(p *problem) {
			for i := range p.twiddle {
				p.twiddle[i] *= 1 - 1e-6
			}
		}},
		{name: "root", want: "energy of the transform", before: func(p *problem) { p.roots[8+3] *= 1.001 }},
		{name: "roots for one another", want: "the transform, after the steps", before: func(p *problem) {
			p.roots[8+3], p.roots[8+4] = p.roots[8+4], p.roots[8+3]
		}},
		{name: "field", want: "not the inverse", after: func(p *problem) {
			for i := range p.u1 {
				p.u1[i] *= 1 + 1e-6
			}
		}},
		{name: "checksum", want: "checksum of iteration 2", after: func(p *problem) { p.checksums[1] += 2e-9 }},
		{name: "not a number", want: "not the inverse", after: func(p *problem) { p.u1[0] = cmplx.NaN() }},
		{name: "checksum not a number", want: "checksum of iteration 6", after: func(p *problem) { p.checksums[5] = cmplx.NaN() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := classes["S"]
			o.class = "S"
			p := allocate(o)
			initialize(p)
			if tc.before != nil {
				tc.before(p)
			}
			iterate(p)
			if tc.after != nil {
				tc.after(p)
			}
			var out bytes.Buffer
			status := program.Conclude(&out, verify(p, examine(p)))
			got := out.String()
			if status != program.Failed || !strings.HasPrefix(got, "verification: FAILED: ") || !strings.Contains(got, tc.want) {
				t.Errorf("status %d, output %q, want FAILED with %q", status, got, tc.want)
			}
		})
	}
}

func TestIterationsDoNotAllocate(t *testing.T) {
	p := solve(options{nx: 8, ny: 4, nz: 2, iterations: 3})
	if a := testing.AllocsPerRun(3, func() { p.checksums = p.checksums[:0]; initialize(p); iterate(p) }); a != 0 {
		t.Errorf("%g allocations", a)
	}
}

func TestRun(t *testing.T) {
	for _, tc := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{"-n 8", 0, "ft: mesh 8 x 8 x 8, iterations 6\n", ""},
		{"-n 8 -ny 4", 0, "ft: mesh 8 x 4 x 4, iterations 6\n", ""},
		{"-class S", 0, "class S: NAS's checksum 6 is 554.268341190 493.259724494\n", ""},
		{"-class S -iterations 2", 0, "iteration 2: checksum 554.638540919 486.530426951\ntransforms", ""},
		{"-n 8 -quiet", 0, "verification: successful\n", ""},
		{"-help", 0, "", "usage: ft"},
		{"-class B", 2, "", `ft: -class "B": want S, W or A`},
		{"-class S -nz 64", 2, "", "-nz: class S sets it"},
		{"-n 1", 2, "", "-n 1: want a power of two from 2 to 512\n"},
		{"-n 8 -ny 12", 2, "", "-ny 12: want a power of two from 2 to 512\n"},
		{"-n 8 -nz 1024", 2, "", "-nz 1024: want a power of two from 2 to 512\n"},
		{"-iterations 0", 2, "", "-iterations 0: want an integer from 1 to 1000"},
		{"-n ten", 2, "", `invalid value "ten" for flag -n`},
		{"-n 8 20", 2, "", `unexpected argument "20"`},
	} {
		t.Run(tc.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := run(strings.Fields(tc.args), &stdout, &stderr); status != tc.status {
				t.Errorf("exit status %d, want %d\n%s", status, tc.status, &stdout)
			}
			if !strings.Contains(stdout.String(), tc.stdout) || tc.stdout == "" && stdout.Len() > 0 {
				t.Errorf("stdout %q, want %q", stdout.String(), tc.stdout)
			}
			if !strings.Contains(stderr.String(), tc.stderr) || tc.stderr == "" && stderr.Len() > 0 {
				t.Errorf("stderr %q, want %q", stderr.String(), tc.stderr)
			}
			if strings.Contains(tc.args, "-quiet") && strings.Count(stdout.String(), "\n") != 1 {
				t.Errorf("-quiet printed %q", stdout.String())
			}
		})
	}
}
