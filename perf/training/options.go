package training

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/subject"
)

// Options configures Train. Parameter and Until must be given; the zero value of all
// else is the documented default.
type Options struct {
	// ProfileOptions say how the program is run, what is collected, and where it is
	// kept. SampleOneIn must be 0: Train chooses what is sampled. Of Binaries, each is
	// of a size that may be run; those above Until are not.
	locality.ProfileOptions
	// Fit says how models are fitted; its store is that of the ProfileOptions.
	Fit misses.FitOptions

	// Parameter is the one that the sizes are values of, whole numbers, and Fixed
	// are the values of the others.
	Parameter string
	Fixed     subject.Point
	// Until is the size for which predictions are wanted. No run is larger.
	Until float64
	// From is the smallest size; 0: Until/12 or DefaultFrom, whichever is more, but
	// no more than Until/4.
	From float64

	// Budget is what runs and fits may take: the wall time of this machine. Those
	// that the store holds count with the time that they took when they were made,
	// so that a repeated call makes the same choices. 0: DefaultBudget.
	//
	// A run is begun if what is left suffices by the pace of those before, and ended
	// once nothing is left, so that the budget is exceeded by one fit at most. The
	// first sizes are run without such an estimate.
	Budget time.Duration
	// Error is the relative error requested, such as 0.02, of nine in ten of the
	// misses judged; 0: DefaultError.
	Error float64

	// seconds, if not nil, replaces the time that work took by another: tests have a
	// clock of their own.
	seconds func(work float64, oneIn uint64) float64
}

// Defaults of Options.
const (
	DefaultFrom   = 8.0
	DefaultBudget = 2 * time.Minute
	DefaultError  = 0.02
)

const (
	firstSizes  = 5 // that are run before anything is judged
	leastSizes  = 4 // that a model with one held out takes
	maxFailures = 5 // sizes at which the program may fail
)

// check returns the options with their defaults.
func (opt Options) check(prog *subject.Program) (Options, error) {
	switch {
	case opt.Parameter == "":
		return opt, errors.New("perf: train: no parameter: name the one that is the size, such as n")
	case !(opt.Until > 0) || math.IsInf(opt.Until, 0):
		return opt, fmt.Errorf("perf: train: until %s = %g: want the size that predictions are for", opt.Parameter, opt.Until)
	case opt.Budget < 0:
		return opt, fmt.Errorf("perf: train: a budget of %s", opt.Budget)
	case opt.Error < 0 || math.IsNaN(opt.Error):
		return opt, fmt.Errorf("perf: train: an error of %g: want a share such as 0.02", opt.Error)
	case opt.SampleOneIn != 0 || opt.SampleEvenly:
		return opt, errors.New("perf: train: which runs are sampled is chosen here: want no SampleOneIn")
	case prog == nil && len(opt.Binaries) == 0:
		return opt, errors.New("perf: train: no program")
	case prog != nil && len(opt.Binaries) > 0:
		return opt, errors.New("perf: train: want one program for all sizes, or an executable for each, and not both")
	}
	if _, twice := opt.Fixed[opt.Parameter]; twice {
		return opt, fmt.Errorf("perf: train: %s is fixed, and is to vary", opt.Parameter)
	}
	opt.Budget, opt.Error = cmp.Or(opt.Budget, DefaultBudget), cmp.Or(opt.Error, DefaultError)
	if opt.From == 0 {
		opt.From = min(max(DefaultFrom, math.Round(opt.Until/12)), math.Floor(opt.Until/4))
	}
	if len(opt.Binaries) > 0 {
		return opt, opt.checkBinaries()
	}
	if most := opt.Until - firstSizes; !(opt.From >= 1) || opt.From > most {
		return opt, fmt.Errorf("perf: train: from %s = %g until %g: want at least 1, and %d sizes beyond it", opt.Parameter, opt.From, opt.Until, firstSizes)
	}
	return opt, nil
}

// checkBinaries returns an error if the executables are not of one sweep.
func (opt *Options) checkBinaries() error {
	if err := subject.CheckBinaries(opt.Binaries); err != nil {
		return err
	}
	if n := len(opt.Binaries); n < leastSizes {
		return fmt.Errorf("perf: train: executables of %d sizes: a model with one held out takes %d", n, leastSizes)
	}
	var sizes []float64
	for _, b := range opt.Binaries {
		v, ok := b.Point[opt.Parameter]
		switch {
		case !ok:
			return fmt.Errorf("perf: train: the executable %s is of %s, which has no %s", b.Program.Name, b.Point, opt.Parameter)
		case len(b.Point) != 1 || len(opt.Fixed) > 0:
			return fmt.Errorf("perf: train: the executable %s is of %s: want %s alone", b.Program.Name, b.Point, opt.Parameter)
		case slices.Contains(sizes, v):
			return fmt.Errorf("perf: train: two executables of %s", b.Point)
		}
		sizes = append(sizes, v)
	}
	return nil
}

// point returns the point of a size.
func (opt *Options) point(size float64) subject.Point {
	p := subject.Point{opt.Parameter: size}
	for name, v := range opt.Fixed {
		p[name] = v
	}
	return p
}
