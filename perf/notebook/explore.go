package notebook

import (
	"errors"
	"fmt"

	"github.com/janpfeifer/gonb/gonbui"

	"presage/perf"
	"presage/perf/figure"
)

// pictureWidth and pictureHeight are those of the picture, in inches.
const pictureWidth, pictureHeight = 13, 4.6

// Explorable is explore.Options, whose State is an explore.State. Cells that explore
// import that package themselves: all others need not link a server.
type Explorable[State any] interface {
	InCell(model *perf.Model, show func(html string), ended func(picture *figure.Figure, text string)) (State, error)
}

// Explore shows a page below the cell in which the model is changed by hand: its
// basis, the shape of its functions, the sizes that it is fitted to, the machine,
// level and cache whose misses it predicts. Package explore says more.
//
// The cell runs while the page is used: until its button "End" is pressed, the cell is
// interrupted, or the page is closed. Then a picture of the last state takes the place
// of the page, and stays in the saved notebook; the state is printed, and returned, to
// go on with its basis:
//
//	chosen := notebook.Explore(model, explore.Options{})
//	model = notebook.Must(perf.FitScaling(ctx, runs, perf.FitOptions{Basis: chosen.Basis, Shape: chosen.Shape}))
//
// Where nobody opens the page, as when a notebook is executed as a whole, where the
// project records its results, and outside of a notebook, there is only the picture.
// The page is served on the computer of the kernel, to that computer alone: a browser
// on another one shows the picture. The options' Fit is that of the model.
func Explore[State any](model *perf.Model, opt Explorable[State]) State {
	if model == nil {
		fail(errors.New("notebook: no model to explore"))
	}
	var show func(html string)
	if gonbui.IsNotebook && !Recording() {
		id := gonbui.UniqueId()
		show = func(html string) {
			gonbui.UpdateHTML(id, html)
			sync()
		}
	}
	return Must(opt.InCell(model, show, func(picture *figure.Figure, text string) {
		if gonbui.IsNotebook {
			Draw(picture, pictureWidth, pictureHeight)
		}
		fmt.Print(text)
	}))
}
