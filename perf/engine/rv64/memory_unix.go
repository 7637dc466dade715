//go:build unix

package rv64

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hostGuard is the size of the inaccessible space after the region: an access that
// begins inside the region ends at most 7 bytes past it. It is a multiple of every
// host's page size.
const hostGuard = 64 << 10

// hostRegion is reserved address space of the host.
type hostRegion struct {
	base unsafe.Pointer
	size uint64
	page uint64
}

func reserve(size uint64) (hostRegion, error) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size)+hostGuard, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|mapNoReserve)
	if err != nil {
		return hostRegion{}, err
	}
	return hostRegion{base: p, size: size, page: uint64(os.Getpagesize())}, nil
}

func (h *hostRegion) release() {
	// If this fails, the region is released with the process.
	_ = unix.MunmapPtr(h.base, uintptr(h.size)+hostGuard)
}

// access returns the host protection for the host page at addr: the union over
// its guest pages. The host never executes guest code.
func (h *hostRegion) access(addr uint64, perm []uint8) int {
	var p uint8
	for i := addr / pageBytes; i < min((addr+h.page)/pageBytes, uint64(len(perm))); i++ {
		p |= perm[i]
	}
	prot := unix.PROT_NONE
	if p&(pageRead|pageExec) != 0 {
		prot |= unix.PROT_READ
	}
	if p&pageWrite != 0 {
		prot |= unix.PROT_READ | unix.PROT_WRITE
	}
	return prot
}

// protect sets the host's protection of a guest range according to perm.
func (h *hostRegion) protect(addr, n uint64, perm []uint8) error {
	end := (addr + n + h.page - 1) &^ (h.page - 1)
	for at := addr &^ (h.page - 1); at < end; {
		prot := h.access(at, perm)
		next := at + h.page
		for next < end && h.access(next, perm) == prot {
			next += h.page
		}
		if err := unix.Mprotect(unsafe.Slice((*byte)(unsafe.Add(h.base, at)), next-at), prot); err != nil {
			return err
		}
		at = next
	}
	return nil
}

// discard zeroes a guest range and returns its memory to the host; host pages
// entirely inside it become inaccessible.
func (h *hostRegion) discard(addr, n uint64, perm []uint8) {
	first := (addr + h.page - 1) &^ (h.page - 1)
	last := (addr + n) &^ (h.page - 1)
	if first >= last {
		h.clear(addr, n, perm)
		return
	}
	h.clear(addr, first-addr, perm)
	h.clear(last, addr+n-last, perm)
	_, err := unix.MmapPtr(-1, 0, unsafe.Add(h.base, first), uintptr(last-first), unix.PROT_NONE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED|mapNoReserve)
	if err != nil {
		panic(hostFailure{err})
	}
}

// clear zeroes part of a host page.
func (h *hostRegion) clear(addr, n uint64, perm []uint8) {
	if n == 0 {
		return
	}
	at := addr &^ (h.page - 1)
	whole := unsafe.Slice((*byte)(unsafe.Add(h.base, at)), h.page)
	if err := unix.Mprotect(whole, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		panic(hostFailure{err})
	}
	clear(whole[addr-at : addr-at+n])
	if err := unix.Mprotect(whole, h.access(at, perm)); err != nil {
		panic(hostFailure{err})
	}
}
