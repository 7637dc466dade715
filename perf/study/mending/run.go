// Package mending holds advice against what comes of it: kernels with a problem each
// are simulated, as they are and with the change that is advised carried out, and the
// gain that was predicted is compared with the difference. What goes in is the source of
// the kernels and a machine; what comes out is a row for each kernel.
package mending

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"presage/perf/advice"
	"presage/perf/internal/child"
	"presage/perf/internal/num"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/misses/replayed"
	"presage/perf/patterns"
	"presage/perf/predict"
	"presage/perf/sharing"
	"presage/perf/store"
	"presage/perf/study/record"
	"presage/perf/subject"
	"presage/perf/timing"
)

// Kernel is a kernel of the source with what is advised on it.
type Kernel struct {
	Number int // -DKERNEL
	Name   string
	Level  string      // that has the problem
	Advice advice.Kind // Nothing: it has none
	Size   float64     // at which the change is simulated
	Train  []float64   // sizes that models are fitted to; nil: advice of its kind takes a simulation
}

// Kernels returns the kernels of datasets/advice/kernels.c. Their problems and sizes were
// chosen for machines with first-level caches of 32 KiB and some dozens of TLB entries.
func Kernels() []Kernel {
	vectors := []float64{5000, 6000, 7000, 8000, 9000}
	return []Kernel{
		{1, "columns", "L1", advice.Interchange, 1000, []float64{520, 560, 600, 640, 680, 720}},
		{2, "product", "L1", advice.Tile, 250, []float64{80, 96, 104, 112, 128, 144}},
		{3, "transpose", "L1", advice.Tile, 1000, []float64{520, 560, 600, 640, 680, 720}},
		{4, "two loops", "L1", advice.Fuse, 40000, vectors},
		{5, "steps", "L1", advice.TileSteps, 40000, vectors},
		{6, "one field of eight", "L2", advice.Split, 40000, nil},
		{7, "twelve arrays", "L1", advice.Pad, 8000, nil},
		{8, "cube", "L1", advice.Interchange, 100, []float64{40, 44, 48, 52, 56, 60}},
		{9, "random table", "L1 TLB", advice.HugePages, 300, nil},
		{10, "stream", "L1", advice.Nothing, 40000, vectors},
		{11, "Gauss-Seidel steps", "L1", advice.TileSteps, 40000, vectors},
		{12, "product from both sides", "L1", advice.Fuse, 400, []float64{100, 112, 128, 144, 160}},
		{13, "two fields of four", "L3", advice.Split, 40000, nil},
		{14, "eight vectors", "L1", advice.TileSteps, 300, []float64{96, 104, 112, 128, 144}},
		{15, "random chain", "L1", advice.Nothing, 1000, nil},
		{16, "counters of threads", "L1", advice.Privatise, 20000, nil},
		{17, "every fourth element", "L1", advice.Privatise, 10000, nil},
		{18, "progress beside a step", "L1", advice.Privatise, 20000, nil},
		{19, "cleared, then set", "L1", advice.Initialise, 40000, vectors},
		{20, "eight vectors, four rows", "L1", advice.TileSteps, 300, []float64{96, 104, 112, 128, 144}}, // of 14, mended as advice is worded
	}
}

