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

	"presage/perf/objfile"
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
	cmd, err := s.command(ctx, dir, exe)
	if err != nil {
		return nil, err
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("perf: build: %w (Debian: apt-get install gcc-riscv64-linux-gnu libc6-dev-riscv64-cross)", err)
	}
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w\n%s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(string(out)))
	}
	f, err := objfile.Open(exe)
	if err != nil {
		return nil, fmt.Errorf("perf: build: %w", err)
	}
	kept := filepath.Join(st.Dir(), "programs", f.SHA256[:16], filepath.Base(exe))
	if err := subject.Keep(exe, kept); err != nil {
		return nil, err
	}
	return subject.Open(kept)
}

// command returns the command that compiles the program in dir to exe.
func (s Subject) command(ctx context.Context, dir, exe string) (*exec.Cmd, error) {
	goFiles, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("perf: build: %w", err)
	}
	if len(goFiles) > 0 {
		args := []string{"build", "-trimpath", "-buildvcs=false"}
		if s.Level == O1 {
			flags := "-N -l"
			if s.PlainLibrary {
				flags = "all=" + flags
			}
			args = append(args, "-gcflags="+flags)
		}
		cmd := exec.CommandContext(ctx, "go", append(args, "-o", exe, ".")...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0")
		return cmd, nil
	}
	sources, err := filepath.Glob(filepath.Join(dir, "*.c"))
	if err != nil || len(sources) == 0 {
		return nil, errors.Join(fmt.Errorf("perf: build: no program in %s", dir), err)
	}
	args := slices.Concat([]string{"-" + string(s.Level), "-ffp-contract=off", "-static", "-o", exe}, sources, []string{"-lm"})
	return exec.CommandContext(ctx, "riscv64-linux-gnu-gcc", args...), nil
}
