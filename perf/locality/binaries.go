package locality

import (
	"context"

	"presage/perf/subject"
)

// ProfileBinaries is Profile for a program whose sizes are fixed at compile time:
// each point has its own executable of the one source. The groups of references of
// the executables are matched (see access.Matching), so that models can be fitted
// and histograms compared as if one executable had made all runs. Runs.Matching
// returns how surely groups correspond; Warnings list those that do not.
//
// RunOptions.Args need not name the parameters of the points; if it is empty,
// the executables get no arguments.
//
// If the compiler unrolls some of the executables more than others, groups are
// merged, and models have to split mixed histograms: misses near a cache's capacity
// are less certain than for sizes that the compiler treats alike. So choose sizes
// that are large enough for no loop to disappear and that, with unrolled loops,
// leave the same remainder.
//
// Tables call the program what the names of the executables have in common:
// "sweep" for sweep.20 and sweep.26.
func ProfileBinaries(ctx context.Context, points []subject.BinaryPoint, opt ProfileOptions) (*Runs, error) {
	if err := subject.CheckBinaries(points); err != nil {
		return nil, err
	}
	var at []subject.Point
	opt.RunOptions, at = opt.OfBinaries(points)
	return Profile(ctx, nil, at, opt)
}
