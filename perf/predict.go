package perf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/access"
	"presage/perf/fit"
	"presage/perf/frame"
	"presage/perf/machine"
	"presage/perf/predict"
)

// Scope is what a row of a table is about.
type Scope string

// The scopes.
const (
	ByProgram   Scope = "program" // the default
	ByRoutine   Scope = "routine"
	ByReference Scope = "reference"
)

// check returns s, or the default for the empty Scope.
func (s Scope) check() (Scope, error) {
	switch s {
	case "":
		return ByProgram, nil
	case ByProgram, ByRoutine, ByReference:
		return s, nil
	}
	return "", fmt.Errorf("perf: scope %q is none of program, routine, reference", string(s))
}

// PredictOptions say what PredictMisses tells.
type PredictOptions struct {
	By Scope
}

// missRow is a row of the table of predictions.
type missRow struct {
	Program    string             `frame:"program"`
	Point      map[string]float64 `frame:",each"`
	Machine    string             `frame:"machine"`
	Level      string             `frame:"level"`
	Scope      string             `frame:"scope"`
	Accesses   float64            `frame:"pred_accesses"`
	Misses     float64            `frame:"pred_misses"`
	FullyAssoc float64            `frame:"pred_misses_fully_assoc"`
	Cold       float64            `frame:"pred_cold_misses"`
	Ratio      float64            `frame:"pred_miss_ratio"`
	Warning    string             `frame:"pred_warning"`
}

// PredictMisses predicts the misses of the model's program on a machine, at
// each point, for each cache and TLB: a table with a row for each point, level
// and scope, those with the most misses first, and these columns.
//
//   - pred_accesses: all accesses of the scope
//   - pred_misses: misses in the set-associative cache (2005, section 5.2)
//   - pred_misses_fully_assoc: misses in a fully associative one of the same
//     size (2005, section 5.1); the same for a fully associative TLB
//   - pred_cold_misses: those that are first accesses to a block
//   - pred_miss_ratio: pred_misses / pred_accesses
//   - pred_warning: why the row is doubtful, such as far extrapolation
//
// A level that floating-point accesses bypass has no rows: the distances were
// collected over all accesses together. The runs that the model was fitted to
// must have the machine's block sizes.
func PredictMisses(model *Model, m *machine.Machine, points []Point, opt PredictOptions) (dataframe.DataFrame, error) {
	scope, err := opt.By.check()
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	names, scopeOf := model.scopes(scope)
	var rows []missRow
	for _, point := range points {
		for _, l := range levels(m) {
			if l.bypassFloat {
				continue
			}
			setAssoc, full, err := model.misses(m, l, point)
			if err != nil {
				return dataframe.DataFrame{}, err
			}
			first := len(rows)
			for _, name := range names {
				rows = append(rows, missRow{
					Program: model.Program, Point: point, Machine: m.Name, Level: l.name, Scope: name,
					Warning: joinWarnings(setAssoc.Warnings),
				})
			}
			for g := range setAssoc.Groups {
				row := &rows[first+scopeOf[g]]
				row.Accesses += setAssoc.Groups[g].Accesses
				row.Misses += setAssoc.Groups[g].Total()
				row.FullyAssoc += full.Groups[g].Total()
				row.Cold += setAssoc.Groups[g].Cold
			}
			for i := range rows[first:] {
				rows[first+i].Ratio = ratio(rows[first+i].Misses, rows[first+i].Accesses)
			}
			slices.SortStableFunc(rows[first:], func(a, b missRow) int { return cmp.Compare(b.Misses, a.Misses) })
		}
	}
	return frame.Of(rows), nil
}

// misses evaluates the model for one level, as it is and fully associative.
func (m *Model) misses(mach *machine.Machine, l level, point Point) (setAssoc, full *predict.Prediction, err error) {
	fitted := m.byBlock[l.blockBytes]
	if fitted == nil {
		return nil, nil, fmt.Errorf("perf: %s of %s has blocks of %d bytes, and the runs were profiled with %v; profile with BlockBytes %v",
			l.name, mach.Name, l.blockBytes, sortedKeys(m.byBlock), mach.BlockBytes())
	}
	setAssoc, err = predict.At(fitted, fit.Point(point), predict.Cache{Sets: l.sets, Ways: l.ways})
	if err != nil {
		return nil, nil, fmt.Errorf("perf: %s of %s at %s: %w", l.name, mach.Name, point, err)
	}
	full = setAssoc
	if l.sets > 1 {
		full, err = predict.At(fitted, fit.Point(point), predict.FullyAssociative(l.blocks()))
	}
	return setAssoc, full, err
}

// scopes returns the names of all scopes of a kind and, for each group of the
// model, which it belongs to.
func (m *Model) scopes(by Scope) (names []string, of []int) {
	return scopesOf(by, len(m.groups), m.Program, func(g int) *access.Reference { return &m.refs[m.members[g][0]] })
}

// scopesOf numbers the scopes of n groups in order of first appearance.
// first gives a group's first reference.
func scopesOf(by Scope, n int, program string, first func(int) *access.Reference) (names []string, of []int) {
	index := make(map[string]int)
	of = make([]int, n)
	for g := range n {
		name := program
		switch by {
		case ByRoutine:
			name = first(g).Routine
		case ByReference:
			name = first(g).String()
		}
		i, ok := index[name]
		if !ok {
			i = len(names)
			index[name] = i
			names = append(names, name)
		}
		of[g] = i
	}
	return names, of
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func joinWarnings(warnings []fit.Warning) string {
	texts := make([]string, len(warnings))
	for i, w := range warnings {
		texts[i] = w.Error()
	}
	return strings.Join(texts, "; ")
}

func sortedKeys[V any](m map[uint64]V) []uint64 {
	var keys []uint64
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
