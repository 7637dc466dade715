package campaign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"presage/perf/progress"
	"presage/perf/store"
)

// Executor has the jobs of a campaign done somewhere.
type Executor interface {
	// Execute has the campaign's jobs done and tells of each that ended, and of how far
	// those under way are, from one goroutine. A job that failed is no error, and the
	// others are done all the same; what keeps the campaign from going on is.
	Execute(ctx context.Context, c *Campaign, tell func(Event)) error
}

// Event is what an executor tells.
type Event struct {
	Job          int    // index in Campaign.Jobs
	Instructions uint64 // that the job's program has executed so far
	Ended        *Ended // nil: the job is under way
}

// Ended is how a job ended. Journals hold it.
type Ended struct {
	Job     string  `json:"job"` // Job.Mark().Hash
	Label   string  `json:"label"`
	Host    string  `json:"host,omitempty"`
	Seconds float64 `json:"seconds"`
	Peak    uint64  `json:"peak_bytes,omitempty"` // most memory of the process so far
	Error   string  `json:"error,omitempty"`      // empty: the results are in the store
	Full    bool    `json:"full,omitempty"`       // the error is that the store is full
	Killed  bool    `json:"killed,omitempty"`     // the error is that the process or the node died, each time
	Log     string  `json:"log,omitempty"`        // file that says more of the error
	// Begun says that the job was begun, and not how it ended: what a journal has of a
	// job whose process died.
	Begun bool `json:"begun,omitempty"`
}

// Campaign is the jobs of a Runner that are to be done now.
type Campaign struct {
	ID    string // of all jobs, those that are done already, too
	Dir   string // of the campaign in the store
	Store *store.Store
	Jobs  []Job // not done, each once
	Total int   // of all jobs
}

// Runner has jobs done by an Executor. Its methods may not be called at once.
type Runner struct {
	On Executor
	// Failed, if not nil, is called once for each job that failed.
	Failed func(Ended)

	mutex  sync.Mutex
	failed map[string]*JobError // by Job.Mark().Hash
}

// JobError is the error of a job. Its text is that of the error where it was done.
type JobError struct{ Ended }

func (e *JobError) Error() string { return e.Ended.Error }

// IDOf returns the ID of a campaign of jobs.
func IDOf(jobs []Job) (string, error) {
	h := sha256.New()
	for i := range jobs {
		mark, err := jobs[i].Mark()
		if err != nil {
			return "", err
		}
		h.Write([]byte(mark.Hash))
	}
	return hex.EncodeToString(h.Sum(nil)[:6]), nil
}

// Folder is where a store keeps its campaigns.
const Folder = "campaigns"

// Run has those jobs done whose results the store lacks, and which have not failed
// before. It returns an error only if the campaign could not go on; Failure tells
// which jobs failed. Jobs may be listed twice.
func (r *Runner) Run(ctx context.Context, st *store.Store, jobs []Job, report progress.Func) error {
	if r == nil {
		return nil
	}
	c, err := r.missing(st, jobs)
	if err != nil {
		return err
	}
	return r.RunCampaign(ctx, c, report)
}

// RunCampaign is Run for a campaign such as Load returns.
func (r *Runner) RunCampaign(ctx context.Context, c *Campaign, report progress.Func) error {
	if len(c.Jobs) == 0 {
		return nil
	}
	if err := os.MkdirAll(c.Dir, 0o777); err != nil {
		return Full(fmt.Errorf("campaign: %w", err))
	}
	events := make(chan Event)
	result := make(chan error, 1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		result <- r.On.Execute(ctx, c, func(e Event) { events <- e })
		close(events)
	}()
	watch := watcher{runner: r, campaign: c, report: report, running: make(map[int]uint64), cancel: cancel}
	for e := range events {
		watch.event(e)
	}
	err := <-result
	err = Full(err)
	if cause := context.Cause(ctx); cause != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return cause
	}
	return err
}

