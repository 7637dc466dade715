package walltime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"presage/perf/anatomy"
	"presage/perf/host/measure"
	"presage/perf/internal/order"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/progress"
	"presage/perf/subject"
	"presage/perf/timing"
)

// Options configures a study.
type Options struct {
	Dir      string           // of the programs' sources
	Programs []Program        // nil: Programs()
	Machine  *machine.Machine // the description of this computer

	// Repeats is how often each time is measured; 0: DefaultRepeats.
	Repeats int
	// Measured, if not nil, are findings whose measurements are taken, in place of new
	// ones: what was measured then, on the computer that Machine describes, is held
	// against today's predictions. It must have every row.
	Measured *Findings
	// Prefix is a command that runs the command after it, such as "chrt -f 10", with
	// which measured programs are started; empty for none.
	Prefix []string

	subject.RunOptions // its Store and Progress
}

// DefaultRepeats is the default of Options.Repeats.
const DefaultRepeats = 15

// Row is the time of a program at a size, in seconds.
type Row struct {
	Program  string  `frame:"program"`
	Language string  `frame:"language"` // the source's ending
	N        float64 `frame:"n"`
	Largest  float64 `frame:"largest_n"` // that the models were fitted to

	Cycles    float64 `frame:"pred_cycles"`
	Faults    float64 `frame:"pred_faults"` // pages touched for the first time
	Predicted float64 `frame:"pred_time_sec"`

	Measured float64 `frame:"meas_min_time_sec"` // least: of a run that other jobs disturbed least, as calibration takes it
	Median   float64 `frame:"meas_time_sec"`
	Spread   float64 `frame:"meas_spread"` // (greatest - least) / median

	// Power is what c·n^k says, fitted to times measured at the sizes that the models
	// were fitted to, each without the time to start a process. Missing if those
	// times are hardly longer than that.
	Power    float64 `frame:"power_time_sec"`
	Exponent float64 `frame:"power_exponent"`

	Error       float64 `frame:"rel_err"`        // (predicted - measured) / measured
	MedianError float64 `frame:"median_rel_err"` // the same against the median
	PowerError  float64 `frame:"power_rel_err"`  // of Power
	Warning     string  `frame:"pred_warning"`
}

// Findings are what a study found.
type Findings struct {
	Host   string
	System System
	Rows   []Row // by program, in it by size

	origin string // of a recording; empty: measured just now
}

// Run predicts all times, and then measures them, in rounds through all programs. Only
// what was predicted is kept in the store.
func (o Options) Run(ctx context.Context) (*Findings, error) {
	if o.Machine == nil {
		return nil, errors.New("walltime: no machine: calibrate this computer first")
	}
	if err := timing.CheckMachine(o.Machine); err != nil {
		return nil, err
	}
	if o.Machine.Frequency <= 0 {
		return nil, fmt.Errorf("walltime: %s: the clock's frequency is not known, so cycles have no time", o.Machine.Name)
	}
	programs := o.Programs
	if programs == nil {
		programs = Programs()
	}
	for i := range programs {
		if err := programs[i].check(); err != nil {
			return nil, err
		}
	}
	temp, err := os.MkdirTemp("", "presage-walltime-")
	if err != nil {
		return nil, fmt.Errorf("walltime: %w", err)
	}
	defer os.RemoveAll(temp)
	s := study{Options: o, dir: temp, runner: runner{o.Prefix, o.Repeats}, found: &Findings{Host: measure.Host()}}
	if s.repeats == 0 {
		s.repeats = DefaultRepeats
	}
	for i := range programs {
		o.Progress.Report(progress.Report{Task: programs[i].Name, Done: i, Total: len(programs)})
		if err := s.predict(ctx, &programs[i]); err != nil {
			return nil, err
		}
	}
	if o.Measured != nil {
		if err := s.found.take(o.Measured); err != nil {
			return nil, err
		}
		o.Progress.Finish(len(programs))
		return s.found, nil
	}
	if s.found.System, err = s.system(ctx, temp); err != nil {
		return nil, err
	}
	if err := s.measure(ctx, programs); err != nil {
		return nil, err
	}
	o.Progress.Finish(len(programs))
	return s.found, nil
}

