package main

// sorter holds a block on its way through the compressor.
type sorter struct {
	block, last, expanded []byte  // input; last column of the sorted rotations; what comes back
	order, spare          []int32 // rotations, sorted; work space
	rank, fresh           []int32 // by rotation: how many are less in the bytes compared so far
	count                 []int32
	first                 int // place of the block itself among its rotations
	symbols               []uint16
	bits                  bitstring
}

func newSorter(n int) *sorter {
	i32 := func(n int) []int32 { return make([]int32, n) }
	return &sorter{
		block: make([]byte, n), last: make([]byte, n), expanded: make([]byte, n),
		order: i32(n), spare: i32(n), rank: i32(n), fresh: i32(n), count: i32(max(n, 256) + 1),
		symbols: make([]uint16, 0, n+64), bits: bitstring{data: make([]byte, 0, 2*n+1024)},
	}
}

// compress turns the block into bits.
func (s *sorter) compress() {
	s.rotations()
	n := len(s.block)
	for i, r := range s.order {
		if r == 0 {
			s.first, r = i, int32(n)
		}
		s.last[i] = s.block[r-1]
	}
	s.frontCoded()
	s.encode()
}

// rotations sorts the rotations of the block, by their first 1, 2, 4, … bytes:
// one that begins k bytes later is sorted by k already.
func (s *sorter) rotations() {
	n := len(s.block)
	for i, c := range s.block {
		s.rank[i], s.spare[i] = int32(c), int32(i)
	}
	s.place(256)
	classes := s.classify(0)
	for k := 1; k < n && classes < n; k *= 2 {
		for i, r := range s.order {
			r -= int32(k)
			if r < 0 {
				r += int32(n)
			}
			s.spare[i] = r
		}
		s.place(classes)
		classes = s.classify(k)
	}
}

// place sorts the rotations in spare by rank into order, equal ones in their
// order.
func (s *sorter) place(classes int) {
	count := s.count[:classes+1]
	clear(count)
	for _, r := range s.rank {
		count[r+1]++
	}
	for c := 1; c <= classes; c++ {
		count[c] += count[c-1]
	}
	for _, r := range s.spare {
		c := s.rank[r]
		s.order[count[c]] = r
		count[c]++
	}
}

// classify ranks the sorted rotations by their rank and that of those k bytes
// later, and returns how many ranks there are.
func (s *sorter) classify(k int) int {
	n := len(s.block)
	class := int32(0)
	s.fresh[s.order[0]] = 0
	for i := 1; i < n; i++ {
		a, b := int(s.order[i-1]), int(s.order[i])
		if s.rank[a] != s.rank[b] || s.rank[(a+k)%n] != s.rank[(b+k)%n] {
			class++
		}
		s.fresh[b] = class
	}
	s.rank, s.fresh = s.fresh, s.rank
	return int(class) + 1
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

// frontCoded turns the last column into symbols.
func (s *sorter) frontCoded() {
	s.symbols = s.symbols[:0]
	list := allBytes()
	run := 0
	for _, c := range s.last {
		at := 0
		for list[at] != c {
			at++
		}
		if at == 0 {
			run++
			continue
		}
		s.run(run)
		run = 0
		copy(list[1:at+1], list[:at])
		list[0] = c
		s.symbols = append(s.symbols, uint16(places+at-1))
	}
	s.run(run)
	s.symbols = append(s.symbols, end)
}

func (s *sorter) run(n int) {
	for ; n > 0; n = (n - 1) / 2 {
		s.symbols = append(s.symbols, uint16(digitOne+(n-1)%2))
	}
}

func allBytes() (list [256]byte) {
	for i := range list {
		list[i] = byte(i)
	}
	return list
}
