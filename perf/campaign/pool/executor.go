package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"presage/perf/campaign"
)

// Host is a machine with cores and memory for workers.
type Host struct {
	Name   string
	Cores  int    // 0: those of this machine
	Memory uint64 // bytes that jobs may occupy; 0: nine tenths of this machine's
	// Command returns what starts a worker there: a process that runs campaign.Serve
	// on its standard input and output, with the given store.
	Command func(store string) *exec.Cmd
}

// Executor is a pool. It is a campaign.Executor.
type Executor struct {
	Hosts []Host
	// Title is how the campaign's manifest calls the pool; "": "pool".
	Title string
	// Invoked is the command that the campaign is part of, for its manifest.
	Invoked string
	// Attempts is how often a job is begun whose process dies; 0: DefaultAttempts.
	Attempts int
}

var _ campaign.Executor = (*Executor)(nil)

// DefaultAttempts is how often a job is begun whose process dies.
const DefaultAttempts = 3

// Here returns the pool of this machine, whose workers are processes of the executable
// at the path exe with the given arguments and the store's folder. cores and memory, in
// bytes, bound it; 0: those of the machine.
func Here(exe string, args []string, cores int, memory uint64) *Executor {
	return &Executor{Hosts: []Host{{
		Name: "here", Cores: cores, Memory: memory,
		Command: func(store string) *exec.Cmd { return exec.Command(exe, append(args, store)...) },
	}}}
}

// item is a job that waits or runs.
type item struct {
	index    int
	mark     string
	needs    campaign.Needs
	attempts int // begun
}

// host is a Host in use.
type host struct {
	*Host
	cores    int // free
	memory   uint64
	running  int
	idle     []*worker
	failures int // workers in a row that died before they said anything
	last     string
}

// maxFailures is how many workers in a row may fail to start before their host is left
// out.
const maxFailures = 3

// execution is a campaign under way.
type execution struct {
	*Executor
	campaign *campaign.Campaign
	ctx      context.Context
	hosts    []*host
	waiting  []*item
	running  map[*worker]*item
	workers  []*worker // all that were started
	messages chan message
	journal  *campaign.Journal
	tell     func(campaign.Event)
}

