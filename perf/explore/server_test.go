package explore

import (
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"presage/perf/internal/profiletest"
	"presage/perf/machine"
	"presage/perf/misses"
)

// get asks a handler and returns the answer.
func get(t *testing.T, h http.Handler, path string, header ...string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(body)
}

func TestGuard(t *testing.T) {
	const token = "0123456789abcdef"
	ln, err := Listen(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	host := ln.Addr().String()
	_, port, _ := strings.Cut(host, ":")
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.URL.Path) })
	h := guard(hostsOf(ln.Addr()), token, inner)
	for _, c := range []struct {
		method, host, path, origin, site string
		status                           int
	}{
		{"GET", host, "/" + token + "/x", "", "", 200},
		{"HEAD", host, "/" + token + "/x", "", "", 200},
		{"GET", "localhost:" + port, "/" + token + "/", "", "cross-site", 200}, // a notebook's frame
		{"GET", "[::1]:" + port, "/" + token + "/", "", "", 200},
		{"GET", host, "/" + token + "/", "http://" + host, "", 200},
		{"POST", host, "/" + token + "/done", "http://" + host, "", 200},
		{"POST", host, "/" + token + "/done", "", "same-origin", 200},
		{"POST", host, "/" + token + "/done", "", "", 403},
		{"POST", host, "/" + token + "/done", "null", "same-origin", 403},
		{"GET", "evil.example:" + port, "/" + token + "/", "", "", 403}, // a name that was pointed here
		{"GET", "127.0.0.1", "/" + token + "/", "", "", 403},
		{"GET", host, "/" + token + "/", "http://evil.example", "", 403},
		{"GET", host, "/" + token + "/", "https://" + host, "", 403},
		{"GET", host, "/" + token + "/", "http://localhost:1", "", 403},
		{"GET", host, "/0123456789abcdee/x", "", "", 403},
		{"GET", host, "/" + token, "", "", 403},
		{"GET", host, "/", "", "", 403},
		{"PUT", host, "/" + token + "/x", "", "", 405},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Host = c.host
		for name, v := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site} {
			if v != "" {
				r.Header.Set(name, v)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%+v: status %d", c, w.Code)
		}
		if csp := w.Header().Get("Content-Security-Policy"); (csp != "") != (c.status == 200) || strings.Contains(csp, "unsafe-eval") {
			t.Errorf("%+v: policy %q", c, csp)
		}
	}
	if a, b := NewToken(), NewToken(); len(a) != 32 || a == b {
		t.Errorf("tokens %s, %s", a, b)
	}
	if !strings.HasPrefix(host, "127.0.0.1:") {
		t.Errorf("listens on %s", host)
	}
}

func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; TestAskedAtOnce shows a smaller program")
	}
	h := Handler(newSession(t), "<b>sweep</b>")
	res, body := get(t, h, "/?at=20")
	if res.StatusCode != 200 || !strings.Contains(body, "&lt;b&gt;sweep") || strings.Contains(body, "<b>sweep") {
		t.Errorf("status %d, %.200s", res.StatusCode, body)
	}
	for _, want := range []string{`id="figure-surface"`, `<title>Misses in L1 over n</title>`, `<desc>Misses over n`, `aria-valuetext="32 KiB"`, "misses in L1 of origin2000"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(body, "http://") && strings.Contains(strings.ReplaceAll(strings.ReplaceAll(body, "http://www.w3.org/2000/svg", ""), "http://www.w3.org/1999/xlink", ""), "http://") {
		t.Error("the page refers to another site")
	}
	// A state that cannot be still has controls, with what was typed.
	if res, body := get(t, h, "/?basis=n%5E%5E2"); res.StatusCode != 200 || !strings.Contains(body, `value="n^^2"`) || !strings.Contains(body, "bad basis") || strings.Contains(body, "<figure") {
		t.Errorf("a bad basis: status %d", res.StatusCode)
	}
	if res, _ := get(t, h, "/nowhere"); res.StatusCode != 404 {
		t.Errorf("nowhere: status %d", res.StatusCode)
	}
	for _, file := range []string{"htmx.min.js", "explore.js", "style.css"} {
		if res, body := get(t, h, "/"+file); res.StatusCode != 200 || len(body) < 500 || strings.Contains(res.Header.Get("Content-Type"), "plain") {
			t.Errorf("%s: status %d, %s", file, res.StatusCode, res.Header.Get("Content-Type"))
		}
	}
}

