package inferred

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"presage/perf/store"
	"presage/perf/subject"
)

// Subject is a variant of an application: its program, compiled with some
// optimisation, with some input.
type Subject struct {
	Application string // what kind of program it is; variants share it
	Optimised   bool   // as much as the compiler does; else little
	Input       string // a name for the arguments
	Folder      string // of the program, below that of the programs; C if it holds no Go file
	Args        []string

	// Whole: little optimisation is meant for the standard library, too, where
	// the program spends its time.
	Whole bool

	// Unseen: no model is made of its profiles, which are to update models with
	// and to judge them by. Choose: the form of the models was chosen by it.
	Unseen, Choose bool
}

// Variant names the subject among those of its application.
func (s Subject) Variant() string {
	level := "O1"
	if s.Optimised {
		level = "O3"
	}
	return s.Application + "-" + level + "-" + s.Input
}

// inferInputs is how many inputs each application has.
const inferInputs = 3

// Subjects returns the programs of the study of inferred models: eight of
// different kinds, each with three inputs and two levels of optimisation, and
// those that no model is made of. Seven stand for those of Wu and Lee (2012),
// section 4.1, that do the same kind of work: astar, bwaves, bzip2, gemsFDTD,
// hmmer, omnetpp, sjeng. The eighth, which processes text by large parts of Go's
// library, has more code than instruction caches hold.
func Subjects() []Subject {
	programs := []struct {
		application, folder string
		inputs              [inferInputs][2]string // name, arguments
	}{
		{"shortest", "shortest", [...][2]string{{"open", "-map open -n 400 -searches 6 -greedy 0"}, {"hills", "-map hills -n 256 -searches 12"}, {"maze", "-map maze -n 160 -searches 100"}}},
		{"bt", "bt", [...][2]string{{"cells", "-n 12 -iterations 20"}, {"lines", "-n 14 -iterations 10 -structure 2.3"}, {"large", "-n 24 -iterations 3"}}},
		{"blocksort", "blocksort", [...][2]string{{"text", "-input text -n 120000 -blocks 2"}, {"runs", "-input runs -n 60000 -blocks 5"}, {"noise", "-input noise -n 200000 -blocks 2"}}},
		{"fdtd", "fdtd", [...][2]string{{"vacuum", "-n 32 -steps 60 -medium vacuum"}, {"layers", "-n 48 -steps 30 -medium layers"}, {"lossy", "-n 18 -steps 300 -medium lossy"}}},
		{"hmm", "hmm", [...][2]string{{"family", "-input family -states 120 -count 200"}, {"random", "-input random -states 700 -count 40"}, {"mixed", "-input mixed -states 40 -count 600 -length 120"}}},
		{"events", "events", [...][2]string{{"ring", "-network ring -n 400000"}, {"star", "-network star -n 400000 -stations 500 -jobs 4000"}, {"random", "-network random -n 300000 -stations 6000 -jobs 40000"}}},
		{"sources", "sources", [...][2]string{{"go", "-input go -n 4"}, {"json", "-input json -n 24"}, {"expressions", "-input expressions -n 270"}}},
		{"alphabeta", "alphabeta", [...][2]string{{"early", "-opening 4 -moves 8 -depth 6"}, {"middle", "-opening 18 -moves 4 -depth 6 -table 16"}, {"late", "-opening 40 -moves 8 -depth 7 -table 12"}}},
	}
	var all []Subject
	for i := range inferInputs {
		for _, p := range programs {
			for _, optimised := range []bool{false, true} {
				all = append(all, Subject{
					Application: p.application, Optimised: optimised, Input: p.inputs[i][0], Folder: p.folder, Args: strings.Fields(p.inputs[i][1]),
					Whole: p.application == "sources",
				})
			}
		}
	}
	return slices.Concat(all, unseenSubjects())
}

// unseenSubjects are other programs, most of them after the NAS benchmarks.
// By the first seven the form of the models was changed, once: they showed what
// misses by conflict do. The last six were added when it had been chosen.
func unseenSubjects() (list []Subject) {
	for i, p := range []struct{ application, folder, arguments string }{
		{"npbcg", "npbcg", "-n 6000 -iterations 2"},
		{"is", "is", "-n 18 -iterations 6"},
		{"mg", "mg", "-n 64 -iterations 2"},
		{"ft", "ft", "-n 32 -iterations 3"},
		{"ep", "ep", "-n 17"},
		{"sweep3d", "sweep3d", "-n 32 -iterations 2"},
		{"meshcg", "cg-c", "-n 32 -iterations 15"},
		{"lu", "lu", "-n 24 -iterations 5"},
		{"sp", "sp", "-n 24 -iterations 4"},
		{"matmul", "matmul", "-n 200 -repeat 2"},
		{"compressor", "compressor", "-n 200 -block 100"},
		{"spmv", "spmv", "-n 9000 -repeat 6"},
		{"iperf", "iperf-c", "-n 600"},
	} {
		for _, optimised := range []bool{false, true} {
			list = append(list, Subject{
				Application: p.application, Optimised: optimised, Input: "one", Folder: p.folder, Args: strings.Fields(p.arguments), Unseen: true, Choose: i < 7,
			})
		}
	}
	return list
}

// Build compiles the subject, whose folder is below programs, to linux/riscv64.
// Optimised and not are, of Go, the defaults and the flags -N -l for the program's
// own package; of C, -O3 and -O1. The executable is kept in the store.
func (s Subject) Build(ctx context.Context, programs string, st *store.Store) (*subject.Program, error) {
	dir, err := filepath.Abs(filepath.Join(programs, s.Folder))
	if err != nil {
		return nil, fmt.Errorf("perf: build: %w", err)
	}
	temp, err := os.MkdirTemp("", "presage-build-")
	if err != nil {
		return nil, fmt.Errorf("perf: build: %w", err)
	}
	defer os.RemoveAll(temp)
	exe := filepath.Join(temp, s.Folder)
	if err := s.compile(ctx, dir, exe); err != nil {
		return nil, err
	}
	prog, err := subject.Open(exe)
	if err != nil {
		return nil, fmt.Errorf("perf: build: %w", err)
	}
	return prog.Keep(st)
}

// compile compiles the program in dir.
func (s Subject) compile(ctx context.Context, dir, exe string) error {
	goFiles, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return fmt.Errorf("perf: build: %w", err)
	}
	if len(goFiles) == 0 {
		return s.compileC(ctx, dir, exe)
	}
	build := subject.GoBuild{Dir: dir, Target: subject.Guest}
	if !s.Optimised {
		flags := "-N -l"
		if s.Whole {
			flags = "all=" + flags
		}
		build.Flags = []string{"-gcflags=" + flags}
	}
	if err := build.Run(ctx, exe); err != nil {
		return fmt.Errorf("perf: %w", err)
	}
	return nil
}

func (s Subject) compileC(ctx context.Context, dir, exe string) error {
	sources, err := filepath.Glob(filepath.Join(dir, "*.c"))
	if err != nil || len(sources) == 0 {
		return errors.Join(fmt.Errorf("perf: build: no program in %s", dir), err)
	}
	level := "-O1"
	if s.Optimised {
		level = "-O3"
	}
	args := slices.Concat([]string{level, "-ffp-contract=off", "-static", "-o", exe}, sources, []string{"-lm"})
	cmd := exec.CommandContext(ctx, "riscv64-linux-gnu-gcc", args...)
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("perf: build: %w (Debian: apt-get install gcc-riscv64-linux-gnu libc6-dev-riscv64-cross)", err)
	}
	if err != nil {
		return fmt.Errorf("perf: %s: %w\n%s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
