package roofline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/subject"
	"presage/perf/timing"
)

// Options configures Predict.
type Options struct {
	// By is ByProgram, ByRoutine or ByLoop.
	By subject.Scope
	// Listing says which scopes have rows, by their share of the cycles of all. Scopes
	// without floating-point operations never have any.
	Listing subject.Listing
	// Method and Corrector are those of misses.PredictOptions.
	Method    predict.Method
	Corrector misses.Corrector
}

// Row is a scope under the ceiling of a level, as predicted at a point. A routine is
// without those that it calls, a loop with the loops inside it.
type Row struct {
	Program string             `frame:"program"`
	Point   map[string]float64 `frame:",each"`
	Machine string             `frame:"machine"`
	Scope   string             `frame:"scope"`
	Level   string             `frame:"level"` // that gives the bytes; the last one is memory
	Flops   float64            `frame:"pred_flops"`
	// Bytes are those that the level gives; missing at a level that floating-point accesses
	// bypass, and at the one below it.
	Bytes float64 `frame:"pred_bytes"`
	// Intensity is Flops / Bytes; missing where these are, or are less than a block.
	Intensity float64 `frame:"pred_flops_per_byte"`
	Cycles    float64 `frame:"pred_cycles"`
	Seconds   float64 `frame:"pred_time_sec"`        // by the core's frequency; missing if that is not known
	Rate      float64 `frame:"pred_flops_per_cycle"` // Flops / Cycles
	// Roof is what the core and the level allow, at this intensity.
	Roof    float64 `frame:"roof_flops_per_cycle"`
	Share   float64 `frame:"pred_share_of_roof"`    // Rate / Roof
	PeakOf  float64 `frame:"core_flops_per_cycle"`  // what the core allows
	Byte    float64 `frame:"level_bytes_per_cycle"` // what the level gives; missing if that is not known
	Lowest  string  `frame:"lowest_roof"`           // of all levels at this scope and point: a level, or core
	Warning string  `frame:"pred_warning"`
}

// coreRoof is Row.Lowest where no level's ceiling is below the core's.
const coreRoof = "core"

// Predict puts the scopes of a program under the ceilings of a machine at each point. The
// models are as timing.Predict takes them, of one executable. There is a row for each
// point, scope with floating-point operations and level, scopes that take longest first.
// It returns an error for a model of several executables, and where timing.Predict does.
func Predict(ctx context.Context, model *misses.Model, execution *timing.ExecutionModel, m *machine.Machine, points []subject.Point, opt Options) ([]Row, error) {
	by, err := opt.By.Check()
	if err != nil {
		return nil, err
	}
	if by == subject.ByReference {
		return nil, errors.New("roofline: rows are of programs, routines and loops, not of references")
	}
	if err := opt.Listing.Check(); err != nil {
		return nil, err
	}
	roof, err := RoofOf(m)
	if err != nil {
		return nil, err
	}
	scopes, err := execution.Scopes()
	if err != nil {
		return nil, err
	}
	p := &predictor{model: model, execution: execution, machine: m, roof: roof, scopes: scopes, index: make(map[string]int), opt: opt, by: by}
	for i, path := range scopes.Paths {
		p.index[path] = i
	}
	var rows []Row
	for _, point := range points {
		fresh, err := p.at(ctx, point)
		if err != nil {
			return nil, err
		}
		rows = append(rows, fresh...)
	}
	return rows, nil
}

// predictor predicts rows.
type predictor struct {
	model     *misses.Model
	execution *timing.ExecutionModel
	machine   *machine.Machine
	roof      *Roof
	scopes    *timing.Scopes
	index     map[string]int // of scopes, by path
	opt       Options
	by        subject.Scope
}