func TestPanel(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; TestAskedAtOnce shows a smaller program")
	}
	h := Handler(newSession(t), "")
	res, body := get(t, h, "/panel?at=20&capacity=8192", "HX-Trigger", "capacity-step")
	if strings.Contains(body, `id="controls"`) || !strings.Contains(body, `id="alert" role="alert" hx-swap-oob="true"></div>`) {
		t.Error("a slider that is dragged is replaced, or an error stays")
	}
	to, err := url.Parse(res.Header.Get("HX-Replace-Url"))
	if err != nil || to.Query().Get("capacity") != "8192" || to.Query().Get("at") != "20" {
		t.Errorf("the address becomes %s, %v", to, err)
	}
	if _, body := get(t, h, "/panel?at=20&by=loop", "HX-Trigger", "by"); !strings.Contains(body, `id="controls"`) || !strings.Contains(body, "sweep.go") {
		t.Error("the menu of scopes does not follow")
	}
	res, body = get(t, h, "/panel?basis=n%5E%5E2")
	if res.Header.Get("HX-Retarget") != "#alert" || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/plain") || !strings.Contains(body, "bad basis") || strings.Contains(body, "perf:") {
		t.Errorf("a bad basis: %v, %s", res.Header, body)
	}
}

// untimed returns an answer without how long it took.
func untimed(body string) string { return durations.ReplaceAllString(body, "") }

var durations = regexp.MustCompile(`\b[0-9.]+(µs|ms|s)\b`)

// TestAskedAtOnce asks for panels, parts and figures from several sides at a time: each
// answer is the one to its question alone.
func TestAskedAtOnce(t *testing.T) {
	profiles := runsOfMesh(t)
	handler := func() http.Handler {
		s, err := New(profiles, Options{Machines: []*machine.Machine{profiletest.Machine(t, "origin2000")}, Fit: misses.FitOptions{Store: shared.store}})
		if err != nil {
			t.Fatal(err)
		}
		return Handler(s, "")
	}
	var paths []string
	for _, query := range []string{"?at=20", "?at=20&by=loop", "?at=24&capacity=8192", "?at=20&basis=1,n,n%5E2,n%5E3"} {
		paths = append(paths, "/panel"+query, "/part/tree"+query, "/figure/"+FigureNames()[0]+".svg"+query)
	}
	alone, want := handler(), make(map[string]string)
	for _, path := range paths {
		res, body := get(t, alone, path)
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d, %.300s", path, res.StatusCode, body)
		}
		want[path] = untimed(body)
	}
	together := handler()
	var asked sync.WaitGroup
	for i := range 4 {
		asked.Go(func() {
			for k := range paths {
				path := paths[(k+i*len(paths)/4)%len(paths)]
				w := httptest.NewRecorder()
				together.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
				if got := untimed(w.Body.String()); got != want[path] {
					t.Errorf("%s: %.300s, asked alone %.300s", path, got, want[path])
				}
			}
		})
	}
	asked.Wait()
}

func TestDownloads(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; TestAskedAtOnce shows a smaller program")
	}
	s := newSession(t)
	h := Handler(s, "")
	const query = "?at=20&by=routine"
	for _, name := range FigureNames() {
		res, body := get(t, h, "/figure/"+name+".svg"+query)
		d := xml.NewDecoder(strings.NewReader(body))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s.svg, status %d: %v", name, res.StatusCode, err)
			}
		}
		if _, body := get(t, h, "/figure/"+name+".png"+query); true {
			if img, err := png.Decode(strings.NewReader(body)); err != nil || img.Bounds().Dx() < 900 {
				t.Errorf("%s.png: %v", name, err)
			}
		}
		if _, body := get(t, h, "/figure/"+name+".pdf"+query); !strings.HasPrefix(body, "%PDF-") {
			t.Errorf("%s.pdf: %.20s", name, body)
		}
	}
	v := show(t, s, query[1:])
	res, body := get(t, h, "/table/curve.csv"+query)
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil || len(rows) != len(v.Curve)+1 || rows[0][0] != "n" || rows[0][1] != "pred_misses" {
		t.Fatalf("status %d, %d rows of %d: %v", res.StatusCode, len(rows), len(v.Curve)+1, err)
	}
	for i, r := range v.Curve {
		if got, err := strconv.ParseFloat(rows[i+1][1], 64); err != nil || got != r.Misses {
			t.Errorf("row %d: %s, want %g", i, rows[i+1][1], r.Misses)
		}
	}
	for _, name := range []string{FigureResiduals, FigureHistogram, FigureSurface, TableErrors, TableFunctions, TableScopes} {
		if res, body := get(t, h, "/table/"+name+".csv"+query); res.StatusCode != 200 || strings.Count(body, "\n") < 3 {
			t.Errorf("%s.csv: status %d, %.100s", name, res.StatusCode, body)
		}
	}
	for path, status := range map[string]int{
		"/figure/none.svg": 422, "/figure/curve.exe": 404, "/figure/curve.svg?at=-1": 422,
		"/table/none.csv": 422, "/table/curve.txt": 404, "/part/none": 404,
	} {
		if res, _ := get(t, h, path); res.StatusCode != status {
			t.Errorf("%s: status %d, want %d", path, res.StatusCode, status)
		}
	}
}

