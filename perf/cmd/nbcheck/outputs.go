package main

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// A table is a table that a cell displays as HTML or prints as aligned text.
type table struct {
	head []string
	rows [][]string

	cell  int      // its number
	names []string // its ID and tags
}

// A summary is a line that notebook.Report prints about a headline: what sums up
// its sample, by "median", "p90", "worst" and "rows", and what is said about.
type summary struct {
	metric string
	beside string // the headline beside which it stands; empty: it is one
	values map[string]string
}

// results are what a notebook's outputs say.
type results struct {
	tables    []table
	summaries []summary
}

// A number is one as it is written: its magnitude is exact to half a unit of its last
// digit.
type number struct {
	value   float64
	half    float64 // half a unit of the last digit; 0 of an integer
	percent bool    // written as a percentage; value is the fraction
}

// readNumber reads a number as tables show them: with separators of thousands, an
// exponent or a percent sign.
func readNumber(s string) (number, bool) {
	s = strings.ReplaceAll(strings.TrimSpace(s), "−", "-")
	digits, percent := strings.CutSuffix(s, "%")
	digits = strings.ReplaceAll(strings.TrimSpace(digits), ",", "")
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return number{}, false
	}
	n := number{value: v, percent: percent}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(digits), "e")
	_, fraction, hasPoint := strings.Cut(mantissa, ".")
	power, _ := strconv.Atoi(exponent) // absent: 0
	if hasPoint || exponent != "" {
		n.half = 0.5 * math.Pow10(power-len(fraction))
	}
	if percent {
		n.value /= 100
		n.half = 0.005 * math.Pow10(-len(fraction))
	}
	return n, true
}

// readResults collects what the notebook's code cells display and print.
func readResults(nb *notebook) *results {
	var r results
	for i := range nb.Cells {
		c := &nb.Cells[i]
		if !c.Code {
			continue
		}
		known := len(r.tables)
		var printed strings.Builder
		for _, o := range c.Outputs {
			if o.Stream == "stdout" {
				printed.WriteString(o.Text)
			}
			if page := o.Data["text/html"]; page != "" {
				r.addHTML(page)
			}
		}
		text := escapes.ReplaceAllString(printed.String(), "")
		r.tables = append(r.tables, printedTables(text)...)
		for k := known; k < len(r.tables); k++ {
			r.tables[k].cell, r.tables[k].names = c.Number, append(slices.Clone(c.Tags), c.ID)
		}
		if slices.Contains(c.Tags, "headline") {
			r.summaries = append(r.summaries, readSummaries(text)...)
		}
	}
	return &r
}

// addHTML collects the tables of an HTML output.
func (r *results) addHTML(page string) {
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return // html.Parse mends what browsers mend, and fails where reading does
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "table" {
			if t := tableOf(n); len(t.head) > 0 {
				r.tables = append(r.tables, t)
			}
		}
	}
}

// tableOf reads a table whose first row of <th> is its head.
func tableOf(n *html.Node) (t table) {
	for row := range n.Descendants() {
		if row.Type != html.ElementNode || row.Data != "tr" {
			continue
		}
		var head, cells []string
		for c := row.FirstChild; c != nil; c = c.NextSibling {
			switch c.Data {
			case "th":
				head = append(head, strings.TrimSpace(textOf(c)))
			case "td":
				cells = append(cells, strings.TrimSpace(textOf(c)))
			}
		}
		switch {
		case len(head) > 0 && t.head == nil:
			t.head = head
		case len(cells) == len(t.head):
			t.rows = append(t.rows, cells)
		}
	}
	return t
}

// textOf is the text of an element, that of different cells apart.
func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data + " ")
		}
	}
	return b.String()
}

// apart is what stands between the columns of a printed table.
var apart = regexp.MustCompile(`\s{2,}`)

// printedTables finds the tables that frame.String writes: a line of at least two
// names, and lines of as many cells below it.
func printedTables(text string) (all []table) {
	var t table
	end := func() {
		if len(t.rows) > 0 {
			all = append(all, t)
		}
		t = table{}
	}
	for line := range strings.Lines(text) {
		cells := apart.Split(strings.TrimSpace(line), -1)
		switch {
		case len(cells) < 2:
			end()
		case len(cells) == len(t.head):
			t.rows = append(t.rows, cells)
		default:
			end()
			t.head = cells
		}
	}
	end()
	return all
}

// summed matches a line of notebook.Report: value, sample, verdict, metric.
var summed = regexp.MustCompile(`^(\S+)(?: \(p90 (\S+), worst (\S+) of (\d+)\))?.*?\s{2,}(goal .*?\s{2,})?(\S.*)$`)

// besideIndent is the least space before the metric of what stands beside a headline.
const besideIndent = 4

// readSummaries reads the lines that notebook.Report prints. The metrics of
// headlines begin at one column, those of what stands beside them 4 further right.
func readSummaries(text string) (all []summary) {
	type found struct {
		at int
		summary
	}
	var lines []found
	first := math.MaxInt
	for line := range strings.Lines(text) {
		m := summed.FindStringSubmatchIndex(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return line[m[2*i]:m[2*i+1]]
		}
		if _, ok := readNumber(part(1)); !ok {
			continue
		}
		f := found{at: utf8.RuneCountInString(line[:m[2*6]])}
		f.metric = part(6)
		f.values = map[string]string{"value": part(1), "median": part(1), "p90": part(2), "worst": part(3), "rows": part(4)}
		lines = append(lines, f)
		first = min(first, f.at)
	}
	above := ""
	for _, f := range lines {
		if f.at >= first+besideIndent {
			f.beside = above
		} else {
			above = f.metric
		}
		all = append(all, f.summary)
	}
	return all
}
