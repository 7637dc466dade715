package host

import "unsafe"

// hugePageBytes is the size of the requested huge pages and the alignment of
// regions: that of x86-64, and of arm64 with 4 KiB pages.
const hugePageBytes = 2 << 20

// hugeShare is the least share of a region in huge pages for it to count as
// one.
const hugeShare = 0.9

// region is memory whose beginnings serve as working sets.
type region struct {
	data []byte
	huge bool // in huge pages, according to the kernel
	free func() error
}

// newRegion maps and touches memory, in huge pages if asked for and granted.
func newRegion(bytes uint64, huge bool) (*region, error) {
	all, free, err := mapMemory(int(bytes) + hugePageBytes)
	if err != nil {
		return nil, err
	}
	skip := -uintptr(unsafe.Pointer(&all[0])) & (hugePageBytes - 1)
	r := &region{data: all[skip : uint64(skip)+bytes], free: free}
	advise(all, huge)
	for i := 0; i < len(r.data); i += 4 << 10 {
		r.data[i] = 1
	}
	if huge {
		r.huge = float64(hugeBytes(uintptr(unsafe.Pointer(&r.data[0])))) >= hugeShare*float64(bytes)
	}
	return r, nil
}
