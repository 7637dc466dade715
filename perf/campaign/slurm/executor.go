package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"presage/perf/campaign"
)

// Executor has jobs done by Slurm. It is a campaign.Executor.
type Executor struct {
	Config Config
	// Exe is the executable that does jobs on the nodes. It is copied into the store, by
	// its content, so that a later one in its place changes nothing under way. Args come
	// before the flags --store DIR --array DIR --task N --limit TIME, which RunTask takes.
	Exe  string
	Args []string
	// Folder is the one that jobs run in, as their paths may be relative to it; "": this
	// process's.
	Folder string
	// Invoked is the command that the campaign is part of, for its manifest.
	Invoked string
	// Attempts is how often a job is begun whose process dies; 0: DefaultAttempts.
	Attempts int
	// Poll is how often Slurm is asked; 0: DefaultPoll. A task that Slurm no longer lists
	// is given that long, too, for its journal to be seen over NFS.
	Poll time.Duration
	// Notice, if not nil, is called with what is done, for people to read.
	Notice func(string)
}

var _ campaign.Executor = (*Executor)(nil)

// Defaults of Executor.
const (
	DefaultAttempts = 3
	DefaultPoll     = 5 * time.Second
)

// maxLosses is how often a job is begun again that nodes lost.
const maxLosses = 20

// patience is for how long squeue may fail before Execute gives up: a controller that is
// restarted takes minutes.
const patience = 10 * time.Minute

// ErrCancelled is the error of a campaign whose tasks were cancelled by a person.
var ErrCancelled = errors.New("slurm: the campaign's tasks were cancelled; repeat the command, and it goes on where it stopped")

// job is a job that is to be done.
type job struct {
	*campaign.Job
	index  int
	mark   string
	needs  campaign.Needs
	deaths int // of its process
	losses int // of its node
	flight bool
	ended  bool
	last   string // how its process died
}

// execution is a campaign under way.
type execution struct {
	*Executor
	campaign *campaign.Campaign
	tell     func(campaign.Event)
	folder   string   // that jobs run in
	worker   []string // command
	jobs     []*job
	byMark   map[string]*job
	arrays   []*array
	times    campaign.Times
	largest  int
	strikes  int           // tasks in a row that ended without beginning a job
	patience time.Duration // of stopAll; 0: endsWithin
}

// Execute implements campaign.Executor. If the process dies, or ctx is cancelled, the
// tasks that were submitted go on, and another Execute of the campaign follows them.
func (s *Executor) Execute(ctx context.Context, c *campaign.Campaign, tell func(campaign.Event)) error {
	x := &execution{Executor: s, campaign: c, tell: tell, byMark: make(map[string]*job)}
	if err := x.prepare(ctx); err != nil {
		return err
	}
	err := x.follow(ctx)
	if saved := x.times.Save(c.Store); err == nil {
		err = saved
	}
	return err
}

func (x *execution) notice(format string, args ...any) {
	if x.Notice != nil {
		x.Notice(fmt.Sprintf(format, args...))
	}
}

// prepare writes down the campaign, and finds what was submitted before.
func (x *execution) prepare(ctx context.Context) error {
	queue, err := running(ctx, x.campaign.ID)
	if err != nil {
		return err
	}
	if x.folder, err = filepath.Abs(x.Folder); err != nil {
		return fmt.Errorf("slurm: %w", err)
	}
	exe, err := campaign.KeepExe(x.campaign.Store, x.Exe)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(x.campaign.Store.Dir())
	if err != nil {
		return fmt.Errorf("slurm: %w", err)
	}
	x.worker = append(append([]string{exe}, x.Args...), "--store", dir)
	if x.times, err = campaign.LoadTimes(x.campaign.Store); err != nil {
		return err
	}
	if x.largest, err = largestArray(ctx); err != nil {
		return err
	}
	for i := range x.campaign.Jobs {
		j := &x.campaign.Jobs[i]
		mark, err := j.Mark()
		if err != nil {
			return err
		}
		one := &job{Job: j, index: i, mark: mark.Hash, needs: j.Needs.WithDefaults()}
		x.jobs = append(x.jobs, one)
		x.byMark[one.mark] = one
	}
	if err := x.campaign.SaveJobs(); err != nil {
		return err
	}
	if err := x.campaign.Describe("slurm", x.folder, x.Invoked); err != nil {
		return err
	}
	return x.adopt(queue)
}

// adopt takes over the arrays that another process submitted, as far as they have tasks
// that are not over. Of the others, what they did is in the store.
func (x *execution) adopt(queue []live) error {
	arrays, err := load(x.campaign, queue)
	if err != nil {
		return err
	}
	alive := make(map[string]bool)
	for _, l := range queue {
		// A task that was cancelled completes for a while; taken over, it would end this
		// execution as if a person had cancelled that.
		alive[l.array] = alive[l.array] || l.state != stateCompleting
	}
	for _, a := range arrays {
		if a.id == "" || !alive[a.id] {
			continue
		}
		x.arrays = append(x.arrays, a)
		for _, t := range a.tasks {
			for mark := range t.open {
				if j := x.byMark[mark]; j != nil {
					j.flight = true
				} else {
					delete(t.open, mark) // done before
				}
			}
		}
		x.notice("goes on with array %s", a.id)
	}
	return nil
}

