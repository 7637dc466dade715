package host

import "golang.org/x/sys/unix"

// geometrySource is the source of geometries in descriptions.
const geometrySource = "sysctl hw of macOS (of the fast cores, where there are two kinds)"

// systemCaches asks sysctl, which knows neither the ways nor Apple's system cache.
func systemCaches() ([]Geometry, error) {
	line, err := unix.SysctlUint64("hw.cachelinesize")
	if err != nil {
		return nil, nil // not described
	}
	var all []Geometry
	for i, names := range [][]string{
		{"hw.perflevel0.l1dcachesize", "hw.l1dcachesize"},
		{"hw.perflevel0.l2cachesize", "hw.l2cachesize"},
		{"hw.l3cachesize"},
	} {
		for _, name := range names {
			if size, err := unix.SysctlUint64(name); err == nil && size > 0 {
				all = append(all, Geometry{Level: i + 1, Capacity: size, LineBytes: line})
				break
			}
		}
	}
	return all, nil
}

func processorName() string {
	name, err := unix.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		return ""
	}
	return name
}

// virtual reports whether the system runs under a hypervisor.
func virtual() bool {
	on, err := unix.SysctlUint32("kern.hv_vmm_present")
	return err == nil && on != 0
}
