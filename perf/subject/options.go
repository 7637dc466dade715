package subject

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"presage/perf/campaign"
	"presage/perf/engine"
	"presage/perf/engine/engines"
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
	// Stdin is what the program reads from its standard input, StdinFile a file of
	// the host that holds it, {name} in its path standing for a parameter's value;
	// one of them, or neither.
	Stdin, StdinFile string
	// Folders are folders of the host that the program may read files in. {name} in
	// the path on the host stands for a parameter's value.
	Folders []Folder
	// MaxInstructions ends a run that takes longer with an error; 0: no limit.
	MaxInstructions uint64
	// MemoryBytes is the size of the program's address space, StackBytes that of its
	// stack; 0: engine.DefaultMemory and engine.DefaultStack. Native
	// programs have what the system gives them; asking for either is an error.
	MemoryBytes, StackBytes uint64
	// FreeThreads lets the threads of a native program run at the same time instead
	// of in turns: faster on several processors, but two runs may differ, which a
	// warning of each result says.
	FreeThreads bool
	// Engine chooses how the program is executed: "" or "auto" for the engine that its
	// executable has; of a riscv64 program "interp" or "jit", whose results are the
	// same; of a native program "confined", which keeps it from the user's files, the
	// network and other processes. Otherwise a native program has the user's rights.
	// Runs that the results lead to, such as those that predictions make of a profiled
	// program, are executed in the same way.
	Engine string
	// CPU is the processor that a native program sees, so that libraries choose the
	// routines that they would there: "x86-64-v2", "x86-64-v3" or "x86-64-v4"; "": the
	// one that there is.
	CPU string

	// Store keeps the results; nil: the default store.
	Store *store.Store
	// Progress, if not nil, is called now and then, from the goroutine that
	// called the function to which the options went.
	Progress progress.Func

	// Campaign has the runs done by other processes; nil: this one does them, one
	// after the other. The results are the same.
	Campaign *campaign.Runner

	// Binaries are the executables of a program that has its size compiled in, one
	// for each point: what takes a Program and points then takes nil for the
	// Program. The arguments need not name the parameters; empty, there are none.
	Binaries []BinaryPoint

	// CompiledIn says that the program was compiled for the point, so that the
	// parameters need not be among its arguments. Binaries imply it.
	CompiledIn bool
}

// Folder makes a folder of the host visible to a program, for reading. The
// first one is its working directory.
type Folder struct {
	Guest string // absolute path that the program uses
	Host  string

	// Devices allows device files, pipes and sockets in the folder to be opened, of
	// which no result knows what they hold. A confined program is granted no folder
	// without: the kernel does not tell them from files there.
	Devices bool `json:",omitempty"`
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
	Files           []string // names and contents' hashes of the files in the folders
	MaxInstructions uint64
	MemoryBytes     uint64 `json:",omitempty"`
	StackBytes      uint64 `json:",omitempty"`
	FreeThreads     bool   `json:",omitempty"`

	// Mode is RunOptions.Engine, "" for the default engine. A confined program may be
	// refused what it reads otherwise, and go another way.
	Mode string `json:",omitempty"`
	CPU  string `json:",omitempty"`
}

// choice returns which engine runs the program, and how.
func (in *Inputs) choice() engines.Choice { return engines.Choice{Name: in.Mode, CPU: in.CPU} }

// Options returns options that give a run these inputs, but for its arguments: see
// Program.InputsOf.
func (in *Inputs) Options() RunOptions {
	return RunOptions{
		Env: in.Env, Stdin: in.Stdin, Folders: in.Folders,
		MaxInstructions: in.MaxInstructions, MemoryBytes: in.MemoryBytes, StackBytes: in.StackBytes,
		FreeThreads: in.FreeThreads, Engine: in.Mode, CPU: in.CPU,
	}
}

// Inputs returns the inputs of a run at a point.
func (p *Program) Inputs(point Point, opt RunOptions) (Inputs, error) {
	if err := point.Check(); err != nil {
		return Inputs{}, err
	}
	at, err := opt.At(point)
	if err != nil {
		return Inputs{}, err
	}
	return p.inputsOf(at, opt)
}

// Invocation is what a program is given at a point.
type Invocation struct {
	Args    []string
	Stdin   string
	Folders []Folder
}

