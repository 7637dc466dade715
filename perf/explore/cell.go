package explore

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"os/signal"
	"time"

	"presage/perf/figure"
	"presage/perf/misses"
)

// unopened is how long InCell waits for a browser, which asks again every ten seconds
// while the page is there.
const unopened = 25 * time.Second

// InCell is what notebook.Explore does, so that cells which do not call it link no
// server: it serves the page of a model until that is ended, interrupted or closed, and
// returns its last state. show is given the HTML that holds the page, and at last none;
// where it is nil, nobody opens the page, and the state is the first. ended is given the
// picture of the state that is returned, and what describes it. The options' Fit is that
// of the model.
func (opt Options) InCell(model *misses.Model, show func(html string), ended func(picture *figure.Figure, text string)) (State, error) {
	opt.Fit = model.Options()
	s, err := New(model.Runs(), opt)
	if err != nil {
		return State{}, err
	}
	st := s.Initial()
	if show != nil {
		if st, err = s.served(func(address string) { show(frameOf(address)) }); err != nil {
			return State{}, err
		}
		show("")
	}
	v, err := s.Show(context.Background(), st)
	if err != nil {
		return State{}, err
	}
	picture, err := v.Picture()
	if err != nil {
		return State{}, err
	}
	ended(picture, fmt.Sprintf("%s\n%s\nperf.FitOptions{Basis: %q, Shape: %q}\n", v.Summary(), v.Held(), v.State.Basis, v.State.Shape))
	return v.State, nil
}

// frameOf shows the page in the cell.
func frameOf(address string) string {
	return fmt.Sprintf(`<iframe src="%s" title="Explore the model" style="width:100%%;height:60rem;border:0"></iframe><p><a href="%[1]s" target="_blank" rel="noopener">Open in a tab of its own</a></p>`, html.EscapeString(address))
}

// served serves the page until it is ended, and returns its last state.
func (s *Session) served(show func(address string)) (State, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ln, err := Listen(ctx, 0)
	if err != nil {
		return State{}, err
	}
	token := NewToken()
	show(s.Address(ln, token, s.Initial()))
	st, err := Serve(ctx, ln, s, ServeOptions{Token: token, CanEnd: true, Unused: unopened})
	if errors.Is(err, ErrUnused) || errors.Is(err, context.Canceled) {
		err = nil
	}
	return st, err
}
