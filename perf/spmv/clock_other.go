//go:build !linux

package spmv

import (
	"time"
)

// clock returns the time of day: what a thread computes for is not to be had with
// the standard library here.
func clock() time.Duration { return time.Duration(time.Now().UnixNano()) }
