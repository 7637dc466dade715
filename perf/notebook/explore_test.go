package notebook

import (
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"presage/perf"
	"presage/perf/explore"
	"presage/perf/internal/profiletest"
	"presage/perf/store"
)

// A page that is opened, used and ended by its button returns its state.
func TestExplored(t *testing.T) {
	st := store.Open(t.TempDir())
	runs := profiletest.Profile(t, st, []float64{4, 6, 8}, 32)
	model, err := perf.FitScaling(t.Context(), runs, perf.FitOptions{Store: st, Basis: "1, n, n^3"})
	if err != nil {
		t.Fatal(err)
	}
	if got := model.Options().Basis; got != "1, n, n^3" {
		t.Errorf("the model's basis is %q", got)
	}
	s, err := explore.New(model.Runs(), explore.Options{Fit: model.Options()})
	if err != nil {
		t.Fatal(err)
	}
	used := make(chan error, 1)
	state, err := explored(s, func(address string) {
		shown := regexp.MustCompile(`src="([^"]*)"`).FindStringSubmatch(frameOf(address))
		if shown == nil || html.UnescapeString(shown[1]) != address || !strings.Contains(address, "basis=1%2C+n%2C+n%5E3") {
			t.Errorf("%s shows %q", address, shown)
		}
		go func() { used <- use(address) }()
	})
	if err != nil || state.Basis != "1, n" || state.At != 16 {
		t.Errorf("%+v, %v", state, err)
	}
	if err := <-used; err != nil {
		t.Error(err)
	}
}

// use asks for the page with another basis, and presses its button.
func use(address string) error {
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
