//go:build unix

package phase

import (
	"math"
	"syscall"
	"time"
)

// processorSeconds returns the processor time that the process has used, in all
// its threads: unlike time by the clock it does not count other processes.
func processorSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return math.NaN()
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
