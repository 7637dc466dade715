package kernels

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"presage/perf/frame"
	"presage/perf/host"
	"presage/perf/measure"
	"presage/perf/store"
	"presage/perf/study/record"
	"presage/perf/subject"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-gota/gota/dataframe"
	"github.com/kballard/go-shellquote"
)

// KernelBuild is a program that times a kernel itself, and how it is built for
// this machine.
type KernelBuild struct {
	Name    string // such as gcc-O3
	Command string // a shell's words, {exe} standing for the executable that it makes
	Args    string // template for the arguments of a run; see Point.Arguments
}

var buildColumns = []string{"build", "command", "args"}

// ReadKernelBuilds reads a table of builds: a CSV file with the columns build,
// command and args.
func ReadKernelBuilds(path string) ([]KernelBuild, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("perf: builds: %w", err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("perf: builds: %s: %w", path, err)
	}
	if len(rows) < 2 || !slices.Equal(rows[0], buildColumns) {
		return nil, fmt.Errorf("perf: builds: %s:1: want the columns %s, and a row for each build", path, strings.Join(buildColumns, ","))
	}
	var all []KernelBuild
	for i, r := range rows[1:] {
		b := KernelBuild{r[0], r[1], r[2]}
		words, err := shellquote.Split(b.Command)
		switch {
		case err != nil:
			return nil, fmt.Errorf("perf: builds: %s:%d: command: %w", path, i+2, err)
		case b.Name == "" || len(words) == 0:
			return nil, fmt.Errorf("perf: builds: %s:%d: want a name and a command", path, i+2)
		case !slices.Contains(words, "{exe}"):
			return nil, fmt.Errorf("perf: builds: %s:%d: the command does not say {exe}, the executable to make", path, i+2)
		case slices.ContainsFunc(all, func(o KernelBuild) bool { return o.Name == b.Name }):
			return nil, fmt.Errorf("perf: builds: %s:%d: build %q stands twice", path, i+2, b.Name)
		}
		all = append(all, b)
	}
	return all, nil
}

// TimeKernelsOptions say how TimeKernels measures. The zero value measures each
// point ten times.
type TimeKernelsOptions struct {
	Rounds int // how often each point of each build is run; 0: DefaultRounds

	// Partial, if not empty, is a file that finished rounds are kept in, so that a
	// measurement that is interrupted goes on where it was. It is removed at the
	// end.
	Partial string

	// Progress, if not nil, is called before each round, and once at the end.
	Progress func(round, rounds int)
}

// DefaultRounds is how often the report of Hsu and Kremer measures a size (1998,
// appendix A.4).
const DefaultRounds = 10

// KernelTimes is what TimeKernels measured.
type KernelTimes struct {
	// Runs has a row for each run: build, the parameters, round (from 1) and
	// meas_time_sec.
	Runs     dataframe.DataFrame
	Built    []string // name and SHA-256 of each executable
	Warnings []string // builds that were left out, as their compiler is missing
}

type kernelRun struct {
	Build   string             `frame:"build"`
	Point   map[string]float64 `frame:",each"`
	Round   int                `frame:"round"`
	Seconds float64            `frame:"meas_time_sec"`
}

// TimeKernels builds programs for this machine and runs each of them at each
// point, round by round: all of them once, then all of them again. A disturbance
// of the machine then falls into a few runs of many points, where leaving out the
// extremes removes it, instead of into all runs of a few. The program prints how
// long its kernel took, as a line "kernel_sec: 0.00012"; the time that it takes to
// start, to fill its arrays and to check them does not count.
//
// A build whose compiler is not installed is left out, with a warning. A run that
// fails is an error.
func TimeKernels(ctx context.Context, builds []KernelBuild, points []subject.Point, opt TimeKernelsOptions) (*KernelTimes, error) {
	if opt.Rounds < 0 {
		return nil, fmt.Errorf("perf: time kernels: %d rounds: want at least 1, or 0 for %d", opt.Rounds, DefaultRounds)
	}
	if opt.Rounds == 0 {
		opt.Rounds = DefaultRounds
	}
	if len(points) == 0 {
		return nil, errors.New("perf: time kernels: no points")
	}
	dir, err := os.MkdirTemp("", "presage-kernels-")
	if err != nil {
		return nil, fmt.Errorf("perf: time kernels: %w", err)
	}
	defer os.RemoveAll(dir)
	t := &kernelTimer{opt: opt, out: &KernelTimes{}}
	for _, b := range builds {
		if err := t.build(ctx, dir, b, points); err != nil {
			return nil, err
		}
	}
	if len(t.commands) == 0 {
		return nil, fmt.Errorf("perf: time kernels: nothing to measure: %s", strings.Join(t.out.Warnings, "; "))
	}
	if err := t.resume(); err != nil {
		return nil, err
	}
	for t.done < opt.Rounds {
		if err := t.round(ctx); err != nil {
			return nil, err
		}
	}
	if opt.Progress != nil {
		opt.Progress(opt.Rounds, opt.Rounds)
	}
	t.out.Runs = frame.Of(t.rows)
	if opt.Partial != "" {
		if err := os.Remove(opt.Partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("perf: time kernels: %w", err)
		}
	}
	return t.out, nil
}

