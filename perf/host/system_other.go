//go:build !linux && !darwin

package host

// geometrySource is the source of geometries in descriptions.
const geometrySource = "the operating system"

// systemCaches returns none: caches are known here by measurement only.
func systemCaches() ([]Geometry, error) { return nil, nil }

func processorName() string { return "" }

func virtual() bool { return false }