// At returns what a program is given at a point. Each parameter must have a place
// in the arguments or in a path, unless the program was compiled for the point.
func (opt RunOptions) At(point Point) (Invocation, error) {
	used := make(map[string]bool)
	opt, err := opt.at(point, used)
	if err != nil {
		return Invocation{}, err
	}
	args, err := point.arguments(opt.Args, opt.CompiledIn, used)
	if err != nil {
		return Invocation{}, err
	}
	stdin, err := opt.stdin()
	return Invocation{args, stdin, opt.Folders}, err
}

// stdin returns the standard input, whether it is given or in a file.
func (opt RunOptions) stdin() (string, error) {
	if opt.StdinFile == "" {
		return opt.Stdin, nil
	}
	if opt.Stdin != "" {
		return "", errors.New("perf: both a standard input and a file of it")
	}
	data, err := os.ReadFile(opt.StdinFile)
	if err != nil {
		return "", fmt.Errorf("perf: standard input: %w", err)
	}
	return string(data), nil
}

// at returns the options with the values of a point in the paths of files, and
// notes which parameters these use.
func (opt RunOptions) at(point Point, used map[string]bool) (RunOptions, error) {
	var err error
	if opt.StdinFile, err = point.fill(opt.StdinFile, used); err != nil {
		return opt, fmt.Errorf("perf: file of the standard input: %w", err)
	}
	opt.Folders = slices.Clone(opt.Folders)
	for i, folder := range opt.Folders {
		if opt.Folders[i].Host, err = point.fill(folder.Host, used); err != nil {
			return opt, fmt.Errorf("perf: folder for %s: %w", folder.Guest, err)
		}
	}
	return opt, nil
}

// InputsOf returns the inputs of a run with the arguments args, in place of
// RunOptions.Args. It is of no point, so that no path may name a parameter.
func (p *Program) InputsOf(args []string, opt RunOptions) (Inputs, error) {
	opt, err := opt.at(nil, make(map[string]bool))
	if err != nil {
		return Inputs{}, err
	}
	stdin, err := opt.stdin()
	if err != nil {
		return Inputs{}, err
	}
	return p.inputsOf(Invocation{args, stdin, opt.Folders}, opt)
}

func (p *Program) inputsOf(at Invocation, opt RunOptions) (Inputs, error) {
	choice, err := engines.Choice{Name: opt.Engine, CPU: opt.CPU}.Least(p.File)
	if err != nil {
		return Inputs{}, fmt.Errorf("perf: %s: %w", p.Name, err)
	}
	id, err := p.identity(choice)
	if err != nil {
		return Inputs{}, err
	}
	in := Inputs{
		Engine: id, Program: p.File.SHA256, Name: p.Name, Args: at.Args, Env: opt.Env, Stdin: at.Stdin,
		Folders: at.Folders, MaxInstructions: opt.MaxInstructions, MemoryBytes: opt.MemoryBytes, StackBytes: opt.StackBytes,
		FreeThreads: opt.FreeThreads, Mode: choice.Name, CPU: choice.CPU,
	}
	for _, folder := range at.Folders {
		files, err := fingerprints(folder.Host)
		if err != nil {
			return Inputs{}, fmt.Errorf("perf: folder for %s: %w", folder.Guest, err)
		}
		in.Files = append(in.Files, files...)
	}
	return in, nil
}

// fingerprints returns the name, size and hash of the content of every file below
// a folder, in the order of their names. Of what is no regular file it returns the
// name and the kind; the target, of a symbolic link.
func fingerprints(dir string) ([]string, error) {
	var prints []string
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", dir)
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		print, err := fingerprint(path, entry.Type())
		prints = append(prints, path+" "+print)
		return err
	})
	return prints, err
}

func fingerprint(path string, kind fs.FileMode) (string, error) {
	switch {
	case kind&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return "-> " + target, err
	case !kind.IsRegular():
		return kind.String(), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() // only read
	h := sha256.New()
	n, err := io.Copy(h, f)
	return fmt.Sprintf("%d %x", n, h.Sum(nil)[:16]), err
}

// Command returns the command line, for people.
func (in *Inputs) Command() string {
	return strings.Join(append([]string{in.Name}, in.Args...), " ")
}
