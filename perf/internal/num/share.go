package num

import "fmt"

// Percent returns share, from 0 to 1, as a percentage for people, such as 12.3%.
func Percent(share float64) string {
	if share < 0.0005 {
		return "less than 0.1%"
	}
	return fmt.Sprintf("%.1f%%", 100*share)
}

// Ratio returns a/b, or 0 if b is 0: the share of nothing in nothing.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// RelErr returns (pred - ref) / ref: 0 if both are 0, infinite if ref alone is.
func RelErr(pred, ref float64) float64 {
	if pred == ref {
		return 0
	}
	return (pred - ref) / ref
}
