package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// A binding says which result of a notebook a figure in its prose is. It stands in a
// comment, which readers do not see, right after the figure:
//
//	4%<!-- = -rel_err n=60 level=L1 -->          a cell of a displayed table
//	within 6%<!-- >= max abs rel_err n>48 -->    a statistic of the rows of a table
//	69%<!-- = worst of "L1 and L2" -->           of a headline: median, p90, worst, rows, value
//	3.6%<!-- = median of "L1 and L2" / "n³" -->  of what stands beside the headline
//	4%<!-- = max abs rel_err @above -->          of the nearest output above that has such rows
//
// Where tables of several cells have such rows, and they give other results, the binding
// ends with the place of the one that is meant: @above or @below, the nearest such output
// before or after the text, or @ and the ID or a tag of the cell. A bound (>= or <=) without
// a place is one of all.
//
// A figure is a magnitude, without a sign. It is = the result, rounded to as many digits as it shows, or >= or <= it.
// A minus before the column means that the prose says "too low", or the like, about a
// negative value; "abs" takes magnitudes, and "1+" makes a ratio of a relative error.
type binding struct {
	relation string // "=", ">=", "<="
	negate   bool
	plusOne  bool
	abs      bool
	stat     string // min, max, median, mean, sum, count; empty: one cell. Of a headline, its value
	column   string
	where    []condition
	place    string // of the output: above, below, or a cell's ID or tag; empty: any

	metric, beside string // parts of the names of a headline and of what stands beside it
}

// A condition chooses rows of a table.
type condition struct {
	column, relation string
	values           []string // alternatives
}

var statistics = []string{"min", "max", "median", "mean", "sum", "count"}

// A bound result is one that a table of a cell has for a binding.
type boundResult struct {
	number
	cell int
}

// find returns the results that the binding of a text in a cell names, one of each table
// that has the columns and rows; usually there is one.
func (b *binding) find(r *results, from int) ([]boundResult, error) {
	if b.metric != "" {
		n, err := b.ofSummaries(r.summaries)
		return []boundResult{{number: n}}, err
	}
	var found []boundResult
	known := false
	for i := range r.tables {
		t := &r.tables[i]
		if slices.Contains(t.head, b.column) {
			known = true
		}
		if !b.isAt(t, from) {
			continue
		}
		ns, err := b.rowsOf(t)
		if err != nil {
			return nil, err
		}
		if len(ns) == 0 {
			continue
		}
		n, err := b.sumUp(ns)
		if err != nil {
			return nil, err
		}
		found = append(found, boundResult{n, t.cell})
	}
	switch {
	case len(found) > 0:
		return b.chosen(found)
	case known && b.place != "":
		return nil, fmt.Errorf("no table at @%s that shows column %s has such a row: want @above, @below, or the ID or a tag of a cell", b.place, b.column)
	case known:
		return nil, fmt.Errorf("no table that shows column %s has such a row", b.column)
	}
	return nil, fmt.Errorf("no table shows a column %s", b.column)
}

// isAt reports whether a table may be at the binding's place, seen from a cell.
func (b *binding) isAt(t *table, from int) bool {
	switch b.place {
	case "":
		return true
	case "above":
		return t.cell < from
	case "below":
		return t.cell > from
	}
	return slices.Contains(t.names, b.place)
}

// chosen returns those results that are at the binding's place. It returns an error if
// the binding is of one result and those of several tables differ.
func (b *binding) chosen(found []boundResult) ([]boundResult, error) {
	nearest := 0
	switch b.place {
	case "above":
		nearest = found[len(found)-1].cell
	case "below":
		nearest = found[0].cell
	}
	if nearest != 0 {
		found = slices.DeleteFunc(found, func(f boundResult) bool { return f.cell != nearest })
	}
	if b.relation != "=" {
		return found, nil
	}
	for _, f := range found[1:] {
		if first := found[0]; math.Abs(f.value-first.value) > f.half+first.half+1e-9*math.Abs(f.value) {
			return nil, &ambiguity{first, f, b.place != ""}
		}
	}
	return found, nil
}

// An ambiguity is the error of a binding of which two tables have other results.
type ambiguity struct {
	one, other boundResult
	placed     bool
}

func (e *ambiguity) Error() string {
	remedy := "say which by @above or @below, or by @ and the ID or a tag of the cell"
	if e.placed || e.one.cell == e.other.cell {
		remedy = "add a condition"
	}
	return fmt.Sprintf("several tables have such rows: cell %d has %.4g, cell %d %.4g; %s", e.one.cell, e.one.value, e.other.cell, e.other.value, remedy)
}