// study is a study under way.
type study struct {
	Options
	runner
	dir   string // of the executables
	found *Findings
}

func (s *study) exe(p *Program) string { return filepath.Join(s.dir, p.Name) }

// predict appends a program's rows, with the cycles and faults of each.
func (s *study) predict(ctx context.Context, p *Program) error {
	if err := p.Compile(ctx, s.Dir, s.exe(p)); err != nil {
		return err
	}
	prog, err := subject.Open(s.exe(p))
	if err != nil {
		return err
	}
	prog.KeepAnalysis(s.Store)
	opt := s.RunOptions
	opt.Args, opt.Progress = "{n}", nil
	train, judge := subject.Sweep("n", p.Train...), subject.Sweep("n", p.Judge...)
	page := uint64(os.Getpagesize())
	runs, err := locality.Profile(ctx, prog, train, locality.ProfileOptions{RunOptions: opt, BlockBytes: append(s.Machine.BlockBytes(), page)})
	if err != nil {
		return err
	}
	model, err := misses.Fit(ctx, runs, misses.FitOptions{Store: s.Store})
	if err != nil {
		return err
	}
	counts, err := anatomy.CountSweep(ctx, prog, train, opt)
	if err != nil {
		return err
	}
	execution, err := timing.FitExecution(ctx, counts)
	if err != nil {
		return err
	}
	times, err := timing.Predict(ctx, model, execution, s.Machine, judge, timing.PredictOptions{})
	if err != nil {
		return err
	}
	faults, err := pages(ctx, model, s.Machine, page, judge)
	if err != nil {
		return err
	}
	for i, t := range times {
		s.found.Rows = append(s.found.Rows, Row{
			Program: p.Name, Language: strings.TrimPrefix(filepath.Ext(p.Source), "."), N: t.Point["n"], Largest: slices.Max(p.Train),
			Cycles: t.Cycles, Predicted: t.Seconds, Faults: faults[i], Warning: t.Warning,
		})
	}
	return nil
}

// pages returns how many pages are touched at each point: the cold misses of a TLB
// whose entries map one.
func pages(ctx context.Context, model *misses.Model, m *machine.Machine, page uint64, points []subject.Point) ([]float64, error) {
	i := slices.IndexFunc(m.TLBs, func(t machine.TLB) bool { return t.EntryBytes == page })
	if i < 0 {
		return nil, fmt.Errorf("walltime: %s has no TLB whose entries map pages of %d bytes", m.Name, page)
	}
	rows, err := misses.Predict(ctx, model, m, points, misses.PredictOptions{Coverage: -1})
	if err != nil {
		return nil, err
	}
	var list []float64
	for _, r := range rows {
		if r.Level == m.TLBs[i].Name {
			list = append(list, r.Cold)
		}
	}
	return list, nil
}

// rounds is the number of times that all programs are gone through: what others leave of
// caches and memory changes from one minute to the next.
const rounds = 5

// run is a program and a size.
type run struct {
	program string
	n       float64
}

// measure fills in the rows of programs, whose repeats are spread over rounds.
func (s *study) measure(ctx context.Context, programs []Program) error {
	walls := make(map[run][]float64)
	n := min(rounds, s.repeats)
	for round := range n {
		repeats := repeatsOf(round, n, s.repeats)
		for i := range programs {
			p := &programs[i]
			s.Progress.Report(progress.Report{Task: fmt.Sprintf("%s, measured, round %d", p.Name, round+1), Done: round*len(programs) + i, Total: n * len(programs)})
			for _, size := range slices.Concat(p.Train, p.Judge) {
				wall, err := s.walls(ctx, repeats, s.exe(p), strconv.FormatFloat(size, 'f', -1, 64))
				if err != nil {
					return err
				}
				at := run{p.Name, size}
				walls[at] = append(walls[at], wall...)
			}
		}
	}
	for i := range programs {
		s.fill(&programs[i], walls)
	}
	return nil
}

