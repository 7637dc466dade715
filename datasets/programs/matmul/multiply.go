package main

// problem holds the matrices, each row-major in a flat slice of n² elements,
// and what the check needs.
type problem struct {
	n, block, repeat int

	a, b, c []float64

	x, y, z, w [checks][]float64 // fixed vectors x; then B x, A (B x) and C x
}

// checks is the number of vectors that the product is checked with.
const checks = 3

// allocate returns a problem with all the memory that it will ever use.
func allocate(o options) *problem {
	p := &problem{
		n: o.n, block: min(o.block, o.n), repeat: o.repeat,
		a: make([]float64, o.n*o.n),
		b: make([]float64, o.n*o.n),
		c: make([]float64, o.n*o.n),
	}
	for v := range checks {
		p.x[v] = make([]float64, o.n)
		p.y[v] = make([]float64, o.n)
		p.z[v] = make([]float64, o.n)
		p.w[v] = make([]float64, o.n)
	}
	return p
}

// initialize sets A, B and the vectors x to fixed numbers and C to zero.
//
//go:noinline
func initialize(p *problem) {
	g := generator(1)
	g.fill(p.a)
	g.fill(p.b)
	for v := range p.x {
		g.fill(p.x[v])
	}
	clear(p.c)
}

// generator is a linear congruential generator modulo 2⁶⁴, with the multiplier
// and increment of Knuth's MMIX. Its upper bits are good enough here.
type generator uint64

// fill sets v to numbers in [½, 1). They are positive so that sums of products
// lose nothing by cancellation, and never zero so that every element counts.
func (g *generator) fill(v []float64) {
	s := uint64(*g)
	for i := range v {
		s = s*6364136223846793005 + 1442695040888963407
		v[i] = 0.5 + float64(s>>12)*0x1p-53 // 52 bits: exact
	}
	*g = generator(s)
}

// multiply adds A B to C, tile by tile. A tile of C is used up before the next
// one, those of A in its rows are used again for each of them, and all of B for
// each row of tiles.
//
//go:noinline
func multiply(p *problem) {
	n := p.n
	for i := 0; i < n; i += p.block {
		rows := min(p.block, n-i)
		for j := 0; j < n; j += p.block {
			columns := min(p.block, n-j)
			for k := 0; k < n; k += p.block {
				multiplyTile(p.c[i*n+j:], p.a[i*n+k:], p.b[k*n+j:], n, rows, columns, min(p.block, n-k))
			}
		}
	}
}

// multiplyTile adds the product of a tile of A (rows x depth) and one of B
// (depth x columns) to a tile of C (rows x columns). Each slice begins at the
// tile's first element and goes on to the end of its matrix, whose rows are n
// elements long.
//
//go:noinline
func multiplyTile(c, a, b []float64, n, rows, columns, depth int) {
	for i := range rows {
		ci := c[i*n:][:columns]
		for k, s := range a[i*n:][:depth] {
			bk := b[k*n:][:len(ci)]
			for j := range ci {
				ci[j] += s * bk[j]
			}
		}
	}
}
