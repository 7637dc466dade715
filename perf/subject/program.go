package subject

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"presage/perf/access"
	"presage/perf/objfile"
	"presage/perf/store"
	"presage/perf/trace"
)

// PlanFor returns the plan of a profile.
func (p *Program) PlanFor(stack bool) (*trace.Plan, error) {
	s := p.Structure()
	plan, err := s.Groups.Plan(s.Access, access.PlanOptions{Stack: stack})
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", p.Name, err)
	}
	return plan, nil
}

// Program is an executable under study, with its static memory references.
// It is not modified once made, and may be shared.
type Program struct {
	Name string // of the executable, without its folder
	File *objfile.File

	takeApart sync.Once
	structure *Structure

	analyse sync.Once
	refs    []access.Reference
	plan    *trace.Plan
	first   []int // index of each group's first reference
	err     error
}

// References returns the program's static memory references by ascending
// address. They are found at the first call.
func (p *Program) References() ([]access.Reference, error) {
	p.analyse.Do(p.find)
	if p.err != nil {
		return nil, p.err
	}
	return p.refs, nil
}

// Plan returns the plan that records all of the program's references.
func (p *Program) Plan() (*trace.Plan, error) {
	p.analyse.Do(p.find)
	return p.plan, p.err
}

// FirstRefs returns the index in References of the first reference of each group
// of the plan.
func (p *Program) FirstRefs() ([]int, error) {
	p.analyse.Do(p.find)
	return p.first, p.err
}

// find makes the references and the plan. What static analysis could not make
// out does not matter unless it is executed; then the run warns of it.
func (p *Program) find() {
	s := p.Structure()
	p.refs = s.Access.All
	if p.plan, p.err = s.Groups.Plan(s.Access, access.PlanOptions{Stack: true}); p.err != nil {
		p.err = fmt.Errorf("perf: %s: %w", p.Name, p.err)
		return
	}
	p.first = make([]int, p.plan.Groups())
	for i := len(p.plan.Refs) - 1; i >= 0; i-- {
		p.first[p.plan.Refs[i].Group] = i
	}
}

// Open reads a static linux/riscv64 executable, from whatever compiler. Any
// other file is an error that says what was found and what to do.
func Open(path string) (*Program, error) {
	f, err := objfile.Open(path)
	if err != nil {
		return nil, err
	}
	return &Program{Name: filepath.Base(path), File: f}, nil
}

// Build compiles the Go program in dir, a folder of package main, to
// linux/riscv64 with the go command, and opens it. The executable is kept in
// the default store; the same source and tool chain give the same file, so
// that earlier profiles of it are found.
func Build(dir string) (*Program, error) {
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
	if err := CrossCompile(abs, exe); err != nil {
		return nil, err
	}
	f, err := objfile.Open(exe)
	if err != nil {
		return nil, fmt.Errorf("perf: build: %w (is %s a main package?)", err, dir)
	}
	kept := filepath.Join(st.Dir(), "programs", f.SHA256[:16], filepath.Base(abs))
	if err := Keep(exe, kept); err != nil {
		return nil, err
	}
	return Open(kept)
}

// CrossCompile runs go build in dir. The flags leave out of the executable
// what would make two builds of one source differ: paths and version control.
func CrossCompile(dir, exe string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", exe, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("perf: build: the go command is not on the PATH: %w", err)
	}
	if err != nil {
		return fmt.Errorf("perf: go build in %s: %w\n%s", dir, err, strings.TrimSpace(string(out)))
	}
	return nil
}

func Keep(exe, kept string) error {
	data, err := os.ReadFile(exe)
	if err != nil {
		return fmt.Errorf("perf: build: %w", err)
	}
	if old, err := os.ReadFile(kept); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return store.WriteFile(kept, data)
}
