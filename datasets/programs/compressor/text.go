package main

// The text is of words that are made up, the k-th most frequent of which is used
// in proportion to 1/(k+2), in sentences, paragraphs and lines. Half of the words
// are one of four that go with the word before: so there is something to find
// beyond the frequencies of letters.
const (
	words      = 4096
	followers  = 4
	lineLength = 72
)

// letters, the frequent ones more often: a pair of a consonant and a vowel makes a
// syllable.
const (
	consonants = "tttttnnnnssssrrrrhhhhllldddcccmmffppggbbwwyvkjxqz"
	vowels     = "eeeeeeeeaaaaaiiiiooooouuy"
)

// random is a linear congruential generator modulo 2^64 (Knuth's MMIX) of which
// the upper half is used.
type random uint64

func (r *random) next() uint32 {
	*r = *r*6364136223846793005 + 1442695040888963407
	return uint32(*r >> 32)
}

// below returns a number from 0 to n-1.
func (r *random) below(n uint32) uint32 { return uint32(uint64(r.next()) * uint64(n) >> 32) }

// author writes text.
type author struct {
	rnd        random
	word       [words][]byte
	cumulative [words]uint32 // chances, summed up, of 2^32
	follow     [words][followers]uint16

	previous  int
	column    int
	sentence  uint32 // words left in it; 0: a new one begins
	paragraph uint32 // sentences left in it
	pending   []byte // what did not fit into the last request
	buffer    []byte

	choices uint64 // words that were drawn
}

func newAuthor(seed uint64) *author {
	a := &author{rnd: random(seed), buffer: make([]byte, 0, 64)}
	for i := range a.word {
		for range 1 + a.rnd.below(uint32(2+i/1024)) + a.rnd.below(2) {
			a.word[i] = append(a.word[i], consonants[a.rnd.below(uint32(len(consonants)))], vowels[a.rnd.below(uint32(len(vowels)))])
		}
		if a.rnd.below(2) == 0 {
			a.word[i] = append(a.word[i], consonants[a.rnd.below(uint32(len(consonants)))])
		}
	}
	total := uint64(0)
	for i := range a.cumulative {
		total += 1 << 32 / uint64(i+2)
	}
	sum := uint64(0)
	for i := range a.cumulative {
		sum += 1 << 32 / uint64(i+2)
		a.cumulative[i] = uint32(sum * (1<<20 - 1) / total) // fits: sum is below 2^36
	}
	for i := range a.follow {
		for k := range a.follow[i] {
			a.follow[i][k] = uint16(a.draw())
		}
	}
	a.choices = 0
	return a
}

// draw returns a word by its frequency.
func (a *author) draw() int {
	a.choices++
	x := a.rnd.below(1<<20 - 1)
	lo, hi := 0, words-1
	for lo < hi {
		if mid := (lo + hi) / 2; a.cumulative[mid] > x {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// write fills the text.
func (a *author) write(text []byte) {
	for len(text) > 0 {
		if len(a.pending) == 0 {
			a.pending = a.next()
		}
		n := copy(text, a.pending)
		text, a.pending = text[n:], a.pending[n:]
	}
}

// next returns a word with what stands before it.
func (a *author) next() []byte {
	b := a.buffer[:0]
	begin := a.sentence == 0
	if begin {
		a.sentence = 4 + a.rnd.below(16)
		if a.paragraph == 0 {
			a.paragraph = 2 + a.rnd.below(8)
			b = append(b, '\n', '\n')
			a.column = 0
		}
		a.paragraph--
	}
	w := 0
	if a.rnd.below(2) == 0 {
		a.choices++
		w = int(a.follow[a.previous][a.rnd.below(followers)])
	} else {
		w = a.draw()
	}
	a.previous = w
	if a.column > 0 {
		if a.column+len(a.word[w]) > lineLength {
			b = append(b, '\n')
			a.column = 0
		} else {
			b = append(b, ' ')
		}
	}
	at := len(b)
	b = append(b, a.word[w]...)
	if begin {
		b[at] -= 'a' - 'A'
	}
	a.sentence--
	switch {
	case a.sentence == 0:
		b = append(b, '.')
	case a.rnd.below(12) == 0:
		b = append(b, ',')
	}
	a.column += len(b)
	a.buffer = b
	return b
}
