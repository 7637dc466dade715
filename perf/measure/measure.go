package measure

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"presage/perf/frame"
	"presage/perf/host"
	"presage/perf/internal/num"
	"presage/perf/progress"
	"presage/perf/study/record"
	"presage/perf/subject"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-gota/gota/dataframe"
)

// MeasureOptions say how Measure runs a program. The zero value runs it once to
// warm up and then five times, as Profile would: with one "-name value" pair of
// arguments for each parameter, and no input. Unlike there it has the caller's
// environment, with Env added, and sees the host's files.
type MeasureOptions struct {
	Args  string   // template for the arguments; see Point.Arguments
	Env   []string // NAME=value, added to the environment of this process
	Stdin string

	// Repeats is how often each point is measured; 0: DefaultRepeats.
	Repeats int
	// WarmUp is how often a point is run before it is measured; 0: once,
	// negative: never.
	WarmUp int

	// Progress, if not nil, is called before the runs of each point, and once at
	// the end.
	Progress progress.Func
}

// DefaultRepeats is how often Measure measures a point by default.
const DefaultRepeats = 5

// What Measure finds doubtful.
const (
	doubtfulSpread = 0.1                   // of the repeats of a point
	shortRun       = 20 * time.Millisecond // of which starting a process is a part that counts
)

// MeasuredRow is a point of Measure.
type MeasuredRow struct {
	Program      string             `frame:"program"`
	Point        map[string]float64 `frame:",each"`
	Host         string             `frame:"host"`
	Date         string             `frame:"date"`
	Repeats      int                `frame:"repeats"`
	Seconds      float64            `frame:"meas_time_sec"`
	Min          float64            `frame:"meas_min_time_sec"`
	Spread       float64            `frame:"meas_spread"`
	CPU          float64            `frame:"meas_cpu_time_sec"`
	Cycles       float64            `frame:"meas_cycles"`
	Instructions float64            `frame:"meas_instructions"`
	CacheMisses  float64            `frame:"meas_cache_misses"`
	BranchMisses float64            `frame:"meas_branch_misses"`
	Warning      string             `frame:"meas_warning"`
}

// Measure runs a program natively at each point, several times, and returns what
// a real clock and, where Linux offers them, real counters showed: a row for
// each point. The program is a folder of a Go main package, which is compiled
// for this machine, or an executable for it.
//
//   - host, date: where and when; a measurement is not reproducible, and so is
//     kept in no store. Record keeps a table with its origin
//   - repeats: runs that were measured
//   - meas_time_sec: median wall time of the process, from its start to its end;
//     meas_min_time_sec the least; meas_spread is (most - least) / median
//   - meas_cpu_time_sec: median processor time of all its threads
//   - meas_cycles, meas_instructions, meas_cache_misses (of the last cache),
//     meas_branch_misses: medians, outside the operating system; missing if there
//     are no counters
//   - meas_warning: what is doubtful, and why there are no counters
//
// A run that fails is an error.
func Measure(ctx context.Context, dirOrBinary string, points []subject.Point, opt MeasureOptions) (dataframe.DataFrame, error) {
	rows, err := measure(ctx, dirOrBinary, points, opt)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	return frame.Of(rows), nil
}

func measure(ctx context.Context, dirOrBinary string, points []subject.Point, opt MeasureOptions) ([]MeasuredRow, error) {
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
		args, err := MeasuredArguments(p, opt.Args)
		if err != nil {
			return nil, err
		}
		commands[i] = host.Command{Args: args, Env: append(os.Environ(), opt.Env...), Stdin: opt.Stdin}
	}
	exe, done, err := native(dirOrBinary)
	if err != nil {
		return nil, err
	}
	defer done()
	var rows []MeasuredRow
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

func MeasuredArguments(p subject.Point, template string) ([]string, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	for _, name := range []string{"host", "date", "repeats"} {
		if _, clash := p[name]; clash {
			return nil, fmt.Errorf("perf: measure: parameter %q has the name of a column of the table; call it otherwise", name)
		}
	}
	return p.Arguments(template)
}

func measurePoint(ctx context.Context, c host.Command, opt MeasureOptions) (MeasuredRow, error) {
	var runs []host.Execution
	for i := range max(0, opt.WarmUp) + opt.Repeats {
		stdout, stderr := new(subject.Tail), new(subject.Tail)
		c.Stdout, c.Stderr = stdout, stderr
		run, err := host.Execute(ctx, c)
		if err != nil {
			if ctx.Err() != nil {
				return MeasuredRow{}, ctx.Err()
			}
			command := strings.Join(append([]string{filepath.Base(c.Path)}, c.Args...), " ")
			return MeasuredRow{}, fmt.Errorf("perf: measure: %s: %w; a failed run is not measured%s", command, err, subject.Quote(stderr, stdout))
		}
		if i >= opt.WarmUp {
			runs = append(runs, run)
		}
	}
	return summarize(runs, HostName(), time.Now()), nil
}

// HostName is what a measurement says about the machine.
func HostName() string { return host.Name() + " " + runtime.GOOS + "/" + runtime.GOARCH }

