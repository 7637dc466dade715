package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Figures in prose are held against the notebook's own outputs. What counts as a
// figure, by rule:
//
//   - a number with the unit of a result: a percentage, "N times", and "N.N points",
//     with a fraction, as whole ones may be points of another kind;
//   - or any number that a binding follows.
//
// Not figures, unless bound: what stands in code; the sizes of "n = 60" and "twice",
// "2.7 times the largest size"; bounds, as in "at least 2%"; and what is quoted from
// elsewhere, was recorded earlier or is aimed at: a clause with the word paper, report,
// printed, earlier, goal or asked.
//
// Every figure needs a binding. That some number in the outputs rounds to it would say
// little: most small percentages are among hundreds of numbers anyway.
const (
	kindProse = "prose"
	// unitOfList matches the rest of a list or range that shares a unit: "2, 3 and 5%".
	unitOfList = `(?:(?:, \d[\d,.]*)*,? (?:to|and|or) \d[\d,.]*)?`
)

var (
	comment     = regexp.MustCompile(`<!--(.*?)-->`)
	boundNumber = regexp.MustCompile(`(\d[\d,]*(?:\.\d+)?)(\s?%)?$`)
	figureUnit  = regexp.MustCompile(`^` + unitOfList + `\s?(%|times\b|percentage points\b|points\b|thousand million\b|million\b)`)
	inCode      = regexp.MustCompile("`[^`]*`")
	anyFigure   = regexp.MustCompile(`\d[\d,]*(?:\.\d+)?`)
	clauseEnds  = regexp.MustCompile(`[;()]|\. |\*\*`)
	isQuoted    = regexp.MustCompile(`(?i)\b(papers?|paper's|reports?|report's|printed|goals?|asked|earlier)\b`)
	isBound     = regexp.MustCompile(`(?i)\b(within|at least|at most|more than|less than|fewer than|above|below|beyond|up to|over|under|than)\s+$`)
	isSize      = regexp.MustCompile(`\w = [\d,. ]*(?:(?:and|to|or) )?$`)
	timesSize   = regexp.MustCompile(`^` + unitOfList + ` times (?:that\b|the (?:largest|smallest|training|work|size)\b|as (?:large|many cells)\b)`)
)

// unities are what one of a unit is, as tables have it. Points are percentage points,
// which tables show as such.
var unities = map[string]float64{"%": 0.01, "million": 1e6, "thousand million": 1e9}

// A mention is a figure at a place in a line of prose.
type mention struct {
	claim
	start, end int      // of the digits, in bytes of the line as it stands
	bound      *binding // nil: none
	err        error    // why its binding cannot be read
}

// mentions finds the figures of a line of Markdown.
func mentions(line string) (all []mention) {
	plain, origin, bindings := withoutComments(line)
	plain = inCode.ReplaceAllStringFunc(plain, func(code string) string { return strings.Repeat("`", len(code)) })
	for _, at := range anyFigure.FindAllStringIndex(plain, -1) {
		if glued(plain, at[0]) {
			continue
		}
		m := mention{start: origin[at[0]], end: origin[at[1]-1] + 1}
		m.text = strings.TrimRight(plain[at[0]:at[1]], ",")
		m.end -= at[1] - at[0] - len(m.text)
		m.value, _ = strconv.ParseFloat(strings.ReplaceAll(m.text, ",", ""), 64) // digits and a point
		before, after := plain[:at[0]], plain[at[0]+len(m.text):]
		m.unity = 1
		if u := figureUnit.FindStringSubmatch(after); u != nil {
			m.unit = u[1]
			if unity, ok := unities[m.unit]; ok {
				m.unity = unity
			}
		}
		text, isBoundTo := bindings[at[0]]
		switch {
		case isBoundTo:
			b, err := parseBinding(text)
			m.bound, m.err = &b, err
		case m.unit == "" || strings.Contains(m.unit, "million") || m.unit == "points" && m.decimals() == 0 || excepted(before, after):
			continue
		}
		all = append(all, m)
	}
	return all
}

