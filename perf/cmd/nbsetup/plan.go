package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// goplsVersion is the version of gopls that is installed. go.mod does not pin it: no
// package of the module needs it, and it needs other versions of what they do need.
const goplsVersion = "v0.23.0"

// A tool is a program to install.
type tool struct {
	Package string // import path
	Module  string // the module that the package belongs to
	Name    string // of the program
	Version string // that go.mod pins, unless it stands alone
	Alone   bool   // built with the versions of its own go.mod
}

// plan is what to install, and where.
type plan struct {
	Module    string // folder of the go.mod that pins the versions
	Bin       string // folder of the programs
	KernelDir string // folder of kernel.json
	Go        string // the go command
	Tools     []tool
	Spec      kernelSpec
}

// completionTool answers completion and inspection in cells.
var completionTool = tool{
	Package: "golang.org/x/tools/gopls", Module: "golang.org/x/tools/gopls", Name: "gopls", Version: goplsVersion, Alone: true,
}

func newPlan(ctx context.Context, o options) (*plan, error) {
	p := &plan{Tools: []tool{
		{Package: "github.com/janpfeifer/gonb", Module: "github.com/janpfeifer/gonb", Name: "gonb"},
		{Package: "golang.org/x/tools/cmd/goimports", Module: "golang.org/x/tools", Name: "goimports"},
	}}
	if o.completion {
		p.Tools = append(p.Tools, completionTool)
	}
	mode := pinnedKernel
	if o.open {
		mode = openKernel
	}
	var err error
	if p.Go, err = findGo(); err != nil {
		return nil, err
	}
	if p.Module, err = p.findModule(ctx, o.module); err != nil {
		return nil, err
	}
	if err := p.pinnedVersions(ctx); err != nil {
		return nil, err
	}
	if p.Bin, err = binDir(o.bin); err != nil {
		return nil, err
	}
	data, err := jupyterDataDir(ctx, o.data)
	if err != nil {
		return nil, err
	}
	p.KernelDir = filepath.Join(data, "kernels", kernelName+mode.suffix())
	p.Spec = newKernelSpec(filepath.Join(p.Bin, "gonb"), filepath.Dir(p.Go), p.Module, mode)
	return p, nil
}

func findGo() (string, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("the go command is not on PATH: install Go 1.26 or later from https://go.dev/dl/: %w", err)
	}
	return filepath.Abs(path)
}

// output runs the go command in dir and returns its standard output. An error
// includes the command's own message.
func (p *plan) output(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, p.Go, args...)
	cmd.Dir = dir
	// The user's GOFLAGS, such as -mod=vendor, must not affect versions.
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
		}
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// findModule returns the folder of the go.mod that encloses dir.
func (p *plan) findModule(ctx context.Context, dir string) (string, error) {
	file, err := p.output(ctx, dir, "env", "GOMOD")
	if err != nil {
		return "", err
	}
	if filepath.Base(file) != "go.mod" {
		return "", fmt.Errorf("folder %s is in no Go module: run nbsetup inside a clone of Presage, or name one with --module", dir)
	}
	return filepath.Dir(file), nil
}

func (p *plan) pinnedVersions(ctx context.Context) error {
	for i := range p.Tools {
		t := &p.Tools[i]
		if t.Alone {
			continue
		}
		v, err := p.output(ctx, p.Module, "list", "-m", "-f", "{{.Version}}", t.Module)
		if err != nil {
			return fmt.Errorf("%s pins no version of %s: %w", filepath.Join(p.Module, "go.mod"), t.Module, err)
		}
		t.Version = v
	}
	return nil
}

// binDir returns the folder for programs, absolute because kernel.json names it.
func binDir(given string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	data, err := userDataDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(data, "presage", "bin"), nil
}

// userDataDir returns where the user's applications keep data: by the XDG base
// directory specification, and on macOS in Application Support.
func userDataDir() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the programs: %w: set HOME, or name one with --bin", err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support"), nil
	}
	return filepath.Join(home, ".local", "share"), nil
}

// jupyterDataDir returns the folder where Jupyter looks for the user's kernels.
func jupyterDataDir(ctx context.Context, given string) (string, error) {
	if given == "" {
		given = os.Getenv("JUPYTER_DATA_DIR")
	}
	if given != "" {
		return filepath.Abs(given)
	}
	if jupyter, err := exec.LookPath("jupyter"); err == nil {
		out, err := exec.CommandContext(ctx, jupyter, "--data-dir").Output()
		if err != nil {
			return "", fmt.Errorf("%s --data-dir: %w", jupyter, err)
		}
		if dir := strings.TrimSpace(string(out)); filepath.IsAbs(dir) {
			return dir, nil
		}
		return "", fmt.Errorf("%s --data-dir printed %q, which is no absolute path: name the folder with --jupyter-data", jupyter, out)
	}
	if home, err := os.UserHomeDir(); err == nil && runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Jupyter"), nil
	}
	data, err := userDataDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(data, "jupyter"), nil
}

func (p *plan) print(w io.Writer) error {
	spec, err := p.Spec.encode()
	if err != nil {
		return err
	}
	for _, t := range p.Tools {
		fmt.Fprintf(w, "%s  from %s@%s\n", filepath.Join(p.Bin, t.Name), t.Module, t.Version)
	}
	_, err = fmt.Fprintf(w, "%s:\n%s", filepath.Join(p.KernelDir, kernelFile), spec)
	return err
}
