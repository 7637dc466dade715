package main

// source makes input.
type source struct {
	kind   string
	random uint64
	words  [][]byte
}

func newSource(kind string) *source {
	s := &source{kind: kind, random: 0x9e3779b97f4a7c15}
	for range 2000 {
		word := make([]byte, 2+s.below(8))
		for i := range word {
			word[i] = "etaoinshrdlucmfwypvbgkjqxz"[min(s.below(26), s.below(26))]
		}
		s.words = append(s.words, word)
	}
	return s
}

// below returns a random number below n (xorshift64*).
func (s *source) below(n int) int {
	s.random ^= s.random >> 12
	s.random ^= s.random << 25
	s.random ^= s.random >> 27
	return int(s.random * 0x2545f4914f6cdd1d >> 33 % uint64(n))
}

// fill makes a block.
func (s *source) fill(dst []byte) {
	for i := 0; i < len(dst); {
		switch s.kind {
		case "noise":
			dst[i] = byte(s.below(256))
			i++
		case "runs":
			c, from := byte(s.below(5)), i
			for end := min(len(dst), i+1+s.below(200)); i < end; i++ {
				dst[i] = c + byte((i-from)%(1+int(c)))
			}
		default:
			// The minimum of three draws: low ranks are frequent.
			i += copy(dst[i:], s.words[min(s.below(2000), s.below(2000), s.below(2000))])
			if i < len(dst) {
				dst[i] = ' '
				i++
			}
		}
	}
}
