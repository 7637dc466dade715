package sparse

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"presage/perf/campaign"
	"presage/perf/progress"
	"presage/perf/spmv"
	"presage/perf/store"
	"presage/perf/study/record"
)

// Options say how matrices are studied. The zero value is the paper's study.
type Options struct {
	Train, Validate int     // samples of block sizes and caches a matrix; 0: 400 and 100
	Share           float64 // of the rows, from which fill ratios are estimated; 0: 0.02
	Seed            uint64
	Objectives      []spmv.Objective   // of tuning; nil: performance and energy
	Timing          spmv.TimeOptions   // of the kernels on the machine at hand
	Kernels         spmv.KernelOptions // of scalar, vector and threaded ones there
	Parts           []Part             // tables that Run makes; nil: all
	Store           *store.Store       // keeps simulations; nil: the default store
	Progress        progress.Func      // called before each block size of each matrix
	// Campaign has simulations done by other processes; nil: by this one. The results
	// are the same.
	Campaign *campaign.Runner
}

func (o Options) withDefaults() (Options, error) {
	if o.Train == 0 {
		o.Train = 400
	}
	if o.Validate == 0 {
		o.Validate = 100
	}
	if o.Share == 0 {
		o.Share = defaultShare
	}
	if o.Train < 0 || o.Validate < 0 {
		return o, fmt.Errorf("perf: spmv: %d samples to train and %d to validate", o.Train, o.Validate)
	}
	if o.Objectives == nil {
		o.Objectives = []spmv.Objective{spmv.Fastest, spmv.Frugal}
	}
	var err error
	o.Store, err = store.OrDefault(o.Store)
	return o, err
}

// defaultShare is the share of a matrix's rows that fill ratios are estimated from.
const defaultShare = 0.02

// report reports that done of total steps for a matrix are finished.
func (o *Options) report(matrix, what string, done, total int) {
	o.Progress.Report(progress.Report{Task: matrix + ": " + what, Done: done, Total: total})
}

// Part is a table of the study.
type Part string

// The parts of the study.
const (
	MatricesPart Part = "matrices"
	FillPart     Part = "fill"
	SamplesPart  Part = "samples"
	TuningPart   Part = "tuning"
	NativePart   Part = "native"
	KernelsPart  Part = "native-kernels"
)

// Parts returns all parts in the order in which they are made.
func Parts() []Part {
	return []Part{MatricesPart, FillPart, SamplesPart, TuningPart, NativePart, KernelsPart}
}

// Check returns an error if p is not one of Parts.
func (p Part) Check() error {
	if !slices.Contains(Parts(), p) {
		return fmt.Errorf("%q: want matrices, fill, samples, tuning, native or native-kernels", string(p))
	}
	return nil
}

// Findings are the tables of a study; those of parts that were not made are nil.
type Findings struct {
	Matrices []MatrixRow
	Fill     []FillRow
	Samples  []Sample
	Tuning   []Tuned
	Native   []NativeRow
	Kernels  []KernelRow
}

// Run makes tables for some matrices. The store keeps simulations, so an
// interrupted study resumes.
func (o Options) Run(ctx context.Context, matrices []*spmv.Matrix) (*Findings, error) {
	parts := o.Parts
	if parts == nil {
		parts = Parts()
	}
	for _, p := range parts {
		if err := p.Check(); err != nil {
			return nil, fmt.Errorf("perf: spmv: part %w", err)
		}
	}
	f := new(Findings)
	for _, p := range parts {
		var err error
		switch p {
		case MatricesPart:
			f.Matrices = Describe(matrices)
		case FillPart:
			f.Fill, err = Fill(matrices, o)
		case SamplesPart:
			f.Samples, err = Samples(ctx, matrices, o)
		case TuningPart:
			f.Tuning, err = o.tuning(ctx, matrices)
		case NativePart:
			f.Native, err = Native(ctx, matrices, o)
		case KernelsPart:
			f.Kernels, err = NativeKernels(ctx, matrices, o)
		}
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// tuning samples matrices, which the store may hold already, and tunes them.
func (o Options) tuning(ctx context.Context, matrices []*spmv.Matrix) ([]Tuned, error) {
	samples, err := Samples(ctx, matrices, o)
	if err != nil {
		return nil, err
	}
	model, err := Fit(ctx, samples, FitOptions{Store: o.Store})
	if err != nil {
		return nil, err
	}
	return model.Tune(ctx, matrices, o)
}

// Record writes the tables of f that were made into a folder, PART.csv each;
// record.Record keeps their origin and the command beside them.
func (f *Findings) Record(dir, command string) error {
	for _, step := range []func() error{
		func() error {
			return save(dir, MatricesPart, f.Matrices, "matrices: of a file or generated where stand_in is false, else synthesised for one of Table 4 (2012)", command)
		},
		func() error {
			return save(dir, FillPart, f.Fill, "fill ratios: counted, and estimated from 2% of the rows", command)
		},
		func() error {
			return save(dir, SamplesPart, f.Samples, "simulated: one product from empty caches a row", command)
		},
		func() error {
			return save(dir, TuningPart, f.Tuning, "predicted by models of samples.csv, the best simulated", command)
		},
		func() error {
			return save(dir, NativePart, f.Native, "measured: processor time of one thread, median over 5 passes of the least of 5 products", command)
		},
		func() error { return save(dir, KernelsPart, f.Kernels, kernelOrigin(), command) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// save records the rows of a part, if there are any.
func save[R any](dir string, part Part, rows []R, origin, command string) error {
	if rows == nil {
		return nil
	}
	return record.Write(filepath.Join(dir, string(part)+".csv"), rows, record.Source{Origin: origin, Command: command})
}

// Load reads parts of a study that Record wrote, all of them for none.
func Load(dir string, parts ...Part) (*Findings, error) {
	if len(parts) == 0 {
		parts = Parts()
	}
	f := new(Findings)
	for _, p := range parts {
		err := p.Check()
		switch p {
		case MatricesPart:
			err = load(dir, p, &f.Matrices)
		case FillPart:
			err = load(dir, p, &f.Fill)
		case SamplesPart:
			err = load(dir, p, &f.Samples)
		case TuningPart:
			err = load(dir, p, &f.Tuning)
		case NativePart:
			err = load(dir, p, &f.Native)
		case KernelsPart:
			err = load(dir, p, &f.Kernels)
		}
		if err != nil {
			return nil, fmt.Errorf("perf: spmv: %w", err)
		}
	}
	return f, nil
}

// load reads the rows that save recorded for a part.
func load[R any](dir string, part Part, rows *[]R) error {
	t, err := record.Read[R](filepath.Join(dir, string(part)+".csv"))
	if err != nil {
		return fmt.Errorf("%w; record the table anew", err)
	}
	*rows = t.Rows
	return nil
}
