package rv64

import "golang.org/x/sys/unix"

// mapNoReserve keeps reserved but untouched space from being charged as memory.
const mapNoReserve = unix.MAP_NORESERVE
