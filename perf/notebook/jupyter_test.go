package notebook

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	gosync "sync" // sync is a function of this package
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"presage/perf/internal/oracle"
)

// jupyter asks for TestJupyter, which compiles cells and starts a server and a browser:
// too slow for every run of the tests.
var jupyter = flag.Bool("jupyter", false, "drive Jupyter Notebook in a browser; make browser-test does")

// cellPatience is how long a cell may take to be compiled and run, on a busy machine.
const cellPatience = 4 * time.Minute

// driven are the cells of the notebook that TestJupyter runs.
var driven = []string{
	`import (
	"context"
	"fmt"

	"presage/perf"
	"presage/perf/explore"
	"presage/perf/machine"
	"presage/perf/notebook"
)`,
	`func runs() *perf.Runs {
	prog := notebook.Must(perf.Open("../../datasets/quickstart/matmul"))
	return notebook.Must(perf.Profile(context.Background(), prog, perf.Sweep("n", 8, 12, 16, 20), perf.ProfileOptions{RunOptions: notebook.Run("{n}")}))
}

%%
notebook.Show(perf.Frame(runs().Rows()))`,
	`%%
model := notebook.Must(perf.FitScaling(context.Background(), runs(), perf.FitOptions{}))
state := notebook.Explore(model, explore.Options{Machines: []*machine.Machine{notebook.Must(perf.FindMachine("zen4"))}})
fmt.Println("capacity at the end:", state.Capacity)`,
}

// TestJupyter opens a notebook in Jupyter Notebook in a browser without a window, runs all
// cells by the menu, moves a slider of the page that notebook.Explore shows, ends it, and
// finds a picture and the slider's value in the output.
func TestJupyter(t *testing.T) {
	if !*jupyter {
		t.Skip("a minute of compiling, a server and a browser: -jupyter asks for it, as make browser-test does")
	}
	program, browser := oracle.Need(t, "jupyter-notebook"), oracle.Need(t, "chromium")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	// Where nbsetup installs the kernel: JUPYTER_DATA_DIR, or Jupyter's default on Linux.
	data := os.Getenv("JUPYTER_DATA_DIR")
	if data == "" {
		data = filepath.Join(home, ".local", "share", "jupyter")
	}
	if _, err := os.Stat(filepath.Join(data, "kernels", "presage", "kernel.json")); err != nil {
		t.Skip("the notebook kernel is not installed: make kernel")
	}
	dir := notebookFolder(t)
	address := serveJupyter(t, program, dir)

	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.WindowSize(1400, 1200), chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, cancel := context.WithTimeout(t.Context(), 3*cellPatience)
	defer cancel()
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	d := driver{t: t, ctx: ctx, pages: new(gosync.Map)}
	chromedp.ListenTarget(ctx, func(event any) {
		if e, ok := event.(*runtime.EventExecutionContextCreated); ok && strings.Contains(string(e.Context.AuxData), `"isDefault":true`) {
			d.pages.Store(e.Context.Origin, e.Context.ID)
		}
	})

	d.run(chromedp.Navigate(address))
	d.until("the kernel is ready", `window.Jupyter && Jupyter.notebook && Jupyter.notebook.kernel && Jupyter.notebook.kernel.is_connected() && document.querySelector("#kernel_indicator_icon.kernel_idle_icon") !== null`)
	d.run(chromedp.Click("#celllink", chromedp.ByQuery), chromedp.Click("#run_all_cells a", chromedp.ByQuery))

	d.until("the table of the runs", `document.querySelectorAll(".output_area table td").length > 0`)
	var first string
	d.run(chromedp.Text(".output_area table", &first, chromedp.ByQuery))
	if !strings.Contains(first, "footprint_bytes") || !strings.Contains(first, "matmul") {
		t.Errorf("the table is %q", first)
	}

	// The page of Explore comes from a server of its own, in a frame.
	d.until("the page", `document.querySelector(".output_area iframe") !== null`)
	var source string
	d.run(chromedp.AttributeValue(".output_area iframe", "src", &source, nil, chromedp.ByQuery))
	u, err := url.Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	origin := u.Scheme + "://" + u.Host
	const summary = `(document.querySelector("#summary") || {textContent: ""}).textContent`
	before := d.inside(origin, summary, "")
	d.run(chromedp.Focus(".output_area iframe", chromedp.ByQuery))
	d.inside(origin, `document.querySelector("#capacity-step").focus(), document.activeElement.id`, "")
	d.run(chromedp.KeyEvent(kb.ArrowRight))
	after := d.inside(origin, summary, before)
	if !strings.Contains(before, "of zen4 (32 KiB,") || !strings.Contains(after, "of zen4 (48 KiB,") {
		t.Errorf("the slider leads from %q to %q", before, after)
	}

	d.inside(origin, `document.querySelector("#done").click(), "clicked"`, "")
	d.until("the picture", `document.querySelector(".output_area img") !== null && document.querySelector(".output_area iframe") === null`)
	d.until("what the cell prints", `document.querySelector("#notebook").innerText.includes("capacity at the end: 49152")`)
	var failed int
	d.run(chromedp.Evaluate(`document.querySelectorAll(".output_error, .output_stderr").length`, &failed))
	if failed > 0 {
		t.Errorf("%d outputs are errors", failed)
	}
}

