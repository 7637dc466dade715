package perf

import (
	"context"

	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// Point gives each problem parameter, such as the mesh size n, a value.
type Point = subject.Point

// Sweep returns one Point for each value of a parameter.
func Sweep(param string, values ...float64) []Point {
	return subject.Sweep(param, values...)
}

// Range returns first, first+step, … up to and including last, for Sweep. It
// panics if step does not lead from first to last.
func Range(first, last, step float64) []float64 {
	return subject.Range(first, last, step)
}

// Program is an executable under study, with its static memory references.
// It is not modified once made, and may be shared.
type Program = subject.Program

// Open reads a static linux/riscv64 executable, which runs emulated and confined, or
// a linux/amd64 one, static or dynamically linked, from whatever compiler. That runs
// on x86-64 Linux only, and with the rights of the user. Any other file is an error
// that says what was found and what to do.
//
// The shared libraries that a program loads are found when it is first run at a
// point (see subject.Program.At), and recorded like the executable; their routines
// are called library!routine.
//
// What static analysis finds out about it is kept in the default store, if there
// is one.
func Open(path string) (*Program, error) {
	return kept(subject.Open(path))
}

// kept has what static analysis finds out about a program kept in the default
// store. Without one it is analysed each time.
func kept(prog *Program, err error) (*Program, error) {
	if err != nil {
		return nil, err
	}
	if st, err := store.Default(); err == nil {
		prog.KeepAnalysis(st)
	}
	return prog, nil
}

// Build compiles the Go program in dir, a folder of package main, to
// linux/riscv64 with the go command, and opens it. The executable is kept in
// the default store; the same source and tool chain give the same file, so
// that earlier profiles of it are found.
func Build(ctx context.Context, dir string) (*Program, error) {
	return kept(subject.Build(ctx, dir))
}

// RunOptions configures runs of a program. The zero value passes one "-name value"
// pair of arguments for each parameter of a point, no environment, no input and no
// files.
type RunOptions = subject.RunOptions

// What the rows of a table are about, for options called By; the default is the
// program.
const (
	ByRoutine = subject.ByRoutine
	ByLoop    = subject.ByLoop
)

// RecordOptions configures Run. The zero value records every memory reference of
// the whole run.
type RecordOptions = subject.RecordOptions

// Run runs a program once at a point and hands what it records to collectors:
// those of packages reuse, cache, bbv and pipeline, or any other type with an
// Observe method. One run feeds any number of them. Collectors of this module are
// made for the plan of the run, which is prog.Plan() unless RecordOptions say
// otherwise. A program that fails is an error. Nothing is kept in the store.
//
// Of a dynamically linked program, prog.Plan() has the executable only, and a warning
// says how much the libraries lack; prog.At returns the program with the libraries of
// a run, whose plan has all.
//
// The result has what the run returns beside, such as instructions and output.
func Run(ctx context.Context, prog *Program, point Point, opt RecordOptions, collectors ...trace.Collector) (*subject.Result, error) {
	return subject.Run(ctx, prog, point, opt, collectors...)
}
