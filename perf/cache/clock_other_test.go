//go:build !linux

package cache

import "time"

var began = time.Now()

// now returns the time since the start of the process.
func now() time.Duration { return time.Since(began) }