// timedCommand is what is run for one row of a round.
type timedCommand struct {
	build   string
	point   subject.Point
	command host.Command
}

type kernelTimer struct {
	opt      TimeKernelsOptions
	out      *KernelTimes
	commands []timedCommand // by point, then by build
	done     int            // rounds
	rows     []kernelRun
}

// build builds a program and adds its runs.
func (t *kernelTimer) build(ctx context.Context, dir string, b KernelBuild, points []subject.Point) error {
	exe := filepath.Join(dir, b.Name)
	words, err := shellquote.Split(b.Command)
	if err != nil {
		return fmt.Errorf("perf: time kernels: build %s: %w", b.Name, err)
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		t.out.Warnings = append(t.out.Warnings, fmt.Sprintf("build %s is left out: %v", b.Name, err))
		return nil
	}
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, "{exe}", exe)
	}
	if out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
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
		args, err := measure.MeasuredArguments(p, b.Args)
		if err != nil {
			return err
		}
		c := timedCommand{b.Name, p, host.Command{Path: exe, Args: args}}
		t.commands = slices.Insert(t.commands, i*built+built-1, c)
	}
	return nil
}

// key tells measurements apart that cannot go on one from the other.
func (t *kernelTimer) key() string {
	h := sha256.New()
	fmt.Fprintln(h, measure.HostName(), t.out.Built)
	for _, c := range t.commands {
		fmt.Fprintln(h, c.build, c.point, c.command.Args)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// resume reads the rounds that a measurement before this one finished.
func (t *kernelTimer) resume() error {
	if t.opt.Partial == "" {
		return nil
	}
	text, err := os.ReadFile(t.opt.Partial)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("perf: time kernels: %w", err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if lines[0] != t.key() {
		return fmt.Errorf("perf: time kernels: %s is of other programs, sizes or another machine: remove it", t.opt.Partial)
	}
	for i, line := range lines[1:] {
		seconds, err := strconv.ParseFloat(line, 64)
		if err != nil {
			return fmt.Errorf("perf: time kernels: %s:%d: %w", t.opt.Partial, i+2, err)
		}
		t.add(i, seconds)
	}
	if len(t.rows)%len(t.commands) != 0 || len(t.rows) > t.opt.Rounds*len(t.commands) {
		return fmt.Errorf("perf: time kernels: %s: %d runs are no whole rounds of %d: remove it", t.opt.Partial, len(t.rows), len(t.commands))
	}
	t.done = len(t.rows) / len(t.commands)
	return nil
}

func (t *kernelTimer) add(i int, seconds float64) {
	c := &t.commands[i%len(t.commands)]
	t.rows = append(t.rows, kernelRun{c.build, c.point, i/len(t.commands) + 1, seconds})
}

// round runs everything once, and keeps the result.
func (t *kernelTimer) round(ctx context.Context) error {
	if t.opt.Progress != nil {
		t.opt.Progress(t.done, t.opt.Rounds)
	}
	for i := range t.commands {
		seconds, err := kernelSecondsOf(ctx, t.commands[i].command)
		if err != nil {
			return err
		}
		t.add(t.done*len(t.commands)+i, seconds)
	}
	t.done++
	if t.opt.Partial == "" {
		return nil
	}
	var b strings.Builder
	fmt.Fprintln(&b, t.key())
	for _, r := range t.rows {
		fmt.Fprintln(&b, strconv.FormatFloat(r.Seconds, 'g', -1, 64))
	}
	return store.WriteFile(t.opt.Partial, []byte(b.String()))
}

var kernelSeconds = regexp.MustCompile(`(?m)^kernel_sec: ([0-9.eE+-]+)$`)

// kernelSecondsOf runs a program and returns the time of the kernel that it prints.
func kernelSecondsOf(ctx context.Context, c host.Command) (float64, error) {
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

// RecordKernelTimes writes the runs as Record does, with the host, the time, the
// compilers and the programs as their origin.
func RecordKernelTimes(path string, k *KernelTimes, builds []KernelBuild, command string) error {
	origin := fmt.Sprintf("measured on %s on %s; %s", measure.HostName(), time.Now().UTC().Format(time.RFC3339), strings.Join(k.Built, ", "))
	for _, c := range compilers(builds) {
		origin += "; " + c
	}
	return record.Record(path, k.Runs, origin, command)
}

// compilers returns what the compilers of builds say about themselves.
func compilers(builds []KernelBuild) (all []string) {
	for _, b := range builds {
		words, err := shellquote.Split(b.Command)
		if err != nil || len(words) == 0 {
			continue
		}
		flag := "--version"
		if filepath.Base(words[0]) == "go" {
			flag = "version"
		}
		out, err := exec.Command(words[0], flag).Output()
		first, _, _ := strings.Cut(string(out), "\n")
		if err == nil && !slices.Contains(all, first) {
			all = append(all, first)
		}
	}
	return all
}
