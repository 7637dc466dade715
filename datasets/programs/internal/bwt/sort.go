// Package bwt transforms blocks of bytes as block-sorting compressors do before
// they code them: all rotations of a block are sorted, and their last letters, in
// that order, are taken (Burrows and Wheeler, SRC report 124, 1994); then each is
// replaced by how many other letters there were since it was there last (move to
// front). Both ways.
//
// Rotations are sorted by doubling: once they are in the order of their first h
// letters, the rank of each and of the one h letters later give that of 2h letters,
// with two passes of a counting sort (Manber and Myers; Karp, Miller and
// Rosenberg). It ends when all ranks differ, or when the block has been gone round,
// so that it repeats itself. The last letters come in runs, since what follows a
// letter tells much about it.
package bwt

// A Sorter sorts the rotations of a block.
type Sorter struct {
	Order []int32 // rotations, by their first letter's place, sorted by their first h letters
	rank  []int32 // of each rotation among those; equal where these letters are
	other []int32 // work space: an order, then ranks
	count []int32 // of each rank

	Rounds int // doublings so far, over all blocks
}

// NewSorter returns a sorter for blocks of at most that many bytes.
func NewSorter(most int) *Sorter {
	return &Sorter{
		Order: make([]int32, most), rank: make([]int32, most), other: make([]int32, most), count: make([]int32, max(most, 256)+1),
	}
}

// Rotations sorts the rotations of a block. Those that are equal, which a block
// that repeats itself has, stay in some order.
func (s *Sorter) Rotations(block []byte) {
	n := len(block)
	order, rank := s.Order[:n], s.rank[:n]
	ranks := s.letters(block)
	for h := 1; ranks < n && h < n; h *= 2 {
		s.Rounds++
		s.second(n, h)
		s.first(n, ranks)
		ranks = s.refine(order, rank, h)
	}
}

// letters sorts rotations by their first letter and returns how many different
// ones there are.
func (s *Sorter) letters(block []byte) (ranks int) {
	count := s.count[:257]
	clear(count)
	for _, c := range block {
		count[int(c)+1]++
	}
	var number [256]int32
	for c := range 256 {
		number[c] = int32(ranks)
		if count[c+1] > 0 {
			ranks++
		}
		count[c+1] += count[c]
	}
	for i, c := range block {
		s.Order[count[c]] = int32(i)
		count[c]++
		s.rank[i] = number[c]
	}
	return ranks
}

// second puts rotations in the order of their letters h to 2h-1: that is the order
// of the rotations h later.
func (s *Sorter) second(n, h int) {
	other := s.other[:n]
	for i, at := range s.Order[:n] {
		before := int(at) - h
		if before < 0 {
			before += n
		}
		other[i] = int32(before)
	}
}

// first sorts them by their first h letters, keeping the order of equal ones.
func (s *Sorter) first(n, ranks int) {
	count, rank := s.count[:ranks+1], s.rank[:n]
	clear(count)
	for _, r := range rank {
		count[r+1]++
	}
	for r := range ranks {
		count[r+1] += count[r]
	}
	order := s.Order[:n]
	for _, at := range s.other[:n] {
		r := rank[at]
		order[count[r]] = at
		count[r]++
	}
}

// refine ranks rotations by their first 2h letters and returns how many different
// ranks there are.
func (s *Sorter) refine(order, rank []int32, h int) (ranks int) {
	n := len(order)
	other := s.other[:n]
	later := func(at int32) int32 {
		i := int(at) + h
		if i >= n {
			i -= n
		}
		return rank[i]
	}
	last := int32(0)
	other[order[0]] = 0
	for i := 1; i < n; i++ {
		a, b := order[i-1], order[i]
		if rank[a] != rank[b] || later(a) != later(b) {
			last++
		}
		other[b] = last
	}
	copy(rank, other)
	return int(last) + 1
}

// Last returns the last letter of each rotation, in their order, and where the
// block itself stands among them.
func (s *Sorter) Last(dst, block []byte) (at int) {
	n := len(block)
	for i, r := range s.Order[:n] {
		if r == 0 {
			at = i
			r = int32(n)
		}
		dst[i] = block[r-1]
	}
	return at
}

// Invert makes the block from the last letters of its rotations and where it
// stands among them. next is work space.
func Invert(dst, last []byte, at int, next []int32) {
	var count [257]int32
	for _, c := range last {
		count[int(c)+1]++
	}
	for c := range 256 {
		count[c+1] += count[c]
	}
	// The k-th rotation that begins with a letter is the k-th that ends with it,
	// gone back by one.
	for i, c := range last {
		next[count[c]] = int32(i)
		count[c]++
	}
	i := next[at]
	for k := range dst {
		dst[k] = last[i]
		i = next[i]
	}
}
