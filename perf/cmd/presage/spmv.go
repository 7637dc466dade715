package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/frame"
	"presage/perf/progress"
	"presage/perf/spmv"
	"presage/perf/store"
	"presage/perf/study/sparse"
)

func spmvCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "spmv",
		Short: "Tune sparse matrix-vector multiplication: block size and caches",
		Long: `spmv chooses the best block size for storing a sparse matrix, and the caches on
which the product runs best, with models trained on a few hundred simulations (Wu
and Lee, MICRO 2012, section 5).`,
	}
	cmd.AddCommand(spmvTuneCommand(), spmvStudyCommand(), spmvFetchCommand(), spmvCostsCommand())
	return cmd
}

// spmvFlags are the flags of both commands that simulate.
type spmvFlags struct {
	opt   sparse.Options
	dir   string
	quiet bool
	on    campaignFlags
}

func (s *spmvFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&s.opt.Train, "train", 400, "samples of block sizes and caches to fit models to")
	f.IntVar(&s.opt.Validate, "validate", 100, "further samples for validation")
	f.Uint64Var(&s.opt.Seed, "seed", 0, "seed of random choices")
	f.StringVar(&s.dir, "store", "", "folder that keeps simulations (default the user's)")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "no progress on standard error")
	s.on.register(cmd)
}

func (s *spmvFlags) options(cmd *cobra.Command, args []string) (sparse.Options, error) {
	w := cmd.ErrOrStderr()
	if s.dir != "" {
		s.opt.Store = store.Open(s.dir)
	}
	if !s.quiet {
		var last time.Time
		s.opt.Progress = func(p progress.Report) {
			if now := time.Now(); p.Finished() || now.Sub(last) > 2*time.Second {
				last = now
				fmt.Fprintf(w, "%s: %d of %d\n", p.Task, p.Done, p.Total)
			}
		}
	}
	var err error
	s.opt.Campaign, err = s.on.runner(cmd, args)
	return s.opt, err
}

func spmvTuneCommand() *cobra.Command {
	var t tuning
	cmd := &cobra.Command{
		Use:   "tune FILE",
		Short: "Recommend a block size and caches for the matrix in a Matrix Market file",
		Long: `tune reads a matrix in Matrix Market format (.mtx or .mtx.gz), estimates the fill
ratio of each block size from 2% of its rows, and recommends a block size for this
machine: the one with the best ratio of the measured speed of a dense matrix in
such blocks to the fill ratio. Those speeds are measured at the first call on a
machine, which takes a few seconds, and kept; --anew measures them again. With
--verify it times all block sizes for the matrix itself and reports how good the
recommendation is.

With --caches it also simulates products on the caches of the study, fits models,
and recommends a block size, caches, or both for a 400 MHz core, with the
performance, power and energy that simulation finds.`,
		Example: `  presage spmv tune bcsstk13.mtx.gz
  presage spmv tune bcsstk13.mtx.gz --verify --caches`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := t.out.check(); err != nil {
				return err
			}
			m, err := spmv.OpenMarket(args[0])
			if err != nil {
				return err
			}
			opt, err := t.options(cmd, args)
			if err != nil {
				return err
			}
			advice, err := t.advise(cmd, m, opt)
			if err != nil {
				return err
			}
			if t.caches {
				return t.printCaches(cmd, m, opt)
			}
			return t.printShapes(cmd.OutOrStdout(), advice)
		},
	}
	t.register(cmd)
	return cmd
}

// tuning holds the flags of spmv tune.
type tuning struct {
	spmvFlags
	verify, anew bool
	caches       bool
	repeats      int
	objectives   []string
	out          output
}

func (t *tuning) register(cmd *cobra.Command) {
	t.spmvFlags.register(cmd)
	t.out.register(cmd)
	f := cmd.Flags()
	f.BoolVar(&t.verify, "verify", false, "time all block sizes for this matrix")
	f.BoolVar(&t.anew, "anew", false, "measure the speeds of a dense matrix even if they are kept")
	f.BoolVar(&t.caches, "caches", false, "simulate, and recommend caches too")
	f.StringSliceVar(&t.objectives, "objective", []string{"performance"}, "objectives for tuning caches: performance, energy")
	f.IntVar(&t.repeats, "repeats", 5, "products timed in each of five passes")
}

// options returns those of the study, with the objectives.
func (t *tuning) options(cmd *cobra.Command, args []string) (sparse.Options, error) {
	opt, err := t.spmvFlags.options(cmd, args)
	if err != nil {
		return opt, err
	}
	for _, name := range t.objectives {
		switch name {
		case "performance":
			opt.Objectives = append(opt.Objectives, spmv.Fastest)
		case "energy":
			opt.Objectives = append(opt.Objectives, spmv.Frugal)
		default:
			return opt, fmt.Errorf("--objective %q: want performance or energy", name)
		}
	}
	return opt, nil
}

// advise chooses a block size for this machine, and says so before any table.
func (t *tuning) advise(cmd *cobra.Command, m *spmv.Matrix, opt sparse.Options) (*sparse.Advice, error) {
	advice, err := sparse.Advise(cmd.Context(), m, sparse.AdviceOptions{
		Seed: opt.Seed, Timing: spmv.TimeOptions{Repeats: t.repeats}, Verify: t.verify, Store: opt.Store, Anew: t.anew, Progress: opt.Progress,
	})
	if err != nil {
		return nil, err
	}
	if advice.Warning != "" {
		warn(cmd.ErrOrStderr(), []string{advice.Warning})
	}
	if t.out.format == "text" {
		fmt.Fprintln(cmd.OutOrStdout(), advice.Text())
	}
	return advice, nil
}

