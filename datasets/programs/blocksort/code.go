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
func (s *sorter) encode() {
	s.bits = bitstring{data: s.bits.data[:0]}
	length := lengths(s.symbols)
	for _, l := range length {
		s.bits.add(uint32(l), 6)
	}
	first, _, sorted := canonical(&length)
	var word [alphabet]uint32
	taken := first
	for _, symbol := range sorted {
		l := length[symbol]
		word[symbol] = taken[l]
		taken[l]++
	}
	for _, symbol := range s.symbols {
		s.bits.add(word[symbol], length[symbol])
	}
}

var errBits = errors.New("the bits are no code")

// expand turns the bits into a block again.
func (s *sorter) expand() error {
	var length [alphabet]int
	at := 0
	take := func() uint32 { at++; return s.bits.at(at - 1) }
	for i := range length {
		for range 6 {
			length[i] = length[i]<<1 | int(take())
		}
	}
	first, count, sorted := canonical(&length)
	list := allBytes()
	column := s.expanded[:0]
	run, digit := 0, 1
	for {
		code, base, l := uint32(0), 0, 1
		for ; ; l++ {
			if l > maxLength || at >= s.bits.n {
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
			column = append(column, list[0])
		}
		run, digit = 0, 1
		if symbol == end {
			break
		}
		p := int(symbol) - places + 1
		c := list[p]
		copy(list[1:p+1], list[:p])
		list[0] = c
		column = append(column, c)
	}
	if len(column) != len(s.block) {
		return errBits
	}
	s.unsort(column)
	return nil
}

// unsort turns the last column of the sorted rotations into the block: the row
// that a byte of it begins is the one of its rank among equal ones.
func (s *sorter) unsort(column []byte) {
	var starts [257]int32
	for _, c := range column {
		starts[int(c)+1]++
	}
	for c := range 256 {
		starts[c+1] += starts[c]
	}
	for i, c := range column {
		s.spare[i] = starts[c]
		starts[c]++
	}
	copy(s.last, column)
	row := int32(s.first)
	for i := len(column) - 1; i >= 0; i-- {
		s.expanded[i] = s.last[row]
		row = s.spare[row]
	}
}
