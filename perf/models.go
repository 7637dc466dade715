package perf

import (
	"context"
	"presage/perf/iperf"
	"presage/perf/study/kernels"

	"github.com/go-gota/gota/dataframe"
)

// BinaryKernel is a kernel that static analysis found in a program. Notes say
// what of the routine it leaves out.
type BinaryKernel = kernels.BinaryKernel

// KernelOf describes the loop nest of a routine for SearchModels, by static
// analysis of the program: trip counts, and of each memory reference its array,
// size, first location and strides. The overlay, which may be nil, says what no
// binary tells: which registers hold the problem's size, and what arrays are
// called. What else the binary does not tell is an error that wraps
// nest.ErrMissing and says how the overlay would give it.
func KernelOf(prog *Program, routine string, overlay *iperf.Overlay) (*BinaryKernel, error) {
	return kernels.KernelOf(prog, routine, overlay)
}

// SearchOptions say what SearchModels searches, and in which columns the times
// are. The zero value searches the factors that come with Presage.
type SearchOptions = kernels.SearchOptions

// ModelSearch is what SearchModels found, as tables. What they tell of one model
// alone is about the chosen one or, if there is none, the one with the largest
// share.
type ModelSearch = kernels.ModelSearch

// SearchModels finds the smallest model that explains times measured, or
// simulated, at several sizes of a kernel on a system, or the evidence that there
// is none (Hsu and Kremer, LCSR-TR363, 1998). Package iperf says how.
//
// The table of times has columns for the kernel's parameters and for times, such
// as Measure returns. Rows of the same size are runs of it: of three and more,
// all but the smallest and the largest are averaged (the report's appendix A.4),
// of two, both. Other columns of text, dates and warnings aside, must be the same
// in all rows: times of several machines or programs have no one model.
func SearchModels(ctx context.Context, times dataframe.DataFrame, k *iperf.Kernel, s *iperf.System, r iperf.Request, opt SearchOptions) (*ModelSearch, error) {
	return kernels.SearchModels(ctx, times, k, s, r, opt)
}

// FindKernel returns the kernel called name among those that come with Presage.
// To read one of a file, name it file.yaml:kernel.
func FindKernel(name string) (*iperf.Kernel, error) {
	return kernels.FindKernel(name)
}

// FindSystem returns a machine that FindMachine knows as SearchModels needs it,
// with what iperf.Supplements adds.
func FindSystem(name string) (*iperf.System, error) {
	return kernels.FindSystem(name)
}