// Row is a kernel with its advice and what came of it.
type Row struct {
	Kernel  string      `frame:"kernel"`
	N       float64     `frame:"n"`
	Machine string      `frame:"machine"`
	Level   string      `frame:"level"`
	Advice  advice.Kind `frame:"advice"`     // with the largest gain, of the kind that the kernel is about
	Before  float64     `frame:"sim_misses"` // Privatise: of all threads, on a core each
	After   float64     `frame:"sim_misses_mended"`
	Saved   float64     `frame:"sim_gain_misses"` // Before - After
	Gain    float64     `frame:"pred_gain_misses"`
	Low     float64     `frame:"pred_gain_misses_low"`
	High    float64     `frame:"pred_gain_misses_high"`
	Error   float64     `frame:"rel_err"` // (Gain - Saved) / Saved
	// Model is the gain that models predict from runs of up to ModelFrom, with replays as
	// presage advise has them; missing where advice takes a simulation. ModelError is its
	// relative error.
	Model      float64 `frame:"pred_gain_misses_model"`
	ModelFrom  float64 `frame:"model_n"`
	ModelError float64 `frame:"rel_err_model"`

	// The same with the machine's prefetchers: the demand misses that they leave.
	Left           float64 `frame:"sim_demand_misses"`
	LeftAfter      float64 `frame:"sim_demand_misses_mended"`
	LeftGain       float64 `frame:"pred_gain_demand_misses"`
	LeftError      float64 `frame:"rel_err_demand"`
	LeftModel      float64 `frame:"pred_gain_demand_misses_model"`
	LeftModelError float64 `frame:"rel_err_demand_model"`
	// Cycles is the latency of the demand misses of all caches, if none overlap, Late the
	// waits for late prefetches, and CyclesGain and LateGain what advice says that the
	// change saves of these.
	Cycles       float64 `frame:"sim_demand_cycles"`
	CyclesAfter  float64 `frame:"sim_demand_cycles_mended"`
	CyclesGain   float64 `frame:"pred_gain_demand_cycles"`
	CyclesError  float64 `frame:"rel_err_demand_cycles"`
	Late         float64 `frame:"sim_late_cycles"`
	LateAfter    float64 `frame:"sim_late_cycles_mended"`
	LateGain     float64 `frame:"pred_gain_late_cycles"`
	CoveredShare float64 `frame:"sim_covered_share"` // of the kernel's misses, by prefetches, also late ones
}

// Options configures Run.
type Options struct {
	Source   string           // kernels.c
	Compiler string           // of C for linux/riscv64; empty: riscv64-linux-gnu-gcc
	Machine  *machine.Machine // with the levels of the kernels
	Kernels  []Kernel         // nil: all
	Models   bool             // predict from small sizes, too
	Store    *store.Store     // nil: the default store
}

// Findings is a row for each kernel, in their order.
type Findings struct{ Rows []Row }

// Run compiles and simulates the kernels.
func (opt Options) Run(ctx context.Context) (*Findings, error) {
	if len(opt.Kernels) == 0 {
		opt.Kernels = Kernels()
	}
	dir, err := os.MkdirTemp("", "presage-mending-")
	if err != nil {
		return nil, fmt.Errorf("perf: mending: %w", err)
	}
	defer os.RemoveAll(dir)
	f := new(Findings)
	for i := range opt.Kernels {
		row, err := opt.kernel(ctx, dir, &opt.Kernels[i])
		if err != nil {
			return nil, fmt.Errorf("perf: mending: %s: %w", opt.Kernels[i].Name, err)
		}
		f.Rows = append(f.Rows, row)
	}
	return f, nil
}

// kernel holds the advice on one kernel against what comes of it.
func (opt *Options) kernel(ctx context.Context, dir string, k *Kernel) (Row, error) {
	nan := math.NaN()
	row := Row{Kernel: k.Name, N: k.Size, Machine: opt.Machine.Name, Level: k.Level, Model: nan, ModelFrom: nan, ModelError: nan, LeftModel: nan, LeftModelError: nan}
	before, err := opt.compile(ctx, dir, k, "")
	if err != nil {
		return row, err
	}
	run := subject.RunOptions{Store: opt.Store}
	at := []subject.Point{{"n": k.Size}}
	advised, err := advice.Simulate(ctx, before, opt.Machine, at, patterns.SimulateOptions{RunOptions: run, Prefetching: true, Timing: opt.timing()})
	if err != nil {
		return row, err
	}
	a, ok := chosen(advised, k)
	if !ok {
		return row, fmt.Errorf("%s has no level %s", opt.Machine.Name, k.Level)
	}
	row.Advice, row.Before, row.Gain, row.Low, row.High = a.Advice, a.Misses, a.Gain, a.Low, a.High
	after, on := before, opt.Machine
	switch k.Advice {
	case advice.HugePages:
		on = withHugePages(opt.Machine)
	case advice.Nothing:
	default:
		if after, err = opt.compile(ctx, dir, k, "-DMENDED"); err != nil {
			return row, err
		}
	}
	if k.Advice == advice.Privatise {
		return row, opt.threads(ctx, &row, &a, before, after, at)
	}
	mended, err := misses.Simulate(ctx, after, on, at, misses.SimulateOptions{RunOptions: run})
	if err != nil {
		return row, err
	}
	i := slices.IndexFunc(mended, func(r misses.SimulatedRow) bool { return r.Level == k.Level })
	row.After = mended[i].Misses
	row.Saved = row.Before - row.After
	row.Error = num.RelErr(row.Gain, row.Saved)
	if err := opt.ahead(ctx, &row, &a, before, after, on, at); err != nil {
		return row, err
	}
	if !opt.Models || len(k.Train) == 0 {
		return row, nil
	}
	row.ModelFrom = slices.Max(k.Train)
	m, err := opt.modelled(ctx, before, k)
	if err != nil {
		return row, err
	}
	row.Model, row.LeftModel = m.Gain, m.Ahead.Left
	row.ModelError, row.LeftModelError = num.RelErr(row.Model, row.Saved), num.RelErr(row.LeftModel, row.Left-row.LeftAfter)
	return row, nil
}

