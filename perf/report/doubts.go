package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"presage/perf/subject"
)

// Gravity is how much a doubt matters.
type Gravity string

// The gravities, the gravest first.
const (
	Wrong    Gravity = "wrong"    // a prediction is known to be off
	Doubtful Gravity = "doubtful" // it may be off by much
	Note     Gravity = "note"     // what to know when reading it
)

// Doubt is a reason not to trust a number of the report.
type Doubt struct {
	Gravity Gravity `frame:"gravity"`
	About   string  `frame:"about"`
	Text    string  `frame:"text"`
}

const (
	// wrongBeyond is the relative error of a prediction, held against its simulation,
	// from which on it is called wrong.
	wrongBeyond = 0.25
	// enough is the number of training sizes from which on a model is worth trusting.
	enough = 5
	// wide is the ratio of the bounds of an interval from which on it is doubtful.
	wide = 2
)

// doubts collects what the parts of the report say of themselves, the gravest first.
func (r *Report) doubts() []Doubt {
	var all []Doubt
	add := func(g Gravity, about, text string) {
		i := slices.IndexFunc(all, func(d Doubt) bool { return d.Gravity == g && d.Text == text })
		switch {
		case text == "":
		case i < 0:
			all = append(all, Doubt{g, about, text})
		case !slices.Contains(strings.Split(all[i].About, ", "), about):
			all[i].About += ", " + about // the same doubt of several levels or sizes
		}
	}
	if n := len(r.Model.Points); n < enough {
		add(Doubtful, "model", fmt.Sprintf("fitted to %d sizes; %d and more are worth trusting", n, enough))
	}
	if len(r.opt.Judge) == 0 {
		add(Doubtful, "predictions", "no size was simulated: nothing holds the predictions against what a cache does")
	}
	for i := range r.Judgements {
		j := &r.Judgements[i]
		if j.Of == string(subject.ByProgram) && math.Abs(j.Err) > wrongBeyond {
			text := fmt.Sprintf("predicted %s misses, simulated %s (%+.0f%%)", number(j.Pred), number(j.Sim), 100*j.Err)
			if j.Cause != "" {
				text += "; cause: " + j.Cause
			}
			add(Wrong, fmt.Sprintf("%s of %s at %s", j.Level, j.Machine, subject.Point(j.Point)), text)
		}
	}
	for i := range r.Predictions {
		p := &r.Predictions[i]
		about := fmt.Sprintf("%s of %s at %s", p.Level, p.Machine, subject.Point(p.Point))
		if p.High > wide*p.Low && p.High-p.Low > 1 {
			add(Doubtful, about, fmt.Sprintf("between %s and %s misses", number(p.Low), number(p.High)))
		}
		for text := range strings.SplitSeq(p.Warning, "; ") {
			if !strings.HasPrefix(text, "uncertain: ") { // the interval says it
				add(Doubtful, about, text)
			}
		}
	}
	for _, w := range r.Model.Warnings {
		add(Note, "model", w)
	}
	order := []Gravity{Wrong, Doubtful, Note}
	slices.SortStableFunc(all, func(a, b Doubt) int {
		return cmp.Compare(slices.Index(order, a.Gravity), slices.Index(order, b.Gravity))
	})
	return all
}
