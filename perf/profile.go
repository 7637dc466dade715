package perf

import (
	"context"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/locality"
)

// Hottest returns the groups of references with the most accesses in the last
// run, at most limit of them (0: all that were executed), most first. References
// of a loop with similar access patterns form a group: see access.Groups.
//
//   - routine, file, line, pc: where the group's first reference is
//   - kind (load, store, read-modify-write), size_bytes, float: of that one
//   - references: in the group
//   - accesses, and cold_accesses among them
//   - mean_distance_blocks: of the accesses that are not cold, for blocks of
//     blockBytes; missing if there are none
func Hottest(runs *Runs, blockBytes uint64, limit int) (dataframe.DataFrame, error) {
	return locality.Hottest(runs, blockBytes, limit)
}

// HistogramOptions say which reuse-distance histogram is wanted.
type HistogramOptions = locality.HistogramOptions

// ReuseHistogram returns the reuse-distance histogram of the references chosen,
// summed over them, at each point: a row for each bin that is not empty, or
// one row with the bin [0, 0) if all are.
//
//   - block_bytes: size of memory blocks
//   - lo_blocks, hi_blocks: the bin holds distances from lo up to but not
//     including hi
//   - accesses: in the bin
//   - cold_accesses: those of the whole histogram, which are in no bin
func ReuseHistogram(runs *Runs, opt HistogramOptions) (dataframe.DataFrame, error) {
	return locality.ReuseHistogram(runs, opt)
}

// ProfileOptions say what Profile collects. The zero value is the documented
// default throughout.
type ProfileOptions = locality.ProfileOptions

// Runs are the profiles of one program at several points: of one executable,
// or of several that were compiled for a point each.
type Runs = locality.Runs

// Run is the profile of one run.
type Run = locality.Run

// Profile runs prog at each point and collects, for every memory reference, the
// exact reuse-distance histogram at several block sizes, in one run a point.
// Results are kept in the store, each as soon as its run has ended: a sweep that
// is interrupted goes on where it stopped.
func Profile(ctx context.Context, prog *Program, points []Point, opt ProfileOptions) (*Runs, error) {
	return locality.Profile(ctx, prog, points, opt)
}

// LoadRuns reads the runs that Save wrote.
func LoadRuns(dir string) (*Runs, error) {
	return locality.LoadRuns(dir)
}
