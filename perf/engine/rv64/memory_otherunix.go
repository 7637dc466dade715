//go:build unix && !linux

package rv64

// mapNoReserve is nothing here: these hosts count only touched pages.
const mapNoReserve = 0
