package host

import (
	"bufio"
	"os"
	"strings"
)

// geometrySource is the source of geometries in descriptions.
const geometrySource = "/sys/devices/system/cpu/cpu0/cache of Linux"

func systemCaches() ([]Geometry, error) { return readSysfs(os.DirFS("/")) }

// processorName returns the processor's name, or "" if there is none (arm64).
func processorName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// virtual reports whether the system runs under a hypervisor.
func virtual() bool {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "flags") && strings.Contains(line+" ", " hypervisor ") {
			return true
		}
	}
	return false
}
