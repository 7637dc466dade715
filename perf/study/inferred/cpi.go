package inferred

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"presage/perf/infer"
	"presage/perf/subject"
)

// PredictCPIOptions say how a program is surveyed. The zero value is how the
// recorded model was made.
type PredictCPIOptions struct {
	subject.RunOptions

	// Length of a shard in instructions, how many are drawn, one from each of as
	// many equal parts of the run, for how many instructions before each the
	// caches are filled, and the seed: as in Campaign.
	Length uint64
	Shards int
	Warm   uint64
	Seed   uint64

	// Simulate also simulates the shards on each architecture, which takes some
	// seconds for each dozen.
	Simulate bool
}

// CPIPrediction is the predicted cycles per instruction of a program on an
// architecture: means over its shards.
type CPIPrediction struct {
	Architecture int                `frame:"architecture"` // index of the architecture asked for
	Parameters   map[string]float64 `frame:",each"`        // of Table 2: see infer.HardwareSpace

	// What each limit would cost by itself, and the sum that the model corrects.
	Core   float64 `frame:"core_cpi"`
	Branch float64 `frame:"branch_cpi"`
	L1I    float64 `frame:"l1i_miss_cpi"`
	L1D    float64 `frame:"l1d_miss_cpi"`
	L2     float64 `frame:"l2_miss_cpi"`
	Sum    float64 `frame:"sum_cpi"`

	// Outside is the number of shards outside the data that the model was fitted
	// to, in a variable or in the correction that they require.
	Outside int `frame:"outside_shards"`

	Predicted float64 `frame:"pred_cpi"`
	Simulated float64 `frame:"sim_cpi"` // 0 if it was not simulated
}

// CPIPredictions are predictions for a program, a row for each architecture.
type CPIPredictions struct {
	Rows     []CPIPrediction
	Warnings []string // why predictions are doubtful
}

// LoadModel returns the model of the best spec that a study of LimitSet recorded,
// fitted anew to the campaign's profiles: dir holds the campaign's tables, and its
// folder limits those of the study.
func LoadModel(dir string) (*infer.Model, error) {
	profiles, err := LoadProfiles(dir)
	if err != nil {
		return nil, err
	}
	found, err := Load(filepath.Join(dir, string(LimitSet)))
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
	m, err := infer.Fit(profiles.Table(profiles.training(), LimitSet), spec, infer.FitOptions{Scaling: relative, Ridge: ridge})
	if err != nil {
		return nil, fmt.Errorf("perf: infer: %s: %w", dir, err)
	}
	return m, nil
}

// PredictCPI predicts a program's cycles per instruction on architectures, by a
// model of LimitSet, from a survey of shards of its run. The program runs twice,
// and once more for each 200 simulations of a shard if these are asked for; the
// store keeps the results.
func PredictCPI(ctx context.Context, prog *subject.Program, m *infer.Model, architectures []infer.Architecture, opt PredictCPIOptions) (*CPIPredictions, error) {
	if len(architectures) == 0 {
		return nil, errors.New("perf: infer: no architectures to predict for")
	}
	p, err := surveyProgram(ctx, prog, architectures, opt)
	if err != nil {
		return nil, err
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
		return nil, err
	}
	shards, misses := p.shards(), p.misses()
	out := &CPIPredictions{Warnings: p.Warnings}
	for a, h := range p.Hardware {
		row := CPIPrediction{Architecture: a, Parameters: h.Parameters}
		for k := range p.Shards {
			key := shardKey{p.Shards[k].Variant, k}
			on := placement{shard: shards[key], misses: misses[key], hardware: h.Parameters}
			row.add(on.costs(), predicted[a*len(p.Shards)+k], float64(len(p.Shards)))
		}
		out.Rows = append(out.Rows, row)
	}
	for _, q := range p.Profiles {
		out.Rows[q.Architecture].Simulated += q.CPI() / float64(len(p.Shards))
	}
	if err := out.markOutside(m, t, len(p.Shards)); err != nil {
		return nil, err
	}
	return out, nil
}

// add adds a shard's part to means over a number of shards.
func (r *CPIPrediction) add(c *costs, predicted, shards float64) {
	r.Core += c.core / shards
	r.Branch += c.branch / shards
	r.L1I += c.l1i / shards
	r.L1D += c.l1d() / shards
	r.L2 += c.l2() / shards
	r.Sum += c.sum() / shards
	r.Predicted += predicted / shards
}

// surveyProgram surveys any program as a campaign does a variant, and simulates it
// if asked to.
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
	v := program{campaign: &c, of: Subject{Application: prog.Name}, variant: prog.Name, prog: prog, in: in, out: out}
	if err := v.prepare(ctx, rand.New(rand.NewPCG(c.Seed, 0)), opt.RunOptions); err != nil {
		return nil, err
	}
	if err := v.look(ctx); err != nil {
		return nil, err
	}
	var jobs []job
	for i, a := range architectures {
		if _, err := a.Details(); err != nil {
			return nil, fmt.Errorf("perf: architecture %d: %w", i, err)
		}
		out.Hardware = append(out.Hardware, hardware(i, a))
		j := job{number: i}
		for k := range v.windows {
			j.shards = append(j.shards, k)
		}
		jobs = append(jobs, j)
	}
	if !opt.Simulate {
		return out, nil
	}
	return out, v.simulate(ctx, architectures, jobs)
}

// markOutside counts, for each row, the shards that lie outside the data that the
// model was fitted to, and warns if there are any. t has a number of shards for each
// row.
func (p *CPIPredictions) markOutside(m *infer.Model, t *infer.Table, shards int) error {
	outside, err := m.Outside(t)
	if err != nil {
		return err
	}
	bounded, err := m.Bounded(t)
	if err != nil {
		return err
	}
	marked, variables := 0, make(map[int]bool)
	for i, out := range outside {
		if len(out) == 0 && !bounded[i] {
			continue
		}
		marked++
		p.Rows[i/shards].Outside++
		for _, v := range out {
			variables[v] = true
		}
	}
	if marked == 0 {
		return nil
	}
	var names []string
	for v, s := range m.Basis.Scales {
		if variables[v] {
			names = append(names, s.Name)
		}
	}
	p.Warnings = append(p.Warnings, fmt.Sprintf("%d of %d shards on architectures lie outside of what the model was made from (%s): their predictions are in doubt, see outside_shards",
		marked, len(outside), cmp.Or(strings.Join(names, ", "), "by the correction")))
	return nil
}
