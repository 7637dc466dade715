//go:build unix

package notebook

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"presage/perf"
	"presage/perf/figure"
	"presage/perf/figure/diagram"
	"presage/perf/figure/graph"
	"presage/perf/frame"
	"presage/perf/progress"
)

// row is a row of the tables of these tests.
type row struct {
	Name  string  `frame:"name"`
	Value float64 `frame:"value"`
}

// cells are what a cell does in the tests below, each in a process of its own as
// in a notebook.
var cells = map[string]func(){
	"table":  func() { Show(frame.Of([]row{{"a", 1}, {"b", 0.5}})) },
	"rows":   func() { Show([]row{{"a < b", 1}}) },
	"long":   func() { Show(make([]row, 2*shownRows)) },
	"first":  func() { ShowFirst(frame.Of([]row{{"a", 1}, {"b", 2}, {"c", 3}}), 2) },
	"absent": func() { Show(frame.Of([]row{{"a", 1}}).Select([]string{"nmae"})) },
	"draw":   func() { Draw(curve(), 4, 3) },
	"huge":   func() { Draw(curve(), 4000, 3000) },
	"none":   func() { Draw(nil, 4, 3) },
	"graph": func() {
		DrawGraph(Must(diagram.New(context.Background(), &graph.Graph{Nodes: []graph.Node{{Frame: -1}}})))
	},
	"empty graph": func() { DrawGraph(Must(diagram.New(context.Background(), &graph.Graph{}))) },
	"no graph":    func() { DrawGraph(nil) },
	"must": func() {
		Show([]row{{"before", 1}})
		Must(perf.FindMachine("no such machine"))
	},
	"column": func() { Floats(frame.Of([]row{{"a", 1}}), "weight") },
	"csv":    func() { ReadCSV("absent.csv") },
	"sweep": func() {
		report := Run("-n {n}").Progress
		report(progress.Report{Task: "n=20", Total: 2, Stored: true})
		report(progress.Report{Task: "n=30", Done: 1, Total: 2, Instructions: 5e6})
		report(progress.Report{Task: "n=30", Done: 1, Total: 2, Instructions: 5e6})
		report(progress.Report{Task: "n=30", Done: 1, Total: 2, Instructions: 7e6})
		report(progress.Report{Done: 2, Total: 2})
	},
	"failed sweep": func() {
		Run("-n {n}").Progress(progress.Report{Task: "n=30", Total: 2, Instructions: 5e6})
		Check(errors.New("the run failed"))
	},
	"unknown length": func() {
		report := Progress()
		report(progress.Report{Task: "a < b"})
		report(progress.Report{Task: "searching", Done: 7})
		report.Finish(8)
	},
	"stored sweep": func() {
		report := Run("-n {n}").Progress
		report(progress.Report{Task: "n=20", Total: 1, Stored: true})
		report(progress.Report{Done: 1, Total: 1})
	},
	"report": func() {
		Report("study", "make it", []Headline{
			{Metric: "reached", Value: 0.042, Unit: "ratio", Goal: "<=0.05"},
			{Metric: "missed, as the text says", Value: 0.7, Unit: "ratio", Goal: "<=0.05", Missed: true},
			{Metric: "without a goal", Value: 3322.2, Unit: "times", Beside: []Headline{{Metric: "a baseline", Value: 4, Unit: "times"}}},
			{Metric: "of a sample", Errors: []float64{0.1, -0.3}, Goal: "<=0.25; worst<=0.3"},
		})
	},
	"missed": func() {
		Report("study", "make it", []Headline{
			{Metric: "reached", Value: 1, Unit: "ratio", Goal: ">=1"},
			{Metric: "not reached", Value: 0.0512, Unit: "ratio", Goal: "<=0.05"},
		})
	},
	"undefined": func() { Report("study", "make it", []Headline{{Metric: "m", Value: nan(), Goal: "<=1"}}) },
	"bad goal":  func() { Report("study", "make it", []Headline{{Metric: "m", Value: 1, Goal: "about 1"}}) },
}

func nan() float64 { return Median(nil) }

