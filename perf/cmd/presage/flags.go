package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-gota/gota/dataframe"
	"github.com/kballard/go-shellquote"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"presage/perf"
	"presage/perf/engine"
	"presage/perf/frame"
	"presage/perf/locality"
	"presage/perf/predict"
	"presage/perf/progress"
	"presage/perf/subject"
)

// maxPoints bounds the combinations of a sweep.
const maxPoints = 100_000

// sweepFlag is a flag such as n=20,26,32 or n=20:50:6. It may be repeated for
// further parameters; the points are all combinations.
type sweepFlag struct {
	points []perf.Point
	text   []string
}

var _ pflag.Value = (*sweepFlag)(nil)

func (s *sweepFlag) String() string { return strings.Join(s.text, " ") }

func (s *sweepFlag) Type() string { return "name=values" }

// Set implements pflag.Value.
func (s *sweepFlag) Set(text string) error {
	name, list, ok := strings.Cut(text, "=")
	if !ok || name == "" || list == "" {
		return fmt.Errorf("want name=value,value,… or name=first:last:step, such as n=20,26,32")
	}
	var values []float64
	for item := range strings.SplitSeq(list, ",") {
		v, err := parseValues(item)
		if err != nil {
			return err
		}
		values = append(values, v...)
	}
	if len(s.points) == 0 {
		s.points = []perf.Point{{}}
	}
	if n := len(s.points) * len(values); n > maxPoints {
		return fmt.Errorf("%d points are more than %d", n, maxPoints)
	}
	var product []perf.Point
	for _, p := range s.points {
		if _, twice := p[name]; twice {
			return fmt.Errorf("parameter %s is given twice; join its values with commas", name)
		}
		for _, v := range values {
			q := perf.Point{name: v}
			for k, old := range p {
				q[k] = old
			}
			product = append(product, q)
		}
	}
	s.points, s.text = product, append(s.text, text)
	return nil
}

// parseValues reads one value, or first:last:step.
func parseValues(item string) ([]float64, error) {
	var numbers []float64
	for part := range strings.SplitSeq(item, ":") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%q is not a number", part)
		}
		numbers = append(numbers, v)
	}
	switch len(numbers) {
	case 1:
		return numbers, nil
	case 3:
		first, last, step := numbers[0], numbers[1], numbers[2]
		if !(step > 0 && last >= first) || (last-first)/step > 10_000 {
			return nil, fmt.Errorf("%q: want first:last:step with first <= last, step > 0 and at most 10000 values", item)
		}
		return perf.Range(first, last, step), nil
	}
	return nil, fmt.Errorf("%q: want one value or first:last:step", item)
}

// output is the --format flag.
type output struct{ format string }

func (o *output) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.format, "format", "text", "how to print the table: text, csv or json")
}

func (o *output) check() error {
	switch o.format {
	case "text", "csv", "json":
		return nil
	}
	return fmt.Errorf("--format %q: want text, csv or json", o.format)
}

func (o *output) print(w io.Writer, df dataframe.DataFrame) error {
	switch o.format {
	case "csv":
		return frame.WriteCSV(w, df)
	case "json":
		return frame.WriteJSON(w, df)
	}
	return frame.WriteText(w, df)
}

// runFlags are the flags of commands that run a program.
type runFlags struct {
	opt   perf.RunOptions
	dirs  []string
	stdin string

	execution
	quiet bool
}

func (r *runFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&r.opt.Args, "args", "", `arguments of the program, {name} standing for a parameter (default "-name {name}" for each)`)
	f.StringArrayVar(&r.opt.Env, "env", nil, "environment of the program, NAME=value; repeat for more (default none)")
	f.Uint64Var(&r.opt.MaxInstructions, "max-instructions", 0, "fail a run that executes more instructions; 0: no limit")
	f.Uint64Var(&r.opt.MemoryBytes, "memory", 0, fmt.Sprintf("address space of the program in bytes (default %d)", engine.DefaultMemory))
	f.Uint64Var(&r.opt.StackBytes, "stack-bytes", 0, fmt.Sprintf("size of the program's stack in bytes (default %d)", engine.DefaultStack))
	f.StringArrayVar(&r.dirs, "dir", nil, "folder that the program may read, GUEST=HOST, or GUEST=HOST:dev with its devices, as a confined program needs it, both paths the same; {name} in HOST standing for a parameter; repeat for more (default none)")
	f.StringVar(&r.stdin, "stdin", "", "file that the program reads as its standard input, {name} standing for a parameter (default empty)")
	r.execution.register(cmd)
	f.BoolVarP(&r.quiet, "quiet", "q", false, "no progress on standard error")
}

// changed reports whether any flag is set that affects the program's behaviour.
func (r *runFlags) changed() bool {
	return r.opt.Args != "" || r.stdin != "" || len(r.dirs)+len(r.opt.Env) > 0 || r.opt.MaxInstructions != 0 || r.opt.MemoryBytes != 0 || r.opt.StackBytes != 0 || r.execution.changed()
}