// summarize makes a row of the runs of a point, of which there is at least one.
func summarize(runs []host.Execution, hostName string, when time.Time) MeasuredRow {
	wall := ascending(runs, func(e host.Execution) float64 { return e.Wall.Seconds() })
	row := MeasuredRow{
		Host: hostName, Date: when.UTC().Format(time.DateOnly), Repeats: len(runs),
		Seconds: num.Median(wall), Min: slices.Min(wall), Spread: (slices.Max(wall) - slices.Min(wall)) / num.Median(wall),
		CPU:    num.Median(ascending(runs, func(e host.Execution) float64 { return e.CPU.Seconds() })),
		Cycles: math.NaN(), Instructions: math.NaN(), CacheMisses: math.NaN(), BranchMisses: math.NaN(),
	}
	var doubts []string
	if row.Spread > doubtfulSpread {
		doubts = append(doubts, fmt.Sprintf("repeats differ by %.0f%% of the median", 100*row.Spread))
	}
	if row.Seconds < shortRun.Seconds() {
		doubts = append(doubts, "a short run: starting the process is a part of it")
	}
	running := 1.0
	for _, e := range runs {
		if e.NoCounts != nil {
			row.Warning = strings.Join(append(doubts, e.NoCounts.Error()), "; ")
			return row
		}
		running = min(running, e.Counts.Running)
	}
	row.Cycles = num.Median(ascending(runs, func(e host.Execution) float64 { return e.Counts.Cycles }))
	row.Instructions = num.Median(ascending(runs, func(e host.Execution) float64 { return e.Counts.Instructions }))
	row.CacheMisses = num.Median(ascending(runs, func(e host.Execution) float64 { return e.Counts.CacheMisses }))
	row.BranchMisses = num.Median(ascending(runs, func(e host.Execution) float64 { return e.Counts.BranchMisses }))
	if running < 1 {
		doubts = append(doubts, fmt.Sprintf("counters ran for %.0f%% of the time and are extrapolated", 100*running))
	}
	row.Warning = strings.Join(doubts, "; ")
	return row
}

func ascending(runs []host.Execution, of func(host.Execution) float64) []float64 {
	values := make([]float64, len(runs))
	for i, e := range runs {
		values[i] = of(e)
	}
	slices.Sort(values)
	return values
}

// native returns an executable for this machine: the one named, or that built
// of a folder, and what removes it again.
func native(path string) (exe string, done func(), err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", nil, fmt.Errorf("perf: measure: %w", err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", nil, fmt.Errorf("perf: measure: %w", err)
	}
	if !info.IsDir() {
		return abs, func() {}, Foreign(abs)
	}
	temp, err := os.MkdirTemp("", "presage-measure-")
	if err != nil {
		return "", nil, fmt.Errorf("perf: measure: %w", err)
	}
	done = func() { os.RemoveAll(temp) }
	exe = filepath.Join(temp, filepath.Base(abs))
	if err := buildNative(abs, exe); err != nil {
		done()
		return "", nil, err
	}
	return exe, done, nil
}

// buildNative runs go build in dir for this machine, with the flags of
// crossCompile.
func buildNative(dir, exe string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", exe, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("perf: measure: the go command is not on the PATH: %w", err)
	}
	if err != nil {
		return fmt.Errorf("perf: measure: go build in %s: %w\n%s", dir, err, strings.TrimSpace(string(out)))
	}
	if info, err := os.Stat(exe); err != nil || info.Mode()&0o111 == 0 { // an archive: no main package
		return fmt.Errorf("perf: measure: %s is no folder of a Go main package", dir)
	}
	return nil
}

// Foreign reports an ELF executable for another processor. Emulated it would run
// in some setups, and its time would say nothing about this machine.
func Foreign(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return nil // no ELF file: if it is no program either, running it says so
	}
	defer f.Close()
	want, known := map[string]elf.Machine{
		"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "riscv64": elf.EM_RISCV,
	}[runtime.GOARCH]
	if known && f.Machine != want {
		return fmt.Errorf("perf: measure: %s is for %v, and this machine is %s: name the folder of its Go source, or an executable built for this machine", path, f.Machine, runtime.GOARCH)
	}
	return nil
}

// measuredOrigin says where, when and of what a measurement is.
func measuredOrigin(path string, when time.Time) (string, error) {
	origin := fmt.Sprintf("measured on %s, %d processors, on %s", HostName(), runtime.GOMAXPROCS(0), when.UTC().Format(time.RFC3339))
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

// RecordMeasurement writes a table of Measure as Record does, with the host, the
// time and the program as its origin.
func RecordMeasurement(path string, df dataframe.DataFrame, dirOrBinary, command string) error {
	abs, err := filepath.Abs(dirOrBinary)
	if err != nil {
		return fmt.Errorf("perf: measure: %w", err)
	}
	origin, err := measuredOrigin(abs, time.Now())
	if err != nil {
		return err
	}
	return record.Record(path, df, origin, command)
}
