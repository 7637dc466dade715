package annotate

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"presage/perf/internal/num"
)

// page is what the template of HTML shows.
type page struct {
	Title    string
	Note     string
	Head     []string
	Files    []pageFile
	Boxes    []box
	Width    float64
	Height   float64
	Warnings []string
}

type pageFile struct {
	Heading string
	Rows    []pageRow
}

type pageRow struct {
	Number int // 0: a gap
	Cells  []string
	Text   string
	About  string
	Heat   int // 0 to 9, of the share of the cost
}

// box is a scope in the drawing of the tree: as wide as its cost.
type box struct {
	X, Y, Width, Height float64
	Label, Tip          string
	Fill                string
}

const (
	drawingWidth = 1000 // of the tree, in pixels
	boxHeight    = 20
	charWidth    = 6.5 // of a label, about
)

// fills are the colours of boxes by depth, and heats those of lines by cost.
var (
	fills = [...]string{"#d0d0d0", "#f4c7a1", "#f2b07c", "#ee9860", "#e88049", "#df6a37"}
	heats = template.CSS(heatRules())
)

// heatRules returns a rule for each class of heat: the hotter, the more opaque.
func heatRules() string {
	var b strings.Builder
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&b, ".presage-source tr.h%d td.t{background:rgba(226,90,20,%.2f)}", i, 0.05+0.07*float64(i))
	}
	return b.String()
}

var pageTemplate = template.Must(template.New("annotation").Parse(`<div class="presage-source">
<style>
.presage-source table{border-collapse:collapse;font-family:monospace;font-size:12px;margin-bottom:1em}
.presage-source td,.presage-source th{padding:0 6px;text-align:right;white-space:pre;border:0;color:inherit}
.presage-source td.t,.presage-source td.a{text-align:left}
.presage-source td.a{opacity:.75;font-style:italic}
.presage-source text{font:11px sans-serif}
{{.Heats}}
</style>
<p><b>{{.Title}}</b><br>{{.Note}}</p>
<svg width="{{.Width}}" height="{{.Height}}" role="img" aria-label="scopes, as wide as their cost">
{{range .Boxes}}<g><title>{{.Tip}}</title><rect x="{{.X}}" y="{{.Y}}" width="{{.Width}}" height="{{.Height}}" fill="{{.Fill}}" stroke="white"/>{{if .Label}}<text x="{{.X}}" y="{{.Y}}" dx="3" dy="14">{{.Label}}</text>{{end}}</g>
{{end}}</svg>
{{range .Files}}<p><b>{{.Heading}}</b></p>
<table><tr>{{range $.Head}}<th>{{.}}</th>{{end}}<th>line</th><th></th><th></th></tr>
{{range .Rows}}<tr class="h{{.Heat}}">{{range .Cells}}<td>{{.}}</td>{{end}}<td>{{if .Number}}{{.Number}}{{else}}…{{end}}</td><td class="t">{{.Text}}</td><td class="a">{{.About}}</td></tr>
{{end}}</table>
{{end}}{{range .Warnings}}<p>warning: {{.}}</p>
{{end}}</div>
`))

// WriteHTML writes the files that cost most with the costs of each line, below a drawing
// of the scopes in which each is as wide as its cost: a fragment for a cell of a
// notebook or a page.
func (a *Annotation) WriteHTML(w io.Writer) error {
	total := a.total()
	p := page{Title: a.title(), Head: a.head(), Width: drawingWidth, Warnings: a.Warnings, Note: "Scopes are as wide as the misses of " + a.Levels[0] + "."}
	if a.timed() {
		p.Note = "Wait is the share of what all misses take if none overlaps another; scopes are as wide."
	}
	for _, f := range a.files() {
		out := pageFile{Heading: f.heading()}
		for _, s := range f.shown() {
			row := pageRow{Number: s.number, Text: plain(s.text), Cells: make([]string, len(p.Head))}
			if s.line != nil {
				row.Cells, row.About = a.cells(s.line, total), s.line.about()
				row.Heat = min(9, int(10*num.Ratio(a.weight(&s.line.Costs), a.weight(total))))
			}
			out.Rows = append(out.Rows, row)
		}
		p.Files = append(p.Files, out)
	}
	a.draw(&p, total)
	if err := pageTemplate.Execute(w, struct {
		page
		Heats template.CSS
	}{p, heats}); err != nil {
		return fmt.Errorf("annotate: %w", err)
	}
	return nil
}

// draw places a box for each scope below that of the scope that holds it.
func (a *Annotation) draw(p *page, total *Costs) {
	all := a.weight(total)
	next := []float64{0} // by depth: where the next box begins
	for i := range a.Scopes {
		s := &a.Scopes[i]
		width := drawingWidth * num.Ratio(a.weight(&s.All), all)
		next = next[:s.Depth+1]
		x := next[s.Depth]
		next[s.Depth] += width
		next = append(next, x) // its children begin where it does
		if width < 1 {
			continue
		}
		label := []rune(s.Label)
		if most := int(width / charWidth); len(label) > most {
			label = label[:max(0, most-1)]
		}
		p.Boxes = append(p.Boxes, box{
			x, boxHeight * float64(s.Depth), width, boxHeight, string(label),
			fmt.Sprintf("%s: %s, %s by itself", s.Name, num.Percent(num.Ratio(a.weight(&s.All), all)), num.Percent(num.Ratio(a.weight(&s.Own), all))),
			fills[min(s.Depth, len(fills)-1)],
		})
		p.Height = max(p.Height, boxHeight*float64(s.Depth+1))
	}
}
