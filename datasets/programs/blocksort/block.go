package main

import "presage/datasets/programs/internal/bwt"

// packer holds a block on its way through the compressor.
type packer struct {
	block, expanded []byte // input; what comes back
	data            []byte // last letters of the rotations, then numbers
	sorter          *bwt.Sorter
	first           int     // place of the block itself among its rotations
	next            []int32 // of the way back
	symbols         []uint16
	bits            bitstring
}

func newPacker(n int) *packer {
	return &packer{
		block: make([]byte, n), expanded: make([]byte, n), data: make([]byte, n), sorter: bwt.NewSorter(n), next: make([]int32, n),
		symbols: make([]uint16, 0, n+64), bits: bitstring{data: make([]byte, 0, 2*n+1024)},
	}
}

// compress turns the block into bits.
func (p *packer) compress() {
	p.sorter.Rotations(p.block)
	p.first = p.sorter.Last(p.data, p.block)
	bwt.ToFront(p.data)
	p.runs()
	p.encode()
}

// expand turns the bits into a block again.
func (p *packer) expand() error {
	if err := p.decode(); err != nil {
		return err
	}
	bwt.FromFront(p.data)
	bwt.Invert(p.expanded, p.data, p.first, p.next)
	return nil
}

// Symbols: two digits of the bijective binary numbers that tell the length of a
// run of zeros, then the places 1 to 255 of move-to-front, and the end.
const (
	digitOne = iota
	digitTwo
	places
	end      = places + 255
	alphabet = end + 1
)

// runs turns numbers into symbols.
func (p *packer) runs() {
	p.symbols = p.symbols[:0]
	run := 0
	for _, at := range p.data {
		if at == 0 {
			run++
			continue
		}
		p.run(run)
		run = 0
		p.symbols = append(p.symbols, places+uint16(at)-1)
	}
	p.run(run)
	p.symbols = append(p.symbols, end)
}

func (p *packer) run(n int) {
	for ; n > 0; n = (n - 1) / 2 {
		p.symbols = append(p.symbols, uint16(digitOne+(n-1)%2))
	}
}