// threads simulates a kernel of threads and what it becomes, each thread on a core of its
// own, without prefetchers.
func (opt *Options) threads(ctx context.Context, row *Row, a *advice.Row, before, after *subject.Program, at []subject.Point) error {
	sum := func(prog *subject.Program) (misses float64, err error) {
		rows, err := sharing.SimulateCaches(ctx, prog, opt.Machine, at, sharing.CacheOptions{RunOptions: subject.RunOptions{Store: opt.Store}})
		for i := range rows {
			if rows[i].Level == row.Level {
				misses += rows[i].Misses
			}
		}
		return misses, err
	}
	var err error
	if row.Before, err = sum(before); err != nil {
		return err
	}
	if row.After, err = sum(after); err != nil {
		return err
	}
	row.Saved = row.Before - row.After
	row.Error = num.RelErr(row.Gain, row.Saved)
	row.Left, row.LeftAfter, row.LeftGain, row.LeftError = row.Before, row.After, a.Ahead.Left, num.RelErr(a.Ahead.Left, row.Saved)
	for _, unknown := range []*float64{&row.Cycles, &row.CyclesAfter, &row.CyclesGain, &row.CyclesError, &row.Late, &row.LateAfter, &row.LateGain} {
		*unknown = math.NaN()
	}
	return nil
}

// timing tells time where prefetchers are simulated.
func (opt *Options) timing() misses.Timing { return timing.Clock(opt.Machine, opt.Store) }

// ahead simulates a kernel and what it becomes with prefetchers.
func (opt *Options) ahead(ctx context.Context, row *Row, a *advice.Row, before, after *subject.Program, on *machine.Machine, at []subject.Point) error {
	b, err := opt.exposed(ctx, before, opt.Machine, at, row.Level)
	if err != nil {
		return err
	}
	c, err := opt.exposed(ctx, after, on, at, row.Level)
	if err != nil {
		return err
	}
	row.Left, row.LeftAfter, row.Cycles, row.CyclesAfter, row.CoveredShare = b.left, c.left, b.cycles, c.cycles, b.covered
	row.Late, row.LateAfter, row.LateGain = b.late, c.late, a.CyclesLate
	row.LeftGain, row.CyclesGain = a.Ahead.Left, a.CyclesHigh-a.CyclesLate
	row.LeftError, row.CyclesError = num.RelErr(row.LeftGain, row.Left-row.LeftAfter), num.RelErr(row.CyclesGain, row.Cycles-row.CyclesAfter)
	return nil
}

// exposure is what prefetchers leave of a run.
type exposure struct{ left, covered, cycles, late float64 }

// exposed simulates a run with prefetchers. Of a TLB all misses are left.
func (opt *Options) exposed(ctx context.Context, prog *subject.Program, m *machine.Machine, at []subject.Point, level string) (x exposure, err error) {
	run := misses.SimulateOptions{RunOptions: subject.RunOptions{Store: opt.Store}}
	rows, err := misses.SimulatePrefetching(ctx, prog, m, at, misses.PrefetchOptions{SimulateOptions: run, Timing: opt.timing()})
	if err != nil {
		return x, err
	}
	penalties, _ := predict.Penalties(m)
	for i := range rows {
		r := &rows[i]
		x.late += r.Wait
		for _, p := range penalties {
			if p.Level == r.Level {
				x.cycles += r.Left * p.Latency
			}
		}
		if r.Level == level {
			x.left, x.covered = r.Left, r.Share
		}
	}
	if !slices.ContainsFunc(rows, func(r misses.PrefetchedRow) bool { return r.Level == level }) {
		all, err := misses.Simulate(ctx, prog, m, at, run)
		if err != nil {
			return x, err
		}
		x.left = all[slices.IndexFunc(all, func(r misses.SimulatedRow) bool { return r.Level == level })].Misses
	}
	return x, nil
}

