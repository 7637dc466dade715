package locality

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"presage/perf/subject"
)

// Join returns the profiles of several calls of Profile or ProfileBinaries as one
// sweep, in the order given. Exact and sampled ones may be joined. It returns an
// error if a point occurs twice, or if the parts differ in their parameters or
// block sizes.
func Join(parts ...*Runs) (*Runs, error) {
	joined := new(Runs)
	for i, part := range parts {
		if i == 0 {
			joined.Name = part.Name
		}
		if part.Name != joined.Name {
			joined.Name = "" // several executables: Label finds what their names share
		}
		for _, w := range part.Warnings {
			if !slices.Contains(joined.Warnings, w) {
				joined.Warnings = append(joined.Warnings, w)
			}
		}
		for _, run := range part.Runs {
			if err := joined.takes(&run); err != nil {
				return nil, err
			}
			joined.Runs = append(joined.Runs, run)
		}
	}
	if len(joined.Runs) == 0 {
		return nil, errors.New("perf: no runs to join")
	}
	return joined, joined.share()
}

// takes returns an error if a run cannot be one of r.
func (r *Runs) takes(run *Run) error {
	for i := range r.Runs {
		if maps.Equal(r.Runs[i].Point, run.Point) {
			return fmt.Errorf("perf: join: two profiles of %s", run.Point)
		}
	}
	if len(r.Runs) == 0 {
		return nil
	}
	first := &r.Runs[0]
	if !slices.Equal(first.Point.Names(), run.Point.Names()) {
		return fmt.Errorf("perf: join: profiles of %s and of %s, which have other parameters", first.Point, run.Point)
	}
	one := Runs{Runs: []Run{*run}}
	if want, got := r.BlockBytes(), one.BlockBytes(); !slices.Equal(want, got) {
		return fmt.Errorf("perf: join: blocks of %v bytes at %s and of %v bytes at %s", want, first.Point, got, run.Point)
	}
	return nil
}

// RecordedAt returns what the histograms of a run that Profile would make depend
// on, shared libraries that it would load apart. Its error says why the program
// cannot be run at the point with these options.
func (opt *ProfileOptions) RecordedAt(of subject.BinaryPoint) (Recorded, error) {
	in, err := of.Program.Inputs(of.Point, opt.RunOptions)
	if err != nil {
		return Recorded{}, err
	}
	return opt.recorded(of.Program, in)
}
