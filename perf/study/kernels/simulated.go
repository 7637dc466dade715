package kernels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"

	"presage/perf/iperf"
	"presage/perf/iperf/target"
	"presage/perf/isa"
	"presage/perf/pipeline"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/study/record"
	"presage/perf/subject"
	"presage/perf/trace"
)

// SimulationOptions say how kernels are timed on simulated machines. The zero value
// has loaded values used at once, so that the processor waits for each miss.
type SimulationOptions struct {
	// UseCycles is when the value of a load is used at the earliest, in cycles from its
	// start.
	UseCycles float64
	// FragmentPages is the mean length of fragments of free memory in pages, for
	// iperf.Fragmented; 0: target.DefaultFragmentPages.
	FragmentPages float64
	Store         *store.Store  // keeps simulated times; nil: the user's
	Progress      progress.Func // called before each size of each variant; may be nil
}

// SimulatedRow is one simulated run of a kernel.
type SimulatedRow struct {
	Machine   string        `frame:"machine"`
	Level     string        `frame:"level"`     // of the variant
	Placement string        `frame:"placement"` // of pages
	Point     subject.Point `frame:",each"`     // parameters of the run
	Seed      uint64        `frame:"seed"`      // of the places of pages
	Seconds   float64       `frame:"sim_time_sec"`
}

// Simulations are simulated times of kernels.
type Simulations struct {
	Rows    []SimulatedRow // by variant, machine, placement, point and seed
	Program string         // name and checksum of the program
}

// Record records the times in a CSV file, with the program as their origin.
func (s *Simulations) Record(path, command string) error {
	return record.Write(path, s.Rows, record.Source{Origin: "simulated by the engine and perf/iperf/target; " + s.Program, Command: command})
}

// timesVersion changes when stored times change their meaning: 1.
const timesVersion = 1

// timesKey is what the times of a variant at a size depend on.
type timesKey struct {
	Inputs   subject.Inputs
	Routines string
	Plan     string
	Configs  []configKey
}

type configKey struct {
	System        iperf.System
	UseCycles     float64
	FragmentPages float64
	Seed          uint64
}

// simulation is one under way.
type simulation struct {
	opt   SimulationOptions
	prog  *subject.Program
	store *store.Store
}

// configuration is a machine as one run of a variant meets it.
type configuration struct {
	machine string
	config  target.Config
}

// Run runs each variant of a program once at each point, and times it as often as the
// variant says on each of the machines: names that FindSystem knows. Only the blocks
// and references of the variant's routines take time. Finished sizes are kept in the
// store, so that an interrupted simulation goes on where it was.
func (opt SimulationOptions) Run(ctx context.Context, prog *subject.Program, variants []Variant, machines []string, points []subject.Point) (*Simulations, error) {
	if len(variants) == 0 || len(machines) == 0 || len(points) == 0 {
		return nil, errors.New("perf: simulate kernels: want a variant, a machine and a point at least")
	}
	st, err := store.OrDefault(opt.Store)
	if err != nil {
		return nil, err
	}
	s := &simulation{opt: opt, prog: prog, store: st}
	out := &Simulations{Program: fmt.Sprintf("program %s SHA-256 %.12s", prog.Name, prog.File.SHA256)}
	done := 0
	for _, v := range variants {
		plan, err := s.plan(v.Routines)
		if err != nil {
			return nil, err
		}
		for _, machine := range machines {
			configs, err := s.configurations(v, machine)
			if err != nil {
				return nil, err
			}
			rows := make([][]SimulatedRow, len(configs))
			for _, p := range points {
				opt.Progress.Report(progress.Report{Task: fmt.Sprintf("%s on %s, %s", v.Level, machine, p), Done: done, Total: len(variants) * len(machines) * len(points)})
				done++
				times, err := s.times(ctx, v, plan, configs, p)
				if err != nil {
					return nil, err
				}
				for i, c := range configs {
					rows[i] = append(rows[i], SimulatedRow{machine, v.Level, c.config.System.Placement.String(), p, c.config.Seed, times[i]})
				}
			}
			out.Rows = append(out.Rows, byPoint(configs, rows)...)
		}
	}
	opt.Progress.Finish(done)
	return out, nil
}