// repeatsOf returns how many of some repeats a round of n has.
func repeatsOf(round, n, repeats int) int { return repeats*(round+1)/n - repeats*round/n }

// fill fills in the rows of a program from measured times.
func (s *study) fill(p *Program, walls map[run][]float64) {
	var small []float64
	for _, n := range p.Train {
		small = append(small, slices.Min(walls[run{p.Name, n}]))
	}
	power := fitPower(p.Train, small, s.found.System.Start)
	for i := range s.found.Rows {
		r := &s.found.Rows[i]
		if r.Program != p.Name {
			continue
		}
		t := timesOf(walls[run{p.Name, r.N}])
		r.Measured, r.Median, r.Spread = t.Min, t.Median, t.Spread
		r.Power, r.Exponent = power.at(r.N), power.k
		r.compare(s.found.System)
	}
}

// compare adds what the system takes to the predicted time, and holds it against the
// measured ones.
func (r *Row) compare(s System) {
	r.Predicted += s.Start + r.Faults*s.Fault
	r.Error, r.MedianError, r.PowerError = r.Predicted/r.Measured-1, r.Predicted/r.Median-1, r.Power/r.Measured-1
}

// take fills in rows from what was measured before.
func (f *Findings) take(before *Findings) error {
	f.Host, f.System, f.origin = before.Host, before.System, before.origin
	for i := range f.Rows {
		r := &f.Rows[i]
		at := slices.IndexFunc(before.Rows, func(b Row) bool { return b.Program == r.Program && b.N == r.N })
		if at < 0 {
			return fmt.Errorf("walltime: no measurement of %s at %g is recorded: measure anew", r.Program, r.N)
		}
		b := &before.Rows[at]
		r.Measured, r.Median, r.Spread, r.Power, r.Exponent = b.Measured, b.Median, b.Spread, b.Power, b.Exponent
		r.compare(f.System)
	}
	return nil
}

// power is start + c·n^k.
type power struct{ start, c, k float64 }

func (p power) at(n float64) float64 { return p.start + p.c*math.Pow(n, p.k) }

// fitPower fits a power to times, by least squares of logarithms. Times that are not
// half as long again as the start say little and are left out.
func fitPower(sizes, seconds []float64, start float64) power {
	var x, y []float64
	for i, t := range seconds {
		if t > 1.5*start {
			x, y = append(x, math.Log(sizes[i])), append(y, math.Log(t-start))
		}
	}
	if len(x) < 2 {
		return power{start: start, c: math.NaN(), k: math.NaN()}
	}
	mx, my := mean(x), mean(y)
	var xx, xy float64
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		xy += (x[i] - mx) * (y[i] - my)
	}
	k := xy / xx
	return power{start: start, c: math.Exp(my - k*mx), k: k}
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// Summary is how large relative errors are, without their signs.
type Summary struct {
	Of     string  `frame:"of"`
	Rows   int     `frame:"rows"`
	Median float64 `frame:"median"`
	P90    float64 `frame:"p90"`
	Worst  float64 `frame:"worst"`
}

// Summaries returns the errors of predictions, against the least and the median of
// measured times, and of powers.
func (f *Findings) Summaries() []Summary {
	of := func(name string, value func(*Row) float64) Summary {
		var all []float64
		for i := range f.Rows {
			if v := value(&f.Rows[i]); !math.IsNaN(v) {
				all = append(all, math.Abs(v))
			}
		}
		if len(all) == 0 {
			return Summary{Of: name, Median: math.NaN(), P90: math.NaN(), Worst: math.NaN()}
		}
		slices.Sort(all)
		return Summary{name, len(all), order.Median(all), order.Quantile(all, 0.9), all[len(all)-1]}
	}
	return []Summary{
		of("predicted", func(r *Row) float64 { return r.Error }),
		of("predicted, against the median of repeats", func(r *Row) float64 { return r.MedianError }),
		of("c·n^k", func(r *Row) float64 { return r.PowerError }),
	}
}
