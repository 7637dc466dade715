package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"presage/perf/store"
	"presage/perf/study/inferred"
)

func inferCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "infer",
		Short: "Infer one model of software and hardware from sparse profiles (Wu and Lee 2012)",
	}
	cmd.AddCommand(inferCampaignCommand(), inferStudyCommand(), inferBaselinesCommand(), inferPredictCommand())
	return cmd
}

func inferCampaignCommand() *cobra.Command {
	var (
		c              inferred.Campaign
		dir, record    string
		reduced, quiet bool
	)
	cmd := &cobra.Command{
		Use:   "campaign --record FOLDER",
		Short: "Simulate shards of programs on random architectures, and record it",
		Long: `campaign compiles the programs of the study, each in its variants, and simulates
random shards of them on random architectures. It writes four tables into a
folder: shards.csv and misses.csv, what the programs do, whatever the machine, and
how often they miss in caches of each geometry; architectures.csv; and
profiles.csv, the cycles of a shard on an architecture. Beside them, in
recordings.csv, stand this command, the date and checksums.

Whatever was simulated is kept in the store: a campaign that was interrupted goes
on where it was.`,
		Example: "  presage infer campaign --reduced --record /tmp/inferred",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir != "" {
				c.Store = store.Open(dir)
			}
			if err := recordFolder(record); err != nil {
				return err
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
	f.IntVar(&c.Train, "train", 0, "architectures that models are fitted to, of each variant (default 120)")
	f.Uint64Var(&c.Seed, "seed", 0, fmt.Sprintf("of all that is drawn at random (default %d)", inferred.Seed))
	f.StringVar(&dir, "store", "", "folder that keeps simulations (default the user's)")
	f.StringVar(&record, "record", "", "folder to write the tables into")
	f.BoolVarP(&quiet, "quiet", "q", false, "do not tell how far it is")
	_ = cmd.MarkFlagRequired("record")
	return cmd
}

// recordFolder makes the folder that tables go into, so that one that cannot be
// written to is found out before what takes long, and not after it.
func recordFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("infer: --record: %w", err)
	}
	return nil
}

func inferProgress(w io.Writer) func(inferred.Progress) {
	return func(p inferred.Progress) {
		fmt.Fprintf(w, "variant %d of %d: %s, %d architectures\n", p.Done+1, p.Total, p.Variant, p.Architectures)
	}
}

func inferStudyCommand() *cobra.Command {
	var (
		s            inferred.Study
		data, record string
		quiet        bool
	)
	cmd := &cobra.Command{
		Use:   "study --record FOLDER",
		Short: "Search for models of a recorded campaign, judge them, and record it",
		Long: `study searches for models of the profiles that campaign recorded, of all
applications and with each left out, updates those with a few profiles of what was
left out, and judges them by profiles that neither search nor fit has seen. It
writes predictions.csv, searches.csv and specs.csv.`,
		Example: "  presage infer study --data /tmp/inferred --record /tmp/inferred --generations 5",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			profiles, err := inferred.LoadInferProfiles(data)
			if err != nil {
				return err
			}
			if err := recordFolder(record); err != nil {
				return err
			}
			if !quiet {
				s.Progress = func(step string) { fmt.Fprintln(cmd.ErrOrStderr(), step) }
			}
			command := commandLine(cmd, args)
			found, err := s.Run(cmd.Context(), profiles)
			if err != nil {
				return searchEnded(cmd, err)
			}
			if err := found.Record(record, command); err != nil {
				return err
			}
			return (&output{format: "text"}).print(cmd.OutOrStdout(), inferred.Accuracy(found.Predictions))
		},
	}
	f := cmd.Flags()
	f.StringVar(&data, "data", filepath.Join("datasets", "inferred"), "folder that campaign wrote")
	f.IntVar(&s.Search.Population, "population", 0, "candidates of a generation (default 100)")
	f.IntVar(&s.Search.Generations, "generations", 0, "generations of a search from nothing (default 30)")
	f.IntVar(&s.Search.Powers, "powers", 0, "largest power of variables that interact (default 1)")
	f.IntVar(&s.Profiles, "profiles", 0, "profiles of new software that a model is updated with (default 20)")
	f.Float64Var(&s.Search.Scaling.Power, "power", 0, "power of CPI that is fitted, with relative residuals (default 1)")
	f.BoolVar(&s.Search.Scaling.Log, "log", false, "fit the logarithm of CPI instead")
	inferSetFlags(f, &s)
	f.StringVar(&record, "record", "", "folder to write the tables into")
	f.BoolVarP(&quiet, "quiet", "q", false, "do not tell how far it is")
	_ = cmd.MarkFlagRequired("record")
	return cmd
}

// searchEnded says of an interruption that nothing is kept: what other commands
// run is in the store, searches are not.
func searchEnded(cmd *cobra.Command, err error) error {
	if !errors.Is(err, context.Canceled) {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "presage: interrupted; nothing was recorded, and the searches begin anew next time")
	return exitStatus(130)
}

// inferSetFlags adds the flags of what models are made of and judged by.
func inferSetFlags(f *pflag.FlagSet, s *inferred.Study) {
	f.StringVar((*string)(&s.Variables), "variables", string(inferred.LimitSet), "what models are made of: paper, the characteristics and parameters of Wu and Lee; or limits, what each limit costs by itself, and the parameters")
	f.Float64Var(&s.Search.Ridge, "ridge", 0, "shrink coefficients, as by so many rows more (default 10 of limits, 0 of the paper's variables)")
	f.BoolVar(&s.Choosing, "choosing", false, "judge by the profiles kept for choosing the form of models, not by those that judge")
}

func inferBaselinesCommand() *cobra.Command {
	var (
		s                    inferred.Study
		data, record, script string
		quiet, leftOut       bool
	)
	cmd := &cobra.Command{
		Use:   "baselines --record FOLDER",
		Short: "Judge other methods on a recorded campaign, and record it",
		Long: `baselines judges other methods by the profiles that study judges inferred models
by: the mean, a plain regression, stepwise selection, and those of an R script. It
writes baselines.csv.`,
		Example: "  presage infer baselines --script datasets/inferred/baselines.R --record /tmp/inferred",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			profiles, err := inferred.LoadInferProfiles(data)
			if err != nil {
				return err
			}
			if err := recordFolder(record); err != nil {
				return err
			}
			if script != "" {
				if _, err := os.Stat(script); err != nil {
					return fmt.Errorf("infer: script: %w", err)
				}
			}
			if !quiet {
				s.Progress = func(step string) { fmt.Fprintln(cmd.ErrOrStderr(), step) }
			}
			others, err := s.Baselines(cmd.Context(), profiles, script, leftOut)
			if err != nil {
				return searchEnded(cmd, err)
			}
			return inferred.RecordInferBaselines(record, others, commandLine(cmd, args))
		},
	}
	f := cmd.Flags()
	f.StringVar(&data, "data", filepath.Join("datasets", "inferred"), "folder that campaign wrote")
	inferSetFlags(f, &s)
	f.BoolVar(&leftOut, "left-out", false, "judge also by each application, left out in turn")
	f.StringVar(&script, "script", "", "R script of further methods: see datasets/inferred/baselines.R")
	f.StringVar(&record, "record", "", "folder to write the table into")
	f.BoolVarP(&quiet, "quiet", "q", false, "do not tell how far it is")
	_ = cmd.MarkFlagRequired("record")
	return cmd
}
