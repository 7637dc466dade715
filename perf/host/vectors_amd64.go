package host

import "golang.org/x/sys/cpu"

// readBytes is the number of bytes that an instruction of the kernel of bandwidth reads.
func readBytes() int {
	if cpu.X86.HasAVX {
		return 32
	}
	return wordBytes
}

// readFast reads data, whose length is a multiple of streamBytes, by the widest
// instructions that this package has.
func readFast(data []byte) {
	if cpu.X86.HasAVX {
		readVectors(data)
		return
	}
	readStream(data)
}

// readVectors reads data, whose length is a multiple of streamBytes, in vectors of 32
// bytes.
//
//go:noescape
func readVectors(data []byte)
