package notebook

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"presage/perf/study/record"
)

// Headline is a number that a notebook is judged by.
type Headline struct {
	Metric string // what was measured, of what, against what
	Value  float64
	Unit   string // "ratio", "times", "nJ", …
	Goal   string // such as "<=0.05" or ">=0.95"; empty: none
	// Missed marks a goal that the notebook's text says is not reached, so that
	// missing it is no failure. Reaching it is none either.
	Missed bool
}

// Recording reports whether the project records its own results (make notebooks).
func Recording() bool { return os.Getenv("PRESAGE_RECORD") == "1" }

// headlinesFile holds the project's headlines, relative to notebooks/.
const headlinesFile = "../datasets/headlines.csv"

// Report prints a study's headlines, one line each. Where the project records its
// own results it writes them to ../datasets/headlines.csv, with the command that
// measures them again. Then it ends the cell with an error if a goal is not
// reached, unless the headline is marked as Missed.
func Report(study, command string, headlines []Headline) {
	all := make([]record.Headline, len(headlines))
	for i, h := range headlines {
		all[i] = record.Headline{Study: study, Metric: h.Metric, Value: h.Value, Goal: h.Goal, Unit: h.Unit, Command: command}
	}
	text, err := judge(headlines, all)
	fmt.Print(text)
	if Recording() {
		Check(record.UpdateHeadlines(headlinesFile, all...))
	}
	Check(err)
}

// judge returns the lines of a report and an error that names each value whose
// goal was missed unannounced, or a goal that cannot be read.
func judge(headlines []Headline, all []record.Headline) (string, error) {
	var text strings.Builder
	lines := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	var errs []error
	for i, h := range headlines {
		reached, err := all[i].Reached()
		if err != nil {
			return "", fmt.Errorf("headline %q: %w", h.Metric, err)
		}
		verdict := ""
		switch {
		case h.Goal != "" && reached:
			verdict = "goal " + h.Goal
		case h.Goal != "":
			verdict = "goal " + h.Goal + " not reached"
		}
		fmt.Fprintf(lines, "%s %s\t%s\t%s\n", number(h.Value), h.Unit, verdict, h.Metric)
		if !reached && !h.Missed {
			errs = append(errs, fmt.Errorf("%q is %s %s, the goal %s", h.Metric, number(h.Value), h.Unit, h.Goal))
		}
	}
	if err := lines.Flush(); err != nil {
		return "", err
	}
	return text.String(), errors.Join(errs...)
}

// number returns v with three significant digits, without an exponent below 10⁹.
func number(v float64) string {
	if a := math.Abs(v); a >= 1000 && a < 1e9 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
