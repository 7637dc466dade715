package main

import (
	"fmt"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"github.com/spf13/cobra"

	"presage/perf/frame"
	"presage/perf/phase"
)

// phaseTables are the tables that simpoint can print.
var phaseTables = []string{"points", "timeline", "scores", "starts"}

// phaseTable returns one of phaseTables.
func phaseTable(points *phase.Selection, name string) dataframe.DataFrame {
	switch name {
	case "timeline":
		return frame.Of(points.Timeline())
	case "scores":
		return frame.Of(points.Scores())
	case "starts":
		return frame.Of(points.StartRows())
	}
	return frame.Of(points.Rows())
}

func simpointCommand() *cobra.Command {
	var (
		flags  phaseFlags
		out    output
		prefix string
		table  string
	)
	cmd := &cobra.Command{
		Use:   "simpoint PROGRAM|FILE.bb",
		Short: "Choose a few intervals that represent a whole run",
		Long: `simpoint runs PROGRAM once, cuts the run into intervals by executed instructions,
clusters those that execute a similar mix of basic blocks, and chooses one from
each cluster, with its weight. In place of a program it takes basic-block vectors
in the .bb format of SimPoint 3.2 and of valgrind's exp-bbv.

--as simpoint-3.2 makes the choice that SimPoint 3.2 makes of the same vectors, with
its random numbers and its score; --as simpoint-3.1 that of the version before, which
takes random numbers from the C library.

With -o it writes PREFIX.bb, PREFIX.simpoints, PREFIX.weights and PREFIX.labels.`,
		Example: `  presage simpoint ./datasets/programs/sweep3d --args "-n 30 -quiet"
  presage simpoint ./datasets/programs/cg --at n=40 --interval 200000 --k 8 -o cg
  presage simpoint bb.out.1234 --table timeline --format csv
  presage simpoint ./datasets/metasim/simpoint32/sample.bb --as simpoint-3.1`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if !slices.Contains(phaseTables, table) {
				return fmt.Errorf("--table %q: want points, timeline, scores or starts", table)
			}
			phases, err := flags.vectors(cmd, args[0])
			if err != nil {
				return err
			}
			points, err := phases.Pick(cmd.Context(), flags.pick)
			if err != nil {
				return err
			}
			if prefix != "" {
				if err := points.WriteFiles(prefix); err != nil {
					return err
				}
			}
			warnings := phases.Warnings
			for _, w := range points.Result.Warnings {
				warnings = append(warnings, w.Error())
			}
			warn(cmd.ErrOrStderr(), warnings)
			return out.print(cmd.OutOrStdout(), phaseTable(points, table))
		},
	}
	cmd.Flags().StringVarP(&prefix, "output", "o", "", "name prefix of the files to write")
	cmd.Flags().StringVar(&table, "table", "points", "what to print: points, timeline (the cluster of each interval), scores (of numbers of clusters) or starts (of k-means)")
	flags.register(cmd)
	out.register(cmd)
	return cmd
}
