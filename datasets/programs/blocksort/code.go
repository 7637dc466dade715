package main

import "errors"

// bitstring is bits, the first in the highest place of the first byte.
type bitstring struct {
	data []byte
	n    int
}

func (b *bitstring) add(value uint32, width int) {
	for i := width - 1; i >= 0; i-- {
		if b.n%8 == 0 {
			b.data = append(b.data, 0)
		}
		b.data[b.n/8] |= byte(value>>i&1) << (7 - b.n%8)
		b.n++
	}
}

func (b *bitstring) at(i int) uint32 { return uint32(b.data[i/8]>>(7-i%8)) & 1 }

// lengths returns the lengths of a Huffman code: the two rarest trees are joined
// until one is left.
func lengths(symbols []uint16) [alphabet]int {
	var weight [2 * alphabet]int
	var up [2 * alphabet]int
	for _, s := range symbols {
		weight[s]++
	}
	var heap []int
	less := func(a, b int) bool { return weight[a] < weight[b] || weight[a] == weight[b] && a < b }
	for s := range alphabet {
		if weight[s] > 0 {
			heap = insert(heap, s, less)
		}
	}
	var length [alphabet]int
	if len(heap) == 1 {
		length[heap[0]] = 1
		return length
	}
	next := alphabet
	for len(heap) > 1 {
		var a, b int
		a, heap = least(heap, less)
		b, heap = least(heap, less)
		weight[next] = weight[a] + weight[b]
		up[a], up[b] = next, next
		heap = insert(heap, next, less)
		next++
	}
	for s := range alphabet {
		for t := s; up[t] != 0; t = up[t] {
			length[s]++
		}
	}
	return length
}

func insert(heap []int, x int, less func(a, b int) bool) []int {
	heap = append(heap, x)
	for i := len(heap) - 1; i > 0 && less(heap[i], heap[(i-1)/2]); i = (i - 1) / 2 {
		heap[i], heap[(i-1)/2] = heap[(i-1)/2], heap[i]
	}
	return heap
}

func least(heap []int, less func(a, b int) bool) (int, []int) {
	top, n := heap[0], len(heap)-1
	heap[0] = heap[n]
	heap = heap[:n]
	for i := 0; 2*i+1 < n; {
		d := 2*i + 1
		if d+1 < n && less(heap[d+1], heap[d]) {
			d++
		}
		if !less(heap[d], heap[i]) {
			break
		}
		heap[i], heap[d] = heap[d], heap[i]
		i = d
	}
	return top, heap
}

// maxLength is more than a code of any block can need: weights grow as
// Fibonacci's numbers do, and blocks have at most 2^24 symbols or so.
const maxLength = 40

// canonical returns, by length, the first code word and how many there are, and
// the symbols by code word.
func canonical(length *[alphabet]int) (first, count [maxLength + 1]uint32, sorted []uint16) {
	code := uint32(0)
	for n := 1; n <= maxLength; n++ {
		first[n] = code
		for s, l := range length {
			if l == n {
				sorted = append(sorted, uint16(s))
				count[n]++
			}
		}
		code = (code + count[n]) << 1
	}
	return first, count, sorted
}

// encode turns the symbols into bits: the lengths of the code, and then the
// code.
func (p *packer) encode() {
	p.bits = bitstring{data: p.bits.data[:0]}
	length := lengths(p.symbols)
	for _, l := range length {
		p.bits.add(uint32(l), 6)
	}
	first, _, sorted := canonical(&length)
	var word [alphabet]uint32
	taken := first
	for _, symbol := range sorted {
		l := length[symbol]
		word[symbol] = taken[l]
		taken[l]++
	}
	for _, symbol := range p.symbols {
		p.bits.add(word[symbol], length[symbol])
	}
}

var errBits = errors.New("the bits are no code")

// decode turns the bits into numbers again.
func (p *packer) decode() error {
	var length [alphabet]int
	at := 0
	take := func() uint32 { at++; return p.bits.at(at - 1) }
	for i := range length {
		for range 6 {
			length[i] = length[i]<<1 | int(take())
		}
	}
	first, count, sorted := canonical(&length)
	numbers := p.data[:0]
	run, digit := 0, 1
	for {
		code, base, l := uint32(0), 0, 1
		for ; ; l++ {
			if l > maxLength || at >= p.bits.n {
				return errBits
			}
			code = code<<1 | take()
			if code-first[l] < count[l] {
				break
			}
			base += int(count[l])
		}
		symbol := sorted[base+int(code-first[l])]
		if symbol < places {
			run += digit * (int(symbol) + 1)
			digit *= 2
			continue
		}
		for range run {
			numbers = append(numbers, 0)
		}
		run, digit = 0, 1
		if symbol == end {
			break
		}
		numbers = append(numbers, byte(symbol-places+1))
	}
	if len(numbers) != len(p.block) {
		return errBits
	}
	return nil
}