func curve() *figure.Figure {
	df := frame.Of([]row{{"a", 1}, {"b", 2}})
	df = frame.WithFloats(df, "n", []float64{10, 20})
	return Must(figure.Curves(df, figure.CurvesOptions{X: "n", XLabel: "n", YLabel: "value", Curves: []figure.Curve{{Column: "value"}}}))
}

// cellVariable names the cell that a process of the tests executes.
const cellVariable = "PRESAGE_TEST_CELL"

func TestMain(m *testing.M) {
	if name := os.Getenv(cellVariable); name != "" {
		cells[name]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// outcome is what a cell left behind.
type outcome struct {
	displayed      []protocol.DisplayData
	unsynced       int // displays that no gonbui.Sync followed: a cell may lose them
	stdout, stderr string
	failed         bool
}

// html returns what was displayed as HTML, one display after the other.
func (o outcome) html() (all []string) {
	for _, d := range o.displayed {
		if text, ok := d.Data[protocol.MIMETextHTML].(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// execute runs a cell as GoNB does: displays go through one named pipe, and its
// answers to gonbui.Sync through another.
func execute(t *testing.T, cell string, env ...string) outcome {
	t.Helper()
	dir := t.TempDir()
	out, back := filepath.Join(dir, "out"), filepath.Join(dir, "back")
	for _, pipe := range []string{out, back} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Opened for both directions, a pipe neither blocks nor ends before the cell does.
	from, to := openPipe(t, out), openPipe(t, back)
	served := make(chan outcome)
	go func() { served <- serve(from, to) }()

	o := plain(t, cell, append(env, protocol.GONB_PIPE_ENV+"="+out, protocol.GONB_PIPE_BACK_ENV+"="+back)...)
	if err := gob.NewEncoder(from).Encode(&protocol.DisplayData{DisplayID: lastMessage}); err != nil {
		t.Fatal(err)
	}
	kernel := <-served
	o.displayed, o.unsynced = kernel.displayed, kernel.unsynced
	if o.unsynced > 0 {
		t.Errorf("%s: the cell ended with %d of %d displays not synced", cell, o.unsynced, len(o.displayed))
	}
	return o
}

func openPipe(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// lastMessage is the display by which a test tells serve that the cell has ended.
const lastMessage = "end of test"

// serve plays the kernel: it collects what is displayed and acknowledges syncs.
func serve(from, to *os.File) (o outcome) {
	in, out := gob.NewDecoder(from), gob.NewEncoder(to)
	for {
		var d protocol.DisplayData
		if err := in.Decode(&d); err != nil || d.DisplayID == lastMessage {
			return o
		}
		request, ok := d.Data[protocol.MIMECommValue].(protocol.CommValue)
		if !ok {
			o.displayed = append(o.displayed, d)
			o.unsynced++
			continue
		}
		o.unsynced = 0
		answer := &protocol.CommValue{Address: protocol.GonbuiSyncAckAddress, Value: request.Value}
		if err := out.Encode(answer); err != nil {
			return o
		}
	}
}

// hung is the time after which a cell is taken to wait for a kernel forever.
const hung = 2 * time.Minute

// plain runs a cell as a Go program outside of a notebook, in an empty folder
// beside a folder datasets.
func plain(t *testing.T, cell string, env ...string) (o outcome) {
	t.Helper()
	if cells[cell] == nil {
		t.Fatalf("no cell %q", cell)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), hung)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe)
	cmd.Dir = t.TempDir()
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GONB_") && !strings.HasPrefix(v, "PRESAGE_RECORD=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(append(cmd.Env, cellVariable+"="+cell), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	return outcome{stdout: stdout.String(), stderr: stderr.String(), failed: err != nil}
}

func TestDisplays(t *testing.T) {
	for _, c := range []struct{ cell, want string }{
		{"table", "<td>0.5</td>"},
		{"rows", ">a &lt; b</td>"},
		{"long", "<p>60 of 120 rows</p>"},
		{"first", "<p>2 of 3 rows</p>"},
	} {
		o := execute(t, c.cell)
		if html := o.html(); o.failed || len(html) != 1 || !strings.Contains(html[0], c.want) {
			t.Errorf("%s: displayed %q, want %s in it; stderr %q", c.cell, html, c.want, o.stderr)
		}
	}
	for _, cell := range []string{"draw", "graph"} {
		o := execute(t, cell)
		if o.failed || len(o.displayed) != 1 {
			t.Errorf("%s: %d displays, stderr %q", cell, len(o.displayed), o.stderr)
			continue
		}
		data, _ := o.displayed[0].Data[protocol.MIMEImagePNG].([]byte)
		if _, err := png.Decode(bytes.NewReader(data)); err != nil {
			t.Errorf("%s: %d bytes are no picture: %v", cell, len(data), err)
		}
	}
}

// An error is one line that a person understands; it comes after what was shown
// before it, and nbcheck sees the exit status.
func TestErrorsAreOneLine(t *testing.T) {
	for cell, want := range map[string]string{
		"absent":      "nmae",
		"huge":        "4000 x 3000 inches",
		"none":        "no figure to draw",
		"empty graph": "no nodes to draw",
		"no graph":    "no graph to draw",
		"must":        "no such machine",
		"column":      `no column "weight"; there are name, value`,
		"csv":         "absent.csv",
		"missed":      `"not reached" is 0.0512 ratio, the goal <=0.05`,
		"undefined":   `"m" is NaN`,
		"bad goal":    `headline "m": `,
	} {
		o := execute(t, cell)
		if !o.failed || !strings.HasPrefix(o.stderr, "error: ") || !strings.Contains(o.stderr, want) || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: failed %v, stderr %q; want a line with %q", cell, o.failed, o.stderr, want)
		}
	}
	if html := execute(t, "must").html(); len(html) != 1 || !strings.Contains(html[0], "before") {
		t.Errorf("shown before the error: %q", html)
	}
}

// A pipe that leads nowhere must fail the cell, not hang it.
func TestWithoutKernel(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "pipe")
	o := plain(t, "table", protocol.GONB_PIPE_ENV+"="+absent, protocol.GONB_PIPE_BACK_ENV+"="+absent)
	if !o.failed || !strings.Contains(o.stderr, "the kernel does not answer") {
		t.Errorf("failed %v, stderr %q", o.failed, o.stderr)
	}
}

func TestOutsideOfANotebook(t *testing.T) {
	for cell, want := range map[string]string{"table": "name  value", "draw": "", "sweep": ""} {
		if o := plain(t, cell); o.failed || !strings.Contains(o.stdout, want) {
			t.Errorf("%s: failed %v, stdout %q, stderr %q", cell, o.failed, o.stdout, o.stderr)
		}
	}
}

func TestProgress(t *testing.T) {
	o := execute(t, "sweep")
	html := o.html()
	want := []string{
		"2 of 2: n=30, 5 million instructions",
		"2 of 2: n=30, 7 million instructions",
		"",
	}
	if strings.Join(html, "\n") != strings.Join(want, "\n") || len(html) != len(want) {
		t.Errorf("displayed %q, want %q", html, want)
	}
	for _, d := range o.displayed {
		if d.DisplayID == "" || d.DisplayID != o.displayed[0].DisplayID {
			t.Errorf("a line of its own, %q, in place of an update of %q", d.DisplayID, o.displayed[0].DisplayID)
		}
	}
	if got, want := strings.Join(execute(t, "unknown length").html(), "\n"), "a &lt; b\nsearching\n"; got != want {
		t.Errorf("work of unknown length displayed %q, want %q", got, want)
	}
	if o := execute(t, "failed sweep"); !o.failed || !strings.Contains(strings.Join(o.html(), ""), "1 of 2: n=30") {
		t.Errorf("failed %v, displayed %q: the line should tell which run failed", o.failed, o.html())
	}
	if o := execute(t, "stored sweep"); o.failed || len(o.displayed) != 0 {
		t.Errorf("stored runs displayed %q", o.html())
	}
}

func TestReport(t *testing.T) {
	o := execute(t, "report")
	want := `0.042 ratio                     goal <=0.05              reached
0.7 ratio                       goal <=0.05 not reached  missed, as the text says
3322 times                                               without a goal
4 times                                                      a baseline
0.2 (p90 0.28, worst 0.3 of 2)  goal <=0.25; worst<=0.3  of a sample
`
	if o.failed || o.stdout != want {
		t.Errorf("failed %v, printed\n%swant\n%s%s", o.failed, o.stdout, want, o.stderr)
	}
}
