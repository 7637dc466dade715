package spmv

import (
	"fmt"
	"strings"
)

// Family is a matrix of a published family, which is generated here: no stand-in.
type Family struct {
	Name  string
	About string
	build func() ([]Entry, int)
}

// AllFamilies returns the generated matrices.
func AllFamilies() []Family {
	return []Family{
		{"poisson2d", "Poisson's equation, five-point differences, 200 × 200 inner points", func() ([]Entry, int) { return poisson([]int{200, 200}) }},
		{"poisson3d", "Poisson's equation, seven-point differences, 34 × 34 × 34 inner points", func() ([]Entry, int) { return poisson([]int{34, 34, 34}) }},
		{"elastic3d", "linear elasticity, 15 × 15 × 15 trilinear bricks, three displacements a node, nothing held", func() ([]Entry, int) { return elasticity(15, 15, 15) }},
	}
}

// FindFamily returns the generated matrix called name.
func FindFamily(name string) (Family, error) {
	var names []string
	for _, f := range AllFamilies() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Family{}, fmt.Errorf("spmv: no generated matrix %q: there are %s", name, strings.Join(names, ", "))
}

// Generate returns the matrix.
func (f Family) Generate() (*Matrix, error) {
	entries, n := f.build()
	m, err := NewMatrix(n, n, entries)
	if err != nil {
		return nil, err
	}
	m.Name, m.Origin = f.Name, "generated: "+f.About
	return m, nil
}

// poisson returns the entries of minus the Laplacian by central differences on a grid
// with zeros around it, times the square of the spacing: twice the number of
// directions on the diagonal, -1 for each neighbour. The first index changes fastest.
func poisson(points []int) ([]Entry, int) {
	n := 1
	for _, p := range points {
		n *= p
	}
	var entries []Entry
	for at := range n {
		entries = append(entries, Entry{at, at, float64(2 * len(points))})
		rest, apart := at, 1
		for _, p := range points {
			if here := rest % p; here > 0 {
				entries = append(entries, Entry{at, at - apart, -1})
			}
			if here := rest % p; here < p-1 {
				entries = append(entries, Entry{at, at + apart, -1})
			}
			rest /= p
			apart *= p
		}
	}
	return entries, n
}

// poissonsRatio is that of steel; Young's modulus is 1, and so is the side of a brick.
const poissonsRatio = 0.3

// elasticity assembles the stiffness matrix of a body of bricks of eight nodes, with
// trilinear displacements and 2 × 2 × 2 points of Gauss' quadrature (Hughes, The
// Finite Element Method, chapter 3). Unknown 3 a + d is the displacement of node a
// in direction d; nodes are numbered along x first.
func elasticity(nx, ny, nz int) ([]Entry, int) {
	stiffness := brick()
	node := func(x, y, z int) int { return (z*(ny+1)+y)*(nx+1) + x }
	var entries []Entry
	for z := range nz {
		for y := range ny {
			for x := range nx {
				var unknowns [24]int
				for corner := range 8 {
					at := node(x+corner&1, y+corner>>1&1, z+corner>>2)
					for d := range 3 {
						unknowns[3*corner+d] = 3*at + d
					}
				}
				for i, row := range unknowns {
					for j, col := range unknowns {
						entries = append(entries, Entry{row, col, stiffness[i][j]})
					}
				}
			}
		}
	}
	return entries, 3 * (nx + 1) * (ny + 1) * (nz + 1)
}

// brick returns the stiffness of a unit cube: the integral of Bᵀ D B.
func brick() (k [24][24]float64) {
	const gauss = 0.28867513459481287 // half of 1/√3, from the middle
	d := hooke()
	for point := range 8 {
		at := [3]float64{}
		for i := range 3 {
			at[i] = 0.5 + gauss*float64(2*(point>>i&1)-1)
		}
		b := strains(at)
		for i := range 24 {
			for j := range 24 {
				sum := 0.0
				for r := range 6 {
					for s := range 6 {
						sum += b[r][i] * d[r][s] * b[s][j]
					}
				}
				k[i][j] += sum / 8 // the weight of a point
			}
		}
	}
	return k
}

// hooke returns the stresses by strains of an isotropic body, shear strains being
// those of engineers: xx, yy, zz, xy, yz, zx.
func hooke() (d [6][6]float64) {
	const v = poissonsRatio
	lame := v / ((1 + v) * (1 - 2*v))
	shear := 1 / (2 * (1 + v))
	for i := range 3 {
		for j := range 3 {
			d[i][j] = lame
		}
		d[i][i] += 2 * shear
		d[3+i][3+i] = shear
	}
	return d
}

// strains returns the strains at a place in the unit cube by the displacements of its
// corners. Corner c is at (c&1, c>>1&1, c>>2).
func strains(at [3]float64) (b [6][24]float64) {
	for corner := range 8 {
		var slope [3]float64 // of the corner's shape function
		for i := range 3 {
			slope[i] = 1
			for j := range 3 {
				up := corner>>j&1 == 1
				switch {
				case i == j && up:
				case i == j:
					slope[i] = -slope[i]
				case up:
					slope[i] *= at[j]
				default:
					slope[i] *= 1 - at[j]
				}
			}
		}
		u := 3 * corner
		b[0][u], b[1][u+1], b[2][u+2] = slope[0], slope[1], slope[2]
		b[3][u], b[3][u+1] = slope[1], slope[0]
		b[4][u+1], b[4][u+2] = slope[2], slope[1]
		b[5][u], b[5][u+2] = slope[2], slope[0]
	}
	return b
}
