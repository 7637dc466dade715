package inferred

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/infer"
	"presage/perf/subject"
)

// PredictCPIOptions say how a program is looked at. The zero value is what the
// models were made with.
type PredictCPIOptions struct {
	subject.RunOptions

	// Length of a shard in instructions, how many are drawn, one from each of so
	// many equal parts of the run, for how long before each the caches are kept
	// up, and the seed: as in InferCampaign.
	Length uint64
	Shards int
	Warm   uint64
	Seed   uint64

	// Simulate also simulates the shards on each architecture, which takes some
	// seconds for each dozen.
	Simulate bool
}

// CPIPrediction is what a program is predicted to take on an architecture, in
// cycles per instruction: means over its shards.
type CPIPrediction struct {
	Architecture int                `frame:"architecture"` // number in the list asked for
	Parameters   map[string]float64 `frame:",each"`

	// What each limit would cost by itself, and the sum that the model corrects.
	Core   float64 `frame:"core_cpi"`
	Branch float64 `frame:"branch_cpi"`
	L1I    float64 `frame:"l1i_miss_cpi"`
	L1D    float64 `frame:"l1d_miss_cpi"`
	L2     float64 `frame:"l2_miss_cpi"`
	Sum    float64 `frame:"sum_cpi"`

	// Outside is how many of the shards lie outside of what the model was made
	// from, in a variable or in the correction that they ask for.
	Outside int `frame:"outside_shards"`

	Predicted float64 `frame:"pred_cpi"`
	Simulated float64 `frame:"sim_cpi"` // 0: it was not
}

// LoadInferModel returns the model of the best spec that a study of
// InferLimitSet recorded, fitted anew to the campaign's profiles: dir holds the
// campaign's tables, and its folder limits those of the study.
func LoadInferModel(dir string) (*infer.Model, error) {
	profiles, err := LoadInferProfiles(dir)
	if err != nil {
		return nil, err
	}
	found, err := LoadInferFindings(filepath.Join(dir, string(LimitSet)))
	if err != nil {
		return nil, err
	}
	if len(found.Specs) == 0 {
		return nil, fmt.Errorf("perf: infer: %s has no specs", filepath.Join(dir, string(LimitSet)))
	}
	spec, err := found.Specs[0].SpecOf(Variables(LimitSet))
	if err != nil {
		return nil, err
	}
	m, err := infer.Fit(profiles.Table(profiles.training(), LimitSet), spec, infer.FitOptions{Scaling: scaling, Ridge: ridge})
	if err != nil {
		return nil, fmt.Errorf("perf: infer: %s: %w", dir, err)
	}
	return m, nil
}

// PredictCPI looks at shards of a program's run and predicts, by a model of
// InferLimitSet, its cycles per instruction on each of some architectures. The
// program is run twice, once more to simulate, however many they are, and what was
// found is kept in the store. Warnings name what makes predictions doubtful.
func PredictCPI(ctx context.Context, prog *subject.Program, m *infer.Model, architectures []infer.Architecture, opt PredictCPIOptions) (rows []CPIPrediction, warnings []string, err error) {
	if len(architectures) == 0 {
		return nil, nil, errors.New("perf: infer: no architectures to predict for")
	}
	p, err := surveyProgram(ctx, prog, architectures, opt)
	if err != nil {
		return nil, nil, err
	}
	var asked []Profile // each shard on each architecture
	for a := range architectures {
		for k := range p.Shards {
			asked = append(asked, Profile{Variant: p.Shards[k].Variant, Shard: k, Architecture: a, Instructions: 1, Cycles: 1})
		}
	}
	t := p.Table(asked, LimitSet)
	predicted, err := m.Predict(t)
	if err != nil {
		return nil, nil, err
	}
	shards, misses := p.shards(), p.misses()
	for a, h := range p.Hardware {
		row := CPIPrediction{Architecture: a, Parameters: h.Parameters}
		for k := range p.Shards {
			key := shardKey{p.Shards[k].Variant, k}
			c := inferCase{shards[key], misses[key], h.Parameters}
			row.add(c.costs(), predicted[a*len(p.Shards)+k], float64(len(p.Shards)))
		}
		rows = append(rows, row)
	}
	for _, q := range p.Profiles {
		rows[q.Architecture].Simulated += q.CPI() / float64(len(p.Shards))
	}
	warning, err := inferOutside(rows, m, t, len(p.Shards))
	return rows, slices.Concat(p.Warnings, warning), err
}

