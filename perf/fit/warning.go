package fit

import "fmt"

// Doubt is a reason not to trust a result.
type Doubt string

// The doubts of this package.
const (
	FewPoints        Doubt = "few points"        // as many terms as points, or one point
	IllConditioned   Doubt = "ill-conditioned"   // Condition above ConditionLimit
	RankDeficient    Doubt = "rank deficient"    // a term depends on the ones before it
	ActiveConstraint Doubt = "active constraint" // the shape, not the data alone, sets the coefficients
	Extrapolated     Doubt = "extrapolated"      // more than ReachLimit times beyond the data
)

// ConditionLimit is the condition number of the scaled design above which a fit
// warns: relative errors of the data may be amplified a million times in the
// coefficients.
const ConditionLimit = 1e6

// ReachLimit is the ratio of a parameter to its largest value in the data above
// which a prediction is doubtful.
const ReachLimit = 8

// Warning is a doubt about a result that was computed nevertheless. It is plain
// data, so that results can be stored.
type Warning struct {
	Doubt  Doubt
	Detail string
}

func (w Warning) Error() string { return fmt.Sprintf("%s: %s", w.Doubt, w.Detail) }

func warn(d Doubt, format string, args ...any) Warning {
	return Warning{Doubt: d, Detail: fmt.Sprintf(format, args...)}
}
