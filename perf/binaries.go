package perf

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/machine"
)

// BinaryPoint is a point with the executable that was compiled for it, where a
// program has its problem size fixed at compile time.
type BinaryPoint struct {
	Point   Point
	Program *Program
}

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
func ProfileBinaries(ctx context.Context, points []BinaryPoint, opt ProfileOptions) (*Runs, error) {
	if err := checkBinaries(points); err != nil {
		return nil, err
	}
	opt.compiledIn = true
	return profileAll(ctx, commonName(points), points, opt)
}

// SimulateBinaries does what SimulateMisses does for a program whose sizes are
// fixed at compile time. Tables call it what ProfileBinaries would call it, so
// that Compare finds the predictions made from other executables of it; scopes
// are those of each executable.
func SimulateBinaries(ctx context.Context, points []BinaryPoint, m *machine.Machine, opt SimulateOptions) (dataframe.DataFrame, error) {
	scope, err := opt.By.check()
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	if err := checkBinaries(points); err != nil {
		return dataframe.DataFrame{}, err
	}
	st, err := storeOrDefault(opt.Store)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	opt.compiledIn = true
	name := commonName(points)
	var rows []simRow
	for i, p := range points {
		sim, err := simulateOne(ctx, p.Program, opt.hierarchy(m), p.Point, opt, st, opt.reporter(p.Point, i, len(points)))
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		fresh, err := simRows(p.Program, scope, sim, simRow{Program: name, Point: p.Point, Machine: m.Name})
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		for j := range fresh {
			if scope == ByProgram {
				fresh[j].Scope = name
			}
		}
		rows = append(rows, fresh...)
	}
	opt.finished(len(points))
	return frame.Of(rows), nil
}

func checkBinaries(points []BinaryPoint) error {
	if len(points) == 0 {
		return errors.New("perf: no points")
	}
	for _, p := range points {
		if p.Program == nil {
			return fmt.Errorf("perf: point %q has no program", p.Point)
		}
	}
	return nil
}

// commonName returns what the names of executables have in common: once the
// values of their points are taken out, if that leaves one name, else what they
// begin with; the first one's name if that is nothing.
func commonName(points []BinaryPoint) string {
	name, same := "", true
	prefix := points[0].Program.Name
	for i, p := range points {
		short := withoutValues(p.Program.Name, p.Point)
		if i == 0 {
			name = short
		}
		same = same && short == name
		for !strings.HasPrefix(p.Program.Name, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	switch prefix = strings.TrimRight(prefix, separators+"0123456789"); {
	case prefix == points[0].Program.Name:
		return prefix
	case same && name != "":
		return name
	case prefix != "":
		return prefix
	}
	return points[0].Program.Name
}

// separators are what stands between the parts of a file's name.
const separators = ".-_"

// withoutValues takes the point's values, and the names of the parameters before
// them, out of an executable's name, where they are parts of it: sweep.20 and
// sweep-n20 become sweep for n=20.
func withoutValues(name string, point Point) string {
	isSeparator := func(r rune) bool { return strings.ContainsRune(separators, r) }
	begin := 0
	out := ""
	for begin <= len(name) {
		end := len(name)
		if i := strings.IndexFunc(name[begin:], isSeparator); i >= 0 {
			end = begin + i
		}
		if part := name[begin:end]; !isValue(part, point) {
			if out != "" {
				out += name[begin-1 : begin]
			}
			out += part
		}
		begin = end + 1
	}
	return out
}

func isValue(part string, point Point) bool {
	for param, v := range point {
		if text := formatValue(v); part == text || part == param+text {
			return true
		}
	}
	return false
}
