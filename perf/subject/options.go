package subject

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"presage/perf/engine"
	"presage/perf/progress"
	"presage/perf/store"
)

// RunOptions configures runs of a program. The zero value passes one "-name value"
// pair of arguments for each parameter of a point, no environment, no input and no
// files.
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
	// Progress, if not nil, is called now and then, from the goroutine that
	// called the function to which the options went.
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

// Inputs is everything that the events of a run depend on; it is part of the
// store's keys.
type Inputs struct {
	Engine          engine.Identity
	Program         string // SHA-256 of the executable
	Name            string // argv[0], which stands on the program's stack
	Args            []string
	Env             []string
	Stdin           string
	Folders         []Folder
	Files           []string // fingerprints of the files in the folders
	MaxInstructions uint64
}

// Inputs returns the inputs of a run at a point.
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

// InputsOf returns the inputs of a run with the arguments args, in place of
// RunOptions.Args.
func (p *Program) InputsOf(args []string, opt RunOptions) (Inputs, error) {
	id, err := p.identity()
	if err != nil {
		return Inputs{}, err
	}
	in := Inputs{
		Engine: id, Program: p.File.SHA256, Name: p.Name, Args: args, Env: opt.Env, Stdin: opt.Stdin,
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

// Command returns the command line, for people.
func (in *Inputs) Command() string {
	return strings.Join(append([]string{in.Name}, in.Args...), " ")
}