func TestParts(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; TestAskedAtOnce shows a smaller program")
	}
	s := newSession(t)
	s.opt.Source = "../../datasets/programs"
	h := Handler(s, "")
	for name, want := range map[string]string{
		"tree": "loop@sweep.go", "machines": "itanium2", "source": `class="hot"`, "doubt": "pred_misses_low",
	} {
		if res, body := get(t, h, "/part/"+name+"?at=20"); res.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: status %d, lacks %s: %.400s", name, res.StatusCode, want, body)
		}
	}
	s.opt.Source = ""
	if _, body := get(t, h, "/part/source?at=20"); !strings.Contains(body, "The source is not here") {
		t.Errorf("without sources: %.300s", body)
	}
}

// Serve ends by its button, when no page is open, and with its context.
func TestServeEnds(t *testing.T) {
	s := newSession(t)
	serve := func(ctx context.Context, opt ServeOptions) (string, chan State, chan error) {
		ln, err := Listen(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		states, errs := make(chan State, 1), make(chan error, 1)
		go func() {
			st, err := Serve(ctx, ln, s, opt)
			states <- st
			errs <- err
		}()
		return s.Address(ln, opt.Token, s.Initial()), states, errs
	}

	address, states, errs := serve(t.Context(), ServeOptions{Token: "t", CanEnd: true})
	base, _, _ := strings.Cut(address, "?")
	for _, path := range []string{"?basis=1,n%5E3&at=20", "alive"} {
		res, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	r, err := http.NewRequest(http.MethodPost, base+"done", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", strings.TrimSuffix(base, "/t/"))
	res, err := http.DefaultClient.Do(r)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%v, %v", res, err)
	}
	res.Body.Close()
	if st, err := <-states, <-errs; err != nil || st.Basis != "1,n^3" || st.At != 20 {
		t.Errorf("ended with %v in state %+v", err, st)
	}

	_, _, errs = serve(t.Context(), ServeOptions{Token: "t", Unused: time.Millisecond})
	if err := <-errs; !errors.Is(err, ErrUnused) {
		t.Errorf("not used: %v", err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	_, _, errs = serve(ctx, ServeOptions{Token: "t"})
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// While nobody asks, models for the block sizes of the other machines are fitted, those
// of another basis instead when it is asked for; asking for another machine then fits none.
func TestFitAhead(t *testing.T) {
	s := newSession(t)
	ln, err := Listen(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Serve(ctx, ln, s, ServeOptions{Token: "t"})
		ended <- err
	}()
	base, _, _ := strings.Cut(s.Address(ln, "t", s.Initial()), "?")
	var want []modelKey
	for _, basis := range []string{"1,n,n^3", "1,n^3"} {
		res, err := http.Get(base + "panel?basis=" + url.QueryEscape(basis))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		want = nil
		for _, block := range s.menuBlocks("itanium2") {
			want = append(want, modelKey{basis, s.Initial().Shape, "[]", block})
		}
	}
	if len(want) < 3 {
		t.Fatalf("block sizes of three machines: %v", want)
	}
	for deadline := time.Now().Add(time.Minute); !s.fitted(want); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("fitted are %v, want %v", slices.Collect(maps.Keys(s.models.known)), want)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	other := modelKey{"1,n,n^3", s.Initial().Shape, "[]", want[2].block}
	if s.fitted([]modelKey{other}) {
		t.Errorf("%v was fitted ahead, though another basis was asked for at once", other)
	}
}

// fitted reports whether models of keys are there.
func (s *Session) fitted(keys []modelKey) bool {
	s.models.mu.Lock()
	defer s.models.mu.Unlock()
	for _, k := range keys {
		e := s.models.known[k]
		if e == nil {
			return false
		}
		select {
		case <-e.done:
		default:
			return false
		}
	}
	return true
}
