package main

import (
	"math"

	"presage/datasets/programs/internal/npb"
)

// logBlock is log2 of the pairs in a block.
const logBlock = 16

// annuli is how many of them are counted. A pair of numbers beyond the last, of
// which there is one in 10²³, would end the program.
const annuli = 10

// problem holds the parameters and the results.
type problem struct {
	class string
	pairs int
	block []float64 // uniform numbers of one block, in pairs

	sumX, sumY float64
	accepted   int
	count      [annuli]int
}

// allocate returns a problem with all the memory that it will ever use.
func allocate(o options) *problem {
	return &problem{class: o.class, pairs: 1 << o.n, block: make([]float64, 2<<min(o.n, logBlock))}
}

// tabulate goes through the blocks.
//
//go:noinline
func tabulate(p *problem) {
	for first := 0; first < 2*p.pairs; first += len(p.block) {
		x := uint64(npb.SeedEP)
		npb.Skip(&x, uint64(first))
		npb.Vranlc(&x, p.block)
		gaussian(p)
	}
}

// gaussian turns a block of uniform numbers into deviates, and counts these.
// Products are rounded before they are added up, so that no pair is on the other
// side of a limit on machines that would fuse the two.
//
//go:noinline
func gaussian(p *problem) {
	sumX, sumY := p.sumX, p.sumY
	for b := p.block; len(b) >= 2; b = b[2:] {
		x, y := 2*b[0]-1, 2*b[1]-1
		t := float64(x*x) + float64(y*y)
		if t > 1 {
			continue
		}
		scale := math.Sqrt(-2 * math.Log(t) / t)
		x, y = float64(x*scale), float64(y*scale)
		p.count[int(max(math.Abs(x), math.Abs(y)))]++
		p.accepted++
		sumX += x
		sumY += y
	}
	p.sumX, p.sumY = sumX, sumY
}
