//go:build !linux && !darwin

package host

// geometrySource names where geometries come from, in descriptions.
const geometrySource = "the operating system"

// systemCaches knows nothing: what is said about caches here is what was measured.
func systemCaches() ([]Geometry, error) { return nil, nil }

func processorName() string { return "" }

func virtual() bool { return false }
