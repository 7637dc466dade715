package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"presage/perf/campaign"
	"presage/perf/store"
)

// share is the part of its time limit after which a task begins no further job.
const share = 0.8

// ExitFull is the exit status that a process is to end with whose RunTask returned
// campaign.ErrFull: where the store is full, a journal cannot tell. It is that of ENOSPC.
const ExitFull = 28

// RunTask does the jobs of a task: what the nodes run. array is the array's folder, and
// limit the time after which Slurm ends the task; 0: none. A job that fails is in the
// journal, and no error.
func RunTask(ctx context.Context, st *store.Store, works []campaign.Work, array string, index int, limit time.Duration) (err error) {
	begin := time.Now()
	jobs, err := campaign.ReadJobs(taskFile(array, index))
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(filepath.Base(array))
	if err != nil {
		return fmt.Errorf("slurm: %s is no array's folder", array)
	}
	dir := filepath.Dir(filepath.Dir(array))
	journal, err := campaign.OpenJournal(dir, journalName(number, index))
	if err != nil {
		return campaign.Full(err)
	}
	defer func() { err = campaign.Full(errors.Join(err, journal.Close())) }()
	if n, err := strconv.Atoi(os.Getenv("SLURM_CPUS_PER_TASK")); err == nil && n > 0 {
		runtime.GOMAXPROCS(n)
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("slurm: %w", err)
	}
	if node := os.Getenv("SLURMD_NODENAME"); node != "" {
		host = node
	}
	for i := range jobs {
		if limit > 0 && i > 0 && time.Since(begin) > time.Duration(share*float64(limit)) {
			return nil // the rest is submitted again
		}
		if err := runJob(ctx, st, works, &jobs[i], host, dir, journal); err != nil {
			return err
		}
	}
	return nil
}

// runJob does a job and keeps account of it. The error is not the job's,
// except that the store is full.
func runJob(ctx context.Context, st *store.Store, works []campaign.Work, j *campaign.Job, host, dir string, journal *campaign.Journal) error {
	mark, err := j.Mark()
	if err != nil {
		return err
	}
	if err := journal.Write(&campaign.Ended{Job: mark.Hash, Label: j.Label, Host: host, Begun: true}); err != nil {
		return err
	}
	e := campaign.Do(ctx, st, works, j, func(uint64) {})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e.Host = host
	if e.Error != "" {
		if path, err := campaign.WriteLog(dir, e, ""); err == nil { // on a full disk there is none
			e.Log = path
		}
	}
	err = journal.Write(e)
	if e.Full {
		return errors.Join(campaign.ErrFull, err)
	}
	return err
}
