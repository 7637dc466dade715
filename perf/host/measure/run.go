package measure

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"presage/perf/host"
	"presage/perf/progress"
	"presage/perf/subject"
)

// Options say how Run runs a program. The zero value runs it once to warm up and
// then five times, with the arguments that a profile would give it, one "-name
// value" pair for each parameter, and no input. Unlike a profiled program it has
// the caller's environment, with Env added, and sees the host's files.
type Options struct {
	Args string   // template for the arguments; see subject.Point.Arguments
	Env  []string // NAME=value, added to the environment of this process
	// Stdin is the standard input, StdinFile a file that holds it, {name} in its path
	// standing for a parameter's value; one of them, or neither.
	Stdin, StdinFile string

	Repeats int // runs measured at each point; 0: DefaultRepeats
	WarmUp  int // runs before these; 0: one, negative: none

	// Progress is called before the runs of each point, and once at the end.
	Progress progress.Func
}

// DefaultRepeats is how often Run measures a point by default.
const DefaultRepeats = 5

// Run runs a program natively at each point, several times, and returns what a
// real clock and, where Linux offers them, real counters showed: a row for each
// point. The program is a folder of a Go main package, which is compiled for this
// machine, or an executable for it.
//
// A measurement is not reproducible: rows carry host and date, and are kept in no
// store. A run that fails is an error.
func Run(ctx context.Context, dirOrBinary string, points []subject.Point, opt Options) ([]Row, error) {
	if opt.Repeats < 0 {
		return nil, fmt.Errorf("perf: measure: %d repeats: want at least 1, or 0 for %d", opt.Repeats, DefaultRepeats)
	}
	if opt.Repeats == 0 {
		opt.Repeats = DefaultRepeats
	}
	if opt.WarmUp == 0 {
		opt.WarmUp = 1
	}
	if len(points) == 0 {
		return nil, errors.New("perf: measure: no points")
	}
	commands := make([]host.Command, len(points))
	for i, p := range points {
		if err := checkNames(p); err != nil {
			return nil, err
		}
		at, err := subject.RunOptions{Args: opt.Args, Stdin: opt.Stdin, StdinFile: opt.StdinFile}.At(p)
		if err != nil {
			return nil, err
		}
		commands[i] = host.Command{Args: at.Args, Env: append(os.Environ(), opt.Env...), Stdin: at.Stdin}
	}
	exe, done, err := native(ctx, dirOrBinary)
	if err != nil {
		return nil, err
	}
	defer done()
	var rows []Row
	for i, p := range points {
		opt.Progress.Report(progress.Report{Task: p.String(), Done: i, Total: len(points)})
		commands[i].Path = exe
		row, err := measurePoint(ctx, commands[i], opt)
		if err != nil {
			return nil, err
		}
		row.Program, row.Point = filepath.Base(exe), p
		rows = append(rows, row)
	}
	opt.Progress.Finish(len(points))
	return rows, nil
}

// Arguments returns a program's arguments at a point: see subject.Point.Arguments.
// It returns an error if a parameter has the name of a column of Row.
func Arguments(p subject.Point, template string) ([]string, error) {
	if err := checkNames(p); err != nil {
		return nil, err
	}
	return p.Arguments(template)
}

// checkNames returns an error if a parameter has no value, or the name of a column
// of Row.
func checkNames(p subject.Point) error {
	if err := p.Check(); err != nil {
		return err
	}
	for _, name := range []string{"host", "date", "repeats"} {
		if _, clash := p[name]; clash {
			return fmt.Errorf("perf: measure: parameter %q has the name of a column of the table; call it otherwise", name)
		}
	}
	return nil
}

func measurePoint(ctx context.Context, c host.Command, opt Options) (Row, error) {
	var runs []host.Execution
	for i := range max(0, opt.WarmUp) + opt.Repeats {
		stdout, stderr := new(subject.Tail), new(subject.Tail)
		c.Stdout, c.Stderr = stdout, stderr
		run, err := host.Execute(ctx, c)
		if err != nil {
			if ctx.Err() != nil {
				return Row{}, ctx.Err()
			}
			command := strings.Join(append([]string{filepath.Base(c.Path)}, c.Args...), " ")
			return Row{}, fmt.Errorf("perf: measure: %s: %w; a failed run is not measured%s", command, err, subject.Quote(stderr, stdout))
		}
		if i >= opt.WarmUp {
			runs = append(runs, run)
		}
	}
	return summarize(runs, Host(), time.Now()), nil
}

// Host returns how rows name this machine: processor, system and architecture.
func Host() string { return host.Name() + " " + runtime.GOOS + "/" + runtime.GOARCH }

// Origin returns the origin of rows measured now, for their recording: host,
// processors and time; of a folder the version of Go that builds it, of an
// executable its SHA-256.
func Origin(dirOrBinary string) (string, error) {
	path, err := filepath.Abs(dirOrBinary)
	if err != nil {
		return "", fmt.Errorf("perf: measure: %w", err)
	}
	origin := fmt.Sprintf("measured on %s, %d processors, on %s", Host(), runtime.GOMAXPROCS(0), time.Now().UTC().Format(time.RFC3339))
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("perf: measure: %w", err)
	}
	if info.IsDir() {
		return origin + "; " + filepath.Base(path) + ", built by " + runtime.Version(), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("perf: measure: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("perf: measure: %w", err)
	}
	return origin + "; " + filepath.Base(path) + ", SHA-256 " + hex.EncodeToString(sum.Sum(nil)), nil
}
