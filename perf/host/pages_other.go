//go:build !linux

package host

// advise does nothing: only Linux lets a program choose the size of its pages.
func advise([]byte, bool) {}

// hugeBytes returns 0: no huge pages were asked for.
func hugeBytes(uintptr) uint64 { return 0 }
