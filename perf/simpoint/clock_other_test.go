//go:build !unix

package simpoint_test

import "testing"

func processorSeconds(b *testing.B) float64 {
	b.Skip("processor time is not known on this system")
	return 0
}
