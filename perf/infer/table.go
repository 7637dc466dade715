package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrData is wrapped by errors about tables that cannot be fitted.
var ErrData = errors.New("bad data")

// Table is a set of observations, one for each row.
type Table struct {
	Names    []string    // of the variables
	Columns  [][]float64 // by variable, then row
	Response []float64   // what is modelled, by row
	Groups   []string    // the application that the row belongs to; nil: all to one
	Weights  []float64   // of the squared residuals, positive; nil: all 1

	// Plain marks variables that are not raised to a power that stabilises
	// their variance, such as shares, which are bounded. By variable; nil:
	// none.
	Plain []bool

	// Estimate is a positive first estimate of the response, by row, which
	// models correct: they are fitted to the response divided by it. nil: no
	// estimate.
	Estimate []float64
}

// Rows returns the number of rows.
func (t *Table) Rows() int { return len(t.Response) }

// Group returns the group of a row, "" if there are none.
func (t *Table) Group(row int) string {
	if t.Groups == nil {
		return ""
	}
	return t.Groups[row]
}

// GroupNames returns the groups, sorted.
func (t *Table) GroupNames() []string {
	if t.Groups == nil {
		return []string{""}
	}
	names := slices.Clone(t.Groups)
	slices.Sort(names)
	return slices.Compact(names)
}

// Check returns an error if lengths differ, names repeat, values are not
// finite, or weights are not positive.
func (t *Table) Check() error {
	rows := t.Rows()
	if rows == 0 {
		return fmt.Errorf("infer: %w: a table without rows", ErrData)
	}
	if len(t.Names) != len(t.Columns) {
		return fmt.Errorf("infer: %w: %d names for %d columns", ErrData, len(t.Names), len(t.Columns))
	}
	if t.Plain != nil && len(t.Plain) != len(t.Names) {
		return fmt.Errorf("infer: %w: Plain has %d elements for %d variables", ErrData, len(t.Plain), len(t.Names))
	}
	if err := t.checkColumns(rows); err != nil {
		return err
	}
	if t.Groups != nil && len(t.Groups) != rows || t.Weights != nil && len(t.Weights) != rows {
		return fmt.Errorf("infer: %w: %d groups and %d weights for %d rows", ErrData, len(t.Groups), len(t.Weights), rows)
	}
	for i, z := range t.Response {
		if !finite(z) {
			return fmt.Errorf("infer: %w: row %d: the response is %g", ErrData, i, z)
		}
	}
	if err := t.checkEstimate(); err != nil {
		return err
	}
	for i, w := range t.Weights {
		if !finite(w) || w <= 0 {
			return fmt.Errorf("infer: %w: row %d: the weight is %g, not positive; leave the row out instead", ErrData, i, w)
		}
	}
	return nil
}

// checkColumns returns an error if names repeat or a column does not hold one
// finite value for each row.
func (t *Table) checkColumns(rows int) error {
	seen := make(map[string]bool)
	for v, name := range t.Names {
		if name == "" || seen[name] {
			return fmt.Errorf("infer: %w: variable %d is called %q, which is empty or taken", ErrData, v, name)
		}
		seen[name] = true
		if len(t.Columns[v]) != rows {
			return fmt.Errorf("infer: %w: variable %s has %d values for %d rows", ErrData, name, len(t.Columns[v]), rows)
		}
		for i, x := range t.Columns[v] {
			if !finite(x) {
				return fmt.Errorf("infer: %w: row %d: %s is %g", ErrData, i, name, x)
			}
		}
	}
	return nil
}

// checkEstimate is the part of Check that also applies to tables without a
// response.
func (t *Table) checkEstimate() error {
	if t.Estimate != nil && len(t.Columns) > 0 && len(t.Estimate) != len(t.Columns[0]) {
		return fmt.Errorf("infer: %w: %d estimates for %d rows", ErrData, len(t.Estimate), len(t.Columns[0]))
	}
	for i, z := range t.Estimate {
		if !finite(z) || z <= 0 {
			return fmt.Errorf("infer: %w: row %d: the estimate is %g, not positive", ErrData, i, z)
		}
	}
	return nil
}

// Ratios returns the values to model: the response relative to the estimate.
func (t *Table) Ratios() []float64 {
	if t.Estimate == nil {
		return t.Response
	}
	out := make([]float64, t.Rows())
	for i, z := range t.Response {
		out[i] = z / t.Estimate[i]
	}
	return out
}

// Subset returns the given rows, in that order, as a table of its own.
func (t *Table) Subset(rows []int) *Table {
	s := &Table{Names: t.Names, Plain: t.Plain, Response: pick(t.Response, rows), Groups: pick(t.Groups, rows), Weights: pick(t.Weights, rows), Estimate: pick(t.Estimate, rows)}
	for _, c := range t.Columns {
		s.Columns = append(s.Columns, pick(c, rows))
	}
	return s
}

// Where returns the rows for which keep holds, as a table of its own.
func (t *Table) Where(keep func(row int) bool) *Table {
	var rows []int
	for i := range t.Rows() {
		if keep(i) {
			rows = append(rows, i)
		}
	}
	return t.Subset(rows)
}

// Join returns the rows of t and then those of o, which has the same variables.
// Where only one has groups or weights, the rows of the other are of group ""
// and weigh 1.
func (t *Table) Join(o *Table) (*Table, error) {
	if !slices.Equal(t.Names, o.Names) {
		return nil, fmt.Errorf("infer: %w: a table of %v cannot be joined with one of %v", ErrData, t.Names, o.Names)
	}
	if !slices.Equal(t.Plain, o.Plain) || (t.Estimate == nil) != (o.Estimate == nil) {
		return nil, fmt.Errorf("infer: %w: the tables to join differ in plain variables, or only one has estimates", ErrData)
	}
	s := &Table{Names: t.Names, Plain: t.Plain, Response: slices.Concat(t.Response, o.Response)}
	if t.Estimate != nil {
		s.Estimate = slices.Concat(t.Estimate, o.Estimate)
	}
	for v := range t.Columns {
		s.Columns = append(s.Columns, slices.Concat(t.Columns[v], o.Columns[v]))
	}
	if t.Groups != nil || o.Groups != nil {
		s.Groups = slices.Concat(orAll(t.Groups, "", t.Rows()), orAll(o.Groups, "", o.Rows()))
	}
	if t.Weights != nil || o.Weights != nil {
		s.Weights = slices.Concat(orAll(t.Weights, 1, t.Rows()), orAll(o.Weights, 1, o.Rows()))
	}
	return s, nil
}

func (t *Table) weight(row int) float64 {
	if t.Weights == nil {
		return 1
	}
	return t.Weights[row]
}

func pick[T any](values []T, rows []int) []T {
	if values == nil {
		return nil
	}
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = values[r]
	}
	return out
}

func orAll[T any](values []T, all T, n int) []T {
	if values != nil {
		return values
	}
	out := make([]T, n)
	for i := range out {
		out[i] = all
	}
	return out
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
