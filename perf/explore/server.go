package explore

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"os"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"presage/perf/frame"
)

//go:embed assets
var assets embed.FS

// ServeOptions configures Serve.
type ServeOptions struct {
	Token string // the secret of the address, of NewToken
	Title string // of the page; empty: the program's name
	// CanEnd gives the page a button that ends it.
	CanEnd bool
	// Unused ends the server if no page has asked for anything for so long; 0: never.
	Unused time.Duration
}

// ErrUnused is returned by Serve if no page asked for anything for so long.
var ErrUnused = errors.New("explore: no page is open any more")

// Listen listens on this computer alone; port 0 is any free one.
func Listen(ctx context.Context, port int) (net.Listener, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("explore: %w", err)
	}
	return ln, nil
}

// Address returns the address of the page that Serve serves, with a state.
func (s *Session) Address(ln net.Listener, token string, st State) string {
	return fmt.Sprintf("http://%s/%s/?%s", ln.Addr(), token, s.Query(st))
}

// collectAt is the percentage of new to live memory at which garbage is collected while
// a page is served: a fit leaves much behind that lives for milliseconds, and Go's own
// 100 spends a sixth of an answer's time on it. LU's profiles take 1.1 GB so.
const collectAt = 800

// collectRarely sets that, unless the user chose with GOGC, and returns what takes it back.
func collectRarely() func() {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(collectAt)
	return func() { debug.SetGCPercent(before) }
}

// Serve serves the page until the context ends, its button is pressed, or it is not
// used any more, which returns ErrUnused. It returns the last state that was shown,
// and closes the listener.
func Serve(ctx context.Context, ln net.Listener, s *Session, opt ServeOptions) (State, error) {
	defer collectRarely()()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h := newServer(s, opt)
	h.end = func() { cancel(errEnded) }
	h.shown = func(st State) { h.fitAhead(ctx, st) }
	srv := &http.Server{
		Handler:           guard(hostsOf(ln.Addr()), opt.Token, h.routes()),
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stopped := make(chan error, 1)
	go func() { stopped <- srv.Serve(ln) }()
	err := h.wait(ctx, opt.Unused, stopped)
	closing, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer done()
	if shut := srv.Shutdown(closing); shut != nil {
		srv.Close()
	}
	cancel(nil)
	h.ahead.work.Wait()
	st, _ := h.last()
	return st, err
}

var errEnded = errors.New("ended by its button")

// wait returns when the server is to end, and why.
func (h *server) wait(ctx context.Context, unused time.Duration, stopped <-chan error) error {
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		select {
		case err := <-stopped:
			return fmt.Errorf("explore: %w", err)
		case <-ctx.Done():
			if cause := context.Cause(ctx); !errors.Is(cause, errEnded) {
				return ctx.Err()
			}
			return nil
		case now := <-look.C:
			if _, used := h.last(); unused > 0 && now.Sub(used) > unused {
				return ErrUnused
			}
		}
	}
}

// Handler serves the page below "/", for requests that were checked. Serve adds the
// checks.
func Handler(s *Session, title string) http.Handler {
	return newServer(s, ServeOptions{Title: title}).routes()
}

// server answers requests about a session.
type server struct {
	*Session
	opt   ServeOptions
	pages *template.Template
	end   func()
	shown func(State) // called when a page has its answer
	use
	ahead ahead
}

func newServer(s *Session, opt ServeOptions) *server {
	if opt.Title == "" {
		opt.Title = s.runs.Label()
	}
	h := &server{Session: s, opt: opt, end: func() {}, shown: func(State) {}}
	h.pages = template.Must(template.New("").Funcs(templateFuncs).ParseFS(assets, "assets/page.html"))
	h.used(s.Initial())
	return h
}

func (h *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", h.page)
	mux.HandleFunc("GET /panel", h.panel)
	mux.HandleFunc("GET /figure/{file}", h.figure)
	mux.HandleFunc("GET /table/{file}", h.table)
	mux.HandleFunc("GET /part/{name}", h.part)
	mux.HandleFunc("GET /alive", func(w http.ResponseWriter, _ *http.Request) {
		h.alive()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /done", func(w http.ResponseWriter, _ *http.Request) {
		h.write(w, "ended", nil)
		h.end()
	})
	for name, kind := range map[string]string{"htmx.min.js": "text/javascript", "explore.js": "text/javascript", "style.css": "text/css"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind+"; charset=utf-8")
			http.ServeFileFS(w, r, assets, "assets/"+name)
		})
	}
	return mux
}