// at returns the rows of a point.
func (p *predictor) at(ctx context.Context, point subject.Point) ([]Row, error) {
	times, err := timing.Predict(ctx, p.model, p.execution, p.machine, []subject.Point{point}, timing.PredictOptions{By: p.by, Method: p.opt.Method, Corrector: p.opt.Corrector})
	if err != nil {
		return nil, err
	}
	operations, err := p.execution.Operations(point)
	if err != nil {
		return nil, err
	}
	flops := p.total(operations.Own)
	bytes := make([][]float64, len(p.roof.Levels))
	warnings := slices.Concat(p.roof.Warnings, operations.Warnings)
	for l := range p.roof.Levels {
		own, doubts, err := p.bytes(ctx, l, point)
		if err != nil {
			return nil, err
		}
		bytes[l], warnings = p.total(own), append(warnings, doubts...)
	}
	slices.Sort(warnings)
	warning := strings.Join(slices.Compact(warnings), "; ")
	times = slices.DeleteFunc(times, func(t timing.Row) bool { return flops[p.scopeOf(t.Scope)] == 0 })
	parts := make([]float64, len(times))
	for i := range times {
		parts[i] = times[i].Cycles
	}
	var rows []Row
	for _, t := range times[:p.opt.Listing.Listed(parts)] {
		i := p.scopeOf(t.Scope)
		blank := Row{
			Program: t.Program, Point: point, Machine: t.Machine, Scope: t.Scope, Flops: flops[i], Cycles: t.Cycles, Seconds: t.Seconds,
			Rate: flops[i] / t.Cycles, PeakOf: p.roof.Flops, Warning: warning,
		}
		rows = append(rows, p.levels(blank, func(l int) float64 { return bytes[l][i] })...)
	}
	return rows, nil
}

// scopeOf returns the index of the scope of a row of times.
func (p *predictor) scopeOf(name string) int {
	if p.by == subject.ByProgram {
		return 0
	}
	return p.index[name]
}

// levels returns the rows of a scope, each beginning as blank does.
func (p *predictor) levels(blank Row, bytes func(l int) float64) []Row {
	var rows []Row
	lowest, name := p.roof.Flops, coreRoof
	for l, c := range p.roof.Levels {
		r := blank
		r.Level, r.Bytes, r.Byte = c.Level, bytes(l), float64(c.Rate)
		if r.Intensity = math.NaN(); r.Bytes >= p.least(l) {
			r.Intensity = r.Flops / r.Bytes
		}
		r.Roof = p.roof.Allows(l, r.Intensity)
		r.Share = r.Rate / r.Roof
		if c.Rate == 0 {
			r.Byte = math.NaN()
		}
		if r.Roof < lowest {
			lowest, name = r.Roof, c.Level
		}
		rows = append(rows, r)
	}
	for i := range rows {
		rows[i].Lowest = name
	}
	return rows
}

// least returns the bytes that a level gives at least if it gives any: an access of one
// byte, or a block.
func (p *predictor) least(level int) float64 {
	if level == 0 {
		return 1
	}
	return float64(p.machine.Caches[level-1].BlockBytes)
}

// total adds to each scope the scopes inside it.
func (p *predictor) total(own []float64) []float64 {
	sums := slices.Clone(own)
	for i := len(sums) - 1; i > 0; i-- { // scopes come after those around them
		sums[p.scopes.Parent[i]] += sums[i]
	}
	return sums
}

// bytes returns what a level gives to each scope, without those inside it.
func (p *predictor) bytes(ctx context.Context, level int, point subject.Point) (own []float64, doubts []string, err error) {
	scopes := p.model.Scopes(subject.ByLoop)
	own = make([]float64, len(p.scopes.Paths))
	add := func(g int, bytes float64) {
		// What belongs to no scope known here is the program's own.
		own[p.index[scopes.Names[scopes.Of[g]]]] += bytes
	}
	if passed := p.passedBy(level); passed != "" {
		for i := range own {
			own[i] = math.NaN()
		}
		return own, []string{fmt.Sprintf("bytes of %s not predicted: floating-point accesses bypass %s", p.roof.Levels[level].Level, passed)}, nil
	}
	if level == 0 {
		for g, n := range p.model.Accesses(point) {
			add(g, n*p.accessBytes(misses.Group(g)))
		}
		return own, nil, nil
	}
	above := &p.machine.Caches[level-1]
	at, err := p.model.ByGroup(ctx, p.machine, above.Name, point, misses.PredictOptions{Method: p.opt.Method, Corrector: p.opt.Corrector})
	if err != nil {
		return nil, nil, fmt.Errorf("roofline: %w", err)
	}
	for g, n := range at.Misses {
		add(g, n*float64(at.BlockBytes))
	}
	return own, at.Warnings, nil
}

// passedBy returns the cache that floating-point accesses bypass, of a level and the one
// above it: how many blocks each gives is not known then. It is empty if they bypass
// neither.
func (p *predictor) passedBy(level int) string {
	for _, c := range p.machine.Caches[max(0, level-1):min(level+1, len(p.machine.Caches))] {
		if c.BypassFloat {
			return c.Name
		}
	}
	return ""
}

// accessBytes returns the average size of the references of a group.
func (p *predictor) accessBytes(g misses.Group) float64 {
	refs := p.model.References(g)
	sum := 0.0
	for _, r := range refs {
		sum += float64(r.Size)
	}
	return sum / float64(max(1, len(refs)))
}
