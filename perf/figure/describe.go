package figure

import (
	"fmt"
	"strings"
)

// Description says in words what the figure shows: Alt or, if that is empty, the axes,
// marks and titles of the panels, which are all that can be said without knowing what
// the figure is to show.
func (f *Figure) Description() string {
	if f.Alt != "" || len(f.panels) == 0 {
		return f.Alt
	}
	var b strings.Builder
	if n := len(f.panels); n > 1 {
		fmt.Fprintf(&b, "%d panels. ", n)
	}
	first := f.panels[0]
	y, x := oneLine(first.Y.Label.Text), oneLine(first.X.Label.Text)
	switch {
	case x != "" && y != "":
		fmt.Fprintf(&b, "%s over %s.", y, x)
	case x+y != "":
		fmt.Fprintf(&b, "%s.", x+y)
	}
	if marks := f.marks(); len(marks) > 0 {
		fmt.Fprintf(&b, " Drawn: %s.", strings.Join(marks, "; "))
	}
	if title := f.Title(); title != "figure" {
		fmt.Fprintf(&b, " Titles: %s.", title)
	}
	return strings.TrimSpace(b.String())
}

// oneLine returns a text without its line breaks.
func oneLine(text string) string { return strings.ReplaceAll(text, "\n", ", ") }

// marks returns the entries of the legends, each once.
func (f *Figure) marks() []string {
	var all []string
	seen := make(map[string]bool)
	for _, p := range f.panels {
		for _, e := range p.Legend.entries {
			if text := oneLine(e.text); !seen[text] {
				seen[text] = true
				all = append(all, text)
			}
		}
	}
	return all
}
