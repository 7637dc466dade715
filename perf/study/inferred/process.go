package inferred

import (
	"cmp"
	"slices"

	"presage/perf/infer"
)

// kernel returns the prior of Options.Process. Its numbers were chosen by a random
// search on profiles of the use Choose, with a quarter of the training rows; those of
// Counted also serve any other set.
func (s Set) kernel() infer.Kernel {
	if s == Portable {
		return portableKernel
	}
	return countedKernel
}

// countedKernel: a quadratic trend; what shards alike do on machines alike, broadly
// and closely; and what a shard does on all machines, and a machine to all shards. On new
// software the trend in its characteristics misleads and is nearly flat.
var countedKernel = infer.Kernel{
	Trend:    infer.Trend{Variance: 0.032, Software: 0.053, Hardware: 0.44, Degree: 2},
	Likeness: []infer.Likeness{{Variance: 0.12, Software: 3.4, Hardware: 0.85}, {Variance: 0.32, Software: 1.4, Hardware: 1.1}, {Variance: 0.12, Software: 0.26}, {Variance: 0.09, Hardware: 1.7}},
	Noise:    0.0033,
}

// portableKernel has the same parts.
var portableKernel = infer.Kernel{
	Trend:    infer.Trend{Variance: 0.057, Software: 0.38, Hardware: 1.4, Degree: 2},
	Likeness: []infer.Likeness{{Variance: 0.92, Software: 1.1, Hardware: 2.3}, {Variance: 0.13, Software: 0.053, Hardware: 1.1}, {Variance: 0.023, Software: 0.18}, {Variance: 0.029, Hardware: 0.88}},
	Noise:    0.00083,
}

// fitted is what a study judges: the model of a system, or a process in its place.
type fitted struct {
	*infer.System
	process *infer.Process
}

// Predict returns the responses predicted for the rows of a table.
func (f fitted) Predict(t *infer.Table) ([]float64, error) {
	if f.process != nil {
		return f.process.Predict(t)
	}
	return f.Model.Predict(t)
}

// processOf fits a process to a table. Variables of hardware, and those in which
// software meets it, follow those of software.
func (r *runner) processOf(t *infer.Table) (fitted, error) {
	software := slices.Index(t.Names, infer.HardwareSpace()[0].Name)
	kernel := r.Variables.kernel()
	kernel.Trend.Degree = cmp.Or(r.Products, kernel.Trend.Degree)
	p, err := infer.NewProcess(t, software, kernel)
	return fitted{&infer.System{Table: t, Search: new(infer.State)}, p}, err
}
