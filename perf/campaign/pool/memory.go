package pool

import (
	"bufio"
	"fmt"
	"os"
)

// guessedMemory is what is taken for the memory of a machine that does not tell.
const guessedMemory = 4 << 30

// machineMemory returns the memory of this machine in bytes, as Linux tells it.
func machineMemory() uint64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return guessedMemory
	}
	defer f.Close() // only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kib uint64
		if _, err := fmt.Sscanf(lines.Text(), "MemTotal: %d kB", &kib); err == nil {
			return kib << 10
		}
	}
	return guessedMemory
}
