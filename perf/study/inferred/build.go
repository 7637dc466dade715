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

	"presage/perf/internal/child"
	"presage/perf/store"
	"presage/perf/subject"
)

// Build compiles the subject, whose folder is below programs, to linux/riscv64 and
// keeps the executable in the store. A folder without a Go file holds C.
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

// compile compiles the program in dir to exe.
func (s Subject) compile(ctx context.Context, dir, exe string) error {
	goFiles, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return fmt.Errorf("perf: build: %w", err)
	}
	if len(goFiles) == 0 {
		return s.compileC(ctx, dir, exe)
	}
	build := subject.GoBuild{Dir: dir, Target: subject.Guest}
	if s.Level == O1 {
		flags := "-N -l"
		if s.PlainLibrary {
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
	args := slices.Concat([]string{"-" + string(s.Level), "-ffp-contract=off", "-static", "-o", exe}, sources, []string{"-lm"})
	cmd := child.Command(ctx, "riscv64-linux-gnu-gcc", args...)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("perf: build: %w", ctx.Err())
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("perf: build: %w (Debian: apt-get install gcc-riscv64-linux-gnu libc6-dev-riscv64-cross)", err)
	}
	if err != nil {
		return fmt.Errorf("perf: %s: %w\n%s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
