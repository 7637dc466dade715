package host

import "unsafe"

const (
	// streamBytes is the number of bytes read in an iteration of readStream.
	streamBytes = 64
	wordBytes   = 8
)

// readStream adds up all words of data, whose length is a multiple of
// streamBytes, in eight independent sums.
//
//go:noinline
func readStream(data []byte) uint64 {
	w := unsafe.Slice((*[streamBytes / 8]uint64)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/streamBytes)
	var s0, s1, s2, s3, s4, s5, s6, s7 uint64
	for i := range w {
		p := &w[i]
		s0 += p[0]
		s1 += p[1]
		s2 += p[2]
		s3 += p[3]
		s4 += p[4]
		s5 += p[5]
		s6 += p[6]
		s7 += p[7]
	}
	return s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7
}