// glued reports whether what begins at a place is part of a name, such as L2, 8x8 or
// 1e-8.
func glued(s string, at int) bool {
	if at == 0 {
		return false
	}
	before := s[at-1]
	return before == '_' || before == '.' || before == '^' || before == '`' ||
		'a' <= before && before <= 'z' || 'A' <= before && before <= 'Z' ||
		strings.HasSuffix(s[:at], "×") || strings.HasSuffix(s[:at], "·") ||
		before == '-' && at > 1 && s[at-2] != ' '
}

// withoutComments returns the line without its comments, where each of its bytes
// stands in the line, and the texts of the bindings by where in it their numbers begin.
func withoutComments(line string) (plain string, origin []int, bindings map[int]string) {
	var b strings.Builder
	bindings = make(map[int]string)
	from := 0
	keep := func(to int) {
		b.WriteString(line[from:to])
		for i := from; i < to; i++ {
			origin = append(origin, i)
		}
	}
	for _, m := range comment.FindAllStringSubmatchIndex(line, -1) {
		keep(m[0])
		from = m[1]
		if at := boundNumber.FindStringIndex(b.String()); at != nil && relationFirst.MatchString(strings.TrimSpace(line[m[2]:m[3]])) {
			bindings[at[0]] = line[m[2]:m[3]]
		}
	}
	keep(len(line))
	return b.String(), origin, bindings
}

// excepted reports whether a figure between these texts is none that claims a result.
func excepted(before, after string) bool {
	if isBound.MatchString(before) || isSize.MatchString(before) || timesSize.MatchString(after) {
		return true
	}
	clause := before
	if ends := clauseEnds.FindAllStringIndex(before, -1); ends != nil {
		clause = before[ends[len(ends)-1][1]:]
	}
	if end := clauseEnds.FindStringIndex(after); end != nil {
		after = after[:end[0]]
	}
	return isQuoted.MatchString(clause + after)
}

// judgeProse holds the figures of the Markdown cells against the outputs.
func (r *result) judgeProse(nb *notebook) {
	found := readResults(nb)
	type place struct {
		c *cell
		m mention
	}
	var all []place
	for i := range nb.Cells {
		c := &nb.Cells[i]
		for _, line := range proseLines(c) {
			for _, m := range mentions(line) {
				if all = append(all, place{c, m}); m.bound != nil {
					r.Bound++
				}
			}
		}
	}
	r.Figures = len(all)
	for _, p := range all {
		var err error
		if p.m.bound != nil {
			err = p.m.check(found, p.c.Number)
		} else {
			err = errors.New("no binding says which result that is: bind it ('go doc presage/perf/cmd/nbcheck'), or let a cell print the sentence")
		}
		if err != nil {
			r.add(p.c.finding(kindProse, "%s: %v", p.m.quote(), err))
		}
	}
}

// proseLines returns the lines of a Markdown cell outside of fenced code.
func proseLines(c *cell) (lines []string) {
	if c.Code {
		return nil
	}
	fenced := false
	for line := range strings.Lines(c.Source) {
		if isFence(line) {
			fenced = !fenced
			continue
		}
		if !fenced {
			lines = append(lines, line)
		}
	}
	return lines
}

// isFence reports whether a line begins or ends fenced code.
func isFence(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "```") }

func (m *mention) quote() string {
	if m.unit == "%" || m.unit == "" {
		return strconv.Quote(m.text + m.unit)
	}
	return strconv.Quote(m.text + " " + m.unit)
}

// check holds a bound figure in a cell against the result. Its error is a *contradiction if there
// is a result and the figure is another.
func (m *mention) check(found *results, from int) error {
	if m.err != nil {
		return fmt.Errorf("its binding: %w", m.err)
	}
	ns, err := m.bound.find(found, from)
	if err != nil {
		return err
	}
	for _, n := range ns {
		if !m.holds(m.bound.relation, n.number) {
			return &contradiction{n.number, m.shown(n.number)}
		}
	}
	return nil
}

// A contradiction is the error of a figure that is not the result it is bound to.
type contradiction struct {
	result number
	shown  string
}

func (e *contradiction) Error() string { return "the notebook's outputs have " + e.shown }

// shown writes a result so that its difference from the figure is seen.
func (m *mention) shown(n number) string {
	s := strconv.FormatFloat(n.value/m.unity, 'g', 4, 64)
	if m.unit == "%" {
		s += "%"
	}
	return s
}
