package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// install builds the programs and writes kernel.json.
func (p *plan) install(ctx context.Context, stdout, stderr io.Writer) error {
	if err := os.MkdirAll(p.Bin, 0o755); err != nil {
		return err
	}
	// Inside Bin, so that a rename stays within one file system.
	tmp, err := os.MkdirTemp(p.Bin, ".build-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := p.download(ctx, stderr); err != nil {
		return err
	}
	if err := p.build(ctx, tmp, stderr); err != nil {
		return err
	}
	for _, t := range p.Tools {
		path := filepath.Join(p.Bin, t.Name)
		changed, err := moveIfChanged(filepath.Join(tmp, t.Name), path)
		if err != nil {
			return err
		}
		report(stdout, changed, path, t.Version)
	}

	spec, err := p.Spec.encode()
	if err != nil {
		return err
	}
	path := filepath.Join(p.KernelDir, kernelFile)
	changed, err := writeIfChanged(path, spec)
	if err != nil {
		return err
	}
	report(stdout, changed, path, "kernel "+filepath.Base(p.KernelDir))
	return nil
}

func report(w io.Writer, changed bool, path, what string) {
	verb := "up to date"
	if changed {
		verb = "installed"
	}
	fmt.Fprintf(w, "%-10s  %s (%s)\n", verb, path, what)
}

// build compiles the programs into dir for this machine, whatever GOOS, GOARCH and
// GOFLAGS are set to, and without cgo, so that no C compiler is needed. Cells are
// compiled with the same settings, and find the packages that they share with these
// programs, the standard library above all, in the build cache: with -trimpath here or
// cgo there all of it would be compiled twice.
func (p *plan) build(ctx context.Context, dir string, stderr io.Writer) error {
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	var alone []tool
	for _, t := range p.Tools {
		if t.Alone {
			alone = append(alone, t)
			continue
		}
		args = append(args, t.Package)
	}
	if err := p.goCommand(ctx, stderr, args...); err != nil {
		return fmt.Errorf("building gonb and goimports in %s: %w", p.Module, err)
	}
	for _, t := range alone {
		if err := p.buildAlone(ctx, t, dir, stderr); err != nil {
			return fmt.Errorf("building %s: %w", t.Name, err)
		}
	}
	return nil
}

// buildAlone builds a tool with the versions of its own go.mod into dir, unless it
// is installed already: that takes a minute.
func (p *plan) buildAlone(ctx context.Context, t tool, dir string, stderr io.Writer) error {
	if installed := filepath.Join(p.Bin, t.Name); checkTool(installed, t) == nil {
		return os.Link(installed, filepath.Join(dir, t.Name))
	}
	cmd := exec.CommandContext(ctx, p.Go, "install", "-trimpath", t.Package+"@"+t.Version)
	cmd.Dir = p.Module
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off", "GOBIN="+dir,
		"CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	cmd.Stdout, cmd.Stderr = stderr, stderr
	return cmd.Run()
}

// download fetches the modules that go.mod lists, as cells are compiled offline
// against the module cache.
func (p *plan) download(ctx context.Context, stderr io.Writer) error {
	if err := p.goCommand(ctx, stderr, "mod", "download"); err != nil {
		return fmt.Errorf("downloading the modules that notebooks import: %w", err)
	}
	return nil
}

func (p *plan) goCommand(ctx context.Context, stderr io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, p.Go, args...)
	cmd.Dir = p.Module
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly -buildvcs=false "+undebugged, "GOWORK=off",
		"CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	cmd.Stdout, cmd.Stderr = stderr, stderr
	return cmd.Run()
}

// moveIfChanged renames src to dst unless both hold the same bytes. This leaves a
// running program and its modification time alone.
func moveIfChanged(src, dst string) (changed bool, err error) {
	want, err := os.ReadFile(src)
	if err != nil {
		return false, err
	}
	if same(dst, want) {
		return false, nil
	}
	return true, os.Rename(src, dst)
}

// writeIfChanged atomically writes data to path unless it holds the same bytes.
func writeIfChanged(path string, data []byte) (changed bool, err error) {
	if same(path, data) {
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name()) // fails after the rename, as it should
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err != nil {
		return false, fmt.Errorf("writing %s: %w", path, err)
	}
	return true, os.Rename(f.Name(), path)
}

func same(path string, want []byte) bool {
	got, err := os.ReadFile(path)
	return err == nil && bytes.Equal(got, want)
}

// check prints one line for each thing that a notebook needs.
func (p *plan) check(ctx context.Context, w io.Writer) error {
	missing := false
	line := func(what string, err error) {
		if err == nil {
			fmt.Fprintf(w, "ok       %s\n", what)
			return
		}
		missing = true
		fmt.Fprintf(w, "MISSING  %s: %v\n", what, err)
	}
	line("go command "+p.Go, nil)
	for _, t := range p.Tools {
		path := filepath.Join(p.Bin, t.Name)
		line(fmt.Sprintf("%s %s", path, t.Version), checkTool(path, t))
	}
	spec, err := p.Spec.encode()
	if err != nil {
		return err
	}
	path := filepath.Join(p.KernelDir, kernelFile)
	line("kernel "+path, checkFile(path, spec))
	line("jupyter nbconvert", checkJupyter(ctx))
	if missing {
		return errIncomplete
	}
	return nil
}

var errRun = errors.New("run nbsetup without --check")

func checkTool(path string, t tool) error {
	info, err := buildinfo.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no such file: %w", errRun)
	case err != nil:
		return fmt.Errorf("no Go program: %v: %w", err, errRun)
	case info.Path != t.Package || info.Main.Version != t.Version:
		return fmt.Errorf("is %s %s: %w", info.Path, info.Main.Version, errRun)
	}
	return nil
}

func checkFile(path string, want []byte) error {
	got, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no such file: %w", errRun)
	case err != nil:
		return err
	case !bytes.Equal(got, want):
		return fmt.Errorf("differs from what this version writes: %w", errRun)
	}
	return nil
}

func checkJupyter(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "jupyter", "nbconvert", "--version").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s: install it (Debian: apt-get install jupyter-notebook jupyter-nbconvert python3-nbclient; macOS: brew install jupyterlab)",
			err, bytes.TrimSpace(out))
	}
	return nil
}
