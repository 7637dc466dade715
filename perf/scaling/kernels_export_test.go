package scaling

import (
	"presage/perf/fit"
	"presage/perf/reuse"
)

// Kernel is a kernel for tests outside the package.
type Kernel struct {
	Name       string
	Train      []Group
	Histograms func(n int) []reuse.Histogram
}

// KernelsAt returns the kernels with their exact histograms at sizes.
func KernelsAt(ns ...int) (sizes []fit.Point, out []Kernel) {
	for _, k := range kernels {
		out = append(out, Kernel{k.name, k.groupsAt(ns...), k.histograms})
	}
	return sizesOf(ns...), out
}
