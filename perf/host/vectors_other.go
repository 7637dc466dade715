//go:build !amd64

package host

// readBytes is the number of bytes that an instruction of the kernel of bandwidth reads.
func readBytes() int { return wordBytes }

// readFast reads data, whose length is a multiple of streamBytes.
func readFast(data []byte) { readStream(data) }