// page answers with the whole page, even if the state of its address cannot be.
func (h *server) page(w http.ResponseWriter, r *http.Request) {
	st, err := h.Parse(r.URL.Query())
	var v *View
	if err == nil {
		h.ahead.asked(&st)
		v, err = h.Show(r.Context(), st)
	}
	h.write(w, "page", h.content(st, v, err))
	if err == nil {
		h.shown(st)
	}
}

// panel answers with what changed. If the state cannot be, what is shown stays, and
// the page says why.
func (h *server) panel(w http.ResponseWriter, r *http.Request) {
	st, err := h.Parse(r.URL.Query())
	var v *View
	if err == nil {
		h.ahead.asked(&st)
		v, err = h.Show(r.Context(), st)
	}
	if err != nil {
		w.Header().Set("HX-Retarget", "#alert")
		w.Header().Set("HX-Reswap", "textContent")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintf(w, "%s. What is shown below is the state before.", userText(err))
		return
	}
	c := h.content(st, v, nil)
	c.Swap = !isSlider(r.Header.Get("HX-Trigger"))
	w.Header().Set("HX-Replace-Url", "./?"+string(c.Query))
	h.write(w, "fragment", c)
	h.shown(st)
}

// isSlider reports whether a control is a slider, which must not be replaced while it
// is dragged.
func isSlider(id string) bool { return id == keyCapacityStep || id == keyWaysStep || id == keyAt }

// view returns the view of a request, or answers with the error.
func (h *server) view(w http.ResponseWriter, r *http.Request) *View {
	st, err := h.Parse(r.URL.Query())
	if err == nil {
		var v *View
		if v, err = h.Show(r.Context(), st); err == nil {
			return v
		}
	}
	http.Error(w, userText(err), http.StatusUnprocessableEntity)
	return nil
}

// figureKinds are the formats of figures.
var figureKinds = map[string]string{".svg": "image/svg+xml", ".png": "image/png", ".pdf": "application/pdf"}

func (h *server) figure(w http.ResponseWriter, r *http.Request) {
	file := r.PathValue("file")
	kind := figureKinds[path.Ext(file)]
	if kind == "" {
		http.NotFound(w, r)
		return
	}
	v := h.view(w, r)
	if v == nil {
		return
	}
	data, err := v.draw(strings.TrimSuffix(file, path.Ext(file)), path.Ext(file))
	if err != nil {
		http.Error(w, userText(err), http.StatusUnprocessableEntity)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Write(data)
}

// draw draws a figure in a format.
func (v *View) draw(name, format string) ([]byte, error) {
	f, err := v.Figure(name)
	if err != nil {
		return nil, err
	}
	switch format {
	case ".svg":
		return f.SVG(figureWidth, figureHeight)
	case ".pdf":
		return f.PDF(figureWidth, figureHeight)
	}
	return f.PNG(figureWidth, figureHeight)
}

func (h *server) table(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutSuffix(r.PathValue("file"), ".csv")
	if !ok {
		http.NotFound(w, r)
		return
	}
	v := h.view(w, r)
	if v == nil {
		return
	}
	df, err := v.Table(name)
	var text bytes.Buffer
	if err == nil {
		err = frame.WriteCSV(&text, df)
	}
	if err != nil {
		http.Error(w, userText(err), http.StatusUnprocessableEntity)
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Write(text.Bytes())
}

// write executes a template. It answers with an error instead of half a page.
func (h *server) write(w http.ResponseWriter, name string, data any) {
	var b bytes.Buffer
	if err := h.pages.ExecuteTemplate(&b, name, data); err != nil {
		http.Error(w, "page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	if c, ok := data.(*content); ok && c.View != nil {
		h.used(c.View.State)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(b.Bytes())
}

// userText is an error without the names of packages in front.
func userText(err error) string {
	text := err.Error()
	for _, prefix := range []string{"perf: ", "explore: ", "fit: ", "figure: "} {
		text = strings.ReplaceAll(text, prefix, "")
	}
	return text
}
