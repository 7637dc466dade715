package pool

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// guessedMemory is what is taken for the memory of a machine that does not tell.
const guessedMemory = 4 << 30

// machineMemory returns the memory in bytes that processes here may have, as Linux tells
// it: the machine's, or that of the control group (version 2) of a container.
func machineMemory() uint64 {
	all := totalMemory()
	text, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return all
	}
	if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 { // not "max"
		return min(all, n)
	}
	return all
}

func totalMemory() uint64 {
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
