package slurm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"presage/perf/campaign"
	"presage/perf/store"
)

// plan is what plan.json of an array holds.
type plan struct {
	Needs campaign.Needs `json:"needs"` // of each task
	Tasks [][]string     `json:"tasks"` // marks of the jobs of each
}

// array is an array of tasks in a campaign's folder.
type array struct {
	number int
	dir    string
	id     string // Slurm's; "": not submitted, or not yet
	plan
	tasks []*task
}

// task is a task of an array.
type task struct {
	array  *array
	index  int
	offset int64           // in its journal, up to where that was read
	begun  string          // mark of the job under way
	told   bool            // that a job was begun
	open   map[string]bool // marks of the jobs that have not ended
	gone   time.Time       // since when squeue does not list it; zero: it does
	over   bool
}

const (
	arraysFolder = "arrays"
	planFile     = "plan.json"
	idFile       = "slurm"
)

func journalName(array, task int) string { return fmt.Sprintf("a%04d-t%d", array, task) }

func taskFile(dir string, index int) string {
	return filepath.Join(dir, fmt.Sprintf("task-%d.jsonl", index))
}

// claim makes the folder of the next array, which no other process then has.
func claim(c *campaign.Campaign, last int) (int, string, error) {
	parent := filepath.Join(c.Dir, arraysFolder)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return 0, "", fmt.Errorf("slurm: %w", err)
	}
	for n := last + 1; ; n++ {
		dir := filepath.Join(parent, fmt.Sprintf("%04d", n))
		err := os.Mkdir(dir, 0o777)
		if err == nil {
			return n, dir, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return 0, "", fmt.Errorf("slurm: %w", err)
		}
	}
}

// write writes the files of an array.
func (a *array) write(jobs map[string]*campaign.Job) error {
	for i, marks := range a.Tasks {
		list := make([]campaign.Job, len(marks))
		for k, mark := range marks {
			list[k] = *jobs[mark]
		}
		err := store.WriteTo(taskFile(a.dir, i), func(w io.Writer) error { return campaign.WriteJobs(w, list) })
		if err != nil {
			return err
		}
	}
	text, err := json.Marshal(a.plan)
	if err != nil {
		return fmt.Errorf("slurm: %w", err)
	}
	return store.WriteFile(filepath.Join(a.dir, planFile), append(text, '\n'))
}

// begin sets the tasks of an array up.
func (a *array) begin() {
	for i, marks := range a.Tasks {
		t := &task{array: a, index: i, open: make(map[string]bool)}
		for _, mark := range marks {
			t.open[mark] = true
		}
		a.tasks = append(a.tasks, t)
	}
}

// submit has sbatch take an array, and notes its ID.
func (x *execution) submit(ctx context.Context, a *array) error {
	args := []string{
		"--parsable", "--job-name=" + jobName(x.campaign.ID), "--comment=" + strconv.Itoa(a.number), "--no-requeue",
		"--cpus-per-task=" + strconv.Itoa(a.Needs.Cores), "--chdir=" + x.folder, "--output=" + filepath.Join(a.dir, "out-%a"),
		fmt.Sprintf("--mem=%dM", max(int(a.Needs.Memory>>20), x.Config.Memory, 1)),
	}
	tasks := fmt.Sprintf("--array=0-%d", len(a.Tasks)-1)
	if x.Config.Running > 0 {
		tasks += fmt.Sprintf("%%%d", x.Config.Running)
	}
	args = append(args, tasks)
	for _, f := range []struct{ flag, value string }{
		{"--partition=", x.Config.Partition},
		{"--account=", x.Config.Account},
		{"--qos=", x.Config.QOS},
		{"--constraint=", x.Config.Constraint},
		{"--time=", x.Config.Time},
	} {
		if f.value != "" {
			args = append(args, f.flag+f.value)
		}
	}
	if a.Needs.Alone {
		args = append(args, "--exclusive")
	}
	worker := slices.Concat(x.worker, []string{"--array", a.dir, "--limit", x.Config.limit().String()})
	out, err := command(ctx, x.Config.script(worker...), "sbatch", args...)
	if err != nil {
		return err
	}
	a.id, _, _ = strings.Cut(strings.TrimSpace(out), ";") // ID;cluster in a federation
	return store.WriteFile(filepath.Join(a.dir, idFile), []byte(a.id+"\n"))
}

// load reads the arrays of a campaign that were submitted before. Those that sbatch
// took, without the submitting process living to note it, are found by their comment.
func load(c *campaign.Campaign, queue []live) ([]*array, error) {
	parent := filepath.Join(c.Dir, arraysFolder)
	entries, err := os.ReadDir(parent)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("slurm: %w", err)
	}
	var all []*array
	for _, e := range entries {
		number, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		a := &array{number: number, dir: filepath.Join(parent, e.Name())}
		text, err := os.ReadFile(filepath.Join(a.dir, planFile))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was never submitted
		}
		if err == nil {
			err = json.Unmarshal(text, &a.plan)
		}
		if err != nil {
			return nil, fmt.Errorf("slurm: %s: %w", a.dir, err)
		}
		if text, err := os.ReadFile(filepath.Join(a.dir, idFile)); err == nil {
			a.id = strings.TrimSpace(string(text))
		}
		for _, l := range queue {
			if a.id == "" && l.number == strconv.Itoa(number) {
				a.id = l.array
				if err := store.WriteFile(filepath.Join(a.dir, idFile), []byte(a.id+"\n")); err != nil {
					return nil, err
				}
			}
		}
		a.begin()
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *array) int { return cmp.Compare(a.number, b.number) })
	return all, nil
}
