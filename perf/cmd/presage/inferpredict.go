package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/infer"
	"presage/perf/shard"
	"presage/perf/study/inferred"
)

// inferSimulated bounds the number of architectures drawn for simulation: this many
// take minutes.
const inferSimulated = 2000

func inferPredictCommand() *cobra.Command {
	var (
		run   runFlags
		opt   perf.PredictCPIOptions
		out   output
		data  string
		file  string
		count int
	)
	cmd := &cobra.Command{
		Use:   "predict PROGRAM",
		Short: "Predict a program's cycles per instruction on architectures, by the recorded model",
		Long: `predict looks at a few shards of PROGRAM, a static linux/riscv64 executable or the
folder of a Go main package, and predicts its cycles per instruction on
architectures of the space of Wu and Lee (2012), Table 2: those of a CSV file with a
column for each parameter, or some drawn at random. The model is that of the best
spec that study recorded.

Each row is an architecture: its parameters; the cost of each limit by itself, in
cycles per instruction: the core, mispredicted branches, misses in the instruction
cache, in the data cache and in L2; their sum, which the model corrects; how many
of the shards lie outside the range of the model's training data; and the
predicted CPI. With --simulate the shards are also simulated. Results are kept in
the store.`,
		Example: `  presage infer predict ./datasets/programs/lu --args "-n 20 -iterations 5"
  presage infer predict ./a.out --architectures cores.csv --simulate --format csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if cmd.Flags().Changed("shards") && opt.Shards < 1 {
				return fmt.Errorf("--shards %d: want 1 or more", opt.Shards)
			}
			if file == "" && opt.Simulate && count > inferSimulated {
				return fmt.Errorf("--count %d with --simulate: want %d architectures at most; without --simulate there may be more", count, inferSimulated)
			}
			opt.Seed = cmp.Or(opt.Seed, inferred.Seed) // of architectures and shards
			architectures, err := inferArchitectures(file, count, opt.Seed)
			if err != nil {
				return err
			}
			if opt.RunOptions, err = run.options(); err != nil {
				return err
			}
			model, err := inferred.LoadModel(data)
			if err != nil {
				return err
			}
			prog, err := openProgram(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			found, err := perf.PredictCPI(cmd.Context(), prog, model, architectures, opt)
			if err != nil {
				return err
			}
			warnings := found.Warnings
			if n := cmp.Or(opt.Length, shard.DefaultLength); n != shard.DefaultLength {
				warnings = append(warnings, fmt.Sprintf("the model was made from shards of %d instructions, not of %d", shard.DefaultLength, n))
			}
			warn(cmd.ErrOrStderr(), warnings)
			return out.print(cmd.OutOrStdout(), found.Table)
		},
	}
	run.register(cmd)
	out.register(cmd)
	f := cmd.Flags()
	f.StringVar(&data, "data", filepath.Join("datasets", "inferred"), "folder of the recorded campaign and study")
	f.StringVar(&file, "architectures", "", "CSV file of architectures, a column for each parameter of Table 2")
	f.IntVar(&count, "count", 10, "architectures to draw at random if there is no file")
	f.Uint64Var(&opt.Seed, "seed", 0, fmt.Sprintf("seed for drawing shards and architectures (default %d)", inferred.Seed))
	f.Uint64Var(&opt.Length, "length", 0, fmt.Sprintf("instructions of a shard (default %d, as the model's)", shard.DefaultLength))
	f.IntVar(&opt.Shards, "shards", 0, "shards to draw (default 4)")
	f.BoolVar(&opt.Simulate, "simulate", false, "also simulate the shards on each architecture")
	return cmd
}

// inferArchitectures reads architectures from a file, or draws count of them at
// random if there is none.
func inferArchitectures(file string, count int, seed uint64) ([]infer.Architecture, error) {
	if file != "" {
		return inferred.ReadArchitectures(file)
	}
	if count < 1 || count > 100_000 {
		return nil, fmt.Errorf("--count %d: want 1 to 100000 architectures", count)
	}
	return infer.SampleArchitectures(rand.New(rand.NewPCG(seed, 1)), count), nil
}
