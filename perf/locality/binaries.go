package locality

import (
	"context"

	"presage/perf/subject"
)

// ProfileBinaries does what Profile does for a program whose sizes are fixed at
// compile time: each point has its own executable of the one source. The groups
// of references of the executables are matched (see access.Matching), so that
// models can be fitted and histograms compared as if one executable had made
// all runs. What of them corresponds, and how surely, is what Runs.Matching
// tells; the Warnings say what does not.
//
// RunOptions.Args need not name the parameters of the points; if it is empty,
// the executables get no arguments.
//
// Where compilers unroll some of the executables more than others, groups are
// put together, and models have to split mixed histograms: misses near a cache's
// capacity are less sure than for sizes that the compiler treats alike. So
// choose sizes that are not so small that loops disappear and, with unrolled
// loops, that leave the same remainder.
//
// Tables call the program what the names of the executables have in common:
// "sweep" for sweep.20 and sweep.26.
func ProfileBinaries(ctx context.Context, points []subject.BinaryPoint, opt ProfileOptions) (*Runs, error) {
	if err := subject.CheckBinaries(points); err != nil {
		return nil, err
	}
	opt.CompiledIn = true
	return profileAll(ctx, subject.CommonName(points), points, opt)
}
