package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"presage/perf/campaign"
	"presage/perf/campaign/pool"
	"presage/perf/campaign/slurm"
	"presage/perf/campaign/ssh"
	"presage/perf/campaign/works"
	"presage/perf/store"
)

// campaignFlags say where the independent runs of a command are done.
type campaignFlags struct {
	on              string
	cores           int
	memory, cluster string
}

// campaignFlagNames are left out of recorded commands: they change no result.
var campaignFlagNames = map[string]bool{"on": true, "pool-cores": true, "pool-memory": true, "cluster": true}

func (c *campaignFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.on, "on", "pool", "where runs are done: pool (processes on this machine), ssh (hosts that share the store), slurm (a cluster's nodes, which share the store) or here (this process, one after the other)")
	f.IntVar(&c.cores, "pool-cores", 0, "cores that the pool may occupy (default all)")
	f.StringVar(&c.memory, "pool-memory", "", "memory that the pool may occupy, such as 8GiB (default nine tenths)")
	f.StringVar(&c.cluster, "cluster", "", "YAML file for --on slurm (partition, account, qos, constraint, time, memory_mib, environment, setup, target_sec, tasks, running) or ssh (hosts, each with name, cores and memory_mib; options; setup)")
}

// runner returns what has the runs of a command done; nil for this process itself.
func (c *campaignFlags) runner(cmd *cobra.Command, args []string) (*campaign.Runner, error) {
	stderr := cmd.ErrOrStderr()
	r := &campaign.Runner{Failed: func(e campaign.Ended) { fmt.Fprintln(stderr, failedLine(&e)) }}
	switch c.on {
	case "here":
		return nil, nil
	case "", "pool":
		memory := uint64(0)
		if c.memory != "" {
			var err error
			if memory, err = parseBytes(c.memory); err != nil {
				return nil, fmt.Errorf("--pool-memory: %w", err)
			}
		}
		exe, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("campaign: %w", err)
		}
		p := pool.Here(exe, []string{"campaign", "work", "--store"}, c.cores, memory)
		p.Invoked = commandLine(cmd, args)
		r.On = p
		return r, nil
	case "ssh":
		s, err := sshExecutor(c.cluster)
		if err != nil {
			return nil, err
		}
		s.Invoked = commandLine(cmd, args)
		r.On = s
		return r, nil
	case "slurm":
		s, err := slurmExecutor(c.cluster, stderr)
		if err != nil {
			return nil, err
		}
		s.Invoked = commandLine(cmd, args)
		r.On = s
		return r, nil
	}
	return nil, fmt.Errorf("--on %q: want pool, ssh, slurm or here", c.on)
}

// sshExecutor returns what has runs done by the hosts that a file lists.
func sshExecutor(hosts string) (*ssh.Executor, error) {
	if hosts == "" {
		return nil, errors.New("--on ssh: list the hosts in a YAML file, and name it by --cluster")
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	s := &ssh.Executor{Exe: exe, Args: []string{"campaign", "work", "--store"}}
	s.Config, err = ssh.ReadConfig(hosts)
	return s, err
}

// slurmExecutor returns what has runs done by Slurm, as a file says.
func slurmExecutor(cluster string, stderr io.Writer) (*slurm.Executor, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("campaign: %w", err)
	}
	s := &slurm.Executor{Exe: exe, Args: []string{"campaign", "work"}, Notice: func(text string) { fmt.Fprintln(stderr, "slurm:", text) }}
	if cluster != "" {
		s.Config, err = slurm.ReadConfig(cluster)
	}
	return s, err
}

// failedLine is the line of a job that failed.
func failedLine(e *campaign.Ended) string {
	first, _, more := strings.Cut(ofJobs.Replace(strings.TrimSpace(e.Error)), "\n")
	line := fmt.Sprintf("failed: %s: %s", e.Label, first)
	if more || e.Log != "" {
		line += " (log: " + e.Log + ")"
	}
	return line
}

func campaignCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "campaign",
		Short: "Look at campaigns: the independent runs of a command, done by many processes",
		Long: `A campaign is the independent runs of a command: of a sweep, a validation, a study.
Commands that have such runs take --on, which says where they are done. Each run's
result is kept in the store as soon as it is there, so that a repeated command does
what is missing. A campaign leaves a folder in the store, campaigns/ID, with a journal
of its jobs and a log of each that failed.`,
	}
	cmd.AddCommand(campaignListCommand(), campaignStatusCommand(), campaignAttachCommand(), campaignCancelCommand(), campaignForecastCommand(), campaignWorkCommand())
	return cmd
}

// storeOf returns the store in a folder, or the user's.
func storeOf(dir string) (*store.Store, error) {
	if dir == "" {
		return store.Default()
	}
	return store.Open(dir), nil
}

func campaignListCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the campaigns of a store, those begun last first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := storeOf(dir)
			if err != nil {
				return err
			}
			all, err := campaign.List(st)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 8, 2, ' ', 0)
			fmt.Fprintln(w, "id\ton\tbegan\tjobs\tcommand")
			for _, m := range all {
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", m.ID, m.On, m.Began.Format(time.RFC3339), m.Total, m.Command)
			}
			return w.Flush()
		},
	}
	cmd.Flags().StringVar(&dir, "store", "", "the store (default the user's)")
	return cmd
}

func campaignStatusCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "status ID",
		Short: "Say how far a campaign has come, with a line for each job that failed",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := storeOf(dir)
			if err != nil {
				return err
			}
			return campaignStatus(cmd.OutOrStdout(), st, args[0])
		},
	}
	cmd.Flags().StringVar(&dir, "store", "", "the store (default the user's)")
	return cmd
}

// campaignStatus prints how far a campaign has come.
func campaignStatus(w io.Writer, st *store.Store, id string) error {
	s, err := campaign.StatusOf(st, id)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "campaign %s on %s, begun %s\n", s.ID, s.On, s.Began.Format(time.RFC3339))
	if s.Command != "" {
		fmt.Fprintf(w, "command: %s\n", s.Command)
	}
	fmt.Fprintf(w, "jobs: %d, done %d, failed %d, left %d; %.0f s of work\n", s.Total, s.Done, len(s.Failed), s.Total-s.Done-len(s.Failed), s.Seconds)
	for i := range s.Failed {
		fmt.Fprintln(w, failedLine(&s.Failed[i]))
	}
	return nil
}

func campaignAttachCommand() *cobra.Command {
	var dir, cluster string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "attach ID",
		Short: "Follow a campaign on Slurm again, and submit what was lost",
		Long: `attach follows a campaign whose command has died, or was interrupted, until its jobs
have ended. It submits those again that nodes lost, and those that still waited. The
command that the campaign is part of then finds the results in the store: repeat it.
Repeating it before does the same as attach.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := storeOf(dir)
			if err != nil {
				return err
			}
			stderr := cmd.ErrOrStderr()
			m, err := slurmCampaign(st, args[0])
			if err != nil {
				return err
			}
			c, err := campaign.Load(st, m.ID)
			if err != nil {
				return err
			}
			s, err := slurmExecutor(cluster, stderr)
			if err != nil {
				return err
			}
			s.Invoked, s.Folder = m.Command, m.Folder
			run := runFlags{quiet: quiet}
			opt, err := run.options()
			if err != nil {
				return err
			}
			r := campaign.Runner{On: s, Failed: func(e campaign.Ended) { fmt.Fprintln(stderr, failedLine(&e)) }}
			if err := r.RunCampaign(cmd.Context(), c, opt.Progress); err != nil {
				return err
			}
			return campaignStatus(cmd.OutOrStdout(), st, m.ID)
		},
	}
	f := cmd.Flags()
	f.StringVar(&dir, "store", "", "the store (default the user's)")
	f.StringVar(&cluster, "cluster", "", "YAML file that says how to use the cluster, as for the command itself")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	return cmd
}

// slurmCampaign returns the manifest of a campaign, if Slurm does it.
func slurmCampaign(st *store.Store, id string) (*campaign.Manifest, error) {
	m, err := campaign.ReadManifest(st, id)
	if err != nil {
		return nil, err
	}
	if m.On != "slurm" {
		return nil, fmt.Errorf("campaign %s is on %s, whose processes live with the command: interrupt it to cancel, repeat it to go on", id, m.On)
	}
	return m, nil
}

func campaignCancelCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "cancel ID",
		Short: "End a campaign's tasks on Slurm; what they have finished is kept",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := storeOf(dir)
			if err != nil {
				return err
			}
			m, err := slurmCampaign(st, args[0])
			if err != nil {
				return err
			}
			return slurm.Cancel(cmd.Context(), m.ID)
		},
	}
	cmd.Flags().StringVar(&dir, "store", "", "the store (default the user's)")
	return cmd
}

func campaignWorkCommand() *cobra.Command {
	var (
		dir, array string
		task       int
		limit      time.Duration
	)
	cmd := &cobra.Command{
		Use:    "work --store DIR",
		Short:  "Do the jobs read from standard input: what pools start",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return errors.New("--store: want the folder of the campaign's store")
			}
			if array == "" {
				served := make(chan struct{})
				defer close(served)
				return campaign.Serve(cmd.Context(), leashed(cmd.InOrStdin(), served, patience), cmd.OutOrStdout(), store.Open(dir), works.All())
			}
			err := slurm.RunTask(cmd.Context(), store.Open(dir), works.All(), array, task, limit)
			if errors.Is(err, campaign.ErrFull) {
				fmt.Fprintln(cmd.ErrOrStderr(), "presage:", err)
				return exitStatus(slurm.ExitFull)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&dir, "store", "", "the store")
	f.StringVar(&array, "array", "", "do a task of this array of Slurm instead")
	f.IntVar(&task, "task", 0, "which task")
	f.DurationVar(&limit, "limit", 0, "how long the task may take")
	return cmd
}
