package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"presage/perf"
	"presage/perf/frame"
	"presage/perf/iperf"
	"presage/perf/progress"
	"presage/perf/study/kernels"
)

// binaryFlags select a kernel: a described one, or that of a routine in a binary.
type binaryFlags struct{ kernel, binary, routine, overlay string }

func (b *binaryFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&b.binary, "binary", "", "static linux/riscv64 executable, or folder of a Go main package, whose --routine is the kernel")
	f.StringVar(&b.routine, "routine", "", "routine of --binary whose loop nest is the kernel, such as main.kernelRows")
	f.StringVar(&b.overlay, "overlay", "", "YAML file of facts that no binary contains: which register holds the problem size, the names of arrays")
}

// find returns the kernel and, if it is that of a binary, its analysis.
func (b *binaryFlags) find(ctx context.Context) (*iperf.Kernel, *kernels.BinaryKernel, error) {
	switch {
	case (b.kernel == "") == (b.binary == ""):
		return nil, nil, errors.New("want either --kernel or --binary")
	case b.kernel != "" && (b.routine != "" || b.overlay != ""):
		return nil, nil, errors.New("--routine and --overlay go with --binary")
	case b.kernel != "":
		k, err := perf.FindKernel(b.kernel)
		return k, nil, err
	case b.routine == "":
		return nil, nil, errors.New("--binary: which routine is the kernel? Name it with --routine")
	}
	var overlay *iperf.Overlay
	if b.overlay != "" {
		var err error
		if overlay, err = iperf.ReadOverlay(b.overlay); err != nil {
			return nil, nil, err
		}
	}
	prog, err := openProgram(ctx, b.binary)
	if err != nil {
		return nil, nil, err
	}
	k, err := perf.KernelOf(prog, b.routine, overlay)
	if err != nil {
		return nil, nil, err
	}
	return k.Kernel, k, nil
}

func kernelCommand() *cobra.Command {
	var (
		from  binaryFlags
		out   output
		at    sweepFlag
		block uint64
		table bool
	)
	cmd := &cobra.Command{
		Use:   "kernel PROGRAM --routine NAME",
		Short: "Describe the loop nest of a routine, by static analysis of its binary",
		Long: `kernel takes PROGRAM apart, a static linux/riscv64 executable or the folder of a Go
main package, and describes the loop nest of a routine as search-models needs it:
trip counts and, for each memory reference, its array, size, first location and
strides. --overlay adds facts that no binary contains, such as which register
holds the problem size; an error names those that are missing.

It prints the description as a file that search-models reads (--kernel FILE.yaml:NAME)
or, with --references, a table of the references with their formulas in the binary
and their locality at the size of --at, in blocks of --block bytes.`,
		Example: `  presage kernel ./datasets/programs/iperf --routine main.kernelStencil --overlay datasets/iperf/stencil-go.yaml
  presage kernel ./a.out --routine kernel_ij --overlay ij.yaml --references --at n=100 --block 32`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			from.binary = args[0]
			_, k, err := from.find(cmd.Context())
			if err != nil {
				return err
			}
			warn(cmd.ErrOrStderr(), k.Notes)
			if !table {
				_, err := cmd.OutOrStdout().Write(iperf.FormatKernels(k.Kernel))
				return err
			}
			if len(at.points) != 1 {
				return errors.New("--references: want one size, such as --at n=100")
			}
			if block == 0 {
				return errors.New("--block 0: want the bytes of a cache block")
			}
			rows, err := k.Rows(at.points[0], block)
			if err != nil {
				return err
			}
			return out.print(cmd.OutOrStdout(), frame.Of(rows))
		},
	}
	f := cmd.Flags()
	f.StringVar(&from.routine, "routine", "", "routine whose loop nest is described")
	f.StringVar(&from.overlay, "overlay", "", "YAML file of facts that no binary contains")
	f.BoolVar(&table, "references", false, "print a table of the references instead")
	f.Var(&at, "at", "problem size for which locality is shown: name=value; repeat for further parameters")
	f.Uint64Var(&block, "block", 64, "cache block size in bytes for which locality is shown")
	_ = cmd.MarkFlagRequired("routine")
	out.register(cmd)
	return cmd
}

func timeKernelsCommand() *cobra.Command {
	var (
		sweep  sweepFlag
		opt    kernels.TimingOptions
		out    output
		prefix string
		record string
		quiet  bool
	)
	cmd := &cobra.Command{
		Use:   "time-kernels BUILDS.csv --sweep name=values",
		Short: "Time a kernel on this machine as several compilers build it",
		Long: `time-kernels builds each program of a table (columns build, command and args) for
this machine and runs all of them at all points once per round, for ten rounds by
default, so that a disturbance affects only a few runs of many points. A program
prints the time of its kernel itself, as a line "kernel_sec: 0.00012". Each row of
the result is a run; search-models ignores the smallest and largest of each point.

The commands of the table and the programs that they build are executed WITH YOUR
RIGHTS, not in a sandbox: give it only tables whose commands you would run yourself.

With --record the rows are written to a file, and this command, the host, the date,
compilers and checksums to recordings.csv beside it. Finished rounds are kept in
FILE.partial until then, so that an interrupted command can be resumed.`,
		Example: `  presage time-kernels datasets/iperf/builds.csv --sweep n=8:800:8 --record datasets/iperf/host.csv`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			builds, err := kernels.ReadBuilds(args[0])
			if err != nil {
				return err
			}
			if !quiet {
				opt.Progress = func(p progress.Report) {
					if !p.Finished() {
						fmt.Fprintf(cmd.ErrOrStderr(), "round %d of %d\n", p.Done+1, p.Total)
					}
				}
			}
			if record != "" {
				opt.Checkpoint = record + ".partial"
			}
			if opt.Prefix, err = shellquote.Split(prefix); err != nil {
				return fmt.Errorf("--prefix: %w", err)
			}
			times, err := opt.Run(cmd.Context(), builds, sweep.points)
			if err != nil {
				return err
			}
			warn(cmd.ErrOrStderr(), times.Warnings)
			if record != "" {
				return times.Record(record, commandLine(cmd, args))
			}
			return out.print(cmd.OutOrStdout(), frame.Of(times.Runs))
		},
	}
	f := cmd.Flags()
	f.Var(&sweep, "sweep", "problem sizes: name=value,… or name=first:last:step; repeat for further parameters")
	f.IntVar(&opt.Rounds, "rounds", kernels.DefaultRounds, "number of runs of each point of each build")
	f.StringVar(&prefix, "prefix", "", "command that starts each timed run, such as \"chrt -f 10\" for real-time priority")
	f.StringVar(&record, "record", "", "file to write the rows to")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	out.register(cmd)
	return cmd
}
