package main

import (
	"errors"
	"fmt"
	"io"
	"math"

	"presage/datasets/programs/internal/bwt"
)

// problem is what a run works on.
type problem struct {
	options
	author  *author
	text    []byte // a block of it
	data    []byte // letters, then numbers, of the block
	decoded []byte
	next    []int32
	sorter  *bwt.Sorter
	encoder encoder
	decoder decoder

	// What came out.
	letters [256]uint64 // of the text
	blocks  int
	bytes   uint64 // compressed
	sum     uint32 // of the compressed bytes: Fletcher's, modulo 65535
	err     error  // the first check that failed
}

// seed of the text.
const seed = 1994

func allocate(o options) *problem {
	most := min(o.n, o.block) << 10
	p := &problem{
		options: o, author: newAuthor(seed),
		text: make([]byte, most), data: make([]byte, most), decoded: make([]byte, most), next: make([]int32, most),
		sorter: bwt.NewSorter(most),
	}
	// Chances are never below 2^-12 and some: a number takes 12 bits a bit at most.
	p.encoder.out = make([]byte, 12*most+16)
	return p
}

// compress does the whole text.
func compress(p *problem) {
	for left := p.n << 10; left > 0 && p.err == nil; {
		size := min(left, p.block<<10)
		left -= size
		p.author.write(p.text[:size])
		for _, c := range p.text[:size] {
			p.letters[c]++
		}
		p.one(p.text[:size])
		p.blocks++
	}
}

// one does a block, and checks it.
func (p *problem) one(text []byte) {
	n := len(text)
	data, decoded := p.data[:n], p.decoded[:n]
	p.sorter.Rotations(text)
	at := p.sorter.Last(data, text)
	bwt.ToFront(data)
	size := p.encoder.block(data)
	p.bytes += uint64(size)
	p.add(p.encoder.out[:size])

	p.decoder.block(data, p.encoder.out[:size])
	bwt.FromFront(data)
	bwt.Invert(decoded, data, at, p.next[:n])
	p.err = errors.Join(compare(decoded, text), checkOrder(p.sorter.Order[:n], text, p.next[:n]))
}

func (p *problem) add(data []byte) {
	a, b := p.sum&0xffff, p.sum>>16
	for _, c := range data {
		a = (a + uint32(c)) % 65535
		b = (b + a) % 65535
	}
	p.sum = b<<16 | a
}

func compare(got, want []byte) error {
	for i := range got {
		if got[i] != want[i] {
			return fmt.Errorf("letter %d of a block was decoded as %#02x, and is %#02x", i, got[i], want[i])
		}
	}
	return nil
}

// checkOrder reports rotations that are missing or out of order. seen is work
// space.
func checkOrder(order []int32, text []byte, seen []int32) error {
	clear(seen)
	n := len(text)
	for i, at := range order {
		if seen[at]++; seen[at] > 1 {
			return fmt.Errorf("rotation %d stands twice in the order", at)
		}
		if i == 0 {
			continue
		}
		before := order[i-1]
		if text[before] > text[at] {
			return fmt.Errorf("rotation %d stands before %d, which begins with a smaller letter", before, at)
		}
		if i%16 == 0 && !inOrder(text, int(before), int(at), n) {
			return fmt.Errorf("rotation %d stands before %d, which is smaller", before, at)
		}
	}
	return nil
}

func inOrder(text []byte, a, b, n int) bool {
	for range n {
		if text[a] != text[b] {
			return text[a] < text[b]
		}
		if a++; a == n {
			a = 0
		}
		if b++; b == n {
			b = 0
		}
	}
	return true
}

func report(w io.Writer, p *problem) {
	fmt.Fprintf(w, "compressor: %d KiB in blocks of %d KiB\n", p.n, p.block)
	fmt.Fprintf(w, "blocks: %d, rounds of sorting %d\n", p.blocks, p.sorter.Rounds)
	fmt.Fprintf(w, "compressed: %d bytes, checksum %08x\n", p.bytes, p.sum)
	fmt.Fprintf(w, "letter by letter: %d bytes\n", p.entropy())
}

// entropy is how many bytes the text takes if each letter is coded by its
// frequency.
func (p *problem) entropy() uint64 {
	bits, total := 0.0, float64(p.n<<10)
	for _, c := range p.letters {
		if c > 0 {
			bits -= float64(c) * math.Log2(float64(c)/total)
		}
	}
	return uint64(bits / 8)
}

// overhead is what a block costs beyond its text, in bytes, until chances are
// learnt: those of some 9 contexts of a few dozen numbers each.
const overhead = 512

// verify checks the result as a whole.
func verify(p *problem) error {
	if p.err != nil {
		return p.err
	}
	if most := p.entropy() + uint64(p.blocks)*overhead; p.bytes > most {
		return fmt.Errorf("%d bytes for a text of which each letter by itself takes %d", p.bytes, most)
	}
	// A word of the text has a chance of an eighth if it goes with the word before,
	// and less otherwise: it takes three bits. One bit leaves room for words that go
	// with another twice.
	if least := p.author.choices / 8; p.bytes < least {
		return fmt.Errorf("%d bytes for a text of %d words: it holds %d bytes at least", p.bytes, p.author.choices, least)
	}
	return nil
}
