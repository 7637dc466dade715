package pool

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"presage/perf/campaign"
)

// patience is how long workers may take to end once their standard input has ended.
const patience = 500 * time.Millisecond

// worker is a process that does jobs.
type worker struct {
	host     *host
	name     string // of its machine; "" until it has said something
	taken    campaign.Needs
	cmd      *exec.Cmd
	stdin    io.Closer
	requests *json.Encoder
	output   output // its standard error
	err      error
	gone     chan struct{} // closed when it has ended
}

// message is what a worker told, or that it died.
type message struct {
	campaign.Response
	worker *worker
	died   bool
}

// start starts a worker on a host.
func (x *execution) start(h *host) (*worker, error) {
	w := &worker{host: h, cmd: h.Command(x.campaign.Store.Dir()), gone: make(chan struct{})}
	var err error
	if w.output, err = newOutput(); err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	w.cmd.Stderr = w.output.File
	// An interrupt from the terminal is for the process that leads the campaign.
	if w.cmd.SysProcAttr == nil {
		w.cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	w.cmd.SysProcAttr.Setpgid = true
	stdin, err := w.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	if err := w.cmd.Start(); err != nil {
		_ = w.output.Close()
		return nil, fmt.Errorf("campaign: worker: %w", err)
	}
	w.stdin, w.requests = stdin, json.NewEncoder(stdin)
	x.workers = append(x.workers, w)
	go x.listen(w, stdout)
	return w, nil
}

// listen passes on what a worker tells, and that it died.
func (x *execution) listen(w *worker, stdout io.Reader) {
	d := json.NewDecoder(stdout)
	for {
		m := message{worker: w}
		if err := d.Decode(&m.Response); err != nil {
			break
		}
		select {
		case x.messages <- m:
		case <-x.ctx.Done():
		}
	}
	_, _ = io.Copy(io.Discard, stdout)
	w.err = w.cmd.Wait()
	close(w.gone)
	select {
	case x.messages <- message{worker: w, died: true}:
	case <-x.ctx.Done():
	}
}

// death says how a worker that is gone died.
func (w *worker) death() string {
	text := "it ended"
	if w.err != nil {
		text = w.err.Error()
	}
	if out := strings.TrimSpace(w.output.String()); out != "" {
		first, _, _ := strings.Cut(out, "\n")
		text += ": " + first
	}
	return text
}

// stop ends all workers: first by the end of their input, then by force.
func (x *execution) stop(cancel context.CancelFunc) {
	cancel()
	for _, w := range x.workers {
		_ = w.stdin.Close() // it may have died
	}
	limit := time.After(patience)
	for _, w := range x.workers {
		select {
		case <-w.gone:
			continue
		case <-limit:
			limit = time.After(0)
			select {
			case <-w.gone:
				continue
			default:
			}
		}
		_ = syscall.Kill(-w.cmd.Process.Pid, syscall.SIGKILL) // with what it started
		<-w.gone
	}
	for _, w := range x.workers {
		_ = w.output.Close() // only read from now on
	}
}

// tailBytes is how much of a worker's standard error is kept.
const tailBytes = 16 << 10

// output is a nameless file that a process writes its standard error to: what it wrote
// is there at once, as it would not be through a pipe.
type output struct{ *os.File }

func newOutput() (output, error) {
	f, err := os.CreateTemp("", "presage-worker-")
	if err != nil {
		return output{}, err
	}
	defer f.Close()
	defer os.Remove(f.Name())
	// Appending, what follows a truncation begins the file.
	o, err := os.OpenFile(f.Name(), os.O_RDWR|os.O_APPEND, 0)
	return output{o}, err
}

// String returns the end of what was written.
func (o output) String() string {
	info, err := o.Stat()
	if err != nil {
		return ""
	}
	text := make([]byte, min(info.Size(), tailBytes))
	n, _ := o.ReadAt(text, info.Size()-int64(len(text)))
	return string(text[:n])
}

// Reset forgets what was written.
func (o output) Reset() { _ = o.Truncate(0) } // at worst a log has too much
