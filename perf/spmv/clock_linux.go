package spmv

import (
	"syscall"
	"time"
	"unsafe"
)

// clock returns what the calling thread has computed for so far: other programs
// that want the processor do not count. The caller must stay on its thread.
// (getrusage would do, but counts in ticks of some milliseconds on some kernels.)
func clock() time.Duration {
	const threadCPU = 3 // CLOCK_THREAD_CPUTIME_ID
	var t syscall.Timespec
	if _, _, err := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadCPU, uintptr(unsafe.Pointer(&t)), 0); err != 0 {
		panic(err) // cannot fail with a valid pointer
	}
	return time.Duration(t.Nano())
}
