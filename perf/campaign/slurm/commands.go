package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// ErrNoSlurm is the error of a machine without Slurm's commands.
var ErrNoSlurm = errors.New("slurm: no sbatch here: run this on a login node of the cluster (Debian: apt-get install slurm-client)")

// command runs one of Slurm's commands and returns what it printed.
func command(ctx context.Context, stdin, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	switch err := cmd.Run(); {
	case err == nil:
		return out.String(), nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return "", ErrNoSlurm
	default:
		return "", fmt.Errorf("slurm: %s: %w: %s", name, err, strings.TrimSpace(errs.String()))
	}
}

// jobName is the name that Slurm knows a campaign's arrays by.
func jobName(campaign string) string { return "presage-" + campaign }

// place is a task of an array, as Slurm numbers it.
type place struct {
	array string
	task  int
}

// live is what squeue tells of a task that is not over.
type live struct {
	place
	state  string
	number string // of the array in the campaign
}

// running returns a campaign's tasks that wait or run.
func running(ctx context.Context, campaign string) ([]live, error) {
	text, err := command(ctx, "", "squeue", "--noheader", "--array", "--name="+jobName(campaign), "--format=%F|%K|%T|%k", "--states=all")
	if err != nil {
		return nil, err
	}
	return parseQueue(text)
}

// parseQueue reads what squeue printed. It lists tasks for a while that are over.
func parseQueue(text string) ([]live, error) {
	var all []live
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 4 {
			return nil, fmt.Errorf("slurm: squeue printed %q", line)
		}
		if over(f[2]) {
			continue
		}
		task, err := strconv.Atoi(f[1])
		if err != nil {
			return nil, fmt.Errorf("slurm: squeue printed %q", line)
		}
		all = append(all, live{place{f[0], task}, f[2], f[3]})
	}
	return all, nil
}

// The states of tasks that Slurm will not go on with.
const (
	stateCancelled = "CANCELLED"
	stateMemory    = "OUT_OF_MEMORY"
	stateTimeout   = "TIMEOUT"
	stateUnknown   = "unknown to Slurm"
)

// stateCompleting is that of a task that has ended, of which Slurm still clears up.
const stateCompleting = "COMPLETING"

func over(state string) bool {
	switch state {
	case "COMPLETED", "FAILED", stateCancelled, stateTimeout, stateMemory, "NODE_FAIL", "BOOT_FAIL", "DEADLINE", "PREEMPTED", "REVOKED":
		return true
	}
	return false
}

// nodeLost reports whether a task in a state was lost through no fault of its jobs.
func nodeLost(state string) bool {
	return state == "NODE_FAIL" || state == "BOOT_FAIL" || state == "PREEMPTED" || state == "REVOKED"
}

// fate is how a task ended.
type fate struct {
	state string // first word of sacct's
	nodes string
	exit  string // status and signal, such as 0:9
}

func (f fate) String() string {
	text := f.state
	if f.nodes != "" {
		text += " on " + f.nodes
	}
	if f.exit != "" && f.exit != "0:0" {
		text += ", exit " + f.exit
	}
	return text
}

// fateOf returns how a task ended. Accounting lags behind, so that it is asked for some
// seconds; if it does not know then, the state is stateUnknown.
func fateOf(ctx context.Context, p place) fate {
	f := fate{state: stateUnknown}
	for try := range fateTries {
		if f = askFate(ctx, p); f.state != stateUnknown {
			break
		}
		select {
		case <-ctx.Done():
			return f
		case <-time.After(time.Duration(try+1) * fateDelay):
		}
	}
	return f
}

// How often accounting is asked for the fate of a task, and how much longer each time
// until it is asked again: eight seconds together.
const (
	fateTries = 5
	fateDelay = 500 * time.Millisecond
)

// askFate asks sacct how a task ended, or scontrol, which knows for some minutes, where
// there is no accounting, or where it lags and has the task running still.
func askFate(ctx context.Context, p place) fate {
	text, err := command(ctx, "", "sacct", "--noheader", "--parsable2", "--allocations", "--jobs="+p.array, "--format=JobID,State,NodeList,ExitCode")
	if err == nil {
		if f, ok := parseFate(text, p); ok && over(f.state) {
			return f
		}
	}
	id := fmt.Sprintf("%s_%d", p.array, p.task)
	if text, err = command(ctx, "", "scontrol", "--oneliner", "show", "job", id); err == nil {
		if f := controlFate(text); over(f.state) {
			return f
		}
	}
	return fate{state: stateUnknown}
}

// parseFate finds a task among the lines of sacct for its array: the last, as one that
// Slurm submitted again has several. Tasks that were cancelled before they began share a
// line, whose ID is 7_[0-2,5], or that of the array if it was all of them. CANCELLED may be followed by whom it was by.
func parseFate(text string, p place) (f fate, ok bool) {
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 4 || fields[1] == "" {
			continue
		}
		tasks, of := strings.CutPrefix(fields[0], p.array+"_")
		if fields[0] != p.array && (!of || !hasTask(tasks, p.task)) {
			continue
		}
		state, _, _ := strings.Cut(fields[1], " ")
		f, ok = fate{state, fields[2], fields[3]}, true
	}
	return f, ok
}

// hasTask reports whether a task is one of those that Slurm lists, such as 5 or
// [0-2,5%4], where %4 says how many may run at once.
func hasTask(list string, task int) bool {
	list, _, _ = strings.Cut(strings.Trim(list, "[]"), "%")
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err1 == nil && err2 == nil && from <= task && task <= to {
			return true
		}
	}
	return false
}

// controlFate reads what scontrol shows of a job.
func controlFate(text string) fate {
	f := fate{state: stateUnknown}
	for word := range strings.FieldsSeq(text) {
		switch name, value, _ := strings.Cut(word, "="); name {
		case "JobState":
			f.state = value
		case "NodeList":
			if value != "(null)" {
				f.nodes = value
			}
		case "ExitCode":
			f.exit = value
		}
	}
	return f
}

// largestArray asks how many tasks an array may have.
func largestArray(ctx context.Context) (int, error) {
	text, err := command(ctx, "", "scontrol", "show", "config")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, "=")
		if strings.TrimSpace(name) == "MaxArraySize" {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err == nil && n > 1 {
				return n - 1, nil // the largest index
			}
		}
	}
	return 1000, nil
}

// Cancel has Slurm end all tasks of a campaign.
func Cancel(ctx context.Context, campaign string) error {
	_, err := command(ctx, "", "scancel", "--name="+jobName(campaign))
	return err
}