// notebookFolder writes the notebook into a folder of this clone, as the kernel takes
// Presage from the clone that a notebook lies in.
func notebookFolder(t *testing.T) string {
	t.Helper()
	build, err := filepath.Abs("../../build")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(build, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(build, "jupyter-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	var cells []map[string]any
	for _, source := range driven {
		cells = append(cells, map[string]any{"cell_type": "code", "execution_count": nil, "metadata": map[string]any{}, "outputs": []any{}, "source": source})
	}
	text, err := json.Marshal(map[string]any{
		"cells": cells, "nbformat": 4, "nbformat_minor": 4,
		"metadata": map[string]any{"kernelspec": map[string]any{"display_name": "Go (Presage)", "language": "go", "name": "presage"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "driven.ipynb"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// serveJupyter starts the server on a free port of this computer, with a store of its
// own, and returns the notebook's address once it answers.
func serveJupyter(t *testing.T, program, dir string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := ln.Addr().(*net.TCPAddr).Port
	ln.Close() // the server takes it, or fails
	const token = "driven"
	cmd := exec.Command(program, "--no-browser", "--ip=127.0.0.1", fmt.Sprintf("--port=%d", port), "--port-retries=0", "--notebook-dir="+dir,
		"--NotebookApp.token="+token, "--allow-root", "--NotebookApp.quit_button=False")
	cmd.Env = append(os.Environ(), "PRESAGE_STORE="+t.TempDir(), "PRESAGE_RECORD=", "JUPYTER_CONFIG_DIR="+t.TempDir(), "JUPYTER_RUNTIME_DIR="+t.TempDir())
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it stops its kernels
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
	})
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	for start := time.Now(); time.Since(start) < cellPatience; time.Sleep(200 * time.Millisecond) {
		select {
		case err := <-ended:
			ended <- err
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("Jupyter ended: %v\n%s", err, text)
		default:
		}
		if res, err := http.Get(base + "/api"); err == nil {
			res.Body.Close()
			return base + "/notebooks/driven.ipynb?token=" + token
		}
	}
	t.Fatal("Jupyter does not answer")
	return ""
}

// A driver works a page.
type driver struct {
	t     *testing.T
	ctx   context.Context
	pages *gosync.Map // by origin, the execution contexts of pages
}

func (d driver) run(actions ...chromedp.Action) {
	d.t.Helper()
	if err := chromedp.Run(d.ctx, actions...); err != nil {
		d.t.Fatalf("%v\n%s", err, d.page())
	}
}

// until waits for a condition in the page.
func (d driver) until(what, condition string) {
	d.t.Helper()
	d.t.Log("waiting for", what)
	if err := chromedp.Run(d.ctx, chromedp.Poll(condition, nil, chromedp.WithPollingInterval(100*time.Millisecond), chromedp.WithPollingTimeout(cellPatience))); err != nil {
		d.t.Fatalf("waiting for %s: %v\n%s", what, err, d.page())
	}
}

// inside waits until an expression has a value in the page of an origin, within a frame,
// that is neither empty nor what it was.
func (d driver) inside(origin, expression, before string) (text string) {
	d.t.Helper()
	var err error
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(100 * time.Millisecond) {
		id, known := d.pages.Load(origin)
		if !known {
			continue
		}
		err = chromedp.Run(d.ctx, chromedp.ActionFunc(func(ctx context.Context) error {
			result, failed, err := runtime.Evaluate(expression).WithContextID(id.(runtime.ExecutionContextID)).WithReturnByValue(true).Do(ctx)
			if err == nil && failed != nil {
				err = failed
			}
			if err != nil {
				return err
			}
			return json.Unmarshal(result.Value, &text)
		}))
		if err == nil && text != "" && text != before {
			return text
		}
	}
	d.t.Fatalf("in the frame, %s stays %q: %v\n%s", expression, text, err, d.page())
	return ""
}

// page is what a reader would see, for messages.
func (d driver) page() (text string) {
	_ = chromedp.Run(d.ctx, chromedp.Evaluate(`location.href + "\n" + document.body.innerText.slice(0, 3000)`, &text))
	return text
}
