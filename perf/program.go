package perf

import (
	"presage/perf/progress"
	"presage/perf/subject"
)

// Point gives each problem parameter, such as the mesh size n, a value.
type Point = subject.Point

// Sweep returns one Point for each value of a parameter.
func Sweep(param string, values ...float64) []Point {
	return subject.Sweep(param, values...)
}

// Range returns first, first+step, … up to and including last, for Sweep. It
// panics if step does not lead from first to last.
func Range(first float64, last float64, step float64) []float64 {
	return subject.Range(first, last, step)
}

// Program is an executable under study, with its static memory references.
// It is not modified once made, and may be shared.
type Program = subject.Program

// Open reads a static linux/riscv64 executable, from whatever compiler. Any
// other file is an error that says what was found and what to do.
func Open(path string) (*Program, error) {
	return subject.Open(path)
}

// Build compiles the Go program in dir, a folder of package main, to
// linux/riscv64 with the go command, and opens it. The executable is kept in
// the default store; the same source and tool chain give the same file, so
// that earlier profiles of it are found.
func Build(dir string) (*Program, error) {
	return subject.Build(dir)
}

// RunOptions say how a program is run. The zero value runs it with one
// "-name value" pair of arguments for each parameter of a point, no
// environment, no input and no files.
type RunOptions = subject.RunOptions

// Folder makes a folder of the host visible to a program, for reading. The
// first one is its working directory.
type Folder = subject.Folder

// Progress is how far a sweep, a simulation or a study has come.
type Progress = progress.Report

// Scope is what a row of a table is about.
type Scope = subject.Scope

// ByProgram: the default
const ByProgram = subject.ByProgram

// The scopes.
const ByRoutine = subject.ByRoutine

// The scopes.
const ByLoop = subject.ByLoop
