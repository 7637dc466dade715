package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A finding is something wrong with a notebook.
type finding struct {
	Kind    string `json:"kind"`
	Cell    int    `json:"cell"` // counted from 1; 0: the notebook as a whole
	Line    int    `json:"line"` // of the notebook file; 0: none
	Message string `json:"message"`
	Detail  string `json:"detail,omitempty"` // the beginning of the output
}

// A result is the outcome of checking one notebook.
type result struct {
	Notebook  string    `json:"notebook"`
	Written   string    `json:"written,omitempty"` // file that holds the judged outputs
	HTML      string    `json:"html,omitempty"`
	CodeCells int       `json:"code_cells"`
	Images    int       `json:"images"`
	Figures   int       `json:"figures"`           // that its prose claims
	Bound     int       `json:"bound"`             // of these, those that name the result they are
	Updated   int       `json:"updated,omitempty"` // of these, those that --update-prose wrote anew
	Seconds   float64   `json:"execution_sec"`     // 0: not executed
	Findings  []finding `json:"findings"`

	clone string   // the folder around the notebook's, as outputs must not name it; empty: not known
	shown []string // text outputs of the cells with the tag of --show
}

func (r *result) add(f finding) { r.Findings = append(r.Findings, f) }

// spoiled reports whether there are findings other than figures in the text.
func (r *result) spoiled() bool {
	return slices.ContainsFunc(r.Findings, func(f finding) bool { return f.Kind != kindProse })
}

// show collects the text printed by cells with a tag. If there is none, that is a
// finding: a request for a table must not be answered with silence.
func (r *result) show(nb *notebook, tag string) {
	for _, c := range nb.Cells {
		if !slices.Contains(c.Tags, tag) {
			continue
		}
		for _, o := range c.Outputs {
			switch {
			case o.Stream == "stdout":
				r.shown = append(r.shown, o.Text)
			case o.Data["text/plain"] != "":
				r.shown = append(r.shown, o.Data["text/plain"])
			}
		}
	}
	if len(r.shown) == 0 {
		r.add(finding{Kind: kindNoOutput, Line: 1, Message: fmt.Sprintf("no cell tagged %q printed text to standard output", tag)})
	}
}

// print writes the result for people, findings in the form of a compiler's.
func (r *result) print(w io.Writer) {
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(w, "%s:", r.Notebook)
		if f.Line > 0 {
			fmt.Fprintf(w, "%d:", f.Line)
		}
		if f.Cell > 0 {
			fmt.Fprintf(w, " cell %d:", f.Cell)
		}
		fmt.Fprintf(w, " %s: %s\n", f.Kind, f.Message)
		if f.Detail != "" {
			fmt.Fprintf(w, "\t%s\n", strings.ReplaceAll(f.Detail, "\n", "\n\t"))
		}
	}
	if len(r.Findings) > 0 {
		return
	}
	for _, text := range r.shown {
		fmt.Fprintln(w, strings.TrimRight(text, "\n"))
	}
	fmt.Fprintf(w, "%s: good: %d code cells, %d images", r.Notebook, r.CodeCells, r.Images)
	if r.Figures > 0 {
		fmt.Fprintf(w, ", %d figures in prose (%d bound)", r.Figures, r.Bound)
	}
	if r.Updated > 0 {
		fmt.Fprintf(w, ", %d of them written anew", r.Updated)
	}
	if r.Seconds > 0 {
		fmt.Fprintf(w, ", executed in %.1f s, written to %s", r.Seconds, r.Written)
	}
	if r.HTML != "" {
		fmt.Fprintf(w, "\nHTML: %s", r.HTML)
	}
	fmt.Fprintln(w)
}

// printJSON writes the results for programs: an array with one object per notebook.
func printJSON(w io.Writer, results []result) error {
	for i := range results {
		if results[i].Findings == nil {
			results[i].Findings = []finding{} // [] is easier to read than null
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(results)
}
