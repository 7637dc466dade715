//go:build unix

package host

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// mapMemory returns zeroed memory outside the garbage collector's heap, and the
// function that frees it.
func mapMemory(bytes int) (data []byte, free func() error, err error) {
	data, err = unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, fmt.Errorf("host: %d bytes of memory: %w; ask for a smaller working set", bytes, err)
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
