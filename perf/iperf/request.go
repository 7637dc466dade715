package iperf

import (
	"fmt"
	"math"
)

// Request is the required precision of a model: Prob(AE <= AbsErr) >= Share, or
// Prob(RE <= RelErr) >= Share, over the measured sizes.
type Request struct {
	AbsErr float64 // seconds; this or RelErr is above 0
	RelErr float64 // a ratio: 0.1 is 10%
	Share  float64 // of the sizes, from 0 to 1

	Criterion Criterion
}

// Criterion ranks the models that meet a request (section 4.1).
type Criterion uint8

const (
	// HighestPrecision prefers the largest share of sizes predicted within the
	// error, then the least cost.
	HighestPrecision Criterion = iota
	// Cheapest prefers the least cost. The report does not say how ties are
	// broken; its Figure 12(b) takes the largest share.
	Cheapest
)

func (c Criterion) String() string {
	switch c {
	case HighestPrecision:
		return "highest precision"
	case Cheapest:
		return "cheapest"
	}
	return fmt.Sprintf("Criterion(%d)", uint8(c))
}

// Check returns an error if r is contradictory.
func (r Request) Check() error {
	switch {
	case (r.AbsErr > 0) == (r.RelErr > 0) || r.AbsErr < 0 || r.RelErr < 0 || math.IsNaN(r.AbsErr+r.RelErr):
		return fmt.Errorf("iperf: a request limits either the absolute error (%g s) or the relative one (%g)", r.AbsErr, r.RelErr)
	case !(r.Share >= 0 && r.Share <= 1):
		return fmt.Errorf("iperf: a share of %g of the sizes is impossible: want 0 to 1, 0.9 for 90%%", r.Share)
	case r.Criterion > Cheapest:
		return fmt.Errorf("iperf: unknown criterion %v", r.Criterion)
	}
	return nil
}

// Method returns the method of fits for the request (Figure 10).
func (r Request) Method() Method {
	if r.RelErr > 0 {
		return WLS
	}
	return OLS
}

// limit returns the largest error that the request allows.
func (r Request) limit() float64 { return max(r.AbsErr, r.RelErr) }

func (r Request) String() string {
	if r.RelErr > 0 {
		return fmt.Sprintf("Prob(RE <= %g%%) >= %g%%, %v", 100*r.RelErr, 100*r.Share, r.Criterion)
	}
	return fmt.Sprintf("Prob(AE <= %g s) >= %g%%, %v", r.AbsErr, 100*r.Share, r.Criterion)
}

// Candidate is the part of a complete model that selection uses.
type Candidate struct {
	Cost  float64
	Share float64 // of the sizes that are predicted within the error, 0 to 1
}

// rounding bounds the binary rounding error of a share, a ratio of small
// integers.
const rounding = 1e-9

// Select returns the index of the best candidate, or -1 if none meets the
// request. Ties of cost and share are broken by order.
func Select(candidates []Candidate, r Request) int {
	best := -1
	for i, c := range candidates {
		if c.Share < r.Share-rounding {
			continue
		}
		if best < 0 || better(c, candidates[best], r.Criterion) {
			best = i
		}
	}
	return best
}

func better(a, b Candidate, by Criterion) bool {
	precise, cheap := a.Share-b.Share, b.Cost-a.Cost
	first, second := precise, cheap
	if by == Cheapest {
		first, second = cheap, precise
	}
	if math.Abs(first) > rounding {
		return first > 0
	}
	return second > rounding
}
