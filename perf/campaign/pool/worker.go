package pool

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
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
	output   tail // its standard error
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
	w.cmd.Stderr = &w.output
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
		}
		_ = syscall.Kill(-w.cmd.Process.Pid, syscall.SIGKILL) // with what it started
		<-w.gone
	}
}

// tailBytes is how much of a worker's standard error is kept.
const tailBytes = 16 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mutex sync.Mutex
	data  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.data = append(t.data, p...)
	if extra := len(t.data) - tailBytes; extra > 0 {
		t.data = append(t.data[:0], t.data[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return string(t.data)
}

// Reset forgets what was kept.
func (t *tail) Reset() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.data = t.data[:0]
}