// options returns the options with progress on standard error.
func (r *runFlags) options() (perf.RunOptions, error) {
	opt := r.opt
	var err error
	if opt.FreeThreads, err = r.free(); err != nil {
		return opt, err
	}
	opt.Engine, opt.CPU = r.engine, r.cpu
	for _, dir := range r.dirs {
		folder, err := readFolder(dir)
		if err != nil {
			return opt, fmt.Errorf("--dir %q: %w", dir, err)
		}
		opt.Folders = append(opt.Folders, folder)
	}
	opt.StdinFile = r.stdin
	switch {
	case r.quiet:
	case term.IsTerminal(int(os.Stderr.Fd())):
		opt.Progress = progressBar(os.Stderr)
	default:
		opt.Progress = progressLines(os.Stderr)
	}
	return opt, nil
}

// readFolder reads a value of --dir of commands that record runs, which can be repeated.
func readFolder(text string) (subject.Folder, error) {
	g, err := readGrant(text)
	if err == nil && g.Write {
		err = errors.New("a program that is recorded writes to no folder; leave :rw out")
	}
	return subject.Folder{Guest: g.Guest, Host: g.Host, Devices: g.Devices}, err
}

// progressBar returns a callback that shows the running point and its instructions
// so far.
func progressBar(w io.Writer) progress.Func {
	bar := progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetItsString("instructions"),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(200*time.Millisecond),
	)
	return func(p progress.Report) {
		if p.Finished() {
			_ = bar.Finish()
			return
		}
		bar.Describe(runOf(p))
		_ = bar.Set64(int64(p.Instructions))
	}
}

// runOf says which run is under way.
func runOf(p progress.Report) string {
	if p.Total == 0 {
		return fmt.Sprintf("run %d (%s)", p.Done+1, p.Task)
	}
	return fmt.Sprintf("run %d of %d (%s)", p.Done+1, p.Total, p.Task)
}

// progressLines returns a callback that writes a line when a run begins, for logs.
func progressLines(w io.Writer) progress.Func {
	shown := -1
	return func(p progress.Report) {
		if p.Finished() || p.Done == shown || p.Stored {
			return
		}
		shown = p.Done
		fmt.Fprintln(w, runOf(p))
	}
}

// commandLine returns the command quoted for a shell, with the flags in name order.
func commandLine(cmd *cobra.Command, args []string) string {
	words := append(strings.Fields(cmd.CommandPath()), args...)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if campaignFlagNames[f.Name] {
			return
		}
		switch v := f.Value.(type) {
		case *sweepFlag:
			for _, text := range v.text {
				words = append(words, "--"+f.Name, text)
			}
		case pflag.SliceValue:
			for _, text := range v.GetSlice() {
				words = append(words, "--"+f.Name+"="+text)
			}
		default:
			words = append(words, "--"+f.Name+"="+f.Value.String())
		}
	})
	return shellquote.Join(words...)
}

// openProgram opens an executable, or builds the Go program in a folder.
func openProgram(ctx context.Context, path string) (*perf.Program, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return perf.Open(path)
	}
	if _, err := os.Stat(filepath.Join(path, locality.SavedName)); err == nil {
		return nil, fmt.Errorf("%s holds profiles: want the program that was profiled, an executable or the folder of a Go main package", path)
	}
	return perf.Build(ctx, path)
}

// warn prints a result's warnings to w, each once.
func warn(w io.Writer, warnings []string) {
	seen := make(map[string]bool)
	for _, text := range warnings {
		if !seen[text] {
			seen[text] = true
			fmt.Fprintln(w, "warning:", ofJobs.Replace(text))
		}
	}
}

// registerMethod adds the flag that chooses how misses follow from distances.
func registerMethod(f *pflag.FlagSet, method *predict.Method) {
	f.StringVar((*string)(method), "method", "", `how misses of set-associative caches follow from reuse distances: "fully associative", as in a fully associative cache of the same capacity but for sweeps, which fill sets evenly, or "binomial", the papers' formula (default "fully associative")`)
}

// replayFlags say what is replayed.
type replayFlags struct{ on, trainedOnly bool }

// register adds the flags that switch replays, or what is run for them, off.
func (r *replayFlags) register(f *pflag.FlagSet) {
	registerTrainedOnly(f, &r.trainedOnly)
	f.BoolVar(&r.on, "replay", true, "count the misses of loops that are certified in a replay of the program's loop nests, learned by running it once more at the sizes of the profiles; --replay=false: predict all from reuse distances")
}

// registerTrainedOnly adds the flag that keeps replays from running a program at more sizes.
func registerTrainedOnly(f *pflag.FlagSet, only *bool) {
	f.BoolVar(only, "trained-sizes-only", false, "learn loops for replays at the sizes of the profiles alone; otherwise a program that takes its size as an argument is run at up to 16 more for each size that is predicted, none above the largest profiled and together no longer than these, where they may make certain what the profiled leave in doubt, such as tiled loops, and profiled at halves of it, where memory doubles from time to time, or at a size between each two profiled, where these do not foretell the largest, which takes as long as profiling those")
}
