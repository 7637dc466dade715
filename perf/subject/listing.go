package subject

import "fmt"

// Listing says which scopes have a row of their own in a table; the others are
// summed up in one row, called OtherScopes. The zero Listing lists all.
type Listing struct {
	// MinShare is the share of the total, from 0 to 1, that a scope must have, such
	// as of a level's misses.
	MinShare float64
	// Limit is the most rows, that of the others not counted; 0: any number.
	Limit int
}

// OtherScopes is the name of the scopes that have no row of their own.
const OtherScopes = "other"

// Check returns an error if the share is none, or the limit is negative.
func (l Listing) Check() error {
	switch {
	case !(l.MinShare >= 0 && l.MinShare <= 1):
		return fmt.Errorf("perf: share %g: want one from 0 to 1", l.MinShare)
	case l.Limit < 0:
		return fmt.Errorf("perf: limit %d: want 0 for all rows, or how many", l.Limit)
	}
	return nil
}

// Listed returns how many of some scopes have a row of their own, given what each
// has of the total, the largest first. A single scope is never left to be the only
// other one.
func (l Listing) Listed(parts []float64) int {
	total := 0.0
	for _, v := range parts {
		total += v
	}
	n := 0
	for n < len(parts) && (l.Limit == 0 || n < l.Limit) && (l.MinShare == 0 || parts[n] >= l.MinShare*total && parts[n] > 0) {
		n++
	}
	if n == len(parts)-1 {
		n++
	}
	return n
}
