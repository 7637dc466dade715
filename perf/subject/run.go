package subject

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"presage/perf/engine"
	"presage/perf/engine/engines"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/trace"
)

// RunOptions say how a program is run. The zero value runs it with one
// "-name value" pair of arguments for each parameter of a point, no
// environment, no input and no files.
type RunOptions struct {
	// Args is a template for the arguments, such as "-n {n} -iterations 6"; see
	// Point.Arguments.
	Args string
	// Env is the program's environment, as NAME=value.
	Env []string
	// Stdin is what the program reads from its standard input.
	Stdin string
	// Folders are folders of the host that the program may read files in.
	Folders []Folder
	// MaxInstructions ends a run that takes longer with an error; 0: no limit.
	MaxInstructions uint64

	// Store keeps the results; nil: the default store.
	Store *store.Store
	// Progress, if not nil, is called now and then from the goroutine that
	// called Profile or SimulateMisses.
	Progress progress.Func

	// CompiledIn says that the program was compiled for the point, so that the
	// parameters need not be among its arguments.
	CompiledIn bool
}

// Folder makes a folder of the host visible to a program, for reading. The
// first one is its working directory.
type Folder struct {
	Guest string // absolute path that the program uses
	Host  string
}

// Inputs is everything that a run's results depend on; it becomes part of the
// store's key.
type Inputs struct {
	Engine          engine.Identity
	Program         string // SHA-256 of the executable
	Name            string // argv[0], which stands on the program's stack
	Args            []string
	Env             []string
	Stdin           string
	Folders         []Folder
	Files           []string // fingerprints of what the folders hold
	MaxInstructions uint64
}

func (p *Program) Inputs(point Point, opt RunOptions) (Inputs, error) {
	if err := point.Check(); err != nil {
		return Inputs{}, err
	}
	args, err := point.arguments(opt.Args, opt.CompiledIn)
	if err != nil {
		return Inputs{}, err
	}
	return p.InputsOf(args, opt)
}

// InputsOf returns the inputs of a run with the arguments args.
func (p *Program) InputsOf(args []string, opt RunOptions) (Inputs, error) {
	e, err := engines.For(p.File)
	if err != nil {
		return Inputs{}, fmt.Errorf("perf: %s: %w", p.Name, err)
	}
	in := Inputs{
		Engine: e.Identity(), Program: p.File.SHA256, Name: p.Name, Args: args, Env: opt.Env, Stdin: opt.Stdin,
		Folders: opt.Folders, MaxInstructions: opt.MaxInstructions,
	}
	for _, folder := range opt.Folders {
		files, err := fingerprints(folder.Host)
		if err != nil {
			return Inputs{}, fmt.Errorf("perf: folder for %s: %w", folder.Guest, err)
		}
		in.Files = append(in.Files, files...)
	}
	return in, nil
}

// fingerprints returns the name, size and time of change of every file below a
// folder, in the order of their names.
func fingerprints(dir string) ([]string, error) {
	var prints []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		prints = append(prints, fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano()))
		return nil
	})
	return prints, err
}

// RunFacts are what every kind of run reports.
type RunFacts struct {
	Args         []string
	Instructions uint64
	Accesses     uint64
	Stdout       string // its last outputKept bytes
	Warnings     []string

	// Failed says how a program ended that failed, "" for one that did not, and
	// Output what it had to say about that.
	Failed, Output string
}

// outputKept is how much of a program's output is kept: enough for what a
// benchmark prints about its own verification.
const outputKept = 8 << 10

// Execute runs the program once under a plan, feeding the collectors. A program
// that fails is an error.
func (p *Program) Execute(ctx context.Context, in Inputs, plan *trace.Plan, progress func(uint64), collectors ...trace.Collector) (RunFacts, error) {
	facts, _, err := p.Attempt(ctx, in, plan, progress, collectors...)
	if err == nil && facts.Failed != "" {
		err = fmt.Errorf("perf: %s ended with %s; a failed run is not profiled%s", in.Command(), facts.Failed, facts.Output)
	}
	return facts, err
}

