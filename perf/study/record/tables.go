package record

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// These lines of a document enclose a table of headlines.
const (
	headlinesBegin = "<!-- headlines: written by `presage headlines`, not by hand -->"
	headlinesEnd   = "<!-- end of headlines -->"
)

// WithAnswers returns the text of a document with its table of headlines replaced by
// one of those that have a question. It returns an error if the lines that enclose the
// table are missing, or a goal cannot be read.
func WithAnswers(document string, all []Headline) (string, error) {
	var b strings.Builder
	b.WriteString("| question | judged | value or median | p90 | worst | of | goal | beside it: median, p90, worst |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for i := range all {
		h := &all[i]
		if h.Question == "" {
			continue
		}
		cells, err := h.cells(all)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| %s | %s |\n", h.Question, strings.Join(cells, " | "))
	}
	return withTable(document, b.String())
}

// WithHeadlines returns the text of a document with its tables of headlines, one for
// each study, replaced. It returns an error as WithAnswers does.
func WithHeadlines(document string, all []Headline) (string, error) {
	var b strings.Builder
	for _, study := range studiesOf(all) {
		fmt.Fprintf(&b, "\n### %s\n", study)
		first := true
		for i := range all {
			h := &all[i]
			if h.Study != study || h.Beside != "" {
				continue
			}
			if first {
				fmt.Fprintf(&b, "As of %s, by `%s`.\n\n", h.Date, h.Command)
				b.WriteString("| judged | value or median | p90 | worst | of | goal | beside it: median, p90, worst |\n| --- | --- | --- | --- | --- | --- | --- |\n")
				first = false
			}
			cells, err := h.cells(all)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	return withTable(document, b.String()+"\n")
}

// withTable returns a document with what its two lines enclose replaced.
func withTable(document, table string) (string, error) {
	before, rest, ok := strings.Cut(document, headlinesBegin)
	_, after, ok2 := strings.Cut(rest, headlinesEnd)
	if !ok || !ok2 {
		return "", fmt.Errorf("perf: no place for the headlines: want a line %q and a line %q", headlinesBegin, headlinesEnd)
	}
	return before + headlinesBegin + "\n" + table + headlinesEnd + after, nil
}

// cells returns what a row of a table says of a headline, from its metric on. all has
// those that stand beside it.
func (h *Headline) cells(all []Headline) ([]string, error) {
	goal, err := h.goalText()
	if err != nil {
		return nil, err
	}
	rows := ""
	if h.Rows > 0 {
		rows = strconv.Itoa(h.Rows)
	}
	var beside []string
	for i := range all {
		if b := &all[i]; b.Study == h.Study && b.Beside == h.Metric {
			beside = append(beside, b.Metric+": "+b.figures())
		}
	}
	return []string{h.Metric, h.withUnit(h.Value), h.withUnit(h.P90), h.withUnit(h.Worst), rows, goal, strings.Join(beside, "; ")}, nil
}

// goalText tells the goals, and whether they are reached.
func (h *Headline) goalText() (string, error) {
	goals, err := h.goals()
	if err != nil {
		return "", err
	}
	var parts []string
	for _, g := range goals {
		text := strings.TrimSpace(g.of + " " + map[string]string{"<=": "≤", ">=": "≥"}[g.op] + " " + h.withUnit(g.bound))
		if !g.met() {
			text += " **not reached**"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; "), nil
}

// figures returns the figures of a headline in one text.
func (h *Headline) figures() string {
	if h.Rows == 0 {
		return h.withUnit(h.Value)
	}
	return fmt.Sprintf("%s, %s, %s", h.withUnit(h.Value), h.withUnit(h.P90), h.withUnit(h.Worst))
}

// withUnit returns a figure of the headline as a reader reads it: relative errors in
// percent, up to ten times; nothing if it is missing.
func (h *Headline) withUnit(v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case h.Unit == Relative && math.Abs(v) < 10:
		return Digits(100*v) + "%"
	case h.Unit == Relative:
		return Digits(v) + " times"
	case h.Unit == "ratio" || h.Unit == "":
		return Digits(v)
	}
	return Digits(v) + " " + h.Unit
}

// Relative is the unit of relative errors and of shares: 0.05 is 5%.
const Relative = "relative"

// Digits returns v with three significant digits, without an exponent below 10⁹.
func Digits(v float64) string {
	if a := math.Abs(v); a >= 1000 && a < 1e9 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
