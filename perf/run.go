package perf

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
	"presage/perf/objfile"
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
	Progress func(Progress)

	// compiledIn says that the program was compiled for the point, so that the
	// parameters need not be among its arguments.
	compiledIn bool
}

// Folder makes a folder of the host visible to a program, for reading. The
// first one is its working directory.
type Folder struct {
	Guest string // absolute path that the program uses
	Host  string
}

// Progress tells how far a sweep is.
type Progress struct {
	Point        Point
	Done, Total  int    // points finished, points in all
	Instructions uint64 // executed so far in the run of Point
	Stored       bool   // Point was found in the store
}

// inputs is everything that a run's results depend on; it becomes part of the
// store's key.
type inputs struct {
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

func (p *Program) inputs(point Point, opt RunOptions) (inputs, error) {
	if err := point.check(); err != nil {
		return inputs{}, err
	}
	args, err := point.arguments(opt.Args, opt.compiledIn)
	if err != nil {
		return inputs{}, err
	}
	return p.inputsOf(args, opt)
}

// inputsOf returns the inputs of a run with the arguments args.
func (p *Program) inputsOf(args []string, opt RunOptions) (inputs, error) {
	e, err := engines.For(p.File)
	if err != nil {
		return inputs{}, fmt.Errorf("perf: %s: %w", p.Name, err)
	}
	in := inputs{
		Engine: e.Identity(), Program: p.File.SHA256, Name: p.Name, Args: args, Env: opt.Env, Stdin: opt.Stdin,
		Folders: opt.Folders, MaxInstructions: opt.MaxInstructions,
	}
	for _, folder := range opt.Folders {
		files, err := fingerprints(folder.Host)
		if err != nil {
			return inputs{}, fmt.Errorf("perf: folder for %s: %w", folder.Guest, err)
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

// runFacts are what every kind of run reports.
type runFacts struct {
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

// execute runs the program once under a plan, feeding the collectors. A program
// that fails is an error.
func (p *Program) execute(ctx context.Context, in inputs, plan *trace.Plan, progress func(uint64), collectors ...trace.Collector) (runFacts, error) {
	facts, _, err := p.attempt(ctx, in, plan, progress, collectors...)
	if err == nil && facts.Failed != "" {
		err = fmt.Errorf("perf: %s ended with %s; a failed run is not profiled%s", in.command(), facts.Failed, facts.Output)
	}
	return facts, err
}

// attempt runs the program once under a plan, feeding the collectors, to
// whatever end it comes by itself: runFacts.Failed says so if it was not exit
// status 0. The Outcome is nil if and only if there is an error.
func (p *Program) attempt(ctx context.Context, in inputs, plan *trace.Plan, progress func(uint64), collectors ...trace.Collector) (runFacts, *engine.Outcome, error) {
	return p.attemptWindows(ctx, in, plan, nil, progress, collectors...)
}

// attemptWindows is attempt with only some stretches of the run recorded; nil:
// all of it.
func (p *Program) attemptWindows(ctx context.Context, in inputs, plan *trace.Plan, windows []trace.Window, progress func(uint64), collectors ...trace.Collector) (runFacts, *engine.Outcome, error) {
	e, err := engines.For(p.File)
	if err != nil {
		return runFacts{}, nil, fmt.Errorf("perf: %s: %w", in.command(), err)
	}
	stdout, stderr := new(tail), new(tail)
	pipeline := trace.NewPipeline(collectors...)
	res, err := in.runner(e, p.File, stdout, stderr)(ctx, engine.Request{Plan: plan, Windows: windows, Sink: pipeline, Progress: progress})
	closeErr := pipeline.Close()
	facts := runFacts{Args: in.Args, Stdout: stdout.String()}
	var fault *engine.Fault
	switch {
	case errors.As(err, &fault) && res != nil:
		facts.Failed = fault.Error()
	case err != nil:
		return runFacts{}, nil, fmt.Errorf("perf: %s: %w%s", in.command(), err, quote(stderr))
	default:
		facts.Failed = res.Failure()
	}
	if closeErr != nil {
		return runFacts{}, nil, fmt.Errorf("perf: %s: %w", in.command(), closeErr)
	}
	if facts.Failed != "" {
		facts.Output = quote(stderr, stdout)
	}
	facts.Instructions, facts.Accesses = res.Instructions, res.Accesses
	for _, s := range res.UnknownSyscalls {
		facts.Warnings = append(facts.Warnings, fmt.Sprintf("%s: %v", in.command(), s))
	}
	if res.UnplannedRefs > 0 && len(plan.Refs) > 0 { // else none was to be recorded
		facts.Warnings = append(facts.Warnings, fmt.Sprintf("%s: %d memory references that static analysis had not found were executed and not recorded", in.command(), res.UnplannedRefs))
	}
	return facts, res, nil
}

// runner returns what runs the program with these inputs.
func (in *inputs) runner(e engine.Engine, f *objfile.File, stdout, stderr io.Writer) engine.Runner {
	common := engine.Request{Args: in.Args, Env: in.Env, Stdout: stdout, Stderr: stderr, MaxInstructions: in.MaxInstructions}
	for _, folder := range in.Folders {
		common.Grants = append(common.Grants, engine.Grant{Guest: folder.Guest, Host: folder.Host})
	}
	return engine.Repeat(e, f, common, []byte(in.Stdin))
}

// command is the command line, for people.
func (in *inputs) command() string {
	return strings.Join(append([]string{in.Name}, in.Args...), " ")
}

// warnFailed adds to the warnings that the run was not brought to its end.
func (f *runFacts) warnFailed(command, what string) {
	if f.Failed != "" {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%s ended with %s; %s%s", command, f.Failed, what, f.Output))
	}
}

// quote returns the last lines of the first output that has any, for an error.
func quote(outputs ...*tail) string {
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

// tail is a writer that keeps the last outputKept bytes.
type tail struct{ data []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if extra := len(t.data) - outputKept; extra > outputKept {
		t.data = append(t.data[:0], t.data[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.data[max(0, len(t.data)-outputKept):]) }
