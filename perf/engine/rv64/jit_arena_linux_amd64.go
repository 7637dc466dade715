package rv64

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// arenaBytes is the capacity for translated code.
const arenaBytes = 32 << 20

// arena is memory for machine code: one anonymous file mapped twice, once
// writable and once executable, so that no mapping is both.
type arena struct {
	write []byte
	code  unsafe.Pointer // the executable mapping
	used  int
}

func newArena() (*arena, error) {
	fd, err := unix.MemfdCreate("rv64-code", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("rv64: memory for translated code: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, arenaBytes); err != nil {
		return nil, fmt.Errorf("rv64: memory for translated code: %w", err)
	}
	w, err := unix.MmapPtr(fd, 0, nil, arenaBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("rv64: memory for translated code: %w", err)
	}
	x, err := unix.MmapPtr(fd, 0, nil, arenaBytes, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_SHARED)
	if err != nil {
		_ = unix.MunmapPtr(w, arenaBytes)
		return nil, fmt.Errorf("rv64: memory for translated code: %w", err)
	}
	return &arena{write: unsafe.Slice((*byte)(w), arenaBytes), code: x}, nil
}

func (a *arena) close() {
	// If this fails, the mappings are released with the process.
	_ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(a.write)), arenaBytes)
	_ = unix.MunmapPtr(a.code, arenaBytes)
}

// add appends code. It returns false if there is no room.
func (a *arena) add(code []byte) bool {
	if len(code) > len(a.write)-a.used {
		return false
	}
	a.used += copy(a.write[a.used:], code)
	return true
}

// put overwrites 4 bytes of code.
func (a *arena) put(offset int, v uint32) { binary.LittleEndian.PutUint32(a.write[offset:], v) }

// addr returns the executable address of an offset.
func (a *arena) addr(offset int) uintptr { return uintptr(a.code) + uintptr(offset) }
