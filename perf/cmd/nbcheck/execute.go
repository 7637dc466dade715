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
	"regexp"
	"strconv"
	"strings"
	"time"
)

// An execution is an executed notebook that has not yet been committed to its
// destination.
type execution struct {
	data    []byte // the executed notebook
	failure string // why there is no executed notebook
	tmp     string // folder with the file; beside dst, so that a rename works
	dst     string
}

// stopGrace is the time that nbconvert has to stop its kernel after an interrupt.
const stopGrace = 10 * time.Second

// execute runs a notebook in its own folder with a fresh kernel, and writes a line
// to progress, unless that is nil, as each cell begins. The result goes to dst only
// by commit. Its error is about the environment.
//
// Cells after a failed one run too (--allow-errors), so that one run shows every
// fault and its position.
func execute(ctx context.Context, nb *notebook, path, dst string, timeout time.Duration, progress io.Writer) (*execution, error) {
	if err := os.MkdirAll(filepath.Dir(dst), 0o755); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dst), ".nbcheck-*")
	if err != nil {
		return nil, err
	}
	x := &execution{tmp: tmp, dst: dst}
	hook, err := writeHook(tmp)
	if err != nil {
		x.discard()
		return nil, err
	}
	log := newCellLog(progress, path, nb)
	// Rounded up: 0 would mean no limit.
	sec := int((timeout + time.Second - 1) / time.Second)
	err = nbconvert(ctx, log, path, x.file(), "notebook",
		"--execute", "--config", hook, "--allow-errors",
		"--ExecutePreprocessor.timeout="+strconv.Itoa(sec),
		// Times of day would change the file with every run.
		"--ExecutePreprocessor.record_timing=False",
	)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		x.discard()
		return nil, fmt.Errorf("%s: stopped: %w", path, context.Cause(ctx))
	case errors.As(err, &exit):
		x.failure = explain(log.String(), nb.Kernel, timeout)
		return x, nil
	case err != nil:
		x.discard()
		return nil, err
	}
	if x.data, err = os.ReadFile(x.file()); err != nil {
		x.discard()
		return nil, err
	}
	return x, nil
}

func (x *execution) file() string { return filepath.Join(x.tmp, filepath.Base(x.dst)) }

// commit atomically moves the executed notebook to its destination.
func (x *execution) commit() error {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(x.dst); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.Chmod(x.file(), mode); err != nil {
		return err
	}
	return os.Rename(x.file(), x.dst)
}

// discard removes the temporary folder.
func (x *execution) discard() { os.RemoveAll(x.tmp) }

// noKernel matches the messages of Jupyter's versions for a kernel that is not
// installed.
var noKernel = regexp.MustCompile(`(?i)NoSuchKernel|No such kernel`)

// explain turns the output of a failed nbconvert into a message with a remedy.
func explain(stderr, kernel string, timeout time.Duration) string {
	switch {
	case noKernel.MatchString(stderr):
		return fmt.Sprintf("Jupyter has no kernel named %q: run 'go run presage/perf/cmd/nbsetup'", kernel)
	case strings.Contains(stderr, "CellTimeoutError"):
		return fmt.Sprintf("a cell took longer than %v: make it smaller, or raise --timeout", timeout)
	case strings.Contains(stderr, "DeadKernelError"):
		return "the kernel died while a cell was running:\n" + lastLines(stderr)
	}
	return "jupyter nbconvert failed:\n" + lastLines(stderr)
}

func lastLines(s string) string {
	lines := strings.Split(strings.TrimSpace(escapes.ReplaceAllString(s, "")), "\n")
	return strings.Join(lines[max(0, len(lines)-maxExcerpt):], "\n")
}

// nbconvert converts path to dst. What it prints goes to log.
func nbconvert(ctx context.Context, log io.Writer, path, dst, format string, args ...string) error {
	jupyter, err := exec.LookPath("jupyter")
	if err != nil {
		return fmt.Errorf("no Jupyter (Debian: apt-get install jupyter-notebook jupyter-nbconvert python3-nbclient; macOS: brew install jupyterlab): %w", err)
	}
	out, err := filepath.Abs(filepath.Dir(dst))
	if err != nil {
		return err
	}
	args = append([]string{"nbconvert", "--to", format, "--output-dir", out, "--output", filepath.Base(dst)}, args...)
	cmd := exec.CommandContext(ctx, jupyter, append(args, path)...)
	cmd.Stdout, cmd.Stderr = log, log
	// An interrupted nbconvert stops its kernel; a killed one leaves it behind.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopGrace
	return cmd.Run()
}

// htmlName is the file name of a notebook's HTML page.
func htmlName(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base)) + ".html"
}

// writeHTML writes the notebook at path as an HTML page.
func writeHTML(ctx context.Context, path, dst string) error {
	if err := os.MkdirAll(filepath.Dir(dst), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dst), ".nbcheck-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	page := filepath.Join(tmp, filepath.Base(dst))
	var log bytes.Buffer
	if err := nbconvert(ctx, &log, path, page, "html"); err != nil {
		return fmt.Errorf("converting %s to HTML: %w\n%s", path, err, lastLines(log.String()))
	}
	if err := os.Chmod(page, 0o644); err != nil {
		return err
	}
	return os.Rename(page, dst)
}
