package replay

// cells know, of words of memory that integers were stored in, which reference did so last
// and at which iteration vector.
type cells struct {
	pages   map[uint64]*cellPage
	page    *cellPage // the one used last
	number  uint64    // of it
	vectors []int32   // of cells, each after its length
	full    bool      // there were too many, and nothing more is known
}

// cell is what is known of a word.
type cell struct {
	writer int32  // number of the reference, from 1; 0: none
	at     uint32 // of cells.vectors
}

const (
	wordBytes = 4
	pageWords = 1 << 10
	// maxVectors bounds what is kept of vectors: 256 MB.
	maxVectors = 1 << 26
)

type cellPage [pageWords]cell

func newCells() *cells { return &cells{pages: make(map[uint64]*cellPage)} }

// word returns the cell of an address; nil if there is none, unless it is to be made.
func (c *cells) word(addr uint64, create bool) *cell {
	n := addr / (wordBytes * pageWords)
	if c.page == nil || c.number != n {
		p := c.pages[n]
		if p == nil {
			if !create {
				return nil
			}
			p = new(cellPage)
			c.pages[n] = p
		}
		c.page, c.number = p, n
	}
	return &c.page[addr/wordBytes%pageWords]
}

// set says that a reference stores a number in a word, at a vector and when some places had been
// executed so many times.
func (c *cells) set(addr uint64, writer int32, v, counts []int64) {
	at := c.word(addr, true)
	if !c.room(at, writer, len(v)+len(counts)) {
		return
	}
	to := c.vectors[at.at+1:]
	for k, x := range v {
		to[k] = int32(x)
	}
	for k, x := range counts {
		to[len(v)+k] = int32(x)
	}
}

// room makes room for a vector of a length in a cell: that which the same writer had, or
// a new one.
func (c *cells) room(at *cell, writer int32, length int) bool {
	if at.writer == writer {
		return true
	}
	if c.full = c.full || len(c.vectors)+length >= maxVectors; c.full {
		at.writer = 0
		return false
	}
	at.writer, at.at = writer, uint32(len(c.vectors))
	c.vectors = append(c.vectors, int32(length))
	for range length {
		c.vectors = append(c.vectors, 0)
	}
	return true
}

// copy says that the number in so many bytes is stored elsewhere. It returns false if it is not
// known where it comes from.
func (c *cells) copy(to, from uint64, bytes uint8) bool {
	known := false
	for k := uint64(0); k < uint64(bytes); k += wordBytes {
		src := c.word(from+k, false)
		if src == nil || src.writer == 0 {
			c.clear(to + k)
			continue
		}
		known = true
		writer, at := src.writer, src.at
		dst := c.word(to+k, true)
		if length := uint32(c.vectors[at]); c.room(dst, writer, int(length)) {
			copy(c.vectors[dst.at+1:dst.at+1+length], c.vectors[at+1:at+1+length])
		}
	}
	return known
}

// clear says that nothing is known of a word.
func (c *cells) clear(addr uint64) {
	if at := c.word(addr, false); at != nil {
		at.writer = 0
	}
}

// of returns which reference stored the number in a word, and appends its vector to v; 0 for
// none.
func (c *cells) of(addr uint64, v []int64) (int32, []int64) {
	at := c.word(addr, false)
	if at == nil || at.writer == 0 {
		return 0, v
	}
	length := uint32(c.vectors[at.at])
	for _, x := range c.vectors[at.at+1 : at.at+1+length] {
		v = append(v, int64(x))
	}
	return at.writer, v
}
