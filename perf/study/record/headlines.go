package record

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Headline is a result that the project is judged by, as last measured: a single
// figure, or a sample of errors by its median, 90th percentile and worst.
type Headline struct {
	Study  string
	Metric string  // what was judged, how it was predicted and against what
	Value  float64 // the figure, or the median of the sample
	P90    float64 // 90th percentile of the sample; NaN of a single figure
	Worst  float64 // largest of the sample; NaN of a single figure
	Rows   int     // size of the sample; 0: a single figure
	// Goal is a comparison of Value with a number, such as "<=0.05" or ">=0.95", or
	// several, of Value, P90 and Worst: "<=0.05; p90<=0.1; worst<=0.15". Empty: none.
	Goal string
	Unit string // of the values and the goals: "ratio", "Mref/s", …
	// Beside is the metric, of the same study, that this result is a baseline of,
	// or of which it is what another method or another reference gives.
	Beside string
	// Question is what a reader asks who wants this result; the README lists the
	// results that have one.
	Question string
	Command  string // measures it again
	Date     string // YYYY-MM-DD, in UTC; UpdateHeadlines fills it in
}

// headlineColumns is the header of the file of headlines.
var headlineColumns = []string{
	"study", "metric", "value", "p90", "worst", "rows", "goal", "unit", "beside", "question", "command", "date",
}

// Reached reports whether the result meets its goals; it does if it has none. It
// returns an error if a goal cannot be read.
func (h Headline) Reached() (bool, error) {
	goals, err := h.goals()
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(goals, func(g goal) bool { return !g.met() }), nil
}

// goal is a comparison of one of a headline's figures with a number.
type goal struct {
	of    string // "", p90 or worst
	op    string // <= or >=
	bound float64
	value float64 // the figure
}

// met reports whether the figure meets the goal. A missing one does not.
func (g goal) met() bool {
	return g.op == "<=" && g.value <= g.bound || g.op == ">=" && g.value >= g.bound
}

// goals returns the goals of a headline.
func (h *Headline) goals() (all []goal, err error) {
	if h.Goal == "" {
		return nil, nil
	}
	for _, text := range strings.Split(h.Goal, ";") {
		text = strings.TrimSpace(text)
		at := strings.IndexAny(text, "<>")
		if at < 0 || len(text) < at+2 || text[at+1] != '=' {
			return nil, fmt.Errorf("perf: goal %q has neither <= nor >=", text)
		}
		g := goal{of: text[:at], op: text[at : at+2]}
		switch g.of {
		case "":
			g.value = h.Value
		case "p90":
			g.value = h.P90
		case "worst":
			g.value = h.Worst
		default:
			return nil, fmt.Errorf("perf: goal %q is of %q: want p90, worst or nothing before the comparison", text, g.of)
		}
		if g.bound, err = strconv.ParseFloat(text[at+2:], 64); err != nil {
			return nil, fmt.Errorf("perf: goal %q: %w", text, err)
		}
		all = append(all, g)
	}
	return all, nil
}

// UpdateHeadlines writes headlines, dated today, into a CSV file. They replace all
// headlines that the file has of their studies: a result that a study no longer
// reports, or reports by another name, is gone. It returns an error, and leaves the
// file alone, if two of them have the same name, a goal cannot be read, or one stands
// beside a metric that its study does not have.
func UpdateHeadlines(path string, fresh ...Headline) error {
	all, err := Headlines(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := checkHeadlines(fresh); err != nil {
		return err
	}
	date := time.Now().UTC().Format(time.DateOnly)
	for _, study := range studiesOf(fresh) {
		var own []Headline
		for _, h := range fresh {
			if h.Study == study {
				h.Date = date
				own = append(own, h)
			}
		}
		of := func(h Headline) bool { return h.Study == study }
		at := slices.IndexFunc(all, of)
		if at < 0 {
			at = len(all)
		}
		all = slices.Insert(slices.DeleteFunc(all, of), at, own...)
	}
	return writeHeadlines(path, all)
}

// studiesOf returns the studies of headlines, in the order in which they come.
func studiesOf(all []Headline) (studies []string) {
	for i := range all {
		if !slices.Contains(studies, all[i].Study) {
			studies = append(studies, all[i].Study)
		}
	}
	return studies
}

// headlineKey tells headlines apart.
type headlineKey struct{ study, metric, beside string }

// checkHeadlines returns an error if headlines do not fit together.
func checkHeadlines(all []Headline) error {
	known := make(map[headlineKey]bool)
	for _, h := range all {
		if _, err := h.Reached(); err != nil {
			return err
		}
		key := headlineKey{h.Study, h.Metric, h.Beside}
		if known[key] {
			return fmt.Errorf("perf: two headlines of %s are called %q", h.Study, h.Metric)
		}
		known[key] = true
	}
	for _, h := range all {
		if h.Beside != "" && !known[headlineKey{h.Study, h.Beside, ""}] {
			return fmt.Errorf("perf: headline %q stands beside %q, which %s does not have", h.Metric, h.Beside, h.Study)
		}
	}
	return nil
}

func writeHeadlines(path string, all []Headline) error {
	var records [][]string
	for _, h := range all {
		rows := ""
		if h.Rows > 0 {
			rows = strconv.Itoa(h.Rows)
		}
		records = append(records, []string{
			h.Study, h.Metric, exact(h.Value), exact(h.P90), exact(h.Worst), rows, h.Goal,
			h.Unit, h.Beside, h.Question, h.Command, h.Date,
		})
	}
	return writeList(path, "headlines", headlineColumns, records)
}

// exact returns the digits that v is read from again; none if it is missing.
func exact(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Headlines reads a file of headlines.
func Headlines(path string) ([]Headline, error) {
	records, err := readList(path, "headlines", headlineColumns)
	if err != nil {
		return nil, err
	}
	var all []Headline
	for i, r := range records {
		h := Headline{
			Study: r[0], Metric: r[1], Goal: r[6], Unit: r[7], Beside: r[8], Question: r[9], Command: r[10], Date: r[11],
		}
		for k, to := range []*float64{&h.Value, &h.P90, &h.Worst} {
			if *to, err = parseFigure(r[2+k]); err != nil {
				return nil, fmt.Errorf("perf: %s: record %d: %s: %w", path, i+2, headlineColumns[2+k], err)
			}
		}
		if r[5] != "" {
			if h.Rows, err = strconv.Atoi(r[5]); err != nil {
				return nil, fmt.Errorf("perf: %s: record %d: rows: %w", path, i+2, err)
			}
		}
		if _, err := h.Reached(); err != nil {
			return nil, fmt.Errorf("perf: %s: record %d: %w", path, i+2, err)
		}
		all = append(all, h)
	}
	if err := checkHeadlines(all); err != nil {
		return nil, fmt.Errorf("%w (in %s)", err, path)
	}
	return all, nil
}

// parseFigure reads what exact wrote.
func parseFigure(text string) (float64, error) {
	if text == "" {
		return math.NaN(), nil
	}
	return strconv.ParseFloat(text, 64)
}
