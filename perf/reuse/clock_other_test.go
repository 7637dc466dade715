//go:build !linux

package reuse

import "time"

var began = time.Now()

// now returns the time since the start of the process.
func now() time.Duration { return time.Since(began) }

// spent returns the same: processor times are only known on Linux.
func spent() time.Duration { return now() }