// add adds a shard's part of the means over so many shards.
func (r *CPIPrediction) add(c *inferCosts, predicted, shards float64) {
	r.Core += c.core / shards
	r.Branch += c.branch / shards
	r.L1I += c.l1i / shards
	r.L1D += c.l1d() / shards
	r.L2 += c.l2() / shards
	r.Sum += c.sum() / shards
	r.Predicted += predicted / shards
}

// surveyProgram is what a campaign does for a variant, for any program.
func surveyProgram(ctx context.Context, prog *subject.Program, architectures []infer.Architecture, opt PredictCPIOptions) (*Profiles, error) {
	c := Campaign{Length: opt.Length, Shards: opt.Shards, Warm: opt.Warm, Seed: opt.Seed, Store: opt.Store}
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	in, err := prog.Inputs(nil, opt.RunOptions)
	if err != nil {
		return nil, err
	}
	out := new(Profiles)
	v := program{campaign: &c, application: prog.Name, variant: prog.Name, prog: prog, in: in, out: out}
	if err := v.prepare(ctx, rand.New(rand.NewPCG(c.Seed, 0)), opt.RunOptions); err != nil {
		return nil, err
	}
	if err := v.look(ctx); err != nil {
		return nil, err
	}
	var jobs []inferJob
	for i, a := range architectures {
		h := Hardware{Architecture: i, Parameters: make(map[string]float64)}
		if _, err := a.Details(); err != nil {
			return nil, fmt.Errorf("perf: architecture %d: %w", i, err)
		}
		for j, y := range infer.HardwareSpace() {
			h.Parameters[y.Name] = a[j]
		}
		out.Hardware = append(out.Hardware, h)
		job := inferJob{number: i}
		for k := range v.windows {
			job.shards = append(job.shards, k)
		}
		jobs = append(jobs, job)
	}
	if !opt.Simulate {
		return out, nil
	}
	return out, v.simulate(ctx, architectures, jobs)
}

// inferOutside marks the rows whose shards, so many a row, lie outside of what
// the model was made from, and says where.
func inferOutside(rows []CPIPrediction, m *infer.Model, t *infer.Table, shards int) (warnings []string, err error) {
	outside, err := m.Outside(t)
	if err != nil {
		return nil, err
	}
	bounded, err := m.Bounded(t)
	if err != nil {
		return nil, err
	}
	marked, variables := 0, make(map[int]bool)
	for i, out := range outside {
		if len(out) == 0 && !bounded[i] {
			continue
		}
		marked++
		rows[i/shards].Outside++
		for _, v := range out {
			variables[v] = true
		}
	}
	if marked == 0 {
		return nil, nil
	}
	var names []string
	for v, s := range m.Basis.Scales {
		if variables[v] {
			names = append(names, s.Name)
		}
	}
	return []string{fmt.Sprintf("%d of %d shards on architectures lie outside of what the model was made from (%s): their predictions are in doubt, see outside_shards",
		marked, len(outside), cmp.Or(strings.Join(names, ", "), "by the correction"))}, nil
}

// CPIPredictionTable is predictions as a table, without the column of simulated
// CPI if none was.
func CPIPredictionTable(rows []CPIPrediction) dataframe.DataFrame {
	df := frame.Of(rows)
	if slices.ContainsFunc(rows, func(r CPIPrediction) bool { return r.Simulated > 0 }) {
		return df
	}
	return df.Drop("sim_cpi")
}

// ReadArchitectures reads architectures from a CSV file with a column for each
// parameter of Table 2, in any order; other columns are ignored.
func ReadArchitectures(path string) ([]infer.Architecture, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("perf: architectures: %w", err)
	}
	df, err := frame.ReadCSV(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", path, err)
	}
	if df.Nrow() == 0 {
		return nil, fmt.Errorf("perf: %s: no architectures below the header", path)
	}
	list := make([]infer.Architecture, df.Nrow())
	for _, y := range infer.HardwareSpace() {
		values, err := frame.Floats(df, y.Name)
		if err != nil {
			return nil, fmt.Errorf("perf: %s: %w", path, err)
		}
		for i, x := range values {
			list[i] = append(list[i], x)
		}
	}
	for i, a := range list {
		if _, err := a.Details(); err != nil {
			return nil, fmt.Errorf("perf: %s: row %d: %w", path, i+1, err)
		}
	}
	return list, nil
}
