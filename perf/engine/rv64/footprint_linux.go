package rv64

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// tells reports whether held is right about each page of the guest: it has to know that
// there is nothing in the first, which no program can touch.
func (h *hostRegion) tells() bool {
	if h.page != pageBytes {
		return false
	}
	held := h.held(nil, 0, h.page)
	return len(held) == 1 && held[0]&1 == 0
}

// small has the host back a guest range by pages of the guest's size, so that those next
// to a touched one are not held for it.
func (h *hostRegion) small(addr, n uint64) {
	// If it refuses, it has no larger pages.
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(h.base, addr)), n), unix.MADV_NOHUGEPAGE)
}

// held sets dst to whether the host holds memory, by page of a guest range, in the lowest
// bit, and returns it; nil if the host does not tell.
func (h *hostRegion) held(dst []byte, addr, n uint64) []byte {
	pages := int(n / pageBytes)
	if cap(dst) < pages {
		dst = make([]byte, pages)
	}
	dst = dst[:pages]
	if _, _, e := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Add(h.base, addr)), uintptr(n), uintptr(unsafe.Pointer(unsafe.SliceData(dst)))); e != 0 {
		return nil
	}
	return dst
}
