//go:build !unix

package phase

import "math"

// processorSeconds is not known here.
func processorSeconds() float64 { return math.NaN() }
