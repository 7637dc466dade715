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

	"presage/perf/frame"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/study/inferred"
)

func inferCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "infer",
		Short: "Infer one model of software and hardware from sparse profiles (Wu and Lee 2012)",
	}
	cmd.AddCommand(inferCampaignCommand(), inferDistancesCommand(), inferStudyCommand(), inferBaselinesCommand(), inferPredictCommand())
	return cmd
}

func inferCampaignCommand() *cobra.Command {
	var (
		c                     inferred.Campaign
		dir, record, subjects string
		reduced, quiet        bool
		on                    campaignFlags
	)
	cmd := &cobra.Command{
		Use:   "campaign --record FOLDER",
		Short: "Simulate shards of programs on random architectures, and record it",
		Long: `campaign compiles the programs of the study, each in its variants, and simulates
random shards of them on random architectures. It writes four tables into a
folder: shards.csv, the machine-independent characteristics of the shards;
misses.csv, their misses in caches of each geometry; architectures.csv; and
profiles.csv, the cycles of a shard on an architecture. The file recordings.csv
beside them records this command, the date and checksums.

Simulations are kept in the store: an interrupted campaign resumes where it
stopped.`,
		Example: "  presage infer campaign --reduced --record /tmp/inferred",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir != "" {
				c.Store = store.Open(dir)
			}
			if err := recordFolder(record); err != nil {
				return err
			}
			var err error
			if c.Subjects, err = inferred.LoadSubjects(subjects); err != nil {
				return err
			}
			if reduced {
				c = c.Reduced()
			}
			if !quiet {
				shown := -1
				c.Progress = func(p progress.Report) {
					if p.Done != shown {
						shown = p.Done
						fmt.Fprintf(cmd.ErrOrStderr(), "variant %d of %d: %s\n", p.Done+1, p.Total, p.Task)
					}
				}
			}
			if c.Campaign, err = on.runner(cmd, args); err != nil {
				return err
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
	f.StringVar(&subjects, "subjects", filepath.Join("datasets", "inferred", "subjects.yaml"), "file of the programs, their inputs and roles")
	f.BoolVar(&reduced, "reduced", false, "one input of each application, two shards, few architectures: minutes")
	f.Uint64Var(&c.Length, "length", 0, "instructions of a shard (default 1000000)")
	f.IntVar(&c.Shards, "shards", 0, "shards of each variant (default 4)")
	f.IntVar(&c.Train, "train", 0, "architectures of each variant to which models are fitted (default 120)")
	f.Uint64Var(&c.Seed, "seed", 0, fmt.Sprintf("seed of all random choices (default %d)", inferred.Seed))
	f.StringVar(&dir, "store", "", "folder that keeps simulations (default the user's)")
	f.StringVar(&record, "record", "", "folder to write the tables into")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	_ = cmd.MarkFlagRequired("record")
	on.register(cmd)
	return cmd
}

func inferDistancesCommand() *cobra.Command {
	var (
		c              inferred.Campaign
		data, subjects string
		quiet          bool
		on             campaignFlags
	)
	cmd := &cobra.Command{
		Use:   "distances",
		Short: "Count the reuse distances of the shards of a recorded campaign, and record it",
		Long: `distances runs the programs of a recorded campaign once more and counts the reuse
distances of its shards, each after the instructions that caches were filled with
before it. It writes distances.csv beside the campaign's tables: what study takes
for --variables histograms.

What was counted is kept in the store: an interrupted command resumes where it
stopped.`,
		Example: `  presage infer distances --data /tmp/inferred
  presage infer distances --data datasets/inferred/long/ten-million --subjects datasets/inferred/long/subjects.yaml --length 10000000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			profiles, err := inferred.LoadProfiles(data)
			if err != nil {
				return err
			}
			if c.Subjects, err = inferred.LoadSubjects(subjects); err != nil {
				return err
			}
			if !quiet {
				c.Progress = tasks(cmd.ErrOrStderr())
			}
			if c.Campaign, err = on.runner(cmd, args); err != nil {
				return err
			}
			if profiles.Distances, err = c.Distances(cmd.Context(), profiles); err != nil {
				return err
			}
			return profiles.RecordDistances(data, commandLine(cmd, args))
		},
	}
	f := cmd.Flags()
	f.StringVar(&data, "data", filepath.Join("datasets", "inferred"), "folder that campaign wrote")
	f.StringVar(&c.Programs, "programs", filepath.Join("datasets", "programs"), "folder of the programs")
	f.StringVar(&subjects, "subjects", filepath.Join("datasets", "inferred", "subjects.yaml"), "file of the programs, their inputs and roles")
	f.Uint64Var(&c.Length, "length", 0, "instructions of a shard, as the campaign had them (default 1000000)")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	on.register(cmd)
	return cmd
}

// recordFolder creates the folder for tables, so that an unwritable folder fails
// before the work and not after it.
func recordFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("infer: --record: %w", err)
	}
	return nil
}

// tasks returns a callback that prints each step of a study on a line of its own.
func tasks(w io.Writer) progress.Func {
	return func(p progress.Report) { fmt.Fprintln(w, p.Task) }
}

func inferStudyCommand() *cobra.Command {
	var (
		o            inferred.Options
		data, record string
		quiet        bool
	)
	cmd := &cobra.Command{
		Use:   "study --record FOLDER",
		Short: "Search for models of a recorded campaign, judge them, and record it",
		Long: `study searches for models of the profiles that campaign recorded, of all
applications and with each left out in turn, updates the latter with a few
profiles of the application left out, and judges them on profiles that neither
search nor fit has seen. It writes predictions.csv, searches.csv and specs.csv.`,
		Example: "  presage infer study --data /tmp/inferred --record /tmp/inferred --generations 5",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			profiles, err := inferred.LoadProfiles(data)
			if err != nil {
				return err
			}
			if err := recordFolder(record); err != nil {
				return err
			}
			if !quiet {
				o.Progress = tasks(cmd.ErrOrStderr())
			}
			command := commandLine(cmd, args)
			found, err := o.Run(cmd.Context(), profiles)
			if err != nil {
				return searchEnded(cmd, err)
			}
			if err := found.Record(record, command); err != nil {
				return err
			}
			return (&output{format: "text"}).print(cmd.OutOrStdout(), frame.Of(inferred.Accuracy(found.Predictions)))
		},
	}
	f := cmd.Flags()
	f.StringVar(&data, "data", filepath.Join("datasets", "inferred"), "folder that campaign wrote")
	f.IntVar(&o.Search.Population, "population", 0, "candidates of a generation (default 100)")
	f.IntVar(&o.Search.Generations, "generations", 0, "generations of a search from scratch (default 30)")
	f.IntVar(&o.Search.Powers, "powers", 0, "largest power of variables that interact (default 1)")
	f.IntVar(&o.Profiles, "profiles", 0, "profiles of new software with which a model is updated (default 20)")
	f.Float64Var(&o.Search.Scaling.Power, "power", 0, "power of CPI that is fitted, with relative residuals (default 1)")
	f.BoolVar(&o.Search.Scaling.Log, "log", false, "fit the logarithm of CPI instead")
	f.BoolVar(&o.Direct, "direct", false, "search for no terms: fit splines of all variables and all their products, up to --powers (default 2), shrunk by --ridge")
	f.BoolVar(&o.Process, "process", false, "search for no terms: fit a regression on products of all variables with a Gaussian process for what it leaves; an update takes it as its prior")
	f.IntVar(&o.Products, "products", 0, "with --process, how many variables a product of the regression has at most (default 2)")
	f.BoolVar(&o.Searched, "searched", false, "search genetically for terms where --direct or portable variables would take all: the same variables, powers, response and ridge")
	f.BoolVar(&o.Joint, "joint", false, "like --searched, but start from all terms and random parts of them, fit once for each third of the profiles, and choose the ridge too; implies --known")
	f.BoolVar(&o.Search.Hierarchical, "hierarchical", false, "in a search, only variables that are in the model by themselves interact")
	f.BoolVar(&o.Known, "known", false, "judge known software alone, on known and on new hardware: leave none out")
	inferSetFlags(f, &o)
	f.StringVar(&record, "record", "", "folder to write the tables into")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	_ = cmd.MarkFlagRequired("record")
	return cmd
}

// searchEnded adds to the error of an interrupted search that nothing was saved:
// searches, unlike simulations, are not cached.
func searchEnded(cmd *cobra.Command, err error) error {
	if !errors.Is(err, context.Canceled) {
		return err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "presage: interrupted; nothing was recorded, and the searches begin anew next time")
	return exitStatus(interruptStatus(cmd.Context()))
}

// inferSetFlags adds the flags that choose the variables of models and the profiles
// that judge them.
func inferSetFlags(f *pflag.FlagSet, o *inferred.Options) {
	f.StringVar((*string)(&o.Variables), "variables", string(inferred.LimitSet), "variables of the models: paper (the characteristics and parameters of Wu and Lee), portable (these, and how much a shard touches; implies --direct and --log), histograms (these, and the misses that follow from reuse distances; implies --process), counted (these, and the misses counted for an architecture's caches; implies --process) or limits (the cost of each limit by itself, and the parameters)")
	f.Float64Var(&o.Search.Ridge, "ridge", 0, "shrink coefficients as this many additional rows would (default 10 for limits, 30 with --direct, 0 otherwise)")
	f.BoolVar(&o.Choosing, "choosing", false, "judge on the profiles reserved for choosing the form of models, not on the test profiles")
}

func inferBaselinesCommand() *cobra.Command {
	var (
		o            inferred.Options
		others       inferred.BaselineOptions
		data, record string
		quiet        bool
	)
	cmd := &cobra.Command{
		Use:   "baselines --record FOLDER",
		Short: "Judge other methods on a recorded campaign, and record it",
		Long: `baselines judges other methods on the profiles that study uses to judge inferred
models: the mean, a plain regression, stepwise selection, and those of an R
script. It writes baselines.csv.`,
		Example: "  presage infer baselines --script datasets/inferred/baselines.R --record /tmp/inferred",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			profiles, err := inferred.LoadProfiles(data)
			if err != nil {
				return err
			}
			if err := recordFolder(record); err != nil {
				return err
			}
			if others.Script != "" {
				if _, err := os.Stat(others.Script); err != nil {
					return fmt.Errorf("infer: script: %w", err)
				}
			}
			if !quiet {
				o.Progress = tasks(cmd.ErrOrStderr())
			}
			rows, err := o.Baselines(cmd.Context(), profiles, others)
			if err != nil {
				return searchEnded(cmd, err)
			}
			return inferred.RecordBaselines(record, rows, commandLine(cmd, args))
		},
	}
	f := cmd.Flags()
	f.StringVar(&data, "data", filepath.Join("datasets", "inferred"), "folder that campaign wrote")
	inferSetFlags(f, &o)
	f.BoolVar(&others.LeftOut, "left-out", false, "also judge on each application, left out in turn")
	f.StringVar(&others.Script, "script", "", "R script of further methods: see datasets/inferred/baselines.R")
	f.StringVar(&record, "record", "", "folder to write the table into")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	_ = cmd.MarkFlagRequired("record")
	return cmd
}
