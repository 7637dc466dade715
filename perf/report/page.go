package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"strings"

	"presage/perf/misses"
	"presage/perf/subject"
)

//go:embed assets/report.html
var pageText string

// page is what the template shows.
type page struct {
	Program, Lead, Wrong                            string
	Predictions, Judgements, Routines, Doubts, Runs table
	Figures                                         []drawn
	Commands                                        []string
}

type drawn struct {
	Caption string
	SVG     template.HTML
}

// table is a table of the page.
type table struct {
	Caption string
	Head    []cell
	Rows    [][]cell
}

// cell is a text; a Number stands at the right, a Wrong one stands out.
type cell struct {
	Text          string
	Number, Wrong bool
}

func heads(names ...string) []cell {
	var all []cell
	for _, name := range names {
		text, number := strings.CutPrefix(name, ">")
		all = append(all, cell{Text: text, Number: number})
	}
	return all
}

// HTML returns the report as one page that needs no other file: figures are part of it.
func (r *Report) HTML() ([]byte, error) {
	p := page{Program: r.Program, Lead: r.lead(), Commands: r.opt.Commands}
	wrong := 0
	for _, d := range r.Doubts {
		p.Doubts.Rows = append(p.Doubts.Rows, []cell{{Text: string(d.Gravity), Wrong: d.Gravity == Wrong}, {Text: d.About}, {Text: d.Text}})
		if d.Gravity == Wrong {
			wrong++
		}
	}
	if wrong > 0 {
		p.Wrong = fmt.Sprintf("%d of the predictions that were simulated are off by more than %g%%: see what is doubtful.", wrong, 100*wrongBeyond)
	}
	p.Doubts.Head = heads("Gravity", "About", "Why")
	p.Predictions, p.Routines = missTable(r.Predictions, "Size", "Scope"), missTable(r.Routines, "Size", "Routine")
	p.Judgements, p.Runs = r.judged(), r.ran()
	figures, err := r.Figures()
	if err != nil {
		return nil, err
	}
	for _, f := range figures {
		svg, err := f.SVG(f.Width, f.Height)
		if err != nil {
			return nil, err
		}
		p.Figures = append(p.Figures, drawn{f.Caption, template.HTML(svg)}) // figure escapes what is text
	}
	t, err := template.New("").Parse(pageText)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "report", p); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return b.Bytes(), nil
}

// lead says in a sentence or two what was done, and how well it holds.
func (r *Report) lead() string {
	var machines []string
	for _, m := range r.opt.Machines {
		machines = append(machines, m.Name)
	}
	text := fmt.Sprintf("Profiled at %s; misses on %s are predicted at %s.", points(r.opt.Train), strings.Join(machines, ", "), points(r.opt.Predict))
	sum, worst, n := 0.0, 0.0, 0
	for i := range r.Judgements {
		if j := &r.Judgements[i]; j.Of == string(subject.ByProgram) && !math.IsNaN(j.Err) && !math.IsInf(j.Err, 0) {
			sum += math.Abs(j.Err)
			worst = max(worst, math.Abs(j.Err))
			n++
		}
	}
	if n > 0 {
		text += fmt.Sprintf(" At %s, which was simulated exactly, predictions for the %d levels are %.1f%% off on average, and %.1f%% at worst.", points(r.opt.Judge), n, 100*sum/float64(n), 100*worst)
	}
	return text
}

func points(all []subject.Point) string {
	var texts []string
	for _, p := range all {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, ", ")
}

func missTable(rows []misses.Row, size, scope string) table {
	t := table{Head: heads("Machine", "Level", size, scope, ">Misses", ">From", ">To", ">Of accesses", ">Doubtful", "By")}
	for i := range rows {
		m := &rows[i]
		t.Rows = append(t.Rows, []cell{
			{Text: m.Machine},
			{Text: m.Level},
			{Text: subject.Point(m.Point).String()},
			{Text: m.Scope},
			numeric(number(m.Misses)), numeric(number(m.Low)), numeric(number(m.High)), numeric(percent(m.Ratio)), numeric(percent(m.Doubtful)),
			{Text: m.Method},
		})
	}
	return t
}

func (r *Report) judged() table {
	t := table{Head: heads("Machine", "Level", "Size", "Scope", ">Predicted", ">Simulated", ">Error", "Cause")}
	for i := range r.Judgements {
		j := &r.Judgements[i]
		wrong := numeric(signed(j.Err))
		wrong.Wrong = math.Abs(j.Err) > wrongBeyond
		t.Rows = append(t.Rows, []cell{
			{Text: j.Machine},
			{Text: j.Level},
			{Text: subject.Point(j.Point).String()},
			{Text: j.Scope},
			numeric(number(j.Pred)), numeric(number(j.Sim)), wrong,
			{Text: j.Cause},
		})
	}
	return t
}

func (r *Report) ran() table {
	t := table{Head: heads("Size", ">Instructions", ">Accesses", ">Memory touched (bytes)")}
	for _, row := range r.Runs.Rows() {
		t.Rows = append(t.Rows, []cell{
			{Text: subject.Point(row.Point).String()},
			numeric(number(float64(row.Instructions))), numeric(number(float64(row.Accesses))), numeric(number(float64(row.Footprint))),
		})
	}
	return t
}

func numeric(text string) cell { return cell{Text: text, Number: true} }

// number writes a count with separators; an unknown one is a dash.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.Abs(v) >= 1e15:
		return fmt.Sprintf("%.3g", v)
	}
	digits := fmt.Sprintf("%.0f", math.Abs(v))
	var b strings.Builder
	if v <= -0.5 {
		b.WriteByte('-')
	}
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

func percent(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.2f%%", 100*v)
}

func signed(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%+.1f%%", 100*v)
}
