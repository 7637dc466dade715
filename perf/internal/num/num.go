package num

import (
	"cmp"
	"fmt"
	"slices"
)

// Median returns the median of sorted values, of which there is at least one.
func Median(sorted []float64) float64 {
	mid := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[mid-1] + sorted[mid]) / 2
	}
	return sorted[mid]
}

func Percent(share float64) string {
	if share < 0.0005 {
		return "less than 0.1%"
	}
	return fmt.Sprintf("%.1f%%", 100*share)
}

func Ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func Keys[K cmp.Ordered, V any](m map[K]V) []K {
	var keys []K
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
