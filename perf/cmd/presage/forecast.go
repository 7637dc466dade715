package main

import (
	"errors"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/campaign/slurm"
)

// forecastFlags are the flags of campaign forecast.
type forecastFlags struct {
	dir, from, config string
	out               output
	load              slurm.Load
	cluster           slurm.Cluster
	bytes             string
}

func campaignForecastCommand() *cobra.Command {
	var q forecastFlags
	cmd := &cobra.Command{
		Use:   "forecast {--from ID | --seconds LIST --jobs N} --nodes N --cores N [flags]",
		Short: "Predict how long a campaign takes on a cluster, and what limits it",
		Long: `forecast simulates a campaign on Slurm before it is submitted: how jobs are packed into
tasks, when these start, and what the shared store is asked for. The first row is the
campaign; each other one is the same campaign without one of its limits. The row that is
shortest names what to lift first: more tasks at a time, smaller or larger tasks
(target_sec, tasks in the file for --cluster), faster starts, another file system, or
twice the nodes.

Times of jobs and sizes of results are those of a campaign of the store that was done,
on any number of nodes, by --from; or they are listed. What is not said of the cluster
is taken to cost nothing. No node fails in a forecast.`,
		Example: `  presage campaign forecast --from 7fc1d0a2b3c4 --jobs 1000000 --nodes 1000 --cores 64 --begin 2 --rate 100 --operations 20000
  presage campaign forecast --seconds 12,30,45 --jobs 5000 --nodes 16 --cores 32 --cluster cluster.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return q.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&q.from, "from", "", "campaign of the store whose jobs' times and results are taken")
	f.StringVar(&q.dir, "store", "", "the store (default the user's)")
	f.Float64SliceVar(&q.load.Seconds, "seconds", nil, "times of jobs in seconds, taken in turn")
	f.IntVar(&q.load.Jobs, "jobs", 0, "number of jobs (default that of --from)")
	f.IntVar(&q.load.Cores, "job-cores", 1, "cores of a job")
	f.BoolVar(&q.load.Measured, "measured", false, "the store knows how long such jobs take: none is done first to find out")
	f.StringVar(&q.bytes, "result", "", "size of a job's results, such as 64KiB (default that of --from, or 64KiB)")
	f.IntVar(&q.cluster.Nodes, "nodes", 0, "nodes of the cluster")
	f.IntVar(&q.cluster.Cores, "cores", 0, "cores of a node")
	f.Float64Var(&q.cluster.Begin, "begin", 0, "seconds from Slurm's start of a task to its first job")
	f.Float64Var(&q.cluster.Release, "release", 0, "seconds from a task's last job to when Slurm gives its cores to another task")
	f.Float64Var(&q.cluster.Rate, "rate", 0, "tasks that Slurm starts in a second at most (default any number)")
	f.Float64Var(&q.cluster.Submit, "submit", 0, "seconds that sbatch and squeue take")
	f.Float64Var(&q.cluster.Operations, "operations", 0, "operations on files that the shared file system serves in a second (default any number)")
	f.IntVar(&q.cluster.ArraySize, "array-size", 0, "most tasks of an array (default 1000)")
	f.StringVar(&q.config, "cluster", "", "YAML file of --on slurm: target_sec, tasks and running are regarded")
	q.out.register(cmd)
	return cmd
}

func (q *forecastFlags) run(cmd *cobra.Command) error {
	if err := q.out.check(); err != nil {
		return err
	}
	if (q.from == "") == (len(q.load.Seconds) == 0) {
		return errors.New("give the jobs' times by --from, a campaign that was done, or by --seconds")
	}
	if q.bytes != "" {
		n, err := parseBytes(q.bytes)
		if err != nil {
			return err
		}
		q.load.Result = float64(n)
	}
	if q.from != "" {
		if err := q.take(); err != nil {
			return err
		}
	}
	var config slurm.Config
	if q.config != "" {
		var err error
		if config, err = slurm.ReadConfig(q.config); err != nil {
			return err
		}
	}
	rows, err := slurm.Forecast(cmd.Context(), q.load, q.cluster, config)
	if err != nil {
		return err
	}
	return q.out.print(cmd.OutOrStdout(), perf.Frame(rows))
}

// take fills in what a campaign of the store was like.
func (q *forecastFlags) take() error {
	st, err := storeOf(q.dir)
	if err != nil {
		return err
	}
	was, err := slurm.LoadOf(st, q.from)
	if err != nil {
		return err
	}
	q.load.Seconds, q.load.Entry = was.Seconds, was.Entry
	if q.load.Jobs == 0 {
		q.load.Jobs = was.Jobs
	}
	if q.bytes == "" {
		q.load.Result = was.Result
	}
	return nil
}
