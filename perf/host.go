package perf

import (
	"context"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/host/calibration"
	"presage/perf/host/measure"
)

// Calibration is what was measured of the machine that this runs on, and its
// description. Everything in it is measured, except what host.Geometry says.
type Calibration = calibration.Calibration

// Calibrate measures the machine that it runs on: see package host for how. It
// takes some 30 s of a processor, 7 s with Quick, and is disturbed by whatever
// else runs; Profile.Warnings say what is doubtful.
func Calibrate(ctx context.Context, opt calibration.Options) (*Calibration, error) {
	return calibration.Calibrate(ctx, opt)
}

// MeasureOptions say how Measure runs a program. The zero value runs it once to
// warm up and then five times, with the arguments that Profile would give it and
// no input. Unlike there it has the caller's environment, with Env added, and sees
// the host's files.
type MeasureOptions = measure.Options

// Measure runs a program natively at each point, several times, and returns what
// a real clock and, where Linux offers them, real counters showed: a row for
// each point. The program is a folder of a Go main package, which is compiled
// for this machine, or an executable for it.
//
//   - host, date: where and when; a measurement is not reproducible, and so is
//     kept in no store. Record keeps a table with its origin
//   - repeats: runs that were measured
//   - meas_time_sec: median wall time of the process, from its start to its end;
//     meas_min_time_sec the least; meas_spread is (greatest - least) / median
//   - meas_cpu_time_sec: median processor time of all its threads
//   - meas_cycles, meas_instructions, meas_cache_misses (of the last cache),
//     meas_branch_misses: medians, outside the operating system; missing if there
//     are no counters
//   - meas_warning: what is doubtful, and why there are no counters
//
// A run that fails is an error.
func Measure(ctx context.Context, dirOrBinary string, points []Point, opt MeasureOptions) (dataframe.DataFrame, error) {
	return table(measure.Run(ctx, dirOrBinary, points, opt))
}