// follow submits jobs and follows tasks until all jobs have ended.
func (x *execution) follow(ctx context.Context) error {
	poll := cmp.Or(x.Poll, DefaultPoll)
	answered := time.Now()
	for {
		if err := campaign.Full(x.submitWaiting(ctx)); errors.Is(err, campaign.ErrFull) {
			return x.stopAll(ctx, err) // those submitted before find it full as well
		} else if err != nil {
			return err
		}
		if x.idle() {
			return nil
		}
		select {
		case <-ctx.Done():
			x.notice("the tasks go on: presage campaign attach %[1]s follows them, presage campaign cancel %[1]s ends them", x.campaign.ID)
			return ctx.Err()
		case <-time.After(poll):
		}
		queue, err := running(ctx, x.campaign.ID)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && time.Since(answered) > patience:
			return fmt.Errorf("%w; the tasks go on: follow them by presage campaign attach %s", err, x.campaign.ID)
		case err != nil:
			x.notice("%v", err)
			continue
		}
		answered = time.Now()
		if err := x.look(ctx, queue, poll); err != nil {
			return err
		}
	}
}

// idle reports whether no job is left.
func (x *execution) idle() bool {
	for _, j := range x.jobs {
		if !j.ended {
			return false
		}
	}
	return true
}

// submitWaiting submits jobs that wait.
func (x *execution) submitWaiting(ctx context.Context) error {
	var waiting []*job
	underWay := make(map[string]bool)
	for _, j := range x.jobs {
		switch {
		case j.flight:
			underWay[j.Kind] = true
		case !j.ended:
			waiting = append(waiting, j)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	room := cmp.Or(x.Config.Tasks, DefaultTasks)
	for _, a := range x.arrays {
		for _, t := range a.tasks {
			if !t.over {
				room--
			}
		}
	}
	for _, p := range chunks(waiting, x.times, underWay, cmp.Or(x.Config.Target, DefaultTarget), x.largest, room) {
		if err := x.submitPlan(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (x *execution) submitPlan(ctx context.Context, p plan) error {
	last := 0
	if n := len(x.arrays); n > 0 {
		last = x.arrays[n-1].number
	}
	a := &array{plan: p}
	var err error
	if a.number, a.dir, err = claim(x.campaign, last); err != nil {
		return err
	}
	jobs := make(map[string]*campaign.Job)
	count := 0
	for _, marks := range p.Tasks {
		for _, mark := range marks {
			jobs[mark] = x.byMark[mark].Job
			count++
		}
	}
	if err := a.write(jobs); err != nil {
		return err
	}
	if err := x.submit(ctx, a); err != nil {
		return err
	}
	a.begin()
	x.arrays = append(x.arrays, a)
	for mark := range jobs {
		x.byMark[mark].flight = true
	}
	x.notice("array %s: %d jobs in %d tasks", a.id, count, len(p.Tasks))
	return nil
}

// look takes note of what tasks have done since it was called last.
func (x *execution) look(ctx context.Context, queue []live, grace time.Duration) error {
	alive := make(map[place]bool, len(queue))
	for _, l := range queue {
		alive[l.place] = true
	}
	for _, a := range x.arrays {
		for _, t := range a.tasks {
			if t.over {
				continue
			}
			if err := x.read(ctx, t); err != nil {
				return err
			}
			listed := alive[place{a.id, t.index}]
			switch {
			case listed:
				t.gone = time.Time{}
			case len(t.open) == 0:
				t.over = true
			case t.gone.IsZero():
				t.gone = time.Now()
			case time.Since(t.gone) >= grace:
				if err := x.settle(ctx, t); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// read reads what a task's journal says that it did not say before.
func (x *execution) read(ctx context.Context, t *task) error {
	var full *campaign.Ended
	var err error
	t.offset, err = campaign.ReadJournalFrom(x.campaign.Dir, journalName(t.array.number, t.index), t.offset, func(e *campaign.Ended) {
		if e.Begun {
			t.begun, t.told = e.Job, true
			return
		}
		t.begun = ""
		x.strikes = 0
		if !t.open[e.Job] {
			return
		}
		delete(t.open, e.Job)
		if e.Full {
			full = e
		}
		x.end(e)
	})
	if full != nil && err == nil {
		return x.stopAll(ctx, fmt.Errorf("%s: %w", full.Error, campaign.ErrFull))
	}
	return err
}

// end tells how a job ended.
func (x *execution) end(e *campaign.Ended) {
	j := x.byMark[e.Job]
	if j == nil || j.ended {
		return
	}
	j.ended, j.flight = true, false
	if e.Error == "" {
		x.times.Add(j.Kind, e.Seconds)
	}
	x.tell(campaign.Event{Job: j.index, Ended: e})
}
