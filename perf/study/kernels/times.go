package kernels

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"presage/perf/host/measure"
	"presage/perf/progress"
	"presage/perf/study/record"
	"presage/perf/subject"
)

// TimingOptions say how kernels are timed. The zero value runs each point of each
// build ten times.
type TimingOptions struct {
	Rounds int // runs of each point of each build; 0: DefaultRounds

	// Prefix is the command, if any, that starts each timed run, such as chrt -f 10.
	// Compilers run as they are: at real-time priority those of several threads can
	// starve the ones that they wait for, and everything else.
	Prefix []string

	// Checkpoint is the file from which an interrupted timing resumes after its
	// last whole round; it is deleted on success. "": none is kept.
	Checkpoint string

	// Progress is called before each round, and once at the end.
	Progress progress.Func
}

// DefaultRounds is how often the report of Hsu and Kremer measures a size (1998,
// appendix A.4).
const DefaultRounds = 10

// Times are the times of kernels on this machine.
type Times struct {
	Runs      []RunRow // round by round; in a round by point, then by build
	Built     []string // name and the beginning of the SHA-256 of each executable
	Compilers []string // what the compilers print about their version
	Warnings  []string // builds that were left out because their compiler is missing
}

// RunRow is one run of a kernel.
type RunRow struct {
	Build   string        `frame:"build"`         // name of the build
	Point   subject.Point `frame:",each"`         // parameters of the run
	Round   int           `frame:"round"`         // from 1
	Seconds float64       `frame:"meas_time_sec"` // time of the kernel alone, as the program prints it
}

// Run builds programs for this machine and runs each of them at each point, round
// by round: all of them once, then all of them again. A disturbance of the machine
// then falls into a few runs of many points, where leaving out the extremes
// removes it, instead of into all runs of a few. The program prints how long its
// kernel took, as a line "kernel_sec: 0.00012"; the time to start, to fill arrays
// and to check them does not count.
//
// A build whose compiler is not installed is left out, with a warning. A run that
// fails is an error.
func (opt TimingOptions) Run(ctx context.Context, builds []Build, points []subject.Point) (*Times, error) {
	if opt.Rounds < 0 {
		return nil, fmt.Errorf("perf: time kernels: %d rounds: want at least 1, or 0 for %d", opt.Rounds, DefaultRounds)
	}
	if opt.Rounds == 0 {
		opt.Rounds = DefaultRounds
	}
	if len(points) == 0 {
		return nil, errors.New("perf: time kernels: no points")
	}
	prefix, err := opt.starter()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "presage-kernels-")
	if err != nil {
		return nil, fmt.Errorf("perf: time kernels: %w", err)
	}
	defer os.RemoveAll(dir)
	t := &timer{opt: opt, prefix: prefix, out: &Times{Compilers: compilers(builds)}}
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
	opt.Progress.Finish(opt.Rounds)
	return t.out, t.forget()
}

// Record records the runs in a CSV file, with the host, the time, the executables
// and the compilers as their origin.
func (t *Times) Record(path, command string) error {
	origin := fmt.Sprintf("measured on %s on %s; %s", measure.Host(), time.Now().UTC().Format(time.RFC3339), strings.Join(t.Built, ", "))
	for _, c := range t.Compilers {
		origin += "; " + c
	}
	return record.Write(path, t.Runs, record.Source{Origin: origin, Command: command})
}

// LoadTimes reads the runs that Record wrote. What they were built by stands in
// the origin of the recording alone.
func LoadTimes(path string) (*Times, error) {
	table, err := record.Read[RunRow](path)
	if err != nil {
		return nil, err
	}
	return &Times{Runs: table.Rows}, nil
}
