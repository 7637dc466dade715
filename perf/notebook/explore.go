package notebook

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"os/signal"
	"time"

	"github.com/janpfeifer/gonb/gonbui"

	"presage/perf"
	"presage/perf/explore"
)

const (
	// unopened is how long Explore waits for a browser, which asks again every ten
	// seconds while the page is there.
	unopened = 25 * time.Second
	// pictureWidth and pictureHeight are those of the picture, in inches.
	pictureWidth, pictureHeight = 13, 4.6
)

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
func Explore(model *perf.Model, opt explore.Options) explore.State {
	if model == nil {
		fail(errors.New("notebook: no model to explore"))
	}
	opt.Fit = model.Options()
	s := Must(explore.New(model.Runs(), opt))
	st := s.Initial()
	if gonbui.IsNotebook && !Recording() {
		id := gonbui.UniqueId()
		st = Must(explored(s, func(address string) {
			gonbui.UpdateHTML(id, frameOf(address))
			sync()
		}))
		gonbui.UpdateHTML(id, "")
		sync()
	}
	v := Must(s.Show(context.Background(), st))
	picture := Must(v.Picture())
	if gonbui.IsNotebook {
		Draw(picture, pictureWidth, pictureHeight)
	}
	fmt.Println(v.Summary())
	fmt.Println(v.Held())
	fmt.Printf("perf.FitOptions{Basis: %q, Shape: %q}\n", v.State.Basis, v.State.Shape)
	return v.State
}

// frameOf shows the page in the cell.
func frameOf(address string) string {
	return fmt.Sprintf(`<iframe src="%s" title="Explore the model" style="width:100%%;height:60rem;border:0"></iframe><p><a href="%[1]s" target="_blank" rel="noopener">Open in a tab of its own</a></p>`, html.EscapeString(address))
}

// explored serves the page until it is ended, and returns its last state.
func explored(s *explore.Session, show func(address string)) (explore.State, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ln, err := explore.Listen(ctx, 0)
	if err != nil {
		return explore.State{}, err
	}
	token := explore.NewToken()
	show(s.Address(ln, token, s.Initial()))
	st, err := explore.Serve(ctx, ln, s, explore.ServeOptions{Token: token, CanEnd: true, Unused: unopened})
	if errors.Is(err, explore.ErrUnused) || errors.Is(err, context.Canceled) {
		err = nil
	}
	return st, err
}
