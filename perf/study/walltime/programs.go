package walltime

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"presage/perf/internal/child"
)

// Program is a program of the study. Its one argument is the size n.
type Program struct {
	Name   string
	Source string    // in the folder of programs; its ending says the language
	Flags  []string  // of the compiler
	Train  []float64 // sizes that models are fitted to, ascending
	Judge  []float64 // sizes that predictions are held against, beyond those
}

var (
	// Linked statically, so that graphs of the whole C library need not be analysed
	// anew for each of them.
	plain  = []string{"-O2", "-g", "-static"}
	vector = []string{"-O3", "-march=native", "-g", "-static"}
)

// Programs returns the programs of the study.
func Programs() []Program {
	return []Program{
		{"alignment", "alignment.c", plain, []float64{300, 420, 560, 760, 1000}, []float64{4000, 6000, 8000, 12000}},
		{"gather", "gather.c", plain, []float64{2000, 4000, 8000, 14000, 20000}, []float64{40000, 60000, 80000, 120000}},
		{"jacobi", "jacobi.c", plain, []float64{100, 140, 200, 280, 400}, []float64{800, 1000, 1200, 1600}},
		{"matmul", "matmul.c", plain, []float64{60, 84, 108, 140, 180}, []float64{300, 400, 500, 600}},
		{"nbody", "nbody.c", plain, []float64{100, 160, 240, 360, 500}, []float64{1500, 2000, 2500, 3000}},
		{"quicksort", "quicksort.c", plain, []float64{10000, 18000, 32000, 56000, 100000}, []float64{250000, 400000, 550000, 800000}},
		{"sieve", "sieve.c", plain, []float64{100000, 200000, 400000, 700000, 1000000}, []float64{4000000, 6000000, 8000000, 12000000}},
		{"polynomial", "polynomial.cpp", vector, []float64{4000, 8000, 16000, 32000, 64000}, []float64{400000, 600000, 800000, 1200000}},
		{"sorted", "sorted.cpp", plain, []float64{5000, 9000, 16000, 28000, 50000}, []float64{100000, 150000, 200000, 300000}},
		{"table", "table.cpp", plain, []float64{5000, 9000, 16000, 28000, 50000}, []float64{100000, 150000, 200000, 300000}},
		{"tree", "tree.cpp", plain, []float64{5000, 9000, 16000, 28000, 50000}, []float64{100000, 150000, 200000, 300000}},
		{"elimination", "elimination.f90", plain, []float64{60, 84, 108, 140, 180}, []float64{400, 500, 600, 800}},
		{"heat", "heat.f90", plain, []float64{20, 28, 36, 46, 60}, []float64{100, 120, 140, 180}},
		{"product", "product.f90", vector, []float64{60, 84, 108, 140, 180}, []float64{400, 500, 600, 800}},
		{"tridiagonal", "tridiagonal.f90", plain, []float64{4000, 8000, 16000, 32000, 50000}, []float64{150000, 200000, 300000, 400000}},
	}
}

// compilers are those of a source's ending.
var compilers = map[string]string{".c": "gcc", ".cpp": "g++", ".f90": "gfortran"}

// ErrCompiler means that this computer lacks the compiler of a program.
var ErrCompiler = errors.New("no compiler")

// Compile compiles a program of the folder dir to the executable exe.
func (p *Program) Compile(ctx context.Context, dir, exe string) error {
	compiler, ok := compilers[filepath.Ext(p.Source)]
	if !ok {
		return fmt.Errorf("walltime: %s: want a source that ends in .c, .cpp or .f90", p.Source)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("walltime: %w", err)
	}
	args := slices.Concat(p.Flags, []string{"-fdebug-prefix-map=" + abs + "=.", "-o", exe, p.Source, "-lm"})
	cmd := child.Command(ctx, compiler, args...)
	cmd.Dir = abs
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("walltime: %s: %w", p.Source, ctx.Err())
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("walltime: %s: %w: install %s", p.Source, ErrCompiler, compiler)
	case err != nil:
		return fmt.Errorf("walltime: %s %s: %w\n%s", compiler, strings.Join(args, " "), err, out)
	}
	return nil
}

// check returns an error unless the sizes are ascending and those to judge at lie
// beyond the others.
func (p *Program) check() error {
	sizes := slices.Concat(p.Train, p.Judge)
	if len(p.Train) < 3 || len(p.Judge) == 0 || !slices.IsSorted(sizes) || len(slices.Compact(sizes)) != len(p.Train)+len(p.Judge) {
		return fmt.Errorf("walltime: %s: want three sizes at least to fit to, and larger ones to judge at, ascending", p.Name)
	}
	return nil
}
