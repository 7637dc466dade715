package explore

import (
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"presage/perf/figure"
	"presage/perf/internal/profiletest"
	"presage/perf/misses"
	"presage/perf/store"
)

// A page that is opened, used and ended by its button returns its state, and leaves a
// picture; where nobody opens it, that is of the first state.
func TestInCell(t *testing.T) {
	st := store.Open(t.TempDir())
	runs := profiletest.Profile(t, st, []float64{4, 6, 8}, 32)
	model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: st, Basis: "1, n, n^3"})
	if err != nil {
		t.Fatal(err)
	}
	used := make(chan error, 1)
	shown, ends := 0, 0
	ended := func(picture *figure.Figure, text string) {
		if ends++; picture == nil || !strings.Contains(text, "perf.FitOptions{Basis: ") {
			t.Errorf("ended with %v, %q", picture, text)
		}
	}
	state, err := Options{}.InCell(model, func(page string) {
		if shown++; shown > 1 {
			if page != "" {
				t.Errorf("in the end the page is %q", page)
			}
			return
		}
		src := regexp.MustCompile(`src="([^"]*)"`).FindStringSubmatch(page)
		if src == nil || !strings.Contains(html.UnescapeString(src[1]), "basis=1%2C+n%2C+n%5E3") {
			t.Errorf("the cell shows %q", page)
			return
		}
		go func() { used <- visit(html.UnescapeString(src[1])) }()
	}, ended)
	if err != nil || state.Basis != "1, n" || state.At != 16 || shown != 2 {
		t.Errorf("%+v, %v, shown %d times", state, err, shown)
	}
	if err := <-used; err != nil {
		t.Error(err)
	}
	state, err = Options{}.InCell(model, nil, ended)
	if err != nil || state.Basis != "1, n, n^3" || ends != 2 {
		t.Errorf("without a browser: %+v, %v, ended %d times", state, err, ends)
	}
}

// visit asks for the page with another basis, and presses its button.
func visit(address string) error {
	base, _, _ := strings.Cut(address, "?")
	res, err := http.Get(base + "?basis=1,+n")
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, res.Body)
	res.Body.Close()
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPost, base+"done", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if res, err = http.DefaultClient.Do(r); err == nil {
		res.Body.Close()
	}
	return err
}