// missing returns the campaign of the jobs that are not done.
func (r *Runner) missing(st *store.Store, jobs []Job) (*Campaign, error) {
	dir, err := filepath.Abs(st.Dir())
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	id, err := IDOf(jobs)
	if err != nil {
		return nil, err
	}
	c := &Campaign{ID: id, Dir: filepath.Join(dir, Folder, id), Store: st}
	seen := make(map[string]bool, len(jobs))
	for i := range jobs {
		mark, err := jobs[i].Mark()
		if err != nil {
			return nil, err
		}
		if seen[mark.Hash] {
			continue
		}
		seen[mark.Hash] = true
		c.Total++
		if r.failure(mark.Hash) != nil {
			continue
		}
		done, err := jobs[i].Done(st)
		if err != nil {
			return nil, err
		}
		if !done {
			c.Jobs = append(c.Jobs, jobs[i])
		}
	}
	return c, nil
}

func (r *Runner) failure(mark string) *JobError {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.failed[mark]
}

// Failure returns why a job failed that Run was given; nil if it did not.
func (r *Runner) Failure(j *Job) error {
	if r == nil {
		return nil
	}
	mark, err := j.Mark()
	if err != nil {
		return err
	}
	if failed := r.failure(mark.Hash); failed != nil {
		return failed
	}
	return nil
}

// Need has one job done, unless its results are in the store; a nil runner does nothing.
// The error is the job's, if it failed.
func (r *Runner) Need(ctx context.Context, st *store.Store, report progress.Func, job func() (Job, error)) error {
	if r == nil {
		return nil
	}
	j, err := job()
	if err != nil {
		return err
	}
	if err := r.Run(ctx, st, []Job{j}, report); err != nil {
		return err
	}
	return r.Failure(&j)
}

// watcher turns events into reports of progress.
type watcher struct {
	runner   *Runner
	campaign *Campaign
	report   progress.Func
	running  map[int]uint64 // instructions by job under way
	ended    int
	cancel   context.CancelCauseFunc
}

func (w *watcher) event(e Event) {
	task := w.campaign.Jobs[e.Job].Label
	if e.Ended == nil {
		w.running[e.Job] = e.Instructions
	} else {
		delete(w.running, e.Job)
		w.ended++
		w.end(e.Ended)
	}
	sum := uint64(0)
	for _, n := range w.running {
		sum += n
	}
	if done := w.campaign.Total - len(w.campaign.Jobs) + w.ended; done < w.campaign.Total {
		w.report.Report(progress.Report{Task: task, Done: done, Total: w.campaign.Total, Instructions: sum})
	}
}

func (w *watcher) end(e *Ended) {
	if e.Error == "" {
		return
	}
	w.runner.mutex.Lock()
	if w.runner.failed == nil {
		w.runner.failed = make(map[string]*JobError)
	}
	if !e.Full { // that can be mended
		w.runner.failed[e.Job] = &JobError{*e}
	}
	w.runner.mutex.Unlock()
	if w.runner.Failed != nil {
		w.runner.Failed(*e)
	}
	if e.Full {
		w.cancel(fmt.Errorf("%s: %w", e.Error, ErrFull))
	}
}

// Task is a job as its user sees it.
type Task[T any] struct {
	// Job returns the job that puts the task's results into the store.
	Job func() (Job, error)
	// Collect returns the result, from the store if it is there; otherwise it computes it.
	Collect func(ctx context.Context) (T, error)
}

// Map returns the results of some tasks, in their order. It has the jobs of those whose
// results the store lacks done by the runner's executor, and then collects; with a nil
// runner, it only collects, one task after the other. The error is that of the first
// task without a result.
func Map[T any](ctx context.Context, r *Runner, st *store.Store, report progress.Func, tasks []Task[T]) ([]T, error) {
	jobs := make([]Job, len(tasks))
	if r != nil {
		for i := range tasks {
			var err error
			if jobs[i], err = tasks[i].Job(); err != nil {
				return nil, err
			}
		}
		if err := r.Run(ctx, st, jobs, report); err != nil {
			return nil, err
		}
	}
	out := make([]T, len(tasks))
	for i := range tasks {
		if r != nil {
			if err := r.Failure(&jobs[i]); err != nil {
				return nil, err
			}
		}
		var err error
		if out[i], err = tasks[i].Collect(ctx); err != nil {
			return nil, err
		}
	}
	return out, nil
}
