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
	"presage/perf/campaign/works"
	"presage/perf/store"
)

// campaignFlags say where the independent runs of a command are done.
type campaignFlags struct {
	on     string
	cores  int
	memory string
}

// campaignFlagNames are left out of recorded commands: they change no result.
var campaignFlagNames = map[string]bool{"on": true, "cores": true, "memory": true, "cluster": true}

func (c *campaignFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.on, "on", "pool", "where runs are done: pool (processes on this machine) or here (this process, one after the other)")
	f.IntVar(&c.cores, "cores", 0, "cores that the pool may occupy (default all)")
	f.StringVar(&c.memory, "memory", "", "memory that the pool may occupy, such as 8GiB (default nine tenths)")
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
				return nil, fmt.Errorf("--memory: %w", err)
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
	}
	return nil, fmt.Errorf("--on %q: want pool or here", c.on)
}

// failedLine is the line of a job that failed.
func failedLine(e *campaign.Ended) string {
	first, _, more := strings.Cut(strings.TrimSpace(e.Error), "\n")
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
	cmd.AddCommand(campaignListCommand(), campaignStatusCommand(), campaignWorkCommand())
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

func campaignWorkCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:    "work --store DIR",
		Short:  "Do the jobs read from standard input: what pools start",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return errors.New("--store: want the folder of the campaign's store")
			}
			return campaign.Serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), store.Open(dir), works.All())
		},
	}
	cmd.Flags().StringVar(&dir, "store", "", "the store")
	return cmd
}
