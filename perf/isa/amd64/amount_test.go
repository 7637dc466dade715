//go:build !slow

package amd64

// How much the tests against objdump compare; with -tags slow, all there is.
const (
	perFile   = 40_000  // most instructions of each of the system's files
	ofFiles   = 40_000  // least instructions of all of them
	generated = 150_000 // encodings
	stepsOf   = 30_000  // of a program, one at a time
)
