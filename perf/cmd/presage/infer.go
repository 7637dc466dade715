package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/store"
)

func inferCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "infer",
		Short: "Infer one model of software and hardware from sparse profiles (Wu and Lee 2012)",
	}
	cmd.AddCommand(inferCampaignCommand())
	return cmd
}

func inferCampaignCommand() *cobra.Command {
	var (
		c              perf.InferCampaign
		dir, record    string
		reduced, quiet bool
	)
	cmd := &cobra.Command{
		Use:   "campaign --record FOLDER",
		Short: "Simulate shards of programs on random architectures, and record it",
		Long: `campaign compiles the programs of the study, each in its variants, and simulates
random shards of them on random architectures. It writes three tables into a
folder: shards.csv, what the programs do, whatever the machine; architectures.csv;
and profiles.csv, the cycles of a shard on an architecture. Beside them, in
recordings.csv, stand this command, the date and checksums.

Whatever was simulated is kept in the store: a campaign that was interrupted goes
on where it was.`,
		Example: "  presage infer campaign --reduced --record /tmp/inferred",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir != "" {
				c.Store = store.Open(dir)
			}
			if reduced {
				c = c.Reduced()
			}
			if !quiet {
				c.Progress = inferProgress(cmd.ErrOrStderr())
			}
			found, err := c.Run(cmd.Context())
			if err != nil {
				return err
			}
			for _, w := range found.Warnings {
				fmt.Fprintln(cmd.ErrOrStderr(), "presage: warning:", w)
			}
			return found.Record(record, commandLine(cmd, args))
		},
	}
	f := cmd.Flags()
	f.StringVar(&c.Programs, "programs", filepath.Join("datasets", "programs"), "folder of the programs")
	f.BoolVar(&reduced, "reduced", false, "one input of each application, two shards, few architectures: minutes")
	f.Uint64Var(&c.Length, "length", 0, "instructions of a shard (default 1000000)")
	f.IntVar(&c.Shards, "shards", 0, "shards of each variant (default 4)")
	f.IntVar(&c.Train, "train", 0, "architectures that models are fitted to, of each variant (default 40)")
	f.Uint64Var(&c.Seed, "seed", 0, "of all that is drawn at random (default 2012)")
	f.StringVar(&dir, "store", "", "folder that keeps simulations (default the user's)")
	f.StringVar(&record, "record", "", "folder to write the tables into")
	f.BoolVarP(&quiet, "quiet", "q", false, "do not tell how far it is")
	_ = cmd.MarkFlagRequired("record")
	return cmd
}

func inferProgress(w io.Writer) func(perf.InferProgress) {
	return func(p perf.InferProgress) {
		fmt.Fprintf(w, "run %d of %d: %s, %d architectures\n", p.Done+1, p.Total, p.Variant, p.Architectures)
	}
}
