package spmv

import (
	"syscall"
	"time"
	"unsafe"
)

// clock returns the processor time of the calling thread, which excludes other
// programs. The caller must be locked to its thread. (getrusage is similar, but
// counts in ticks of milliseconds on some kernels.)
func clock() time.Duration {
	const threadCPU = 3 // CLOCK_THREAD_CPUTIME_ID
	var t syscall.Timespec
	if _, _, err := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadCPU, uintptr(unsafe.Pointer(&t)), 0); err != 0 {
		panic(err) // cannot fail with a valid pointer
	}
	return time.Duration(t.Nano())
}
