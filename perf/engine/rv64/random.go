package rv64

// splitMix is the SplitMix64 generator (Steele, Lea, Flood, "Fast splittable
// pseudorandom number generators", 2014).
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (s *splitMix) fill(p []byte) {
	for i := 0; i < len(p); i += 8 {
		v := s.next()
		for j := i; j < min(i+8, len(p)); j++ {
			p[j] = byte(v)
			v >>= 8
		}
	}
}
