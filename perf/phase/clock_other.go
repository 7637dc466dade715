//go:build !unix

package perf

import "math"

// processorSeconds is not known here.
func processorSeconds() float64 { return math.NaN() }