// Execute implements campaign.Executor.
func (p *Executor) Execute(ctx context.Context, c *campaign.Campaign, tell func(campaign.Event)) (err error) {
	folder, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	if err := c.SaveJobs(); err != nil {
		return err
	}
	if err := c.Describe(cmp.Or(p.Title, "pool"), folder, p.Invoked); err != nil {
		return err
	}
	name, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("campaign: %w", err)
	}
	journal, err := campaign.OpenJournal(c.Dir, fmt.Sprintf("pool-%s-%d-%d", name, os.Getpid(), time.Now().UnixNano()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	ctx, cancel := context.WithCancel(ctx)
	x := &execution{
		Executor: p, campaign: c, ctx: ctx, running: make(map[*worker]*item),
		messages: make(chan message), journal: journal, tell: tell,
	}
	defer x.stop(cancel)
	if err := x.prepare(); err != nil {
		return err
	}
	return x.run()
}

// prepare lists hosts and jobs.
func (x *execution) prepare() error {
	for i := range x.Hosts {
		h := &host{Host: &x.Hosts[i]}
		if h.Cores <= 0 {
			h.Cores = runtime.NumCPU()
		}
		if h.Memory == 0 {
			h.Memory = machineMemory() / 10 * 9
		}
		h.cores, h.memory = h.Cores, h.Memory
		x.hosts = append(x.hosts, h)
	}
	if len(x.hosts) == 0 {
		return errors.New("campaign: a pool without hosts")
	}
	for i := range x.campaign.Jobs {
		j := &x.campaign.Jobs[i]
		mark, err := j.Mark()
		if err != nil {
			return err
		}
		x.waiting = append(x.waiting, &item{index: i, mark: mark.Hash, needs: j.Needs.WithDefaults()})
	}
	return nil
}

// run hands out jobs and waits, until none is left.
func (x *execution) run() error {
	for {
		if err := x.handOut(); err != nil {
			return err
		}
		if len(x.running) == 0 {
			return nil
		}
		select {
		case <-x.ctx.Done():
			return x.ctx.Err()
		case m := <-x.messages:
			if err := x.receive(m); err != nil {
				return err
			}
		}
	}
}

// handOut begins the jobs that wait, in their order, as long as a host has room for the
// next: a large one is not overtaken for ever by small ones.
func (x *execution) handOut() error {
	for len(x.waiting) > 0 && x.ctx.Err() == nil {
		next := x.waiting[0]
		h := x.roomFor(next)
		if h == nil {
			return x.nowhere(next)
		}
		x.waiting = x.waiting[1:]
		w, err := x.workerOn(h)
		if err != nil {
			return err
		}
		if w == nil { // it could not be started
			x.waiting = append([]*item{next}, x.waiting...)
			continue
		}
		x.begin(w, next)
	}
	return nil
}

// nowhere returns an error if no host is left that a job could wait for.
func (x *execution) nowhere(next *item) error {
	if len(x.running) > 0 {
		return nil
	}
	text := ""
	for _, h := range x.hosts {
		text += fmt.Sprintf("\n\t%s: %s", h.Name, h.last)
	}
	return fmt.Errorf("campaign: no worker can be started for %s:%s", x.campaign.Jobs[next.index].Label, text)
}

// roomFor returns the host with the most free cores among those with room for a job;
// nil if there is none. Needs that no host has are cut to what the host has.
func (x *execution) roomFor(it *item) *host {
	var best *host
	for _, h := range x.hosts {
		n := h.fit(it.needs)
		if h.failures < maxFailures && n.Cores <= h.cores && n.Memory <= h.memory && (!n.Alone || h.running == 0) &&
			(best == nil || h.cores > best.cores) {
			best = h
		}
	}
	return best
}

// fit returns what a job with some needs is given on the host.
func (h *host) fit(n campaign.Needs) campaign.Needs {
	n.Cores, n.Memory = min(n.Cores, h.Cores), min(n.Memory, h.Memory)
	if n.Alone {
		n.Cores, n.Memory = h.Cores, h.Memory
	}
	return n
}

// workerOn returns a worker of a host that has nothing to do, or starts one; nil if that
// fails.
func (x *execution) workerOn(h *host) (*worker, error) {
	if n := len(h.idle); n > 0 {
		w := h.idle[n-1]
		h.idle = h.idle[:n-1]
		return w, nil
	}
	w, err := x.start(h)
	if err != nil {
		h.failures++
		h.last = err.Error()
		return nil, nil
	}
	return w, nil
}

// begin gives a job to a worker.
func (x *execution) begin(w *worker, it *item) {
	n := w.host.fit(it.needs)
	// The last jobs share the cores that are left over.
	if free := w.host.cores / (len(x.waiting) + 1); len(x.hosts) == 1 && free > n.Cores {
		n.Cores = free
	}
	w.taken = n
	w.host.cores -= n.Cores
	w.host.memory -= n.Memory
	w.host.running++
	it.attempts++
	x.running[w] = it
	// A worker that does not take it has died, and says so.
	_ = w.requests.Encode(campaign.Request{Job: x.campaign.Jobs[it.index], Cores: n.Cores})
	x.tell(campaign.Event{Job: it.index})
}

// release frees what a worker's job took, and returns the job.
func (x *execution) release(w *worker) *item {
	it := x.running[w]
	if it == nil {
		return nil
	}
	delete(x.running, w)
	w.host.cores += w.taken.Cores
	w.host.memory += w.taken.Memory
	w.host.running--
	return it
}

// receive does what a message of a worker asks for.
func (x *execution) receive(m message) error {
	w := m.worker
	switch {
	case m.died:
		return x.died(w)
	case m.Ended != nil:
		it := x.release(w)
		if it == nil {
			return fmt.Errorf("campaign: a worker on %s told of a job that it was not given", w.host.Name)
		}
		w.host.idle = append(w.host.idle, w)
		m.Ended.Host = w.name
		return x.ended(it, m.Ended, w)
	case m.Host != "":
		w.name, w.host.failures = m.Host, 0
	default:
		if it := x.running[w]; it != nil {
			x.tell(campaign.Event{Job: it.index, Instructions: m.Instructions})
		}
	}
	return nil
}

// died begins the job again that a worker died of, or gives it up.
func (x *execution) died(w *worker) error {
	it := x.release(w)
	h := w.host
	for i, other := range h.idle {
		if other == w {
			h.idle = append(h.idle[:i], h.idle[i+1:]...)
			break
		}
	}
	if it == nil {
		return nil
	}
	if w.name == "" { // it never said anything: not the job's fault
		h.failures++
		h.last = w.death()
		it.attempts--
		x.waiting = append([]*item{it}, x.waiting...)
		return nil
	}
	if it.attempts < cmp.Or(x.Attempts, DefaultAttempts) {
		it.needs.Memory *= 2
		x.waiting = append([]*item{it}, x.waiting...)
		return nil
	}
	return x.ended(it, &campaign.Ended{
		Job: it.mark, Label: x.campaign.Jobs[it.index].Label, Host: w.name, Killed: true,
		Error: fmt.Sprintf("its process died, %d times: %s", it.attempts, w.death()),
	}, w)
}

// ended keeps and tells how a job ended.
func (x *execution) ended(it *item, e *campaign.Ended, w *worker) error {
	if e.Error != "" {
		path, err := campaign.WriteLog(x.campaign.Dir, e, w.output.String())
		if err == nil { // on a full disk there is none
			e.Log = path
		}
	}
	w.output.Reset()
	err := x.journal.Write(e)
	x.tell(campaign.Event{Job: it.index, Ended: e})
	if e.Full { // the journal is on the same disk
		return nil
	}
	return err
}
