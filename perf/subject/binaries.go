package subject

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// BinaryPoint is a point with the executable that was compiled for it, where a
// program has its problem size fixed at compile time.
type BinaryPoint struct {
	Point   Point
	Program *Program
}

// Sweeping is what is run at some points.
type Sweeping struct {
	Name    string        // of the program, in tables
	Points  []BinaryPoint // with the program that is run at each
	Options RunOptions    // for these runs
}

// Sweep returns what is run at points: prog at all of them or, if that is nil, the
// executables of the options.
func (opt RunOptions) Sweep(prog *Program, points []Point) (*Sweeping, error) {
	s := &Sweeping{Options: opt}
	switch {
	case prog != nil && len(opt.Binaries) > 0:
		return nil, errors.New("perf: want one program for all points, or an executable for each (RunOptions.Binaries), and not both")
	case prog != nil:
		s.Name = prog.Name
		for _, p := range points {
			s.Points = append(s.Points, BinaryPoint{p, prog})
		}
		return s, nil
	case len(opt.Binaries) == 0:
		return nil, errors.New("perf: no program, and no executables in its place (RunOptions.Binaries)")
	}
	if err := CheckBinaries(opt.Binaries); err != nil {
		return nil, err
	}
	s.Name, s.Options.CompiledIn = CommonName(opt.Binaries), true
	for _, p := range points {
		i := slices.IndexFunc(opt.Binaries, func(b BinaryPoint) bool { return maps.Equal(b.Point, p) })
		if i < 0 {
			return nil, fmt.Errorf("perf: no executable for %s among the %d given", p, len(opt.Binaries))
		}
		s.Points = append(s.Points, opt.Binaries[i])
	}
	return s, nil
}

// Each calls do for each point in turn, with the program that is run there and what it loads,
// up to the first error, and reports the end as progress.
func (s *Sweeping) Each(ctx context.Context, do func(step Step, loaded Loaded) error) error {
	for i, p := range s.Points {
		loaded, err := p.Program.At(ctx, p.Point, s.Options)
		if err != nil {
			return err
		}
		if err := do(Step{Options: &s.Options, Point: p.Point, Done: i, Total: len(s.Points)}, loaded); err != nil {
			return err
		}
	}
	s.Options.Progress.Finish(len(s.Points))
	return nil
}

// OfBinaries returns the options with executables, and their points.
func (opt RunOptions) OfBinaries(binaries []BinaryPoint) (RunOptions, []Point) {
	opt.Binaries = binaries
	points := make([]Point, len(binaries))
	for i, b := range binaries {
		points[i] = b.Point
	}
	return opt, points
}

// CheckBinaries returns an error if there are no points, or one has no program.
func CheckBinaries(points []BinaryPoint) error {
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

// CommonName returns the name that tables give to executables of one program:
// their name without the values of their points, if that is the same for all, or
// their common prefix, or, if that is empty, the name of the first.
func CommonName(points []BinaryPoint) string {
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

// separators separate the parts of a file's name.
const separators = ".-_"

// withoutValues returns an executable's name without the parts that are a value of
// the point, or a parameter's name and value: sweep.20 and sweep-n20 become sweep
// for n=20.
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
