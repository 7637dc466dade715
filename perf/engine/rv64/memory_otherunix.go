//go:build unix && !linux

package rv64

// mapNoReserve is 0: these hosts charge only touched pages.
const mapNoReserve = 0
