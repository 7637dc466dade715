package judging

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"presage/perf/internal/child"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
)

// compiler is what compiles a language.
type compiler struct {
	language string
	command  string // of GCC
	debian   string // package that brings the cross compiler
}

var (
	compilerOfC       = compiler{"C", "gcc", "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross"}
	compilerOfCpp     = compiler{"C++", "g++", "g++-riscv64-linux-gnu"}
	compilerOfFortran = compiler{"Fortran", "gfortran", "gfortran-riscv64-linux-gnu"}

	// compilers are those of a source's ending; .F90 is preprocessed.
	compilers = map[string]compiler{
		".c": compilerOfC, ".cpp": compilerOfCpp, ".f90": compilerOfFortran, ".F90": compilerOfFortran,
	}
)

// guestPrefix begins the names of the compilers for linux/riscv64.
const guestPrefix = "riscv64-linux-gnu-"

// Compiler returns the command that compiles the program: natively with the prefix "",
// and otherwise with that of a cross compiler, such as "riscv64-linux-gnu-".
func (p *Program) Compiler(prefix string) string {
	return prefix + compilers[filepath.Ext(p.Source)].command
}

// Compile compiles the program, in the folder dir, to the executable exe for size n, which
// only programs whose size is compiled in depend on; a static one unless the program is
// Native. compiler is a command of Program.Compiler. The same compiler makes the same file, wherever the
// folder is.
func (p *Program) Compile(ctx context.Context, compiler, dir, exe string, n int) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("perf: build: %w", err)
	}
	temp, err := os.MkdirTemp("", "presage-build-")
	if err != nil {
		return fmt.Errorf("perf: build: %w", err)
	}
	defer os.RemoveAll(temp)
	args := append(strings.Fields(p.Flags), "-fdebug-prefix-map="+abs+"=.")
	if !p.Native {
		args = append(args, "-static")
	}
	if p.Size == FromCompiler {
		args = append(args, "-DN="+strconv.Itoa(n))
	}
	if p.Language() == compilerOfFortran.language {
		// The files of modules go into a folder of this run alone, whose name the debug
		// information would record.
		args = append(args, "-J", temp, "-gno-record-gcc-switches")
	}
	args = append(args, "-o", exe, p.Source, "-lm")
	cmd := child.Command(ctx, compiler, args...)
	cmd.Dir = abs
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("perf: build %s: %w", p.Name, ctx.Err())
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("perf: build %s: %w (Debian: apt-get install %s)", p.Name, err, compilers[filepath.Ext(p.Source)].debian)
	}
	return fmt.Errorf("perf: build %s: %s: %w\n%s", p.Name, strings.Join(cmd.Args, " "), err, strings.TrimSpace(string(out)))
}

// executables are what is run of a program of a suite.
type executables struct {
	program *Program
	one     *subject.Program         // nil if sizes are compiled in
	bySize  map[int]*subject.Program // otherwise nil
	run     subject.RunOptions
}

// build compiles a program for every size and keeps the executables and the files
// that it reads in the store of run, which is set.
func build(ctx context.Context, dir string, p *Program, sizes []int, run subject.RunOptions) (*executables, error) {
	e := &executables{program: p, run: run}
	switch p.Size {
	case FromArgument:
		e.run.Args = "{n}"
	case FromFile:
		host := filepath.Join(run.Store.Dir(), "suite", p.Name)
		if err := writeSizes(host, sizes); err != nil {
			return nil, err
		}
		if e.run.Args = "/in/{n}.txt"; p.Native {
			e.run.Args = host + "/{n}.txt"
		} else {
			e.run.Folders = []subject.Folder{{Guest: "/in", Host: host}}
		}
	}
	if p.Size != FromCompiler {
		var err error
		e.one, err = kept(ctx, dir, p, p.Name, 0, run.Store)
		return e, err
	}
	e.bySize = make(map[int]*subject.Program)
	for _, n := range sizes {
		prog, err := kept(ctx, dir, p, p.Name+"."+strconv.Itoa(n), n, run.Store)
		if err != nil {
			return nil, err
		}
		e.bySize[n] = prog
	}
	return e, nil
}

// kept compiles a program and keeps the executable in a store.
func kept(ctx context.Context, dir string, p *Program, name string, n int, st *store.Store) (*subject.Program, error) {
	temp, err := os.MkdirTemp("", "presage-build-")
	if err != nil {
		return nil, fmt.Errorf("perf: build: %w", err)
	}
	defer os.RemoveAll(temp)
	exe := filepath.Join(temp, name)
	prefix := guestPrefix
	if p.Native {
		prefix = ""
	}
	if err := p.Compile(ctx, p.Compiler(prefix), dir, exe, n); err != nil {
		return nil, err
	}
	prog, err := subject.Open(exe)
	if err != nil {
		return nil, fmt.Errorf("perf: build: %w", err)
	}
	return prog.Keep(st)
}

// writeSizes writes a file for each size that holds it. Files that are as they should
// be stay, as a new one would make stored results unusable.
func writeSizes(dir string, sizes []int) error {
	for _, n := range sizes {
		path, text := filepath.Join(dir, strconv.Itoa(n)+".txt"), []byte(strconv.Itoa(n)+"\n")
		if old, err := os.ReadFile(path); err == nil && string(old) == string(text) {
			continue
		}
		if err := store.WriteFile(path, text); err != nil {
			return err
		}
	}
	return nil
}

// running returns the options of runs that report their progress.
func (e *executables) running(report progress.Func) subject.RunOptions {
	opt := e.run
	opt.Progress = report
	return opt
}

// at returns the points of some sizes, each with its executable.
func (e *executables) at(sizes []int) []subject.BinaryPoint {
	points := make([]subject.BinaryPoint, len(sizes))
	for i, n := range sizes {
		points[i] = subject.BinaryPoint{Point: subject.Point{sizeName: float64(n)}, Program: e.one}
		if e.one == nil {
			points[i].Program = e.bySize[n]
		}
	}
	return points
}

// compiled returns the executables of some sizes, if each has one of its own.
func (e *executables) compiled(sizes []int) []subject.BinaryPoint {
	if e.one != nil {
		return nil
	}
	return e.at(sizes)
}

// sizeName is the parameter of all programs of a suite.
const sizeName = "n"

// points returns some sizes as points.
func points(sizes []int) []subject.Point {
	out := make([]subject.Point, len(sizes))
	for i, n := range sizes {
		out[i] = subject.Point{sizeName: float64(n)}
	}
	return out
}