// printShapes prints the table of block sizes.
func (t *tuning) printShapes(w io.Writer, advice *sparse.Advice) error {
	shapes := frame.Of(advice.Shapes)
	if !advice.Verified {
		shapes = shapes.Drop("meas_mflop_per_sec")
	}
	return t.out.print(w, shapes)
}

// printCaches tunes block size and caches by simulation, and prints what that gives, as
// text after the errors of the models.
func (t *tuning) printCaches(cmd *cobra.Command, m *spmv.Matrix, opt sparse.Options) error {
	tuned, err := perf.TuneMatrix(cmd.Context(), m, opt)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if t.out.format == "text" {
		fmt.Fprintln(w, "On a 400 MHz in-order core. Errors of the models on validation samples:")
		if err := t.out.print(w, tuned.Accuracy); err != nil {
			return err
		}
		fmt.Fprintln(w, "\nTuned, from 1×1 blocks on", spmv.Baseline().String()+":")
	}
	return t.out.print(w, tuned.Tuned)
}

func spmvStudyCommand() *cobra.Command {
	var (
		s                        spmvFlags
		matrices, folders, parts []string
		record                   string
	)
	cmd := &cobra.Command{
		Use:   "study --record FOLDER",
		Short: "Record the study of the eleven matrices: samples, fill, tuning, native times",
		Long: `study takes the matrices of Table 4 of Wu and Lee (2012), real ones where a folder of
--matrices has them (NAME.mtx or NAME.mtx.gz) and stand-ins otherwise, simulates
products with block sizes and caches drawn at random, fits models, tunes with them,
verifies the result by simulation, and times the kernels on this machine. --only names
some of them, or matrices of published families that are generated: poisson2d and
poisson3d, and elastic3d of finite elements. presage spmv fetch tells how to place real
matrices. native-kernels times scalar and vector kernels on one thread and on all. It
writes matrices.csv, fill.csv, samples.csv, tuning.csv, native.csv and native-kernels.csv,
with their origin in recordings.csv.

Simulations are kept in the store: an interrupted study resumes where it stopped.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := sparse.Matrices(folders, matrices...)
			if err != nil {
				return err
			}
			for _, part := range parts {
				if err := sparse.Part(part).Check(); err != nil {
					return fmt.Errorf("--parts %w", err)
				}
			}
			study, err := s.options(cmd, args)
			if err != nil {
				return err
			}
			for _, part := range parts { // one by one: an interrupted study keeps the parts that are finished
				study.Parts = []sparse.Part{sparse.Part(part)}
				found, err := study.Run(cmd.Context(), all)
				if err != nil {
					return err
				}
				if err := found.Record(record, commandLine(cmd, args)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	s.register(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&matrices, "only", nil, "names of the matrices (default all eleven of Table 4)")
	f.StringSliceVar(&folders, "matrices", nil, "folders that may hold real matrices")
	f.StringVar(&record, "record", "", "folder to write tables to")
	f.StringSliceVar(&parts, "parts", []string{"matrices", "fill", "samples", "tuning", "native", "native-kernels"}, "tables to make")
	_ = cmd.MarkFlagRequired("record")
	return cmd
}

func spmvFetchCommand() *cobra.Command {
	var (
		out     output
		folders []string
	)
	cmd := &cobra.Command{
		Use:   "fetch",
		Short: "Tell which matrices of Table 4 are in place, and how to place the others",
		Long: `fetch downloads nothing. It lists the matrices of Table 4 of Wu and Lee (2012), the
file of each that a folder of --matrices has, and where the others are to be had: at
the page of each in the SuiteSparse Matrix Collection, "Matrix Market" gives an archive
with a file NAME.mtx. Save that file, or its gzip, in the folder under the name of the
column save_as (or the collection's own), and presage spmv study --matrices FOLDER takes
it in place of the stand-in. A file of other dimensions or with another number of
entries is an error; of a symmetric matrix either both halves or the stored one may be
as many as Table 4 says.`,
		Example: `  presage spmv fetch --matrices datasets/spmv`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			rows, err := sparse.Real(folders)
			if err != nil {
				return err
			}
			return out.print(cmd.OutOrStdout(), frame.Of(rows))
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&folders, "matrices", []string{"datasets/spmv"}, "folders that may hold real matrices")
	out.register(cmd)
	return cmd
}

func spmvCostsCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "costs FOLDER",
		Short: "Determine the cost of each kernel on the core by running the guest program in FOLDER",
		Long: `costs builds the guest program (datasets/programs/spmv), runs it in the engine with
three small matrices for each block size, and simulates the core on the kernel's
instructions. The result is the table from which package spmv computes times
(perf/spmv/costs.csv).`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			prog, err := openProgram(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			costs, err := sparse.Costs(cmd.Context(), prog)
			if err != nil {
				return err
			}
			text := spmv.WriteCosts(costs)
			if file == "" {
				_, err = io.WriteString(cmd.OutOrStdout(), text)
				return err
			}
			return store.WriteFile(file, []byte(text))
		},
	}
	cmd.Flags().StringVarP(&file, "output", "o", "", "file to write (default standard output)")
	return cmd
}