// chosen returns the advice on the kernel's level of its kind, or else the first.
func chosen(rows []advice.Row, k *Kernel) (advice.Row, bool) {
	for _, kind := range []advice.Kind{k.Advice, ""} {
		for i := range rows {
			if rows[i].Level == k.Level && (kind == "" || rows[i].Advice == kind) {
				return rows[i], true
			}
		}
	}
	return advice.Row{}, false
}

// modelled returns the advice on what models of small sizes predict.
func (opt *Options) modelled(ctx context.Context, prog *subject.Program, k *Kernel) (advice.Row, error) {
	runs, err := locality.Profile(ctx, prog, subject.Sweep("n", k.Train...), locality.ProfileOptions{
		RunOptions: subject.RunOptions{Store: opt.Store}, BlockBytes: opt.Machine.BlockBytes(), Carriers: true,
	})
	if err != nil {
		return advice.Row{}, err
	}
	model, err := misses.Fit(ctx, runs, misses.FitOptions{Store: opt.Store})
	if err != nil {
		return advice.Row{}, err
	}
	corrector, err := replayed.Correctors(nil, replayed.Options{})(ctx, model, opt.Machine)
	if err != nil {
		return advice.Row{}, err
	}
	rows, err := patterns.Predict(ctx, model, opt.Machine, []subject.Point{{"n": k.Size}}, patterns.PredictOptions{Corrector: corrector, Prefetching: true, Timing: opt.timing(), Store: opt.Store})
	if err != nil {
		return advice.Row{}, err
	}
	advised, err := advice.Predicted(opt.Machine, rows)
	if err != nil {
		return advice.Row{}, err
	}
	a, _ := chosen(advised, k)
	return a, nil
}

// withHugePages returns a machine whose TLBs map 2 MiB with each entry.
func withHugePages(m *machine.Machine) *machine.Machine {
	huge := *m
	huge.TLBs = slices.Clone(m.TLBs)
	for i := range huge.TLBs {
		huge.TLBs[i].EntryBytes = 2 << 20
	}
	return &huge
}

// defaultCompiler is the command of a cross compiler, and debian the package that has
// it.
const (
	defaultCompiler = "riscv64-linux-gnu-gcc"
	debian          = "gcc-riscv64-linux-gnu"
)

// compile makes the executable of a kernel.
func (opt *Options) compile(ctx context.Context, dir string, k *Kernel, more string) (*subject.Program, error) {
	compiler := opt.Compiler
	if compiler == "" {
		compiler = defaultCompiler
	}
	source, err := filepath.Abs(opt.Source)
	if err != nil {
		return nil, err
	}
	exe := filepath.Join(dir, fmt.Sprintf("kernel%d%s", k.Number, strings.ToLower(more)))
	args := []string{
		"-O2", "-g", "-static", "-nostdlib", "-ffreestanding", "-fno-tree-loop-distribute-patterns",
		"-fdebug-prefix-map=" + filepath.Dir(source) + "=.", fmt.Sprintf("-DKERNEL=%d", k.Number), "-o", exe, filepath.Base(source),
	}
	if more != "" {
		args = append(args, more)
	}
	cmd := child.Command(ctx, compiler, args...)
	cmd.Dir = filepath.Dir(source)
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return subject.Open(exe)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%w (Debian: apt-get install %s)", err, debian)
	}
	return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(string(out)))
}

// Record records the findings in a file, and lists it in recordings.csv beside it.
// command makes them again.
func (f *Findings) Record(path, command string) error {
	return record.Write(path, f.Rows, record.Source{Origin: "predicted and simulated by presage", Command: command})
}

// Load reads findings that Record wrote.
func Load(path string) (*Findings, error) {
	t, err := record.Read[Row](path)
	if err != nil {
		return nil, err
	}
	return &Findings{t.Rows}, nil
}
