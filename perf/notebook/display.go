package notebook

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"

	"presage/perf/figure"
	"presage/perf/frame"
)

// shownRows is the most rows that Show displays: a screen or two.
const shownRows = 60

// Show displays a table, a DataFrame or a slice of structs with `frame` tags, at
// most its first 60 rows.
func Show(table any) { ShowFirst(table, shownRows) }

// ShowFirst displays the first rows of a table (0: all) and says how many there are.
func ShowFirst(table any, rows int) {
	df := Must(frame.From(table))
	if df.Err != nil {
		fail(fmt.Errorf("notebook: no table to show: %w", df.Err))
	}
	if !gonbui.IsNotebook {
		fmt.Print(frame.String(df))
		return
	}
	gonbui.DisplayHTML(frame.HTML(df, rows))
	sync()
}

// ShowHTML displays what a function writes, such as Annotation.WriteHTML of package
// annotate; outside of a notebook it prints that.
func ShowHTML(write func(io.Writer) error) {
	var text strings.Builder
	Check(write(&text))
	if !gonbui.IsNotebook {
		fmt.Print(text.String())
		return
	}
	gonbui.DisplayHTML(text.String())
	sync()
}

// Draw displays a figure of a width and height in inches.
func Draw(f *figure.Figure, width, height float64) {
	if f == nil {
		fail(errors.New("notebook: no figure to draw"))
	}
	displayPNG(f.PNG(width, height))
}

// A Drawing is a graph that has been laid out, such as a *diagram.Drawing.
type Drawing interface {
	PNG() ([]byte, error)
}

// DrawGraph displays a drawing at its natural size:
//
//	notebook.DrawGraph(notebook.Must(diagram.New(ctx, graph)))
//
// Cells import what lays graphs out themselves: all others need not link Graphviz.
func DrawGraph(d Drawing) {
	if d == nil {
		fail(errors.New("notebook: no graph to draw"))
	}
	displayPNG(d.PNG())
}

func displayPNG(png []byte, err error) {
	Check(err)
	gonbui.DisplayPng(png)
	sync()
}

// sync waits for the kernel to take what was displayed: at the end of a process
// it would be lost.
func sync() {
	gonbui.Sync()
	if err := gonbui.Error(); err != nil {
		fail(fmt.Errorf("notebook: the kernel does not answer; restart it: %w", err))
	}
}