// Attempt runs the program once under a plan, feeding the collectors, to
// whatever end it comes by itself: RunFacts.Failed says so if it was not exit
// status 0. The Outcome is nil if and only if there is an error.
func (p *Program) Attempt(ctx context.Context, in Inputs, plan *trace.Plan, progress func(uint64), collectors ...trace.Collector) (RunFacts, *engine.Outcome, error) {
	return p.AttemptWindows(ctx, in, plan, nil, progress, collectors...)
}

// AttemptWindows is attempt with only some stretches of the run recorded; nil:
// all of it.
func (p *Program) AttemptWindows(ctx context.Context, in Inputs, plan *trace.Plan, windows []trace.Window, progress func(uint64), collectors ...trace.Collector) (RunFacts, *engine.Outcome, error) {
	stdout, stderr := new(Tail), new(Tail)
	run, err := p.Runner(in, stdout, stderr)
	if err != nil {
		return RunFacts{}, nil, err
	}
	pipeline := trace.NewPipeline(collectors...)
	res, err := run(ctx, engine.Request{Plan: plan, Windows: windows, Sink: pipeline, Progress: progress})
	closeErr := pipeline.Close()
	facts := RunFacts{Args: in.Args, Stdout: stdout.String()}
	var fault *engine.Fault
	switch {
	case errors.As(err, &fault) && res != nil:
		facts.Failed = fault.Error()
	case err != nil:
		return RunFacts{}, nil, fmt.Errorf("perf: %s: %w%s", in.Command(), err, Quote(stderr))
	default:
		facts.Failed = res.Failure()
	}
	if closeErr != nil {
		return RunFacts{}, nil, fmt.Errorf("perf: %s: %w", in.Command(), closeErr)
	}
	if facts.Failed != "" {
		facts.Output = Quote(stderr, stdout)
	}
	facts.Instructions, facts.Accesses = res.Instructions, res.Accesses
	for _, s := range res.UnknownSyscalls {
		facts.Warnings = append(facts.Warnings, fmt.Sprintf("%s: %v", in.Command(), s))
	}
	if res.UnplannedRefs > 0 && len(plan.Refs) > 0 { // else none was to be recorded
		facts.Warnings = append(facts.Warnings, fmt.Sprintf("%s: %d memory references that static analysis had not found were executed and not recorded", in.Command(), res.UnplannedRefs))
	}
	return facts, res, nil
}

// Runner returns what runs the program with the inputs in, as often as asked.
func (p *Program) Runner(in Inputs, stdout, stderr io.Writer) (engine.Runner, error) {
	e, err := engines.For(p.File)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", in.Command(), err)
	}
	common := engine.Request{Args: in.Args, Env: in.Env, Stdout: stdout, Stderr: stderr, MaxInstructions: in.MaxInstructions}
	for _, folder := range in.Folders {
		common.Grants = append(common.Grants, engine.Grant{Guest: folder.Guest, Host: folder.Host})
	}
	return engine.Repeat(e, p.File, common, []byte(in.Stdin)), nil
}

// command is the command line, for people.
func (in *Inputs) Command() string {
	return strings.Join(append([]string{in.Name}, in.Args...), " ")
}

// WarnFailed adds to the warnings that the run was not brought to its end.
func (f *RunFacts) WarnFailed(command, what string) {
	if f.Failed != "" {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%s ended with %s; %s%s", command, f.Failed, what, f.Output))
	}
}

// quote returns the last lines of the first output that has any, for an error.
func Quote(outputs ...*Tail) string {
	for _, t := range outputs {
		text := strings.TrimSpace(t.String())
		if text == "" {
			continue
		}
		lines := strings.Split(text, "\n")
		if extra := len(lines) - 12; extra > 0 {
			lines = lines[extra:]
		}
		return "\n\t" + strings.Join(lines, "\n\t")
	}
	return ""
}

// Tail is a writer that keeps the last outputKept bytes.
type Tail struct{ data []byte }

func (t *Tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if extra := len(t.data) - outputKept; extra > outputKept {
		t.data = append(t.data[:0], t.data[extra:]...)
	}
	return len(p), nil
}

func (t *Tail) String() string { return string(t.data[max(0, len(t.data)-outputKept):]) }
