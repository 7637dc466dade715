package subject

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"presage/perf/internal/child"
	"presage/perf/objfile"
	"presage/perf/store"
)

// Open reads a static linux/riscv64 executable, or a linux/amd64 one, static or
// dynamically linked, from whatever compiler. Any other file is an error that says
// what was found and what to do.
func Open(path string) (*Program, error) {
	f, err := objfile.Open(path)
	if err != nil {
		return nil, err
	}
	return &Program{Name: filepath.Base(path), File: f}, nil
}

// Build compiles the Go program in dir, a folder of package main, for Guest with
// the go command, and opens it. The executable is kept in the default store; the
// same source and tool chain give the same file, so that earlier profiles of it
// are found.
func Build(ctx context.Context, dir string) (*Program, error) {
	st, err := store.Default()
	if err != nil {
		return nil, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("perf: build: %w", err)
	}
	if info, err := os.Stat(abs); err != nil {
		return nil, fmt.Errorf("perf: build: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("perf: build: %s is a file; name the folder of a Go main package, or Open an executable", dir)
	}
	temp, err := os.MkdirTemp("", "presage-build-")
	if err != nil {
		return nil, fmt.Errorf("perf: build: %w", err)
	}
	defer os.RemoveAll(temp)
	exe := filepath.Join(temp, filepath.Base(abs))
	if err := (GoBuild{Dir: abs, Target: Guest}).Run(ctx, exe); err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	prog, err := Open(exe)
	if err != nil {
		return nil, fmt.Errorf("perf: build: %w (is %s a main package?)", err, dir)
	}
	return prog.Keep(st)
}

// Target is what the go command compiles for.
type Target struct{ OS, Arch string } // GOOS and GOARCH

// Guest is the target of programs that are profiled and simulated.
var Guest = Target{"linux", "riscv64"}

// Native returns the target that is this machine.
func Native() Target { return Target{runtime.GOOS, runtime.GOARCH} }

// GoBuild is a run of "go build". Its flags leave out of the executable what
// would make two builds of one source differ: paths, version control, and what
// GOFLAGS tell the compiler and the linker, by which notebooks build cells faster. C code
// is not linked.
type GoBuild struct {
	Dir    string // of the main package
	Target Target
	Flags  []string // further ones, such as -gcflags=-N
}

// Run writes the executable exe, an absolute path. The error holds what the go
// command printed.
func (b GoBuild) Run(ctx context.Context, exe string) error {
	// GOFLAGS may say something of the compilation of all packages, which "all=" takes
	// back; the executable holds the text of the last -gcflags.
	plain := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=", "-gcflags=all=", "-gcflags="}
	args := slices.Concat(plain, b.Flags, []string{"-o", exe, "."})
	cmd := child.Command(ctx, "go", args...)
	cmd.Dir = b.Dir
	cmd.Env = append(os.Environ(), "GOOS="+b.Target.OS, "GOARCH="+b.Target.Arch, "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("go build in %s: %w", b.Dir, ctx.Err())
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("build: the go command is not on the PATH: %w", err)
	}
	return fmt.Errorf("go build in %s: %w\n%s", b.Dir, err, strings.TrimSpace(string(out)))
}

// programPrefix is how much of its hash names the folder of a kept executable.
const programPrefix = 16

// keptAt returns where a store keeps an executable.
func keptAt(st *store.Store, sha, name string) string {
	return filepath.Join(st.Dir(), "programs", sha[:programPrefix], name)
}

// Keep copies the executable into a store, under its hash, and returns the
// program that is read from there.
func (p *Program) Keep(st *store.Store) (*Program, error) {
	kept, err := KeepFile(st, p.File, p.Name)
	if err != nil {
		return nil, fmt.Errorf("perf: build: %w", err)
	}
	return Open(kept)
}

// KeepFile copies a file into a store, under its hash and a name, and returns the
// copy's path. It is an error if the file is no longer what was opened.
func KeepFile(st *store.Store, f *objfile.File, name string) (string, error) {
	kept := filepath.Join(st.Dir(), "programs", f.SHA256[:16], name)
	data, err := os.ReadFile(f.Path)
	if err != nil {
		return "", err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.SHA256 {
		return "", fmt.Errorf("%s has changed since it was opened", f.Path)
	}
	if old, err := os.ReadFile(kept); err != nil || !bytes.Equal(old, data) {
		if err := store.WriteFile(kept, data); err != nil {
			return "", err
		}
	}
	return kept, nil
}
