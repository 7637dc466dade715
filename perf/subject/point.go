package subject

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"
)

// Point gives each problem parameter, such as the mesh size n, a value.
type Point map[string]float64

// Sweep returns one Point for each value of a parameter.
func Sweep(param string, values ...float64) []Point {
	points := make([]Point, len(values))
	for i, v := range values {
		points[i] = Point{param: v}
	}
	return points
}

// Range returns first, first+step, … up to and including last, for Sweep. It
// panics if step does not lead from first to last.
func Range(first, last, step float64) []float64 {
	if !(step*(last-first) >= 0) || step == 0 {
		panic(fmt.Sprintf("perf: Range(%g, %g, %g) has no end", first, last, step))
	}
	// A little more than the quotient: 0.3/0.1 is less than 3.
	steps := int((last-first)/step + 1e-9)
	values := make([]float64, steps+1)
	for i := range values {
		values[i] = Round(first + float64(i)*step)
	}
	return values
}

// Round returns v rounded to 12 digits, so that a sum of decimal fractions is what
// a person would write: 0.1+2*0.1 gives 0.3.
func Round(v float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if err != nil {
		return v
	}
	return short
}

// String returns the point as "n=20", parameters by name.
func (p Point) String() string {
	parts := make([]string, 0, len(p))
	for _, name := range p.Names() {
		parts = append(parts, name+"="+formatValue(p[name]))
	}
	return strings.Join(parts, " ")
}

// Names returns the parameters in alphabetical order.
func (p Point) Names() []string { return slices.Sorted(maps.Keys(p)) }

func formatValue(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// reserved are names of columns of tables, which no parameter may have.
var reserved = map[string]bool{
	"program": true, "machine": true, "level": true, "scope": true, "routine": true, "file": true, "line": true,
	"pc": true, "kind": true, "float": true, "accesses": true, "cold_accesses": true, "instructions": true,
	"footprint_bytes": true, "stack_accesses": true, "references": true, "loop": true, "group": true, "set": true, "block_bytes": true, "size_bytes": true, "lo_blocks": true, "hi_blocks": true,
	"mean_distance_blocks": true, "capacity_blocks": true, "sample_one_in": true, "misses": true, "misses_least": true,
	"misses_most": true, "misses_std_err": true, "few": true,
	"distance_blocks": true, "capacity_bytes": true, "ways": true, "parameter": true,
	"search_from": true, "search_to": true, "search_step": true, "hit_ratio": true, "miss_ratio": true, "at_limit": true,
}

var paramName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// Check returns an error if a parameter has the name of a column of the tables,
// or one that cannot be written in a basis, or if a value is not finite.
func (p Point) Check() error {
	for _, name := range p.Names() {
		if !paramName.MatchString(name) {
			return fmt.Errorf("perf: parameter %q: want a letter, then letters, digits and underscores", name)
		}
		for _, prefix := range []string{"pred_", "sim_", "meas_", "rel_err"} {
			if reserved[name] || strings.HasPrefix(name, prefix) {
				return fmt.Errorf("perf: parameter %q has the name of a column of the tables; call it otherwise", name)
			}
		}
		if v := p[name]; math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("perf: parameter %s is %g", name, v)
		}
	}
	return nil
}

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// Arguments fills a template such as "-n {n} -iterations 6" with the point's
// values and splits it as a shell would split words. An empty template stands
// for "-name value" for each parameter. A parameter without a placeholder, or
// a placeholder without a parameter, is an error: the runs of a sweep would
// all be the same, or fail.
func (p Point) Arguments(template string) ([]string, error) {
	return p.arguments(template, false, make(map[string]bool))
}

// arguments is Arguments, except that the template need not name parameters that
// are used elsewhere, and an empty one stands only for the others. With the point
// compiled in it need name none, and an empty one stands for no arguments.
func (p Point) arguments(template string, compiledIn bool, used map[string]bool) ([]string, error) {
	if template == "" && compiledIn {
		return nil, nil
	}
	if template == "" {
		var args []string
		for _, name := range p.Names() {
			if !used[name] {
				args = append(args, "-"+name, formatValue(p[name]))
			}
		}
		return args, nil
	}
	words, err := shellquote.Split(template)
	if err != nil {
		return nil, fmt.Errorf("perf: arguments %q: %w", template, err)
	}
	for i, word := range words {
		if words[i], err = p.fill(word, used); err != nil {
			return nil, fmt.Errorf("perf: arguments %q: %w", template, err)
		}
	}
	for _, name := range p.Names() {
		if !used[name] && !compiledIn {
			return nil, fmt.Errorf("perf: arguments %q: no place for parameter %s; write {%s} where its value goes", template, name, name)
		}
	}
	return words, nil
}

// fill returns a text with the point's values in place of {name}, and notes which
// parameters it names.
func (p Point) fill(text string, used map[string]bool) (filled string, err error) {
	filled = placeholder.ReplaceAllStringFunc(text, func(m string) string {
		name := m[1 : len(m)-1]
		v, ok := p[name]
		if !ok {
			err = fmt.Errorf("no parameter %s in the point %q", m, p)
			return m
		}
		used[name] = true
		return formatValue(v)
	})
	return filled, err
}
