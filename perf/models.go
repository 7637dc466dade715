package perf

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"

	"presage/perf/frame"
	"presage/perf/iperf"
	"presage/perf/study/kernels"
)

// KernelOf describes the loop nest of a routine for SearchModels, by static
// analysis of the program: trip counts, and of each memory reference its array,
// size, first location and strides. The overlay, which may be nil, supplies what a
// binary lacks: which registers hold the problem's size, and the names of arrays.
// If something is missing still, the error wraps nest.ErrMissing and says how the
// overlay would give it.
func KernelOf(prog *Program, routine string, overlay *iperf.Overlay) (*kernels.BinaryKernel, error) {
	return kernels.KernelOf(prog, routine, overlay)
}

// FindKernel returns Presage's own kernel called name or, if name is
// file.yaml:kernel, the one of that name in a file.
func FindKernel(name string) (*iperf.Kernel, error) {
	return kernels.FindKernel(name)
}

// FindSystem returns a machine that FindMachine knows as SearchModels needs it,
// with what iperf.Supplements adds.
func FindSystem(name string) (*iperf.System, error) {
	return kernels.FindSystem(name, "")
}

// SearchOptions say what SearchModels searches, and in which columns the times
// are. The zero value searches the factors that come with Presage.
type SearchOptions struct {
	// Time names the columns of times, in seconds, each a run. None: whichever of
	// meas_time_sec, sim_time_sec and time_sec the table has; it must have one.
	Time []string

	Database *iperf.Database // nil: iperf.DefaultDatabase
	Extend   string          // file of factors and models to add to it; "": none
	Without  []string        // models of it to leave out
}

// ModelSearch is what SearchModels found, as tables. Rows that describe a single
// model are about the chosen one or, if there is none, the one with the largest
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
	rows, err := timeRows(times, k.Params, opt.Time)
	if err != nil {
		return nil, fmt.Errorf("perf: search models: %w", err)
	}
	return kernels.SearchModels(ctx, rows, k, s, r, kernels.SearchOptions{Database: opt.Database, Extend: opt.Extend, Without: opt.Without})
}

// timeColumns are the columns in which SearchModels looks for times by default.
var timeColumns = []string{"meas_time_sec", "sim_time_sec", "time_sec"}

// timeRows returns a row for each row of df and column of times.
func timeRows(df dataframe.DataFrame, params, columns []string) ([]kernels.TimeRow, error) {
	if df.Err != nil {
		return nil, df.Err
	}
	if len(columns) == 0 {
		columns = slices.DeleteFunc(slices.Clone(timeColumns), func(name string) bool { return !slices.Contains(df.Names(), name) })
		if len(columns) != 1 {
			return nil, fmt.Errorf("of the columns %s, the table has %d: name those of times in the options", strings.Join(timeColumns, ", "), len(columns))
		}
	}
	if err := oneOfAKind(df); err != nil {
		return nil, err
	}
	values := make(map[string][]float64)
	for _, name := range slices.Concat(params, columns) {
		v, err := frame.Floats(df, name)
		if err != nil {
			return nil, err
		}
		for row, x := range v {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("row %d: %s is no number", row+1, name)
			}
		}
		values[name] = v
	}
	var rows []kernels.TimeRow
	for i := range df.Nrow() {
		p := make(Point)
		for _, name := range params {
			p[name] = values[name][i]
		}
		for _, name := range columns {
			rows = append(rows, kernels.TimeRow{Point: p, Seconds: values[name][i]})
		}
	}
	return rows, nil
}

// oneOfAKind returns an error if a column of text tells rows apart.
func oneOfAKind(df dataframe.DataFrame) error {
	for _, name := range df.Names() {
		if df.Col(name).Type() != series.String || name == "date" || strings.HasSuffix(name, "warning") {
			continue
		}
		text, err := frame.Strings(df, name)
		if err != nil {
			return err
		}
		for _, s := range text {
			if s != text[0] {
				return fmt.Errorf("rows with %s %q and %q: choose one with frame.Where, or leave the column out", name, text[0], s)
			}
		}
	}
	return nil
}
