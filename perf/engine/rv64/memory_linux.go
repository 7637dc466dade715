package rv64

import "golang.org/x/sys/unix"

// mapNoReserve keeps reserved but untouched space from counting as used.
const mapNoReserve = unix.MAP_NORESERVE
