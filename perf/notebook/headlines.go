package notebook

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"text/tabwriter"

	"presage/perf/study/record"
)

// Headline is a result that a notebook is judged by.
type Headline struct {
	// Metric says what was judged, how it was predicted, and against what.
	Metric string
	Value  float64
	// Errors are a sample of relative errors, of either sign, of which the median, the
	// 90th percentile and the worst magnitudes are reported in place of Value. Missing
	// ones (NaN) do not count.
	Errors []float64
	Unit   string // record.Relative, "times", "nJ", …; empty: Relative if there are Errors
	Goal   string // of Value or the median, such as "<=0.05"; of more, as record.Headline has it; empty: none
	// Missed marks goals that the notebook's text says are not reached, so that
	// missing them is no failure. Reaching them is none either.
	Missed bool
	// Beside are the baselines, and what other methods or references give: on the same
	// rows, unless their metrics say otherwise.
	Beside []Headline
	// Question is what a reader asks who wants this result. The README lists the
	// results that have one.
	Question string
}

// Recording reports whether the project records its own results (make notebooks).
func Recording() bool { return os.Getenv("PRESAGE_RECORD") == "1" }

// headlinesFile holds the project's headlines, relative to notebooks/.
const headlinesFile = "../datasets/headlines.csv"

// Report prints a study's headlines, one line each, with what stands beside each
// below it. Where the project records its own results it writes them to
// ../datasets/headlines.csv, in place of all that the study had there, with the
// command that measures them again. Then it ends the cell with an error if a goal is
// not reached, unless the headline is marked as Missed.
func Report(study, command string, headlines []Headline) {
	var all []record.Headline
	for i := range headlines {
		h := &headlines[i]
		all = append(all, h.recorded(study, command, ""))
		for k := range h.Beside {
			all = append(all, h.Beside[k].recorded(study, command, h.Metric))
		}
	}
	text, err := judge(headlines)
	fmt.Print(text)
	if Recording() {
		Check(record.UpdateHeadlines(headlinesFile, all...))
	}
	Check(err)
}

// recorded returns the headline as it is recorded.
func (h *Headline) recorded(study, command, beside string) record.Headline {
	r := record.Headline{
		Study: study, Metric: h.Metric, Goal: h.Goal, Unit: h.Unit,
		Beside: beside, Question: h.Question, Command: command,
	}
	if h.Errors == nil {
		return r.Single(h.Value)
	}
	if r.Unit == "" {
		r.Unit = record.Relative
	}
	return r.WithSample(h.Errors)
}

// judge returns the lines of a report and an error that names each value whose
// goal was missed unannounced, or a goal that cannot be read.
func judge(headlines []Headline) (string, error) {
	var text strings.Builder
	lines := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	var errs []error
	for i := range headlines {
		h := &headlines[i]
		r := h.recorded("", "", "")
		reached, err := r.Reached()
		if err != nil {
			return "", fmt.Errorf("headline %q: %w", h.Metric, err)
		}
		fmt.Fprintf(lines, "%s\t%s\t%s\n", figures(&r), verdict(&r, reached), h.Metric)
		for k := range h.Beside {
			b := h.Beside[k].recorded("", "", "")
			fmt.Fprintf(lines, "%s\t\t    %s\n", figures(&b), b.Metric)
		}
		if !reached && !h.Missed {
			errs = append(errs, fmt.Errorf("%q is %s, the goal %s", h.Metric, figures(&r), h.Goal))
		}
	}
	if err := lines.Flush(); err != nil {
		return "", err
	}
	return text.String(), errors.Join(errs...)
}

// figures returns the value of a headline, or what sums up its sample.
func figures(h *record.Headline) string {
	if math.IsNaN(h.P90) {
		return strings.TrimSpace(record.Digits(h.Value) + " " + h.Unit)
	}
	return fmt.Sprintf("%s (p90 %s, worst %s of %d)", record.Digits(h.Value), record.Digits(h.P90), record.Digits(h.Worst), h.Rows)
}

// verdict says whether the goals of a headline are reached, if it has any.
func verdict(h *record.Headline, reached bool) string {
	switch {
	case h.Goal == "":
		return ""
	case reached:
		return "goal " + h.Goal
	}
	return "goal " + h.Goal + " not reached"
}
