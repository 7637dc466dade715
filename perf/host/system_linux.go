package host

import (
	"bufio"
	"os"
	"strings"
)

// geometrySource names where geometries come from, in descriptions.
const geometrySource = "/sys/devices/system/cpu/cpu0/cache of Linux"

func systemCaches() ([]Geometry, error) { return readSysfs(os.DirFS("/")) }

// processorName returns the processor's name, "" if it is not given (arm64).
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

// virtual reports whether a hypervisor says that it is there.
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