func (b *binding) ofSummaries(all []summary) (number, error) {
	var found []summary
	for _, s := range all {
		metric, beside := s.metric, ""
		if s.beside != "" {
			metric, beside = s.beside, s.metric
		}
		if strings.Contains(metric, b.metric) && (beside != "") == (b.beside != "") && strings.Contains(beside, b.beside) {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		return number{}, fmt.Errorf("%d headlines have that in their name, want 1", len(found))
	}
	n, ok := readNumber(found[0].values[b.stat])
	if !ok {
		return number{}, fmt.Errorf("the headline has no %s", b.stat)
	}
	return n, nil
}

// rowsOf returns the column's numbers in the rows of a table that meet the conditions,
// none if it lacks one of the columns.
func (b *binding) rowsOf(t *table) ([]number, error) {
	column := slices.Index(t.head, b.column)
	if column < 0 {
		return nil, nil
	}
	at := make([]int, len(b.where))
	for i, c := range b.where {
		if at[i] = slices.Index(t.head, c.column); at[i] < 0 {
			return nil, nil
		}
	}
	var ns []number
	for _, row := range t.rows {
		meets := true
		for i := range b.where {
			meets = meets && b.where[i].met(row[at[i]])
		}
		if !meets {
			continue
		}
		n, ok := readNumber(row[column])
		if !ok {
			if row[column] == "" || row[column] == "NaN" {
				continue // a missing value
			}
			if b.stat != "count" {
				return nil, fmt.Errorf("column %s holds %q, which is no number", b.column, row[column])
			}
		}
		ns = append(ns, n)
	}
	return ns, nil
}

// met reports whether a cell meets the condition: as numbers if both are.
func (c *condition) met(cell string) bool {
	have, isNumber := readNumber(cell)
	for _, text := range c.values {
		want, numeric := readNumber(text)
		var holds bool
		switch {
		case c.relation == "=" || c.relation == "!=":
			holds = cell == text || numeric && isNumber && have.value == want.value
		case !numeric || !isNumber:
			return false
		case c.relation == "<":
			holds = have.value < want.value
		case c.relation == "<=":
			holds = have.value <= want.value
		case c.relation == ">":
			holds = have.value > want.value
		default:
			holds = have.value >= want.value
		}
		if holds {
			return c.relation != "!="
		}
	}
	return c.relation == "!="
}

// sumUp applies sign, magnitude and statistic to the numbers of a table's rows.
func (b *binding) sumUp(ns []number) (number, error) {
	if b.stat == "count" {
		return number{value: float64(len(ns))}, nil
	}
	values := make([]float64, len(ns))
	half := 0.0
	for i, n := range ns {
		values[i] = n.value
		if b.negate {
			values[i] = -values[i]
		}
		if b.plusOne {
			values[i]++
		}
		if b.abs {
			values[i] = math.Abs(values[i])
		}
		half = max(half, n.half)
	}
	slices.Sort(values)
	n := number{half: half, percent: ns[0].percent}
	switch last := len(values) - 1; b.stat {
	case "min":
		n.value = values[0]
	case "max":
		n.value = values[last]
	case "median":
		n.value = (values[last/2] + values[(last+1)/2]) / 2
	case "mean":
		n.value = stat.Mean(values, nil)
	case "sum":
		n.value = floats.Sum(values)
		n.half *= float64(len(values))
	default:
		if values[0] != values[last] {
			return n, fmt.Errorf("%d rows of a table differ: add a condition, or one of %s", len(ns), strings.Join(statistics, ", "))
		}
		n.value = values[0]
	}
	return n, nil
}

// A claim is a figure in prose.
type claim struct {
	text  string // as it is written, without its unit
	unit  string // "%", "times", "points", "million", …; empty: none
	value float64
	unity float64 // what one of the unit is, as tables have it
}

// holds reports whether the figure is the result, as the relation says. A figure
// stands for what rounds to it; the result's own rounding is added.
func (c *claim) holds(relation string, n number) bool {
	have, want := n.value/c.unity, c.value
	slack := n.half/c.unity + 1e-9*math.Abs(want)
	switch relation {
	case ">=":
		return have <= want+slack
	case "<=":
		return have >= want-slack
	}
	return math.Abs(have-want) <= 0.5*math.Pow10(-c.decimals())+slack
}

// decimals is how many digits the figure shows after its point.
func (c *claim) decimals() int {
	_, fraction, _ := strings.Cut(c.text, ".")
	return len(fraction)
}

// of writes a result in the figure's unit, with its digits.
func (c *claim) of(n number) string {
	s := strconv.FormatFloat(n.value/c.unity, 'f', c.decimals(), 64)
	if !strings.Contains(c.text, ",") {
		return s
	}
	whole, fraction, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole
}
