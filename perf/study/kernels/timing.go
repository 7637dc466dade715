package kernels

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"

	"presage/perf/host"
	"presage/perf/host/measure"
	"presage/perf/internal/child"
	"presage/perf/progress"
	"presage/perf/subject"
)

// timedCommand is what is run for one row of a round.
type timedCommand struct {
	build   string
	point   subject.Point
	command host.Command
}

// timer is a timing under way.
type timer struct {
	opt      TimingOptions
	prefix   []string // TimingOptions.Prefix, with the path of its program
	out      *Times
	commands []timedCommand // by point, then by build
	done     int            // rounds
}

// starter returns Prefix with the path of its program.
func (opt *TimingOptions) starter() ([]string, error) {
	if len(opt.Prefix) == 0 {
		return nil, nil
	}
	path, err := exec.LookPath(opt.Prefix[0])
	if err != nil {
		return nil, fmt.Errorf("perf: time kernels: runs are to start with %s: %w", shellquote.Join(opt.Prefix...), err)
	}
	return append([]string{path}, opt.Prefix[1:]...), nil
}

// build builds a program and adds its runs.
func (t *timer) build(ctx context.Context, dir string, b Build, points []subject.Point) error {
	words, err := shellquote.Split(b.Command)
	if err != nil {
		return fmt.Errorf("perf: time kernels: build %s: %w", b.Name, err)
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		t.out.Warnings = append(t.out.Warnings, fmt.Sprintf("build %s is left out: %v", b.Name, err))
		return nil
	}
	exe := filepath.Join(dir, b.Name)
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, "{exe}", exe)
	}
	out, err := child.Command(ctx, words[0], words[1:]...).CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("perf: time kernels: build %s: %w", b.Name, ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("perf: time kernels: build %s: %s: %w\n%s", b.Name, shellquote.Join(words...), err, bytes.TrimSpace(out))
	}
	if err := measure.Foreign(exe); err != nil {
		return err
	}
	text, err := os.ReadFile(exe)
	if err != nil {
		return fmt.Errorf("perf: time kernels: build %s made no executable: %w", b.Name, err)
	}
	sum := sha256.Sum256(text)
	t.out.Built = append(t.out.Built, b.Name+" SHA-256 "+hex.EncodeToString(sum[:6]))
	built := len(t.out.Built)
	for i, p := range points {
		args, err := measure.Arguments(p, b.Args)
		if err != nil {
			return err
		}
		command := host.Command{Path: exe, Args: args}
		if len(t.prefix) > 0 {
			command = host.Command{Path: t.prefix[0], Args: slices.Concat(t.prefix[1:], []string{exe}, args)}
		}
		c := timedCommand{b.Name, p, command}
		t.commands = slices.Insert(t.commands, i*built+built-1, c)
	}
	return nil
}

// add adds the time of the run with index i, counted over all rounds.
func (t *timer) add(i int, seconds float64) {
	c := &t.commands[i%len(t.commands)]
	t.out.Runs = append(t.out.Runs, RunRow{c.build, c.point, i/len(t.commands) + 1, seconds})
}

// round runs everything once, and keeps the result in the checkpoint.
func (t *timer) round(ctx context.Context) error {
	t.opt.Progress.Report(progress.Report{Task: fmt.Sprintf("round %d", t.done+1), Done: t.done, Total: t.opt.Rounds})
	for i := range t.commands {
		seconds, err := kernelTime(ctx, t.commands[i].command)
		if err != nil {
			return err
		}
		t.add(t.done*len(t.commands)+i, seconds)
	}
	t.done++
	return t.save()
}

var kernelSeconds = regexp.MustCompile(`(?m)^kernel_sec: ([0-9.eE+-]+)$`)

// kernelTime runs a program and returns the time of its kernel, in seconds, as the
// program prints it.
func kernelTime(ctx context.Context, c host.Command) (float64, error) {
	stdout, stderr := new(subject.Tail), new(subject.Tail)
	c.Stdout, c.Stderr = stdout, stderr
	if _, err := host.Execute(ctx, c); err != nil {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		return 0, fmt.Errorf("perf: time kernels: %s %s: %w%s", filepath.Base(c.Path), strings.Join(c.Args, " "), err, subject.Quote(stderr, stdout))
	}
	m := kernelSeconds.FindStringSubmatch(stdout.String())
	if m == nil {
		return 0, fmt.Errorf("perf: time kernels: %s %s printed no line such as %q%s", filepath.Base(c.Path), strings.Join(c.Args, " "), "kernel_sec: 0.00012", subject.Quote(stderr, stdout))
	}
	return strconv.ParseFloat(m[1], 64)
}
