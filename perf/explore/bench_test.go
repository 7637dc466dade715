//go:build unix

package explore

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/store"
)

// BenchmarkRequest asks a server for what the page asks for when a control changes, from
// the request to the last byte of the answer: that should take less than 200 ms. The
// profiles are those in the folders that $PRESAGE_PROFILES lists, as PATH lists folders.
//
// Each change is to a state that was not shown before. The picture of the surface, which
// the page asks for by itself, is a row of its own. Beside the mean are the fastest
// request, for a computer that others use, too, and the slowest, as bases differ;
// processor time is the mean, and that of all threads together.
func BenchmarkRequest(b *testing.B) {
	dirs := filepath.SplitList(os.Getenv("PRESAGE_PROFILES"))
	if len(dirs) == 0 {
		b.Skip("PRESAGE_PROFILES names no folder that presage profile wrote")
	}
	defer collectRarely()() // as Serve does
	for _, dir := range dirs {
		runs, err := locality.LoadRuns(dir)
		if err != nil {
			b.Fatal(err)
		}
		s, err := New(runs, Options{Fit: misses.FitOptions{Store: store.Open(b.TempDir())}})
		if err != nil {
			b.Fatal(err)
		}
		server := httptest.NewServer(Handler(s, ""))
		b.Cleanup(server.Close)
		for _, c := range changes(s) {
			b.Run("program="+runs.Label()+"/change="+c.name, func(b *testing.B) { c.bench(b, s, server) })
		}
	}
}

// change is one of a control.
type change struct {
	name  string
	path  string                  // of what is asked for
	state func(st *State, at int) // makes the initial state one that was not shown
}

func changes(s *Session) []change {
	bases := []string{"1, n, n^2, n^3", "1, n^2, n^3", "1, n^3"}
	// A constant that no term depends on makes the text, and so the model, another.
	basis := func(st *State, at int) { st.Basis = fmt.Sprintf("%s + %g", bases[at%3], 1e-9*float64(at)) }
	return []change{
		{"basis", "panel", basis},
		{"basis/by=loop", "panel", func(st *State, at int) { basis(st, at); st.By = "loop" }},
		{"shape", "panel", func(st *State, at int) { basis(st, at); st.Basis, st.Shape = st.Basis+" ", shapeNames[1+at%4] }},
		{"sizes", "panel", func(st *State, at int) { basis(st, at); st.Without = s.points[at%len(s.points):][:1] }},
		{"machine", "panel", func(st *State, at int) {
			st.Machine = s.machines[at%len(s.machines)].Name
			levels := s.levels(s.machine(st.Machine))
			st.setLevel(levels[at%len(levels)])
			st.At += float64(at) / 1e5
		}},
		{"level", "panel", func(st *State, at int) {
			levels := s.levels(s.machines[0])
			st.setLevel(levels[at%len(levels)])
			st.Capacity += st.Block * uint64(at)
		}},
		{"capacity", "panel", func(st *State, at int) { st.Capacity += st.Block * uint64(at) }},
		{"scope", "panel", func(st *State, at int) { st.By, st.Capacity = "loop", st.Capacity+st.Block*uint64(at) }},
		{"method", "panel", func(st *State, at int) {
			st.Method, st.Capacity = "binomial", st.Capacity+st.Block*uint64(st.Ways)*uint64(at)
		}},
		{"size", "panel", func(st *State, at int) { st.At += float64(at) / 1e4 }},
		{"size/by=loop", "panel", func(st *State, at int) { st.By, st.At = "loop", st.At+float64(at)/1e4 }},
		{"picture", "figure/surface.png", func(st *State, at int) { st.Capacity += st.Block * uint64(at) }},
	}
}

// asked is the number of states that were asked for, so that none is asked for twice.
var asked int

func (c *change) bench(b *testing.B, s *Session, server *httptest.Server) {
	fastest, slowest := time.Hour, time.Duration(0)
	used := time.Duration(0)
	for b.Loop() {
		asked++
		st := s.Initial()
		c.state(&st, asked)
		query, err := url.ParseQuery(s.Query(st))
		if err != nil {
			b.Fatal(err)
		}
		if c.path != "panel" { // it follows the panel
			fetch(b, server, "panel", query)
		}
		before, began := processorTime(b), time.Now()
		fetch(b, server, c.path, query)
		took := time.Since(began)
		fastest, slowest = min(fastest, took), max(slowest, took)
		used += processorTime(b) - before
	}
	b.ReportMetric(fastest.Seconds()*1000, "least-ms/op")
	b.ReportMetric(slowest.Seconds()*1000, "most-ms/op")
	b.ReportMetric(used.Seconds()*1000/float64(b.N), "cpu-ms/op")
}

func fetch(b *testing.B, server *httptest.Server, path string, query url.Values) {
	b.Helper()
	answer, err := http.Get(server.URL + "/" + path + "?" + query.Encode())
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		b.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK || answer.Header.Get("HX-Retarget") != "" || path == "panel" && !strings.Contains(string(body), "<svg") {
		b.Fatalf("%s: %s: %.300s", query.Encode(), answer.Status, body)
	}
}

// processorTime returns what the process has used, all its threads together.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
