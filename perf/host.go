package perf

import (
	"context"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/host/calibration"
	"presage/perf/host/measure"
)

// Calibrate measures the machine that it runs on: see package host for how. It
// takes some 30 s of a processor, 7 s with Quick, and is disturbed by whatever
// else runs; Profile.Warnings say what is doubtful.
func Calibrate(ctx context.Context, opt calibration.Options) (*calibration.Calibration, error) {
	return calibration.Calibrate(ctx, opt)
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
//     meas_min_time_sec the least; meas_spread is (greatest - least) / median
//   - meas_cpu_time_sec: median processor time of all its threads
//   - meas_cycles, meas_instructions, meas_cache_misses (of the last cache),
//     meas_branch_misses: medians, outside the operating system; missing if there
//     are no counters
//   - meas_warning: what is doubtful, and why there are no counters
//
// A run that fails is an error.
func Measure(ctx context.Context, dirOrBinary string, points []Point, opt measure.Options) (dataframe.DataFrame, error) {
	return table(measure.Run(ctx, dirOrBinary, points, opt))
}
