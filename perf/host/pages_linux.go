package host

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// advise requests huge pages, or none, before the memory is touched. A kernel
// without transparent huge pages refuses: then pages are small, as hugeBytes
// reports.
func advise(data []byte, huge bool) {
	advice := unix.MADV_NOHUGEPAGE
	if huge {
		advice = unix.MADV_HUGEPAGE
	}
	_ = unix.Madvise(data, advice)
}

// hugeBytes returns the bytes in huge pages of the mapping at an address, as
// the kernel reports them; 0 if it does not.
func hugeBytes(address uintptr) uint64 {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0
	}
	defer f.Close()
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		var lo, hi uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &lo, &hi); n == 2 {
			inside = lo <= address && address < hi
			continue
		}
		if rest, ok := strings.CutPrefix(line, "AnonHugePages:"); ok && inside {
			var kib uint64
			if n, _ := fmt.Sscanf(rest, "%d kB", &kib); n == 1 {
				return kib << 10
			}
		}
	}
	return 0
}
