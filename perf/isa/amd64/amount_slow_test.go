//go:build slow

package amd64

const (
	perFile   = 1 << 40
	ofFiles   = 2_000_000
	generated = 3_000_000
	stepsOf   = 2_000_000
)
