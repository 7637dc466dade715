//go:build !unix

package rv64

import (
	"errors"
	"unsafe"
)

const hostGuard = 64 << 10

// hostRegion is unavailable on this platform.
type hostRegion struct{ base unsafe.Pointer }

func reserve(uint64) (hostRegion, error) {
	return hostRegion{}, errors.New("the embedded engine needs a Unix host (Linux or macOS)")
}

func (h *hostRegion) release() {}

func (h *hostRegion) protect(_, _ uint64, _ []uint8) error {
	return errors.ErrUnsupported
}

func (h *hostRegion) discard(_, _ uint64, _ []uint8) {}
