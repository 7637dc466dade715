package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"presage/perf/campaign"
	"presage/perf/store"
)

// Load is a campaign as a forecast sees it: jobs of one kind.
type Load struct {
	Jobs int
	// Seconds are times that jobs take; a job takes them in turn. At least one is needed.
	Seconds []float64
	Cores   int // of a job; 0: 1
	// Measured says that the store knows how long such jobs take, so that none is done
	// first to find out.
	Measured bool
	// Result is what a job's results take in the store, in bytes, and Entry its line in
	// the list of jobs; 0: DefaultResult and DefaultEntry.
	Result, Entry float64
}

// Cluster is a cluster as a forecast sees it. The zero value of a field stands for what
// costs nothing, and is not limited.
type Cluster struct {
	Nodes, Cores int // and cores of each node; both above 0
	// Begin is the time in seconds from when Slurm starts a task to when its first job
	// begins: prolog, launch of the step, and the executable's way over the network.
	Begin float64
	// Release is the time in seconds from the end of a task's last job to when Slurm gives
	// its cores to another task: the end of the step, epilog, the scheduler's next round.
	Release float64
	// Rate is how many tasks Slurm starts in a second at most.
	Rate float64
	// Submit is the time in seconds that sbatch and squeue take.
	Submit float64
	// Operations is how many operations on files the shared file system serves in a
	// second at most: opening, creating, renaming, appending.
	Operations float64
	ArraySize  int // tasks of an array at most; 0: 1000, as Slurm's MaxArraySize of 1001 is
	// Poll is how often Slurm is asked, in seconds; 0: DefaultPoll.
	Poll float64
}

// Defaults of Load, in bytes: means over profiles and simulations of small programs.
const (
	DefaultResult = 64 << 10
	DefaultEntry  = 1 << 10
)

// Operations on files of a job, of a task and of a look at a task under way, as the code
// makes them. A job: whether its result is there; the temporary file of the result made,
// written and renamed, in a folder that is looked up; two lines of the journal; the
// result read back, in two. A task: its folder and files made and read, its output.
const (
	jobOperations  = 9
	taskOperations = 8
	lookOperations = 2
)

// Prediction is what a forecast predicts of a campaign, or of one without a limit.
type Prediction struct {
	// Without names the limit that is lifted, to see what it costs; empty: none is.
	Without string `frame:"without"`
	Jobs    int    `frame:"jobs"`
	Nodes   int    `frame:"nodes"`
	// Seconds is from the submission of the first task to the end of the last job, as the
	// submitting process sees it.
	Seconds float64 `frame:"pred_sec"`
	Busy    float64 `frame:"pred_busy_share"`   // of the cores' time, with jobs
	Running int     `frame:"pred_running_most"` // tasks at a time
	Arrays  int     `frame:"pred_arrays"`
	Tasks   int     `frame:"pred_tasks"`
	Files   int     `frame:"pred_files"`
	Bytes   float64 `frame:"pred_store_bytes"`
	// Operations are those on files of the shared store, in all and in a second.
	Operations   float64 `frame:"pred_store_operations"`
	OperationsPS float64 `frame:"pred_store_operations_per_sec"`
}

// Forecast predicts how long a campaign takes on a cluster and what it costs the store,
// by simulating the executor's own packing of jobs into tasks, the scheduler, and the
// shared file system as one queue. No node fails, no task reaches its limit of time, and
// Config.Running is taken for all arrays together. The first row is the campaign; each other one is the
// campaign without a limit, so that the shortest tells which to lift first. It returns an
// error if there is nothing to simulate.
func Forecast(ctx context.Context, load Load, cluster Cluster, config Config) ([]Prediction, error) {
	if err := checkForecast(&load, &cluster); err != nil {
		return nil, err
	}
	if err := config.check(); err != nil {
		return nil, fmt.Errorf("slurm: %w", err)
	}
	variants := []struct {
		without string
		lift    func(*Cluster, *Config)
	}{
		{"", func(*Cluster, *Config) {}},
		{"tasks at a time", func(_ *Cluster, c *Config) { c.Tasks, c.Running = math.MaxInt32, 0 }},
		{"size of tasks", func(_ *Cluster, c *Config) { c.Target = 1e-9 }},
		{"start of tasks", func(c *Cluster, _ *Config) { c.Begin, c.Release, c.Rate = 0, 0, 0 }},
		{"shared file system", func(c *Cluster, _ *Config) { c.Operations = 0 }},
		{"cores", func(c *Cluster, _ *Config) { c.Nodes *= 2 }},
	}
	var rows []Prediction
	for _, v := range variants {
		c, cfg := cluster, config
		v.lift(&c, &cfg)
		s := newForecaster(&load, &c, &cfg)
		if err := s.run(ctx); err != nil {
			return nil, err
		}
		row := s.prediction()
		row.Without = v.without
		rows = append(rows, row)
	}
	return rows, nil
}

