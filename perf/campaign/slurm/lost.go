package slurm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"presage/perf/campaign"
)

// settle finds out what became of the jobs of a task that is over and left them open.
func (x *execution) settle(ctx context.Context, t *task) error {
	t.over = true
	how := fateOf(ctx, place{t.array.id, t.index})
	if how.state == stateCancelled {
		return ErrCancelled
	}
	if how.exit == fmt.Sprintf("%d:0", ExitFull) {
		return x.stopAll(ctx, campaign.ErrFull)
	}
	if !t.told && !nodeLost(how.state) {
		if x.strikes++; x.strikes >= cmp.Or(x.Attempts, DefaultAttempts) {
			return fmt.Errorf("slurm: %d tasks in a row ended before they began a job; the last, %s_%d: %s%s", x.strikes, t.array.id, t.index, how, x.printed(t))
		}
	}
	for _, mark := range t.Marks() {
		if !t.open[mark] {
			continue
		}
		j := x.byMark[mark]
		if j == nil || j.ended {
			continue
		}
		j.flight = false
		done, err := j.Done(x.campaign.Store)
		switch {
		case err != nil:
			return err
		case done:
			x.end(&campaign.Ended{Job: mark, Label: j.Label})
		case mark == t.begun:
			if err := x.died(j, t, how); err != nil {
				return err
			}
		}
	}
	t.open = nil
	return nil
}

// endsWithin is how long stopAll waits for tasks to end.
const endsWithin = 30 * time.Second

// stopAll has Slurm end all tasks, as cause is a reason for which they would compute for
// nothing, and waits until they have: whoever repeats the command then finds none to go on with.
// The error says so if they had not ended in time, or when ctx did.
func (x *execution) stopAll(ctx context.Context, cause error) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(x.patience, endsWithin))
	defer cancel()
	if err := Cancel(limited, x.campaign.ID); err != nil {
		return errors.Join(cause, x.notEnded(fmt.Errorf("slurm: the tasks could not be ended: %w", err)))
	}
	interrupted := ctx.Done()
	if errors.Is(context.Cause(ctx), campaign.ErrFull) { // by who was told of the full store
		interrupted = nil
	}
	var why error
	for {
		left, err := running(limited, x.campaign.ID)
		switch {
		case err == nil && len(left) == 0:
			return cause
		case err == nil:
			why = fmt.Errorf("slurm: tasks that wait or run although they were to end: %d", len(left))
		case limited.Err() == nil || why == nil:
			why = fmt.Errorf("slurm: it is not known whether tasks have ended: %w", err)
		}
		select {
		case <-limited.Done():
			return errors.Join(cause, x.notEnded(why))
		case <-interrupted:
			return errors.Join(cause, x.notEnded(why))
		case <-time.After(cmp.Or(x.Poll, DefaultPoll)):
		}
	}
}

// notEnded adds to why tasks may still run what is to be done.
func (x *execution) notEnded(why error) error {
	return fmt.Errorf("%w; before the command is repeated: presage campaign cancel %s", why, x.campaign.ID)
}

// Marks returns the marks of the task's jobs, in their order.
func (t *task) Marks() []string { return t.array.Tasks[t.index] }

// died has a job begin again that was under way when its task ended, or gives it up.
func (x *execution) died(j *job, t *task, how fate) error {
	j.last = how.String()
	switch {
	case nodeLost(how.state):
		j.losses++
	default:
		j.deaths++
		if how.state == stateMemory || strings.HasSuffix(how.exit, ":9") {
			j.needs.Memory *= 2
		}
	}
	x.notice("%s: %s; it is begun again", j.Label, j.last)
	if j.deaths < cmp.Or(x.Attempts, DefaultAttempts) && j.losses < maxLosses {
		return nil
	}
	e := &campaign.Ended{
		Job: j.mark, Label: j.Label, Killed: true,
		Error: fmt.Sprintf("its process died %d times: %s", j.deaths+j.losses, j.last),
	}
	if how.state == stateTimeout {
		e.Error += "; give tasks more time"
	}
	path, err := campaign.WriteLog(x.campaign.Dir, e, x.printed(t))
	if err != nil {
		return err
	}
	e.Log = path
	x.end(e)
	return nil
}

// printedBytes is how much of a task's output is quoted.
const printedBytes = 4 << 10

// printed returns the end of what a task printed.
func (x *execution) printed(t *task) string {
	f, err := os.Open(filepath.Join(t.array.dir, fmt.Sprintf("out-%d", t.index)))
	if err != nil {
		return "" // it never ran
	}
	defer f.Close() // only read
	if info, err := f.Stat(); err == nil && info.Size() > printedBytes {
		_, _ = f.Seek(-printedBytes, io.SeekEnd)
	}
	text, _ := io.ReadAll(f)
	if s := strings.TrimSpace(string(text)); s != "" {
		return "\n" + s
	}
	return ""
}
