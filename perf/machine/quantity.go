package machine

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// unit is a unit of a quantity.
type unit struct {
	name  string
	scale float64
}

var (
	byteUnits  = []unit{{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}
	cycleUnits = []unit{{"cycles", 1}, {"cycle", 1}}
	hertzUnits = []unit{{"Hz", 1}, {"MHz", 1e6}, {"GHz", 1e9}}
)

// maxQuantity bounds quantities, in bytes, cycles or hertz.
const maxQuantity = 1 << 53

// parseQuantity reads a positive number followed by one of units, such as "32
// KiB". It rejects decimal prefixes of bytes: KB means 1000 bytes to some and
// 1024 to others.
func parseQuantity(text string, units []unit) (float64, error) {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	name := text[len(number):]
	number = strings.TrimSpace(number)
	i := slices.IndexFunc(units, func(u unit) bool { return u.name == name })
	if i < 0 {
		var names []string
		for _, u := range units {
			names = append(names, u.name)
		}
		want := "want one of " + strings.Join(names, ", ")
		if name == "" {
			return 0, fmt.Errorf("%q has no unit; %s", text, want)
		}
		return 0, fmt.Errorf("%q has the unknown unit %q; %s", text, name, want)
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q: %q is not a number", text, number)
	}
	if v <= 0 {
		return 0, fmt.Errorf("%q is not positive", text)
	}
	if v *= units[i].scale; v > maxQuantity {
		return 0, fmt.Errorf("%q is more than any machine has", text)
	}
	return v, nil
}

// parseBytes reads a whole number of bytes.
func parseBytes(text string) (uint64, error) {
	v, err := parseQuantity(text, byteUnits)
	if err != nil {
		return 0, err
	}
	if v != math.Trunc(v) || v >= 1<<53 {
		return 0, fmt.Errorf("%q is no whole number of bytes below 8 PiB", text)
	}
	return uint64(v), nil
}

// String returns the amount in the largest unit that keeps it whole.
func (b Bytes) String() string {
	for _, u := range slices.Backward(byteUnits) {
		if s := Bytes(u.scale); b >= s && b%s == 0 {
			return fmt.Sprintf("%d %s", b/s, u.name)
		}
	}
	return fmt.Sprintf("%d B", uint64(b))
}

// String returns the frequency in MHz.
func (f Hertz) String() string { return fmt.Sprintf("%g MHz", float64(f)/1e6) }
