package record

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"presage/perf/store"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Headline is a figure that the project is judged by, as last measured.
type Headline struct {
	Study, Metric string
	Value         float64
	Goal          string // such as "<=0.05" or ">=0.95"; empty for none
	Unit          string // "ratio", "Mref/s", …
	Command       string // that measures it again
	Date          string // YYYY-MM-DD; RecordHeadlines fills it in
}

// headlineColumns is the header of the file of headlines.
var headlineColumns = []string{"study", "metric", "value", "goal", "unit", "command", "date"}

// Reached reports whether the value is as good as the goal. There is no doubt
// about a headline without a goal.
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

// RecordHeadlines writes headlines, dated today, into a CSV file, each in place
// of one with the same study and metric. Whatever measures a headline calls it.
func RecordHeadlines(path string, fresh ...Headline) error {
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
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	records := [][]string{headlineColumns}
	for _, h := range all {
		value := strconv.FormatFloat(h.Value, 'g', -1, 64)
		records = append(records, []string{h.Study, h.Metric, value, h.Goal, h.Unit, h.Command, h.Date})
	}
	if err := w.WriteAll(records); err != nil {
		return fmt.Errorf("perf: headlines: %w", err)
	}
	return store.WriteFile(path, b.Bytes())
}

// Headlines reads a file of headlines.
func Headlines(path string) ([]Headline, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("perf: headlines: %w", err)
	}
	records, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", path, err)
	}
	if len(records) == 0 || !slices.Equal(records[0], headlineColumns) {
		return nil, fmt.Errorf("perf: %s:1: want the columns %s", path, strings.Join(headlineColumns, ","))
	}
	var all []Headline
	for i, r := range records[1:] {
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

// The table of headlines stands between these lines of a README.
const (
	headlinesBegin = "<!-- headlines: written by `presage headlines`, not by hand -->"
	headlinesEnd   = "<!-- end of headlines -->"
)

// WithHeadlines returns a README's text with its table of headlines renewed.
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
