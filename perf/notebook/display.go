package notebook

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

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
	png, err := f.PNG(width, height)
	Check(err)
	displayPNG(png, f.Description())
}

// A Drawing is a graph that has been laid out, such as a *diagram.Drawing.
type Drawing interface {
	PNG() ([]byte, error)
	Description() string
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
	png, err := d.PNG()
	Check(err)
	displayPNG(png, d.Description())
}

// displayPNG displays a picture with what it shows in words, which is the text that pages
// made by nbconvert have for readers of screens.
func displayPNG(png []byte, alt string) {
	if !gonbui.IsNotebook {
		return
	}
	gonbui.SendData(pictureData(png, alt))
	sync()
}

// pictureData is a picture with its text as Jupyter's messages have it: by the picture's
// type, as the width and height of pictures are.
func pictureData(png []byte, alt string) *protocol.DisplayData {
	d := &protocol.DisplayData{Data: map[protocol.MIMEType]any{protocol.MIMEImagePNG: png}}
	if alt != "" {
		d.Metadata = map[string]any{string(protocol.MIMEImagePNG): map[string]string{"alt": alt}}
	}
	return d
}

// sync waits for the kernel to take what was displayed: at the end of a process
// it would be lost.
func sync() {
	gonbui.Sync()
	if err := gonbui.Error(); err != nil {
		fail(fmt.Errorf("notebook: the kernel does not answer; restart it: %w", err))
	}
}