// byPoint brings rows, a list for each configuration, into the order of placement,
// point and seed.
func byPoint(configs []configuration, rows [][]SimulatedRow) (all []SimulatedRow) {
	for first := 0; first < len(configs); {
		last := first
		for last < len(configs) && configs[last].config.System.Placement == configs[first].config.System.Placement {
			last++
		}
		for i := range rows[first] {
			for _, of := range rows[first:last] {
				all = append(all, of[i])
			}
		}
		first = last
	}
	return all
}

// plan records the blocks and references of routines.
func (s *simulation) plan(pattern string) (*trace.Plan, error) {
	var code [][]isa.Inst
	for _, r := range s.prog.Structure().Graph.Routines {
		if ok, err := path.Match(pattern, r.Name); err != nil || !ok {
			continue
		}
		for _, b := range r.Blocks {
			if len(b.Insts) > 0 {
				code = append(code, b.Insts)
			}
		}
	}
	if len(code) == 0 {
		return nil, fmt.Errorf("perf: simulate kernels: %s has no routine %s", s.prog.Name, pattern)
	}
	slices.SortFunc(code, func(a, b []isa.Inst) int { return cmp.Compare(a[0].PC, b[0].PC) })
	plan, err := pipeline.Plan(code)
	if err != nil {
		return nil, fmt.Errorf("perf: simulate kernels: %w", err)
	}
	return plan, nil
}

// configurations are a machine with the pages of a variant's runs.
func (s *simulation) configurations(v Variant, machine string) (all []configuration, err error) {
	for _, p := range v.Placements {
		system, err := FindSystem(machine, "")
		if err != nil {
			return nil, err
		}
		system.Placement = p
		runs := v.Runs
		if p == iperf.Coloured {
			runs = 1
		}
		for seed := range uint64(runs) {
			c := target.Config{System: system, UseCycles: s.opt.UseCycles, Seed: seed, FragmentPages: s.opt.FragmentPages}
			if err := c.Check(); err != nil {
				return nil, fmt.Errorf("perf: simulate kernels: %w", err)
			}
			all = append(all, configuration{machine, c})
		}
	}
	return all, nil
}

// times returns the seconds of a variant at a point in each configuration.
func (s *simulation) times(ctx context.Context, v Variant, plan *trace.Plan, configs []configuration, p subject.Point) ([]float64, error) {
	in, err := s.prog.Inputs(p, subject.RunOptions{Args: v.Args})
	if err != nil {
		return nil, err
	}
	inputs := timesKey{Inputs: in, Routines: v.Routines, Plan: plan.Digest()}
	for _, c := range configs {
		inputs.Configs = append(inputs.Configs, configKey{*c.config.System, s.opt.UseCycles, s.opt.FragmentPages, c.config.Seed})
	}
	key, err := store.NewKey("kernel-times", timesVersion, inputs)
	if err != nil {
		return nil, err
	}
	kept, err := store.Memo(s.store, key, func() ([]float64, error) { return s.simulate(ctx, in, plan, configs) })
	return kept.Value, err
}

// simulate runs the program once, with a machine for each configuration.
func (s *simulation) simulate(ctx context.Context, in subject.Inputs, plan *trace.Plan, configs []configuration) ([]float64, error) {
	var collectors []trace.Collector
	for _, c := range configs {
		one, err := target.NewCollector(plan, c.config)
		if err != nil {
			return nil, fmt.Errorf("perf: simulate kernels: %w", err)
		}
		collectors = append(collectors, one)
	}
	if _, err := s.prog.Run(ctx, subject.Request{Inputs: in, Plan: plan, Collectors: collectors}); err != nil {
		return nil, err
	}
	var times []float64
	for _, c := range collectors {
		r, err := c.(*target.Collector).Result()
		if err != nil {
			return nil, fmt.Errorf("perf: simulate kernels: %w", err)
		}
		times = append(times, rounded(r.Seconds))
	}
	return times, nil
}

// rounded rounds a time to the digits that are recorded.
func rounded(seconds float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(seconds, 'g', timeDigits, 64), 64)
	if err != nil {
		return seconds // never: it was formatted from a number
	}
	return v
}

// timeDigits are those of a time that is recorded.
const timeDigits = 7
