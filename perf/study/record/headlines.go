package record

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Headline is a figure that the project is judged by, as last measured.
type Headline struct {
	Study   string  `frame:"study"`
	Metric  string  `frame:"metric"` // what was measured
	Value   float64 `frame:"value"`
	Goal    string  `frame:"goal"`    // such as "<=0.05" or ">=0.95"; empty if there is none
	Unit    string  `frame:"unit"`    // of the value and the goal: "ratio", "Mref/s", …
	Command string  `frame:"command"` // measures it again
	Date    string  `frame:"date"`    // YYYY-MM-DD, in UTC; UpdateHeadlines fills it in
}

// headlineColumns is the header of the file of headlines.
var headlineColumns = []string{"study", "metric", "value", "goal", "unit", "command", "date"}

// Reached reports whether the value meets the goal, or there is none. It returns
// an error if the goal is not a comparison with a number.
func (h Headline) Reached() (bool, error) {
	if h.Goal == "" {
		return true, nil
	}
	for _, op := range []string{"<=", ">="} {
		text, ok := strings.CutPrefix(h.Goal, op)
		if !ok {
			continue
		}
		bound, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return false, fmt.Errorf("perf: goal %q: %w", h.Goal, err)
		}
		return op == "<=" && h.Value <= bound || op == ">=" && h.Value >= bound, nil
	}
	return false, fmt.Errorf("perf: goal %q begins with neither <= nor >=", h.Goal)
}

// UpdateHeadlines writes headlines, dated today, into a CSV file. Each replaces the
// one with the same study and metric, or is appended.
func UpdateHeadlines(path string, fresh ...Headline) error {
	all, err := Headlines(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, h := range fresh {
		if _, err := h.Reached(); err != nil {
			return err
		}
		h.Date = time.Now().UTC().Format(time.DateOnly)
		same := func(o Headline) bool { return o.Study == h.Study && o.Metric == h.Metric }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i] = h
		} else {
			all = append(all, h)
		}
	}
	return writeHeadlines(path, all)
}

func writeHeadlines(path string, all []Headline) error {
	var records [][]string
	for _, h := range all {
		value := strconv.FormatFloat(h.Value, 'g', -1, 64)
		records = append(records, []string{h.Study, h.Metric, value, h.Goal, h.Unit, h.Command, h.Date})
	}
	return writeList(path, "headlines", headlineColumns, records)
}

// Headlines reads a file of headlines.
func Headlines(path string) ([]Headline, error) {
	records, err := readList(path, "headlines", headlineColumns)
	if err != nil {
		return nil, err
	}
	var all []Headline
	for i, r := range records {
		value, err := strconv.ParseFloat(r[2], 64)
		if err != nil {
			return nil, fmt.Errorf("perf: %s: record %d: value: %w", path, i+2, err)
		}
		h := Headline{r[0], r[1], value, r[3], r[4], r[5], r[6]}
		if _, err := h.Reached(); err != nil {
			return nil, fmt.Errorf("perf: %s: record %d: %w", path, i+2, err)
		}
		all = append(all, h)
	}
	return all, nil
}

// These lines of a README enclose the table of headlines.
const (
	headlinesBegin = "<!-- headlines: written by `presage headlines`, not by hand -->"
	headlinesEnd   = "<!-- end of headlines -->"
)

// WithHeadlines returns the text of a README with its table of headlines replaced.
// It returns an error if the lines that enclose the table are missing.
func WithHeadlines(readme string, all []Headline) (string, error) {
	before, rest, ok := strings.Cut(readme, headlinesBegin)
	_, after, ok2 := strings.Cut(rest, headlinesEnd)
	if !ok || !ok2 {
		return "", fmt.Errorf("perf: no place for the headlines: want a line %q and a line %q", headlinesBegin, headlinesEnd)
	}
	var b strings.Builder
	b.WriteString(before + headlinesBegin + "\n| study | what | value | goal | measured |\n| --- | --- | --- | --- | --- |\n")
	for _, h := range all {
		reached, err := h.Reached()
		if err != nil {
			return "", err
		}
		goal := h.Goal
		if goal != "" && !reached {
			goal += " (not reached)"
		}
		fmt.Fprintf(&b, "| %s | %s | %.3g %s | %s | %s |\n", h.Study, h.Metric, h.Value, h.Unit, goal, h.Date)
	}
	b.WriteString(headlinesEnd + after)
	return b.String(), nil
}
