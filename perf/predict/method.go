package predict

import "fmt"

// Method is how misses of a set-associative cache follow from a histogram.
type Method string

const (
	// MethodFullyAssociative takes a cache for a fully associative one of the same
	// capacity, but that package misses has sweeps fill sets evenly: see
	// misses.MethodEvenly. Conflicts are left to a Corrector, which knows where the
	// data lie. It bounds distances by what the program touches. The default.
	MethodFullyAssociative Method = "fully associative"
	// MethodBinomial is the papers' formula, Cache.MissProbability (2005, section
	// 5.2), on distances and cold accesses as they were fitted: blocks fall into
	// sets independently, as in caches that are indexed by physical addresses with
	// pages in random places.
	MethodBinomial Method = "binomial"
)

// Check returns m, the default for "", or an error for an unknown method.
func (m Method) Check() (Method, error) {
	switch m {
	case "":
		return MethodFullyAssociative, nil
	case MethodFullyAssociative, MethodBinomial:
		return m, nil
	}
	return "", fmt.Errorf("predict: method %q: want %q or %q", m, MethodFullyAssociative, MethodBinomial)
}

// Of returns the cache whose misses the method takes for those of c.
func (m Method) Of(c Cache) Cache {
	if m == MethodBinomial {
		return c
	}
	return FullyAssociative(c.Blocks())
}
