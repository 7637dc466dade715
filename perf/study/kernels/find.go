package kernels

import (
	"fmt"
	"os"
	"strings"

	"presage/perf/iperf"
	"presage/perf/machine/catalog"
)

// FindKernel returns the kernel called name among those that come with Presage, or,
// if name is file.yaml:kernel, the one of that name in a file.
func FindKernel(name string) (*iperf.Kernel, error) {
	file, kernel, ok := strings.Cut(name, ".yaml:")
	if !ok {
		return iperf.FindKernel(name)
	}
	file += ".yaml"
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("perf: kernel %s: %w", kernel, err)
	}
	kernels, err := iperf.ParseKernels(file, text)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, k := range kernels {
		if k.Name == kernel {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return nil, fmt.Errorf("perf: %s has no kernel %q; it has %s", file, kernel, strings.Join(names, ", "))
}

// FindSystem returns the machine that catalog.Find knows by name, as SearchModels
// needs it: with what iperf.Supplements adds or, if supplements is not empty, what
// that file of supplements adds.
func FindSystem(name, supplements string) (*iperf.System, error) {
	m, err := catalog.Find(name)
	if err != nil {
		return nil, err
	}
	all := iperf.Supplements()
	if supplements != "" {
		text, err := os.ReadFile(supplements)
		if err != nil {
			return nil, fmt.Errorf("perf: supplement of %s: %w", name, err)
		}
		if all, err = iperf.ParseSupplements(supplements, text); err != nil {
			return nil, err
		}
	}
	for _, add := range all {
		if add.Machine == m.Name {
			return iperf.NewSystem(m, &add)
		}
	}
	if supplements != "" {
		return nil, fmt.Errorf("perf: %s has no supplement for machine %q", supplements, m.Name)
	}
	return iperf.NewSystem(m, nil)
}