// maxJobs is the largest number of jobs of a forecast, which keeps each of them in memory.
const maxJobs = 10_000_000

func checkForecast(l *Load, c *Cluster) error {
	switch {
	case l.Jobs <= 0 || len(l.Seconds) == 0:
		return errors.New("slurm: a forecast takes jobs, and the time of at least one")
	case l.Jobs > maxJobs:
		return fmt.Errorf("slurm: a forecast of %d jobs: it takes %d at most; forecast a part of them", l.Jobs, maxJobs)
	case c.Nodes <= 0 || c.Cores <= 0:
		return errors.New("slurm: a forecast takes the number of nodes and of their cores")
	case l.Cores < 0:
		return fmt.Errorf("slurm: jobs of %d cores: want 1 or more", l.Cores)
	case c.ArraySize < 0:
		return fmt.Errorf("slurm: arrays of %d tasks: want 1 or more", c.ArraySize)
	case l.Cores > c.Cores:
		return fmt.Errorf("slurm: jobs of %d cores do not fit nodes of %d", l.Cores, c.Cores)
	}
	for _, v := range append([]float64{c.Begin, c.Release, c.Rate, c.Submit, c.Operations, c.Poll, l.Result, l.Entry}, l.Seconds...) {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("slurm: a forecast with %g: want finite numbers that are not negative", v)
		}
	}
	return nil
}

// LoadOf returns what a campaign of a store was: its number of jobs, the times of those
// that are done, and what their results take. It returns an error if none is done.
func LoadOf(st *store.Store, id string) (Load, error) {
	m, err := campaign.ReadManifest(st, id)
	if err != nil {
		return Load{}, err
	}
	load := Load{Jobs: m.Total}
	dir := filepath.Join(st.Dir(), campaign.Folder, id)
	names, err := campaign.Journals(dir)
	if err != nil {
		return Load{}, err
	}
	for _, name := range names {
		err := campaign.ReadJournal(dir, name, func(e *campaign.Ended) {
			if !e.Begun && e.Error == "" {
				load.Seconds = append(load.Seconds, e.Seconds)
			}
		})
		if err != nil {
			return Load{}, err
		}
	}
	if len(load.Seconds) == 0 {
		return Load{}, fmt.Errorf("slurm: campaign %s: none of its jobs is done", id)
	}
	jobs, err := campaign.JobsOf(st, id)
	if err != nil {
		return Load{}, err
	}
	if load.Entry, err = entryBytes(jobs); err != nil {
		return Load{}, err
	}
	load.Result, err = resultBytes(st, jobs)
	return load, err
}

// entryBytes returns the mean size of the lines of jobs.
func entryBytes(jobs []campaign.Job) (float64, error) {
	var lines bytes.Buffer
	if err := campaign.WriteJobs(&lines, jobs); err != nil {
		return 0, fmt.Errorf("slurm: %w", err)
	}
	return float64(lines.Len()) / float64(max(1, len(jobs))), nil
}

// resultBytes returns the mean size of the results of jobs that are done.
func resultBytes(st *store.Store, jobs []campaign.Job) (float64, error) {
	sum, n := 0.0, 0
	for i := range jobs {
		done, err := jobs[i].Done(st)
		if err != nil {
			return 0, err
		}
		if !done {
			continue
		}
		n++
		for _, k := range jobs[i].Results {
			if info, err := os.Stat(st.Path(k)); err == nil {
				sum += float64(info.Size())
			}
		}
	}
	return sum / float64(max(1, n)), nil
}
